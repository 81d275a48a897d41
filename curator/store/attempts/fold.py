"""One day of the journal in memory: totals are kept, not recounted, so that a transition costs the same on a busy day.

A day that was closed is one file; what that covers counts from there, whatever is left of its folder. What came after
the closing, a correction for the most part, stands in the folder and counts too.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Final

from curator.durable.index import Listing
from curator.durable.read import list_names, stamp_of
from curator.durable.records import read_as, read_record
from curator.errors import InvalidRecordError
from curator.model.attempt import (
    Attempt,
    AttemptRecord,
    AttemptState,
    Correction,
    LegacyCarry,
    decode_attempt,
    state_of,
    step_of,
)
from curator.model.budget import Exposure, exposure_of, exposure_of_legacy
from curator.model.closed_day import ClosedDay, PastAttempt
from curator.model.ids import AttemptId, JobId
from curator.model.limits import CLOSED_DAY_BYTES_MAX, DIRECTORY_NAMES_MAX, JOURNAL_BYTES_MAX
from curator.model.record import Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

STEP_NAME: Final = re.compile(r"(review_attempt_[0-9a-f]{40})\.([0-3])\.json")
SHARD: Final = re.compile(r"[0-9a-f]{2}")
LEGACY_NAME: Final = re.compile(r"legacy\.[0-9a-f]{24}\.json")
CLOSED_NAME: Final = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})\.closed\.json")
NOTHING: Final = Exposure()
_SHARDS_MAX: Final = 300
"""256 shards and the legacy carries."""


@dataclasses.dataclass(frozen=True, slots=True)
class Seen:
    """What the journal knows of one attempt."""

    latest: Attempt
    """The highest step that can be read; it repeats the facts of those before."""
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


class DayFold:
    """What one day's files come to."""

    def __init__(self, root: Path) -> None:
        """Fold the day whose folder is `root`; nothing is read yet."""
        self.root = root
        self.closed_path = closed_path_of(root)
        self._begin()

    def _begin(self) -> None:
        self._shards = Listing(self.root)
        self._listings: dict[str, tuple[Path, Listing]] = {}
        self._known: set[str] = set()
        self._by_job: dict[JobId, tuple[AttemptId, ...]] = {}
        self._past: frozenset[AttemptId] | None = None
        self.is_closed = False
        self.attempts: dict[AttemptId, Seen] = {}
        """Those that stand whole. Of a closed day only what nobody knows the end of."""
        self.totals: dict[str, Exposure] = {}
        self.legacy: dict[str, LegacyCarry] = {}
        self.faults: dict[str, InvalidRecordError] = {}

    def unresolved(self, provider: str) -> Exposure:
        """Return what attempts without an end may cost: held, and unknown but for what a legacy budget carried in.

        Such a budget says what its day has cost, so it is over with its day.
        """
        if self.is_closed and not self.attempts:
            # Most days of a long life: they are asked about at each reservation.
            return NOTHING
        total, carry = self.totals.get(provider, NOTHING), self.legacy.get(provider)
        carried = Exposure() if carry is None else exposure_of_legacy(carry)
        return Exposure(held=total.held, unknown=total.unknown - carried.unknown)

    def of_job(self, job_id: JobId) -> list[Seen]:
        """Return a job's attempts."""
        return [self.attempts[each] for each in self._by_job.get(job_id, ())]

    def take_in(self, record: AttemptRecord, name: str) -> None:
        """Take in a step that was published here under that name: it need not be read back."""
        if name in self._known or self.is_closed:
            return
        self._fold_in(record)
        self._known.add(name)

    def refresh(self) -> None:
        """Take in what is new on disk."""
        for name in sorted(self.faults):
            # Somebody may have mended it in place, which no folder shows.
            fault = self.faults.pop(name, None)
            if fault is not None:
                self._take(fault.path)
        self._read_folder()
        # Looked for after the folder was: whoever takes anything from that has published this before.
        if not self.is_closed and self.closed_path.name not in self.faults and stamp_of(self.closed_path) is not None:
            self._take(self.closed_path)

    def hidden(self) -> InvalidRecordError | None:
        """Return a fault that hides spend: nothing of its attempt can be read, or a legacy carry cannot."""
        for name, fault in self.faults.items():
            match = STEP_NAME.fullmatch(name)
            if match is None or AttemptId(match.group(1)) not in self.attempts:
                return fault
        return None

    def past(self) -> Mapping[AttemptId, PastAttempt]:
        """Return the attempts of a closed day that have their end, read anew; none of another day."""
        return past_of(read_closed(self.closed_path), self.closed_path) if self.is_closed else {}

    def covers(self, attempt_id: AttemptId) -> bool:
        """Tell whether an attempt had its end when the day was closed, so that no file of it counts any more."""
        if self._past is None:
            self._past = frozenset(self.past())
        return attempt_id in self._past

    def _read_folder(self) -> None:
        for folder, listing in self._folders():
            if listing.is_current():
                continue
            for name in list_names(folder, DIRECTORY_NAMES_MAX):
                if name not in self._known:
                    self._take(folder / name)
            listing.done()

    def _folders(self) -> Iterable[tuple[Path, Listing]]:
        if not self._shards.is_current():
            if stamp_of(self.root) is None:
                # Closed days for the most part: these two looks are all that they cost.
                return ()
            names = ["", *(name for name in list_names(self.root, _SHARDS_MAX) if SHARD.fullmatch(name))]
            self._listings = {name: self._listings.get(name) or self._listing_of(name) for name in names}
            self._shards.done()
        return self._listings.values()

    def _listing_of(self, name: str) -> tuple[Path, Listing]:
        folder = self.root / name
        return folder, Listing(folder)

    def _take(self, path: Path) -> None:
        try:
            if STEP_NAME.fullmatch(path.name):
                self._add(path)
            elif LEGACY_NAME.fullmatch(path.name):
                self._carry(path)
            elif path == self.closed_path:
                self._close()
            else:
                return
        except InvalidRecordError as fault:
            self.faults[path.name] = fault
        self._known.add(path.name)

    def _close(self) -> None:
        closed = read_closed(self.closed_path)
        self._begin()
        self.is_closed = True
        self._past = None if closed.attempts else frozenset()
        self.legacy = {carry.provider: carry for carry in closed.legacy}
        self.totals = {provider: total.exposure for provider, total in closed.totals.items()}
        for unknown in closed.unresolved:
            self._know(Seen(unknown))
        self._read_folder()

    def _carry(self, path: Path) -> None:
        carry = read_record(path, LegacyCarry, JOURNAL_BYTES_MAX, private=True)
        if carry is None:
            raise InvalidRecordError(path, "is gone")
        if carry.provider not in self.legacy:
            self.legacy[carry.provider] = carry
            self._count(carry.provider, exposure_of_legacy(carry))

    def _add(self, path: Path) -> None:
        if self.is_closed and self.covers(AttemptId(path.name.partition(".")[0])):
            return
        if not self._fold_in(read_step(path)):
            raise InvalidRecordError(path, "corrects an attempt of which nothing else can be read")

    def _fold_in(self, record: AttemptRecord) -> bool:
        before = self.attempts.get(record.id)
        after = _folded(before, record)
        if after is None:
            return False
        self._know(after)
        self._count(record.provider, after.exposure - (before.exposure if before is not None else Exposure()))
        return True

    def _know(self, seen: Seen) -> None:
        self.attempts[seen.id] = seen
        if seen.latest.job_id is not None:
            known = self._by_job.get(seen.latest.job_id, ())
            if seen.id not in known:
                self._by_job[seen.latest.job_id] = (*known, seen.id)

    def _count(self, provider: str, exposure: Exposure) -> None:
        self.totals[provider] = self.totals.get(provider, Exposure()) + exposure


def closed_path_of(root: Path) -> Path:
    """Return where a day stands when it is closed, from where its folder stands."""
    return root.with_name(f"{root.name}.closed.json")


def read_step(path: Path) -> AttemptRecord:
    """Read one step and hold it to its name."""
    record = read_as(path, decode_attempt, JOURNAL_BYTES_MAX, private=True)
    if record is None:
        raise InvalidRecordError(path, "is gone")
    if path.name != f"{record.id}.{step_of(record)}.json" or record.day != path.parent.parent.name:
        raise InvalidRecordError(path, "holds another attempt or step than its name says")
    return record


def read_closed(path: Path) -> ClosedDay:
    """Read a closed day and hold it to its name."""
    closed = read_record(path, ClosedDay, CLOSED_DAY_BYTES_MAX, private=True)
    if closed is None:
        raise InvalidRecordError(path, "is gone")
    if path.name != f"{closed.day}.closed.json":
        raise InvalidRecordError(path, "holds another day than its name says")
    return closed


def past_of(closed: ClosedDay, path: Path) -> Mapping[AttemptId, PastAttempt]:
    """Return the rows of a closed day that stands at `path`."""
    try:
        return closed.past()
    except Violation as violation:
        raise InvalidRecordError(path, str(violation)) from violation


def _folded(before: Seen | None, record: AttemptRecord) -> Seen | None:
    """Return what is known after one more file, in whatever order the files are met; None for a lone correction."""
    if isinstance(record, Correction):
        return None if before is None else dataclasses.replace(before, correction=record)
    if before is None:
        return Seen(record)
    return dataclasses.replace(before, latest=record) if step_of(record) > step_of(before.latest) else before
