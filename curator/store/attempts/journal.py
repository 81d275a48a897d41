"""The attempt journal: whether a provider call may have happened, and what it may have cost.

`<day>/<2 hex>/<attempt>.<n>.json`; each file is self-contained and published create-or-compare, so the name elects: two
racers meet at one name and one loses. What was read stays in memory; only a folder that changed is listed again.

INVARIANT  No file is ever rewritten, so no state goes back. A limit is checked and its reservation linked under one lock.
CRASH      A reservation that was linked and not yet flushed may be lost: nothing was sent then, for a dispatch is
           published only after its reservation's flush.
"""

from __future__ import annotations

import dataclasses
import re
import threading
from typing import TYPE_CHECKING, Final

from curator.durable.index import Listing
from curator.durable.lock import kernel_domain
from curator.durable.publish import ensure_directory, link_or_compare, publish
from curator.durable.read import list_names
from curator.durable.records import read_as, read_record
from curator.errors import ConflictError, InvalidRecordError
from curator.model.attempt import (
    Attempt,
    AttemptRecord,
    AttemptState,
    Correction,
    LegacyCarry,
    Reserved,
    decode_attempt,
    state_of,
    step_of,
)
from curator.model.budget import Exposure, Limits, exposure_of, exposure_of_legacy
from curator.model.digest import MalformedJsonError, compact, parse
from curator.model.ids import DAY_PATTERN, AttemptId, Day, JobId, file_key
from curator.model.limits import DIRECTORY_NAMES_MAX, JOURNAL_BYTES_MAX
from curator.model.ports import Hold
from curator.model.record import Violation

if TYPE_CHECKING:
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.durable.volume import Volume

_NAME: Final = re.compile(r"(review_attempt_[0-9a-f]{40})\.([0-3])\.json")
_SHARD: Final = re.compile(r"[0-9a-f]{2}")
_LEGACY: Final = re.compile(r"legacy\.[0-9a-f]{24}\.json")
_SHARDS_MAX: Final = 300
"""256 shards and the legacy carries."""


@dataclasses.dataclass(frozen=True, slots=True)
class Seen:
    """What the journal knows of one attempt."""

    reserved: Attempt
    """The lowest step that can be read: the facts that every step repeats."""
    latest: Attempt
    correction: Correction | None = None

    @property
    def id(self) -> AttemptId:
        """The attempt's id."""
        return self.latest.id

    @property
    def state(self) -> AttemptState:
        """What is known now; a correction settles."""
        return AttemptState.SETTLED if self.correction is not None else state_of(self.latest)

    @property
    def is_open(self) -> bool:
        """Whether its owner still has something to write."""
        return self.state in (AttemptState.RESERVED, AttemptState.DISPATCHED)

    @property
    def exposure(self) -> Exposure:
        """Its place in the budget's columns."""
        return exposure_of(self.latest, self.correction)


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
        self._days: dict[Day, _DayFold] = {}
        self._mutex = threading.Lock()

    def reserve(self, draft: Reserved, limits: Limits | None) -> Reserved | Refused:
        """Hold budget for one attempt, durably, or say which limit forbids it.

        A replay returns the reservation that stands. Raises `ConflictError` if another one stands under the id, and
        `InvalidRecordError` while a damaged record hides what a part of the day cost.
        """
        path = self._path(draft)
        data = _bytes_of(draft)
        ensure_directory(self._volume, path.parent)
        staged = self._volume.stage(path, data)
        try:
            with self._domain.hold():
                refused = None if limits is None else self._refusal(draft, limits)
                if refused is not None:
                    return refused
                link_or_compare(self._volume, staged, path, data)
        finally:
            self._volume.unlink(staged)
        # Nobody waits for this flush; the dispatch comes after it.
        self._volume.sync_directory(path.parent)
        return draft

    def advance(self, record: AttemptRecord) -> AttemptRecord:
        """Publish the next step; durable when it returns. Returns what stands: ours, or the racer's that was first."""
        path = self._path(record)
        ensure_directory(self._volume, path.parent)
        try:
            publish(self._volume, path, _bytes_of(record))
        except ConflictError:
            self._volume.sync_directory(path.parent)
            return _read(path)
        return record

    def find(self, attempt_id: AttemptId, day: Day) -> Seen | None:
        """Return what is known of one attempt of a day."""
        with self._mutex:
            return self._fold(day).attempts.get(attempt_id)

    def of_job(self, job_id: JobId, since: Day) -> tuple[Seen, ...]:
        """Return the attempts of a job from that day on, by claim."""
        with self._mutex:
            found = [seen for day in self.days() if day >= since for seen in self._fold(day).of_job(job_id)]
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
        """Return the UTC days that the journal has, in order."""
        names = list_names(self._layout.attempts, DIRECTORY_NAMES_MAX)
        return tuple(Day(name) for name in names if DAY_PATTERN.fullmatch(name))

    def exposure(self, provider: str, day: Day) -> Exposure:
        """Return what a provider's day may cost, with what a legacy budget carried into it."""
        with self._mutex:
            return self._fold(day).totals.get(provider, Exposure())

    def providers(self, day: Day) -> tuple[str, ...]:
        """Return who was asked on a day."""
        with self._mutex:
            return tuple(sorted(self._fold(day).totals))

    def faults(self) -> tuple[InvalidRecordError, ...]:
        """Return the journal's records that cannot be read. Their attempts count as what the rest proves."""
        with self._mutex:
            return tuple(fault for day in self.days() for fault in self._fold(day).faults.values())

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

    def _refusal(self, draft: Reserved, limits: Limits) -> Refused | None:
        """Return why a reservation may not be made now; call it under the lock."""
        with self._mutex:
            fold = self._fold(draft.day)
        if draft.id in fold.attempts:
            return None
        hidden = fold.hidden()
        if hidden is not None:
            raise hidden
        spent = fold.totals.get(draft.provider, Exposure())
        limit = limits.refusal(spent, Hold(draft.hold_tokens, draft.hold_cost_nanousd))
        return None if limit is None else Refused(limit, spent)

    def _path(self, record: AttemptRecord) -> Path:
        shard = record.id.removeprefix("review_attempt_")[:2]
        return self._layout.attempts / record.day / shard / f"{record.id}.{step_of(record)}.json"

    def _fold(self, day: Day) -> _DayFold:
        fold = self._days.setdefault(day, _DayFold(self._layout.attempts / day))
        fold.refresh()
        return fold


class _DayFold:
    """One day in memory: totals are kept, not recounted, so that a transition costs the same on a busy day."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._shards = Listing(root)
        self._shard_paths: list[Path] = []
        self._listings: dict[Path, Listing] = {}
        self._known: set[str] = set()
        self._by_job: dict[JobId, set[AttemptId]] = {}
        self.attempts: dict[AttemptId, Seen] = {}
        self.totals: dict[str, Exposure] = {}
        self.legacy: dict[str, LegacyCarry] = {}
        self.faults: dict[str, InvalidRecordError] = {}

    def of_job(self, job_id: JobId) -> list[Seen]:
        return [self.attempts[each] for each in self._by_job.get(job_id, ())]

    def refresh(self) -> None:
        for name in sorted(self.faults):
            # Somebody may have mended it in place, which no folder shows.
            self._take(self.faults.pop(name).path)
        for folder in self._folders():
            listing = self._listings.setdefault(folder, Listing(folder))
            if listing.is_current():
                continue
            for name in list_names(folder, DIRECTORY_NAMES_MAX):
                if name not in self._known:
                    self._take(folder / name)
            listing.done()

    def hidden(self) -> InvalidRecordError | None:
        """Return a fault that hides spend: nothing of its attempt can be read, or a legacy carry cannot."""
        for name, fault in self.faults.items():
            match = _NAME.fullmatch(name)
            if match is None or AttemptId(match.group(1)) not in self.attempts:
                return fault
        return None

    def _folders(self) -> list[Path]:
        if not self._shards.is_current():
            shards = [name for name in list_names(self._root, _SHARDS_MAX) if _SHARD.fullmatch(name)]
            self._shard_paths = [self._root, *(self._root / name for name in shards)]
            self._shards.done()
        return self._shard_paths

    def _take(self, path: Path) -> None:
        try:
            if _NAME.fullmatch(path.name):
                self._add(path, _read(path))
            elif _LEGACY.fullmatch(path.name):
                self._carry(path)
            else:
                return
        except InvalidRecordError as fault:
            self.faults[path.name] = fault
        self._known.add(path.name)

    def _carry(self, path: Path) -> None:
        carry = read_record(path, LegacyCarry, JOURNAL_BYTES_MAX, private=True)
        if carry is None:
            raise InvalidRecordError(path, "is gone")
        self.legacy[carry.provider] = carry
        self._count(carry.provider, exposure_of_legacy(carry))

    def _add(self, path: Path, record: AttemptRecord) -> None:
        before = self.attempts.get(record.id)
        after = _fold_in(before, record)
        if after is None:
            raise InvalidRecordError(path, "corrects an attempt of which nothing else can be read")
        self.attempts[record.id] = after
        if record.job_id is not None:
            self._by_job.setdefault(record.job_id, set()).add(record.id)
        self._count(record.provider, after.exposure - (before.exposure if before is not None else Exposure()))

    def _count(self, provider: str, exposure: Exposure) -> None:
        self.totals[provider] = self.totals.get(provider, Exposure()) + exposure


def _fold_in(before: Seen | None, record: AttemptRecord) -> Seen | None:
    """Return what is known after one more file, in whatever order the files are met; None for a lone correction."""
    if isinstance(record, Correction):
        return None if before is None else dataclasses.replace(before, correction=record)
    if before is None:
        return Seen(record, record)
    if step_of(record) > step_of(before.latest):
        return dataclasses.replace(before, latest=record)
    return dataclasses.replace(before, reserved=record) if step_of(record) < step_of(before.reserved) else before


def _bytes_of(record: AttemptRecord) -> bytes:
    return (compact(record.encode()) + "\n").encode()


def _read(path: Path) -> AttemptRecord:
    record = read_as(path, decode_attempt, JOURNAL_BYTES_MAX, private=True)
    if record is None:
        raise InvalidRecordError(path, "is gone")
    if path.name != f"{record.id}.{step_of(record)}.json" or record.day != path.parent.parent.name:
        raise InvalidRecordError(path, "holds another attempt or step than its name says")
    return record
