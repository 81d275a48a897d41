"""One call that belongs to no job: asked only to see what would come of it, and counted like any other.

It is reserved, dispatched and settled in the attempt journal, with an origin of its own and without a job, so that no job's
tries grow fewer by it. What was answered is given back, and kept nowhere but where its errand keeps it: there is nothing
to elect and nothing to apply.

INVARIANT  Reserved and dispatched are durable before a byte leaves. A day's limit holds for it as for a job's call, and the
           purse of whoever asks holds besides. No lock is held while the provider is asked. What an errand keeps is
           durable before the call is settled.
CRASH      Its orphans are closed by the table at the next start, like a job's: cancelled before the dispatch, unknown
           after it, and unknown is charged at its hold.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from curator.durable.baton import laid_down
from curator.model.attempt import (
    Dispatched,
    Reserved,
    Settled,
    Unknown,
    cancelled_from,
    corrected_from,
    dispatched_from,
    settled_from,
    unknown_from,
)
from curator.model.budget import Amount, exposure_of
from curator.model.ids import Day, LeaseToken, attempt_id
from curator.model.memory import branch_digest
from curator.model.ports import Unready
from curator.model.times import day_of, iso
from curator.workflow.adoption import adopt
from curator.workflow.attempt import Spent, hold_budget
from curator.workflow.judging import judge
from curator.workflow.projection import project
from curator.workflow.retry import is_stand_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from curator.model.attempt import AttemptRecord
    from curator.model.outcome import Provenance
    from curator.model.ports import Answer, Brief, CallFailure, Hold, Prepared
    from curator.workflow.judging import Found, Lacking
    from curator.workflow.shop import Shop


class Purse:
    """What a person lets a run of trials cost, beside the day's limits: a hard cap, held before each call."""

    def __init__(
        self,
        calls_max: int | None = None,
        cost_nanousd_max: int | None = None,
        tokens_max: int | None = None,
        spent: Amount | None = None,
    ) -> None:
        """Begin with what is spent already, by default nothing; None is no cap of its own."""
        self._calls_max = calls_max
        self._cost_nanousd_max = cost_nanousd_max
        self._tokens_max = tokens_max
        self.spent = spent or Amount()

    def refusal(self, hold: Hold) -> str | None:
        """Name the cap that one more call with this hold could break, or return None."""
        if self._calls_max is not None and self.spent.calls + 1 > self._calls_max:
            return "calls"
        if self._tokens_max is not None and self.spent.tokens + hold.tokens > self._tokens_max:
            return "tokens"
        cost = self.spent.cost_nanousd + hold.cost_nanousd
        return "cost" if self._cost_nanousd_max is not None and cost > self._cost_nanousd_max else None

    def pay(self, amount: Amount) -> None:
        """Take note of what a call came to, or may have come to."""
        self.spent += amount


@dataclasses.dataclass(frozen=True, slots=True)
class Tried:
    """A call that was made, what its answer holds, and what it is charged with: at its hold where nobody knows."""

    judged: Found | Lacking
    charged: Amount
    is_certain: bool
    """False where the call may have been paid for and nobody knows how much."""


@dataclasses.dataclass(frozen=True, slots=True)
class Capped:
    """The purse does not reach for one more call; nothing was sent."""

    cap: str


@dataclasses.dataclass(frozen=True, slots=True)
class Unsent:
    """The call was closed before its dispatch: by a wish to stop, somebody's recovery, or for want of what it needs."""

    unready: Unready | None


Trial: TypeAlias = Tried | Spent | Capped | Unsent


@dataclasses.dataclass(frozen=True, slots=True)
class Heard:
    """What came back of a call, before it is settled."""

    sent: Dispatched
    answer: Answer | CallFailure
    judged: Found | Lacking


@dataclasses.dataclass(frozen=True, slots=True)
class Errand:
    """On whose behalf a call is made that belongs to no job, and what is kept of its answer."""

    origin: Literal["trial", "backfill"] = "trial"
    mark: str = ""
    """The first digits of its lease token, by which whoever sent it knows it again in the journal."""
    keep: Callable[[Heard], None] = lambda _: None
    """Make durable what must not be lost once the call is settled."""


_TRIAL: Final = Errand()


def try_out(brief: Brief, shop: Shop, purse: Purse, errand: Errand = _TRIAL) -> Trial:
    """Ask the shop's reviewer once about a brief, and count the call.

    Raises `ReviewerSetupError` and `ConfigError` before anything is reserved.
    """
    prepared = shop.reviewer.prepare(brief)
    cap = purse.refusal(prepared.hold)
    if cap is not None:
        return Capped(cap)
    adopt(shop)
    reserved = hold_budget(_draft(brief, prepared, shop, errand), prepared, shop)
    if not isinstance(reserved, Reserved):
        return reserved
    with laid_down():
        ready = prepared.make_ready(shop.stop)
    if shop.stop.is_set() or isinstance(ready, Unready):
        shop.stores.attempts.advance(cancelled_from(reserved, iso(shop.clock.now())))
        return Unsent(ready if isinstance(ready, Unready) else None)
    request = (ready.request_digest, ready.model, ready.api)
    sent = shop.stores.attempts.advance(dispatched_from(reserved, iso(shop.clock.now()), request))
    if not isinstance(sent, Dispatched):
        return Unsent(None)
    with laid_down():
        answer = shop.reviewer.ask(ready, shop.abort or shop.stop)
    judged = judge(answer, brief, require_evidence=shop.settings.evidence == "require")
    errand.keep(Heard(sent, answer, judged))
    ended = settle(sent, answer.provenance, shop, is_estimated=answer.is_estimated)
    charged = exposure_of(ended).total
    purse.pay(charged)
    project(shop, force=False)
    return Tried(judged, charged, isinstance(ended, Settled))


def _draft(brief: Brief, prepared: Prepared, shop: Shop, errand: Errand) -> Reserved:
    drawn = shop.chance.token()
    now, token = shop.clock.now(), LeaseToken(errand.mark + drawn[len(errand.mark) :])
    return Reserved(
        id=attempt_id(brief.job.digest, 1, token),
        day=Day(day_of(now)),
        provider=prepared.provider,
        job_digest=brief.job.digest,
        claim_attempt=1,
        lease_token=token,
        reserved_at=iso(now),
        hold_tokens=max(1, prepared.hold.tokens),
        hold_cost_nanousd=prepared.hold.cost_nanousd,
        base_branch_digest=branch_digest(brief.base),
        origin=errand.origin,
    )


def settle(
    sent: Dispatched, provenance: Provenance | None, shop: Shop, *, is_estimated: bool = False
) -> Settled | Unknown:
    """Close the call by what came back. A recovery that took it for an orphan meanwhile is corrected."""
    now = iso(shop.clock.now())
    if provenance is None:
        ended: AttemptRecord = unknown_from(sent, now)
    else:
        ended = settled_from(sent, now, provenance, is_estimated=is_estimated)
    stands = shop.stores.attempts.advance(ended)
    if isinstance(stands, Unknown) and provenance is not None and not is_stand_in(provenance.usage):
        shop.stores.attempts.advance(corrected_from(stands, now, provenance))
        assert isinstance(ended, Settled)
        return ended
    assert isinstance(stands, Settled | Unknown)
    return stands
