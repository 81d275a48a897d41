"""Taking over what another worker's accounting left, and closing what nobody owns any more.

Attempts that stand in the protocol's day files and not in our journal are copied into it in their state. What is open
there or here and has no living owner is closed by the table: a foreign one in its day file first, under the protocol's
lock, then in the journal, and whichever state stands in the day file wins; for a worker that slept may have moved on.

INVARIANT  The moment of the look is taken before the living tokens are read: an attempt of a claim made meanwhile is
           younger, and is left alone (W9). One dated far beyond now, by a clock that was set back since, has no age:
           a look at the living after it was read tells whether it has an owner, for a claim is there before its attempt.
CRASH      Between day file and journal: the next look finds the day file ahead, and follows it.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final

from curator.errors import ConflictError, CuratorError, InvalidRecordError
from curator.machine.attempt import ATTEMPT
from curator.machine.table import IllegalTransitionError
from curator.model.attempt import (
    Attempt,
    AttemptState,
    Dispatched,
    LegacyCarry,
    Reserved,
    Settled,
    Unknown,
    cancelled_from,
    corrected_from,
    facts_of,
    settled_from,
    state_of,
    unknown_from,
)
from curator.model.digest import digest_of
from curator.model.event import Stopped
from curator.model.ids import Day
from curator.model.limits import LEASE_MS
from curator.model.outcome import nanousd
from curator.model.record import Violation
from curator.model.times import day_of, iso
from curator.store.accounting import adopted, adopted_carry, projected
from curator.workflow.retry import is_stand_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curator.model.accounting import DayAttempt, DayFile
    from curator.model.ids import AttemptId, JobId, LeaseToken
    from curator.model.outcome import Provenance
    from curator.store.attempts import Seen
    from curator.workflow.shop import Shop

_LOOKS_MAX: Final = 3
"""A foreign attempt can move twice while it is judged: be sent, and be answered."""


@dataclasses.dataclass(frozen=True, slots=True)
class Closed:
    """What one round took over and closed."""

    adopted: int
    cancelled: int
    settled: int
    unknown: int
    corrected: int
    days: frozenset[Day]
    """The days whose attempts changed: what to project, where they are not today."""


def adopt(shop: Shop) -> None:
    """Take over what changed in today's day file by another hand. At each reserve; costs one look where nothing did.

    A day file that cannot be read is told, and the journal goes on alone. Raises `BusyError` and `StorageError`.
    """
    today = _today(shop)
    if shop.stores.accounting.has_news(today):
        _Round(shop).take_over(today)


def adopt_all(shop: Shop) -> Closed:
    """Take over today's day file, every older one with open attempts, and a legacy budget of today. At each start.

    What cannot be read is told, and costs nothing but itself. Raises `BusyError` and `StorageError`.
    """
    accounting, today = shop.stores.accounting, _today(shop)
    turn = _Round(shop)
    for day in accounting.days():
        try:
            if day != today and not accounting.has_open(day):
                continue
        except InvalidRecordError as fault:
            turn.tell(fault)
            continue
        turn.take_over(day)
    try:
        import_legacy(shop)
    except (ConflictError, InvalidRecordError) as fault:
        turn.tell(fault)
    return turn.closed()


def close_orphans(shop: Shop) -> Closed:
    """Close the journal's open attempts whose owner is gone, and correct unknowns whose result came after all.

    Raises `BusyError` and `StorageError`.
    """
    turn = _Round(shop)
    turn.close_orphans(None)
    turn.correct_late()
    return turn.closed()


def close_orphans_of(job_id: JobId, shop: Shop) -> Closed:
    """Close what the last owner of one job left open, when its claim was taken over. Raises as `close_orphans`."""
    turn = _Round(shop)
    turn.close_orphans(job_id)
    return turn.closed()


def import_legacy(shop: Shop) -> bool:
    """Count a budget file of a release before the accounting as unknown, for today and the configured provider.

    Tell whether it was new. Raises `ConflictError` where another one was counted already, `InvalidRecordError` where
    it cannot be read; neither concerns anything but this file, which is never deleted (interop.md 5.7).
    """
    accounting, attempts, today = shop.stores.accounting, shop.stores.attempts, _today(shop)
    budget, profile = accounting.legacy_budget(), shop.service.reviewer
    if budget is None or profile is None or budget.day != today:
        return False
    source = digest_of(budget.encode())
    standing = [carry.source_digest for carry in attempts.legacy(today) if carry.provider == profile.provider]
    if standing == [source]:
        return False
    if standing:
        raise ConflictError(accounting.legacy_path, "differs from what was counted for today already")
    attempts.publish_legacy(
        LegacyCarry(
            day=today,
            provider=profile.provider,
            source_digest=source,
            imported_at=iso(shop.clock.now()),
            calls=budget.calls,
            tokens=budget.tokens,
            cost_nanousd=nanousd(budget.cost_usd),
        )
    )
    return True


@dataclasses.dataclass(frozen=True, slots=True)
class _Verdict:
    """How a foreign orphan stands in its day file, how it stands closed, and the journal's steps to there."""

    standing: DayAttempt
    closed: DayAttempt
    steps: tuple[Attempt, ...]


class _Round:
    """One round of closing, against one look at who is alive."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop
        self._stores = shop.stores
        # In this order: see the invariant.
        now = shop.clock.now()
        self._cutoff = iso(now)
        self._living = self._alive_at(now)
        self._counts: Counter[str] = Counter()
        self._days: set[Day] = set()

    def closed(self) -> Closed:
        count = self._counts
        return Closed(
            count["adopted"],
            count[AttemptState.CANCELLED],
            count[AttemptState.SETTLED],
            count[AttemptState.UNKNOWN],
            count["corrected"],
            frozenset(self._days),
        )

    def tell(self, fault: CuratorError) -> None:
        self._shop.listener.tell(Stopped("accounting", fault.code, fault.fact, fault.remedy))

    def close_orphans(self, of: JobId | None) -> None:
        """Close the orphans of the journal, or of one job: the foreign ones where the protocol's day file agrees."""
        foreign = [seen.latest.day for seen in self._orphans(of) if not _is_ours(seen)]
        unread = {day for day in sorted(set(foreign)) if not self.take_over(day)}
        for seen in self._orphans(of):
            # What a day file says of a foreign attempt comes first, so one that cannot be read leaves it open.
            if _is_ours(seen) or seen.latest.day not in unread:
                try:
                    self._publish(self._closing(seen.latest))
                except InvalidRecordError as fault:
                    # Its next step stands and cannot be read: it stays counted as it is, and the others are closed.
                    self.tell(fault)

    def _orphans(self, of: JobId | None) -> list[Seen]:
        attempts = [seen for seen in self._stores.attempts.open_attempts() if self._is_orphan(seen.latest)]
        return [seen for seen in attempts if of is None or seen.latest.job_id == of]

    def take_over(self, day: Day) -> bool:
        """Copy a day's foreign attempts, then close its orphans; False where the day cannot be read."""
        try:
            look = self._stores.accounting.look(day)
            self._follow(day, look.file)
            self._stores.accounting.acknowledge(day, look)
            file = look.file
            for _ in range(_LOOKS_MAX):
                verdicts = self._verdicts(day, file)
                if not verdicts:
                    break
                file = self._stores.accounting.amend(day, partial(_closed_in, verdicts))
                self._close_as_agreed(verdicts, file)
                self._follow(day, file)
        except InvalidRecordError as fault:
            self.tell(fault)
            return False
        return True

    def correct_late(self) -> None:
        """Let a result that came after all say what an unknown attempt cost."""
        for day in self._stores.attempts.days():
            for seen in self._stores.attempts.of_day(day):
                match seen.latest:
                    case Unknown() as lost if seen.correction is None:
                        self._correct(lost, self._provenance_of(lost))
                    case _:
                        pass

    def _follow(self, day: Day, file: DayFile) -> None:
        """Bring the journal to where a day file's foreign attempts stand."""
        known, past = {seen.id: seen for seen in self._stores.attempts.of_day(day)}, self._stores.attempts.past(day)
        for attempt in _all(file):
            seen = known.get(attempt.id)
            if attempt.id in past or (seen is not None and _is_ours(seen)):
                continue
            try:
                stands = adopted(day, attempt)
            except Violation as violation:
                self.tell(InvalidRecordError(self._stores.accounting.path_of(day), f"{attempt.id} {violation.rule}"))
                continue
            if seen is None:
                self._stores.attempts.advance(stands)
                self._counts["adopted"] += 1
            elif isinstance(seen.latest, Unknown) and isinstance(stands, Settled):
                self._correct(seen.latest, stands.provenance if seen.correction is None else None)
            elif _leads_to(state_of(seen.latest), state_of(stands)):
                self._publish((stands,))
        self._follow_legacy(day, file)

    def _follow_legacy(self, day: Day, file: DayFile) -> None:
        known = {carry.provider: carry.source_digest for carry in self._stores.attempts.legacy(day)}
        for provider, carry in (file.legacy_carry or {}).items():
            if known.get(provider) == carry.source_digest:
                continue
            try:
                self._stores.attempts.publish_legacy(adopted_carry(day, provider, carry))
            except ConflictError as fault:
                self.tell(fault)

    def _verdicts(self, day: Day, file: DayFile) -> dict[AttemptId, _Verdict]:
        """Judge the foreign orphans of a day."""
        known = {seen.id: seen for seen in self._stores.attempts.of_day(day)}
        verdicts: dict[AttemptId, _Verdict] = {}
        for attempt in _all(file):
            seen = known.get(attempt.id)
            if seen is not None and seen.is_open and not _is_ours(seen) and self._is_orphan(seen.latest):
                steps = self._closing(seen.latest)
                verdicts[attempt.id] = _Verdict(attempt, projected(steps[-1]), steps)
        return verdicts

    def _close_as_agreed(self, verdicts: Mapping[AttemptId, _Verdict], file: DayFile) -> None:
        """Close in the journal what the day file took; what had moved on there is followed and judged anew."""
        for attempt in _all(file):
            verdict = verdicts.get(attempt.id)
            if verdict is not None and attempt == verdict.closed:
                self._publish(verdict.steps)

    def _closing(self, latest: Attempt) -> tuple[Attempt, ...]:
        """Return the steps by which an orphan ends: by a durable result with provenance, else by the table."""
        now = iso(self._shop.clock.now())
        provenance = self._provenance_of(latest)
        verb = "settle" if provenance is not None else ATTEMPT.orphaned[state_of(latest)]
        match verb, latest:
            case "settle", Dispatched() if provenance is not None:
                return (_settled(latest, now, provenance),)
            case "settle", Reserved() if provenance is not None:
                # Its dispatch was lost, but an answer proves that it was sent.
                sent = Dispatched.decode(
                    facts_of(latest) | {"state": "dispatched", "dispatchedAt": provenance.started_at}
                )
                return sent, _settled(sent, now, provenance)
            case "cancel", Reserved():
                return (cancelled_from(latest, now),)
            case "lose", Dispatched():
                return (unknown_from(latest, now),)
            case _:
                raise IllegalTransitionError(f"attempt: no {verb} from {latest.state}")

    def _correct(self, lost: Unknown, provenance: Provenance | None) -> None:
        # Without a word on usage the hold stays counted: nobody knows more than before.
        if provenance is None or is_stand_in(provenance.usage):
            return
        self._stores.attempts.advance(corrected_from(lost, iso(self._shop.clock.now()), provenance))
        self._counts["corrected"] += 1

    def _publish(self, steps: tuple[Attempt, ...]) -> None:
        for step in steps:
            self._stores.attempts.advance(step)
        last = steps[-1]
        self._counts[state_of(last)] += 1
        self._days.add(last.day)

    def _is_orphan(self, latest: Attempt) -> bool:
        """Tell whether an attempt that was read has no living owner; one of a claim since the look is left for the next.

        By its date it is younger than the look, or of a clock that was ahead and tells no age. Beyond now by a lease
        it is the latter, and the look is repeated: its claim was made before it, so it is seen now, or is over. Whatever
        is less far ahead comes of age by itself.
        """
        if latest.lease_token in self._living:
            return False
        if latest.reserved_at < self._cutoff:
            return True
        now = self._shop.clock.now()
        return latest.reserved_at > iso(now + LEASE_MS) and latest.lease_token not in self._alive_at(now)

    def _alive_at(self, now: int) -> frozenset[LeaseToken | None]:
        claimed = self._stores.spool.claimed()
        return frozenset(each.glimpse.lease_token for each in claimed if each.glimpse.due_ms > now)

    def _provenance_of(self, attempt: Attempt) -> Provenance | None:
        if attempt.job_id is None:
            return None
        try:
            result = self._stores.decisions.result(attempt.job_id, attempt.id)
        except InvalidRecordError as fault:
            self.tell(fault)
            return None
        if result is None or result.job.digest != attempt.job_digest:
            return None
        return result.outcome.provenance


def _closed_in(verdicts: Mapping[AttemptId, _Verdict], file: DayFile) -> DayFile:
    """Return a day with its orphans closed, but for those that are not any more what was judged."""

    def closed(attempt: DayAttempt) -> DayAttempt:
        verdict = verdicts.get(attempt.id)
        return verdict.closed if verdict is not None and attempt == verdict.standing else attempt

    providers = {provider: tuple(map(closed, attempts)) for provider, attempts in file.providers.items()}
    return dataclasses.replace(file, providers=providers)


def _settled(sent: Dispatched, at: str, provenance: Provenance) -> Settled:
    # Zero stands where the provider did not tell its usage, and the hold is charged; or it is told, and nothing is. As live.
    return settled_from(sent, at, provenance, is_estimated=is_stand_in(provenance.usage))


def _leads_to(source: AttemptState, target: AttemptState) -> bool:
    steps = [arrow.target for arrow in ATTEMPT.transitions if arrow.source is source]
    return target in steps or any(_leads_to(step, target) for step in steps)


def _all(file: DayFile) -> Iterator[DayAttempt]:
    return (attempt for attempts in file.providers.values() for attempt in attempts)


def _is_ours(seen: Seen) -> bool:
    return seen.latest.origin != "adopted"


def _today(shop: Shop) -> Day:
    return Day(day_of(shop.clock.now()))
