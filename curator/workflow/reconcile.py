"""An operator's word on a call whose end nobody knows: it was billed so much, or it was not billed.

What a durable result tells comes first: it is looked for again before a person's word is taken. A call that is under way
has an owner, and is left to it.

INVARIANT  One word a call, and the first one stands: the record's name elects.
CRASH      Before the record: unknown, counted at its hold. After it: settled, for good.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias

from curator.errors import ConflictError, NotFoundError, RefusedError, UsageError
from curator.model.attempt import AttemptState, Correction, Unknown, corrected_by
from curator.model.budget import Amount
from curator.model.times import iso
from curator.store.attempts import Seen
from curator.workflow.adoption import close_orphans
from curator.workflow.projection import project_days

if TYPE_CHECKING:
    from curator.model.closed_day import PastAttempt
    from curator.model.ids import AttemptId, Day
    from curator.store.attempts import AttemptStore
    from curator.workflow.shop import Shop

Bill: TypeAlias = "tuple[int, int] | None"
"""Tokens and nano-dollars; None where the call was not billed."""

_UNRESOLVED: Final = "See `curator budget attempts --unresolved`"


@dataclasses.dataclass(frozen=True, slots=True)
class Word:
    """What stands of a call after somebody said what it cost."""

    attempt_id: AttemptId
    day: Day
    provider: str
    is_new: bool
    """False where the same was said before: nothing was written."""
    charged: Amount


@dataclasses.dataclass(frozen=True, slots=True)
class Words:
    """What was said of many calls, and which of them are under way and were left alone."""

    said: tuple[Word, ...]
    open: tuple[AttemptId, ...]


def reconcile(attempt: str, bill: Bill, reason: str, shop: Shop) -> Word:
    """Settle one call by its bill. Repeated with the same bill it changes nothing.

    `attempt` is an id, or its first digits. Raises `ConflictError` where another bill stands, `RefusedError` for a call
    that is under way, that has told its cost itself, or that never left.
    """
    _close(shop)
    found = _find(shop.stores.attempts, attempt)
    if not isinstance(found, Seen):
        day, past = found
        return _past(day, past, bill, shop)
    if found.is_open:
        fact = f"{found.id} is under way: its owner has not said how it ended"
        raise RefusedError(fact, remedy="Nothing was changed; wait for its end, or for the end of its lease")
    match found.latest:
        case Unknown() as lost:
            return _settle(lost, found.correction, bill, reason, shop)
        case _ if found.state is AttemptState.CANCELLED:
            raise RefusedError(f"{found.id} never left, so nobody billed it")
        case _:
            raise RefusedError(f"{found.id} is settled by what its provider told")


def reconcile_before(before: Day, bill: Bill, reason: str, shop: Shop, *, at_hold: bool) -> Words:
    """Settle every call of the days before another whose end nobody knows, each by a record of its own.

    `at_hold` bills each what was held for it, in its own day, and `bill` then counts for nothing.
    """
    _close(shop)
    store = shop.stores.attempts
    said: list[Word] = []
    left: list[AttemptId] = []
    for day in (day for day in store.days() if day < before):
        for seen in store.of_day(day):
            if seen.is_open:
                left.append(seen.id)
            elif isinstance(seen.latest, Unknown) and seen.correction is None:
                lost = seen.latest
                each = (lost.hold_tokens, lost.hold_cost_nanousd) if at_hold else bill
                said.append(_settle(lost, None, each, reason, shop))
    return Words(tuple(said), tuple(left))


def _close(shop: Shop) -> None:
    """Close what nobody owns any more, and take in what came late, as each start does."""
    project_days(shop, close_orphans(shop).days)


def _settle(lost: Unknown, standing: Correction | None, bill: Bill, reason: str, shop: Shop) -> Word:
    wanted = corrected_by(lost, iso(shop.clock.now()), bill, reason)
    stands = standing or shop.stores.attempts.advance(wanted)
    assert isinstance(stands, Correction)
    if (stands.is_billed, _charge(stands)) != (wanted.is_billed, _charge(wanted)):
        _conflict(lost.id, lost.day, _charge(stands), shop)
    return Word(lost.id, lost.day, lost.provider, stands is wanted, _charge(stands))


def _past(day: Day, past: PastAttempt, bill: Bill, shop: Shop) -> Word:
    """Answer for a call of a closed day that has its end: said again it is a replay, and anything else is refused."""
    if past.state == "cancelled":
        raise RefusedError(f"{past.id} never left, so nobody billed it")
    if past.state == "settled":
        raise RefusedError(f"{past.id} is settled by what its provider told")
    if past.charged != (Amount() if bill is None else Amount(1, *bill)):
        _conflict(past.id, day, past.charged, shop)
    return Word(past.id, day, past.provider, is_new=False, charged=past.charged)


def _conflict(attempt_id: AttemptId, day: Day, charged: Amount, shop: Shop) -> NoReturn:
    was = f"billed {charged.tokens} tokens and {charged.cost_nanousd} nano-dollars" if charged.calls else "not billed"
    raise ConflictError(shop.layout.attempts / day, f"{attempt_id} is settled already, as {was}")


def _charge(correction: Correction) -> Amount:
    if not correction.is_billed:
        return Amount()
    return Amount(1, correction.charged_tokens, correction.charged_cost_nanousd)


def _find(store: AttemptStore, attempt: str) -> Seen | tuple[Day, PastAttempt]:
    """Find an attempt of any day by its id or its first digits."""
    heads = (attempt, f"review_attempt_{attempt}")
    found: list[Seen | tuple[Day, PastAttempt]] = []
    for day in store.days():
        found += [seen for seen in store.of_day(day) if seen.id.startswith(heads)]
        found += [(day, past) for past in store.past(day).values() if past.id.startswith(heads)]
    if not found:
        raise NotFoundError(f"no attempt begins with {attempt!a}", remedy=_UNRESOLVED)
    if len(found) > 1:
        raise UsageError(f"{len(found)} attempts begin with {attempt!a}", remedy=f"Give more of the id. {_UNRESOLVED}")
    return found[0]
