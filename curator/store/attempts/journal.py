"""The attempt journal: whether a provider call may have happened, and what it may have cost.

`<day>/<2 hex>/<attempt>.<n>.json`; each file is self-contained and published create-or-compare, so the name elects: two
racers meet at one name and one loses. What was read stays in memory; only a folder that changed is listed again. A day
that is over is closed: `<day>.closed.json` stands for it, at the cost of one look.

INVARIANT  No file is ever rewritten, so no state goes back; a step is only published along an arrow of the attempt's
           table. A limit is checked and its reservation linked under one lock.
CRASH      A reservation that was linked and not yet flushed may be lost: nothing was sent then, for a dispatch is
           published only after its reservation's flush.
"""

from __future__ import annotations

import dataclasses
import threading
from typing import TYPE_CHECKING, Final

from curator.durable.index import Listing
from curator.durable.lock import kernel_domain
from curator.durable.publish import ensure_directory, link_or_compare, publish
from curator.durable.read import list_names
from curator.errors import ConflictError, InvalidRecordError
from curator.machine.attempt import ATTEMPT
from curator.machine.table import IllegalTransitionError
from curator.model.attempt import (
    AttemptRecord,
    AttemptState,
    Cancelled,
    Correction,
    Dispatched,
    LegacyCarry,
    Reserved,
    Settled,
    Unknown,
    state_of,
    step_of,
)
from curator.model.budget import Exposure, Limits, total_exposure
from curator.model.digest import MalformedJsonError, compact, parse
from curator.model.ids import DAY_PATTERN, AttemptId, Day, JobId, file_key
from curator.model.limits import DIRECTORY_NAMES_MAX
from curator.model.ports import Hold
from curator.model.record import Violation
from curator.model.settings import FIRST_DAY
from curator.store.attempts.closing import clear, close, closed_day_of
from curator.store.attempts.fold import CLOSED_NAME, NOTHING, DayFold, Seen, read_step

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.durable.volume import Volume
    from curator.model.closed_day import PastAttempt

_ARROWS: Final[dict[type[AttemptRecord], tuple[AttemptState, str]]] = {
    Dispatched: (AttemptState.RESERVED, "dispatch"),
    Cancelled: (AttemptState.RESERVED, "cancel"),
    Settled: (AttemptState.DISPATCHED, "settle"),
    Unknown: (AttemptState.DISPATCHED, "lose"),
    Correction: (AttemptState.UNKNOWN, "correct"),
}
"""Along which arrow each record is published; a reservation begins the machine."""


@dataclasses.dataclass(frozen=True, slots=True)
class Refused:
    """A reservation that a limit forbids."""

    limit: str
    exposure: Exposure


class AttemptStore:
    """The journal of one agent folder."""

    def __init__(self, volume: Volume, layout: Layout) -> None:
        """Open the journal; nothing is read yet."""
        self._volume = volume
        self._layout = layout
        self._domain = kernel_domain("attempts", layout.attempts_lock)
        self._days: dict[Day, DayFold] = {}
        self._listing = Listing(layout.attempts)
        self._named: tuple[Day, ...] = ()
        self._foldered: frozenset[Day] = frozenset()
        self._mutex = threading.Lock()

    def reserve(self, draft: Reserved, limits: Limits | None, since: Day = FIRST_DAY) -> Reserved | Refused:
        """Hold budget for one attempt, durably, or say which limit forbids it.

        Against each limit counts the draft's day, and what has no end of the days before it, from `since` on.
        A replay returns the reservation that stands. Raises `ConflictError` if another one stands under the id, and
        `InvalidRecordError` while a damaged record hides what a part of the day cost.
        """
        path = self._path(draft)
        data = _bytes_of(draft)
        ensure_directory(self._volume, path.parent)
        staged = self._volume.stage(path, data)
        try:
            with self._domain.hold():
                refused = None if limits is None else self._refusal(draft, limits, since)
                if refused is not None:
                    return refused
                link_or_compare(self._volume, staged, path, data)
        finally:
            self._volume.unlink(staged)
        # Nobody waits for this flush; the dispatch comes after it.
        self._volume.sync_directory(path.parent)
        self._take_in(draft, path)
        return draft

    def advance(self, record: AttemptRecord) -> AttemptRecord:
        """Publish the next step; durable when it returns. Returns what stands: ours, or the racer's that was first.

        Raises `IllegalTransitionError` for a state to which no arrow of the table leads.
        """
        _prove_arrow(record)
        path = self._path(record)
        ensure_directory(self._volume, path.parent)
        try:
            publish(self._volume, path, _bytes_of(record))
        except ConflictError:
            self._volume.sync_directory(path.parent)
            return read_step(path)
        self._take_in(record, path)
        return record

    def find(self, attempt_id: AttemptId, day: Day) -> Seen | None:
        """Return what is known of one attempt of a day."""
        with self._mutex:
            return self._fold(day).attempts.get(attempt_id)

    def of_job(self, job_id: JobId, since: Day, *, look: bool = True) -> tuple[Seen, ...]:
        """Return the attempts of a job from that day on, by claim.

        Without a `look` only those that are known here: all, where nobody else can have made one.
        """
        with self._mutex:
            if look:
                folds = [self._listed(day) for day in self._all_days() if day >= since]
            else:
                folds = [fold for day, fold in self._days.items() if day >= since]
            found = [seen for fold in folds for seen in fold.of_job(job_id)]
        return tuple(sorted(found, key=lambda seen: (seen.latest.claim_attempt, seen.id)))

    def of_day(self, day: Day) -> tuple[Seen, ...]:
        """Return the attempts of a day, by reservation."""
        with self._mutex:
            found = list(self._fold(day).attempts.values())
        return tuple(sorted(found, key=lambda seen: (seen.latest.reserved_at, seen.id)))

    def open_attempts(self) -> tuple[Seen, ...]:
        """Return what is reserved or dispatched, of any day."""
        return tuple(seen for day in self.days() for seen in self.of_day(day) if seen.is_open)

    def days(self) -> tuple[Day, ...]:
        """Return the UTC days that the journal has, closed ones too, in order."""
        with self._mutex:
            return self._all_days()

    def past(self, day: Day) -> Mapping[AttemptId, PastAttempt]:
        """Return the attempts of a closed day that have their end, in a row each; none of a day that is not closed."""
        with self._mutex:
            return self._fold(day).past()

    def unclosed(self, before: Day) -> tuple[Day, ...]:
        """Return the days before another that still have a folder."""
        with self._mutex:
            self._all_days()
            return tuple(sorted(day for day in self._foldered if day < before))

    def close_day(self, day: Day, is_needed: Callable[[JobId], bool], now: int) -> bool:
        """Put a day that is over into one file, then remove its folder name by name; tell whether it is closed.

        It is not over while an attempt is open, a record cannot be read, or a job of it `is_needed`. What is published
        into its folder later stays there and counts.
        """
        root = self._layout.attempts / day
        with self._mutex:
            fold = self._fold(day)
            is_closed, closed = fold.is_closed, None if fold.is_closed else closed_day_of(fold)
            jobs = {seen.latest.job_id for seen in fold.attempts.values() if seen.latest.job_id is not None}
        if not is_closed:
            if closed is None or any(map(is_needed, jobs)):
                return False
            close(self._volume, root, closed)
        clear(self._volume, root, self._domain, now)
        return True

    def exposure(self, provider: str, day: Day) -> Exposure:
        """Return what a provider's day may cost, with what a legacy budget carried into it."""
        with self._mutex:
            return self._fold(day).totals.get(provider, Exposure())

    def unresolved(self, provider: str, before: Day, since: Day = FIRST_DAY) -> Exposure:
        """Return what attempts of earlier days may cost whose end nobody knows, or that are under way still."""
        with self._mutex:
            return self._unresolved(provider, before, since)

    def counted(self, provider: str, today: Day, since: Day = FIRST_DAY) -> Exposure:
        """Return what the limits of a day are checked against: its own exposure, and what has no end of the days before."""
        return self.exposure(provider, today) + self.unresolved(provider, today, since)

    def unresolved_providers(self, before: Day, since: Day = FIRST_DAY) -> tuple[str, ...]:
        """Return whose attempts of earlier days have no end."""
        with self._mutex:
            folds = [self._listed(day) for day in self._all_days() if since <= day < before]
        found = {each for fold in folds for each in fold.totals if fold.unresolved(each) != Exposure()}
        return tuple(sorted(found))

    def providers(self, day: Day) -> tuple[str, ...]:
        """Return who was asked on a day."""
        with self._mutex:
            return tuple(sorted(self._fold(day).totals))

    def faults(self) -> tuple[InvalidRecordError, ...]:
        """Return the journal's records that cannot be read. Their attempts count as what the rest proves."""
        with self._mutex:
            return tuple(fault for day in self._all_days() for fault in self._listed(day).faults.values())

    def publish_legacy(self, carry: LegacyCarry) -> None:
        """Count a legacy budget's spend into its day, once. Raises `ConflictError` for another one of that day."""
        path = self._layout.attempts / carry.day / f"legacy.{file_key(carry.provider)}.json"
        ensure_directory(self._volume, path.parent)

        def is_same(standing: bytes) -> bool:
            try:
                return LegacyCarry.decode(parse(standing)).source_digest == carry.source_digest
            except (Violation, MalformedJsonError):
                return False

        publish(self._volume, path, compact(carry.encode()).encode(), is_same=is_same)

    def legacy(self, day: Day) -> tuple[LegacyCarry, ...]:
        """Return what legacy budgets carried into a day."""
        with self._mutex:
            return tuple(self._fold(day).legacy.values())

    def _refusal(self, draft: Reserved, limits: Limits, since: Day) -> Refused | None:
        """Return why a reservation may not be made now; call it under the lock."""
        with self._mutex:
            fold = self._fold(draft.day)
            earlier = self._unresolved(draft.provider, draft.day, since)
        if draft.id in fold.attempts:
            return None
        hidden = fold.hidden()
        if hidden is not None:
            raise hidden
        spent = fold.totals.get(draft.provider, Exposure()) + earlier
        limit = limits.refusal(spent, Hold(draft.hold_tokens, draft.hold_cost_nanousd))
        return None if limit is None else Refused(limit, spent)

    def _unresolved(self, provider: str, before: Day, since: Day) -> Exposure:
        days = (day for day in self._all_days() if since <= day < before)
        parts = (self._listed(day).unresolved(provider) for day in days)
        return total_exposure(part for part in parts if part is not NOTHING)

    def _path(self, record: AttemptRecord) -> Path:
        shard = record.id.removeprefix("review_attempt_")[:2]
        return self._layout.attempts / record.day / shard / f"{record.id}.{step_of(record)}.json"

    def _take_in(self, record: AttemptRecord, path: Path) -> None:
        with self._mutex:
            fold = self._days.get(record.day)
            if fold is not None:
                fold.take_in(record, path.name)

    def _all_days(self) -> tuple[Day, ...]:
        if not self._listing.is_current():
            names = list_names(self._layout.attempts, DIRECTORY_NAMES_MAX)
            closed = {Day(match.group(1)) for name in names if (match := CLOSED_NAME.fullmatch(name))}
            self._foldered = frozenset(Day(name) for name in names if DAY_PATTERN.fullmatch(name))
            self._named = tuple(sorted(closed.union(self._foldered)))
            self._listing.done()
        return self._named

    def _listed(self, day: Day) -> DayFold:
        """Return a day that was listed just now: a closed one without a folder has nothing new, and costs no look."""
        fold = self._days.get(day)
        is_whole = fold is not None and fold.is_closed and not fold.faults and day not in self._foldered
        return fold if fold is not None and is_whole else self._fold(day)

    def _fold(self, day: Day) -> DayFold:
        fold = self._days.setdefault(day, DayFold(self._layout.attempts / day))
        fold.refresh()
        return fold


def _prove_arrow(record: AttemptRecord) -> None:
    arrow = _ARROWS.get(type(record))
    leads_to = ATTEMPT.initial if arrow is None else ATTEMPT.step(*arrow)
    stands = AttemptState.SETTLED if isinstance(record, Correction) else state_of(record)
    if leads_to is not stands:
        message = f"attempt: {arrow} leads to {leads_to}, not to {stands}"
        raise IllegalTransitionError(message)


def _bytes_of(record: AttemptRecord) -> bytes:
    return (compact(record.encode()) + "\n").encode()
