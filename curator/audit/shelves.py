"""What the fold looks through: folders of records, and what changes when one of them does.

A shelf is told to be unchanged by its stamp, which spares the listing; a source on it by its own, which spares the reading.
Both hold because every writer renames or links whole files: a record that somebody edits in place shows at a rebuild.
"""

from __future__ import annotations

import dataclasses
import os
import re
import stat
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from curator.audit import facts, memory_facts
from curator.audit.facts import Row
from curator.durable.ages import folders_in
from curator.durable.read import Stamp, list_names, stamp_of
from curator.errors import InvalidRecordError, StorageError
from curator.model.ids import DAY_PATTERN, JOB_ID_PATTERN, PROJECT_KEY_PATTERN, Day, ProjectKey
from curator.model.limits import DIRECTORY_NAMES_MAX
from curator.store.attempts.fold import CLOSED_NAME, LEGACY_NAME, SHARD, STEP_NAME, DayFold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from curator.durable.layout import Layout, ProjectLayout

Reader: TypeAlias = "Callable[[Path], Iterator[Row]]"

_JOB: Final = re.compile(r"review_[0-9a-f]{40}\.json")
_SET_ASIDE: Final = re.compile(r".+\.bad")
_LETTER: Final = re.compile(r"review_[0-9a-f]{40}\.[0-9a-f]{12}\.[0-9a-f-]{36}\.json")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}\.json")
_SPANS: Final = re.compile(r"review_[0-9a-f]{40}\.review_attempt_[0-9a-f]{40}\.json")
_BEAT: Final = re.compile(r"[0-9a-f]{24}\.json")
_BRANCH: Final = re.compile(r"[a-z][a-z0-9_-]{0,63}\.json")
_REVISION: Final = re.compile(r"\d{12}-[a-f0-9-]{36}\.json")
_PART: Final = re.compile(r"review_[0-9a-f]{40}\.(intent|complete)\.json")


@dataclasses.dataclass(frozen=True, slots=True)
class Mark:
    """How something stood when it was looked at."""

    text: str
    newest_ns: int
    """The latest change in it: what lies close to the look may hide a later one."""


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """What a source says; what of it cannot be read costs that much of it."""

    rows: tuple[Row, ...]
    fault: str | None = None


class Shelf(Protocol):
    """One folder of sources."""

    key: str

    def mark(self) -> Mark | None:
        """Return how the shelf stands; None where it is gone."""

    def sources(self) -> Mapping[str, Mark]:
        """List what stands on it."""

    def read(self, name: str) -> Reading | None:
        """Read one source; None where it is gone."""


class Files:
    """A folder in which each record is a source."""

    def __init__(self, layout: Layout, folder: Path, names: re.Pattern[str], reader: Reader) -> None:
        """Look through those of `folder` that are named so."""
        self.key = _key(layout, folder)
        self._folder = folder
        self._names = names
        self._reader = reader

    def mark(self) -> Mark | None:
        """Return the folder's stamp."""
        return _mark(stamp_of(self._folder))

    def sources(self) -> Mapping[str, Mark]:
        """Return the records' stamps."""
        found: dict[str, Mark] = {}
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    if self._names.fullmatch(entry.name) and (mark := _mark_of_entry(entry)) is not None:
                        found[entry.name] = mark
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise StorageError(self._folder, error) from error
        return found

    def read(self, name: str) -> Reading | None:
        """Read one record; one that is gone meanwhile says nothing."""
        try:
            rows = tuple(self._reader(self._folder / name))
        except InvalidRecordError as fault:
            return Reading((), fault.why)
        is_gone = not rows and stamp_of(self._folder / name) is None
        return None if is_gone else Reading(rows)


class OpenShard:
    """A 256th of a day of the journal, in which each attempt is a source: up to four files, and the last one counts."""

    def __init__(self, layout: Layout, folder: Path) -> None:
        """Look through the steps in `folder`."""
        self.key = _key(layout, folder)
        self._folder = folder

    def mark(self) -> Mark | None:
        """Return the folder's stamp."""
        return _mark(stamp_of(self._folder))

    def sources(self) -> Mapping[str, Mark]:
        """Return which steps of each attempt stand: none is ever rewritten."""
        steps: dict[str, str] = {}
        for name in list_names(self._folder, DIRECTORY_NAMES_MAX):
            match = STEP_NAME.fullmatch(name)
            if match is not None:
                steps[match.group(1)] = steps.get(match.group(1), "") + match.group(2)
        return {name: Mark(standing, 0) for name, standing in steps.items()}

    def read(self, name: str) -> Reading | None:
        """Fold one attempt."""
        seen, fault = facts.seen_of([self._folder / f"{name}.{step}.json" for step in range(4)])
        return Reading(() if seen is None else (facts.attempt_row(seen),), fault)


class ClosedDay:
    """A day of the journal that is over: one source, whatever is left of its folder."""

    def __init__(self, layout: Layout, day: Day) -> None:
        """Look at the day's one file and its folder."""
        self._root = layout.attempts / day
        self._path = layout.attempts / f"{day}.closed.json"
        self.key = _key(layout, self._path)

    def mark(self) -> Mark | None:
        """Return the stamps of the file, of the folder, and of what is in it."""
        closed = stamp_of(self._path)
        if closed is None:
            return None
        folders = [self._root, *(self._root / name for name in sorted(folders_in(self._root)))]
        stamps = [closed, *(stamp for folder in folders if (stamp := stamp_of(folder)) is not None)]
        text = " ".join(_text_of(stamp) for stamp in stamps)
        return Mark(text, max(stamp.mtime_ns for stamp in stamps))

    def sources(self) -> Mapping[str, Mark]:
        """Return the day, as it stands."""
        mark = self.mark()
        return {} if mark is None else {"day": mark}

    def read(self, name: str) -> Reading | None:
        """Fold the day as the journal's own store does."""
        del name
        fold = DayFold(self._root)
        fold.refresh()
        faults = [fault.why for fault in fold.faults.values()]
        try:
            past = fold.past()
        except InvalidRecordError as fault:
            past, faults = {}, [*faults, fault.why]
        day = Day(self._root.name)
        rows = [facts.attempt_row(seen) for seen in fold.attempts.values()]
        rows += [facts.past_row(day, each) for each in past.values()]
        rows += [facts.carry_row(carry) for carry in fold.legacy.values()]
        return Reading(tuple(rows), "; ".join(faults) or None)


def shelves_of(layout: Layout) -> Iterator[Shelf]:
    """Yield everything that the shadow is folded from."""

    def files(folder: Path, names: re.Pattern[str], reader: Reader) -> Files:
        return Files(layout, folder, names, reader)

    yield files(layout.queued, _JOB, partial(facts.queued, "queued"))
    yield files(layout.held, _JOB, partial(facts.queued, "held"))
    yield files(layout.running, _JOB, facts.running)
    yield files(layout.outcomes, _JOB, facts.outcome)
    yield files(layout.dead_letter, _LETTER, facts.letter)
    # By its names alone, beside the one above: a key is its own.
    yield _SetAside(layout, layout.dead_letter)
    yield _SetAside(layout, layout.quarantine)
    yield files(layout.jobs, _JOB, facts.acceptance)
    for shard in sorted(folders_in(layout.finished)):
        yield files(layout.finished / shard, _JOB, facts.closing)
    yield from _journal(layout)
    for job in sorted(folders_in(layout.bases)):
        if JOB_ID_PATTERN.fullmatch(job):
            yield files(layout.bases / job, _DIGEST, facts.base)
    yield files(layout.decisions, _JOB, facts.decision)
    for shard in sorted(folders_in(layout.evidence)):
        yield files(layout.evidence / shard, _SPANS, facts.spans)
    yield files(layout.workers, _BEAT, facts.run)
    for key in sorted(folders_in(layout.root)):
        if PROJECT_KEY_PATTERN.fullmatch(key):
            place = layout.project(ProjectKey(key))
            yield from _project(layout, place, memory_facts.Store("external", ProjectKey(key)))
            yield files(place.pending, _JOB, partial(memory_facts.pending, ProjectKey(key)))
            yield files(place.ready, _JOB, partial(memory_facts.ready, ProjectKey(key)))
    for key in sorted(folders_in(layout.shadow)):
        if PROJECT_KEY_PATTERN.fullmatch(key):
            place = layout.shadow_project(ProjectKey(key))
            yield from _project(layout, place, memory_facts.Store("shadow", ProjectKey(key)))


class _SetAside(Files):
    """Records that were set aside: nothing is read of them but their names and sizes."""

    def __init__(self, layout: Layout, folder: Path) -> None:
        super().__init__(layout, folder, _SET_ASIDE, partial(facts.set_aside, folder.name))
        self.key += "/*.bad"


def _journal(layout: Layout) -> Iterator[Shelf]:
    names = list_names(layout.attempts, DIRECTORY_NAMES_MAX)
    closed = {match.group(1) for name in names if (match := CLOSED_NAME.fullmatch(name))}
    for name in sorted(closed.union(name for name in names if DAY_PATTERN.fullmatch(name))):
        root = layout.attempts / name
        if name in closed:
            yield ClosedDay(layout, Day(name))
            continue
        yield Files(layout, root, LEGACY_NAME, facts.carry)
        for shard in sorted(folders_in(root)):
            if SHARD.fullmatch(shard):
                yield OpenShard(layout, root / shard)


def _project(layout: Layout, place: ProjectLayout, store: memory_facts.Store) -> Iterator[Shelf]:
    yield Files(layout, place.branches, _BRANCH, partial(memory_facts.branch, store))
    for name in sorted(folders_in(place.histories)):
        yield Files(layout, place.histories / name, _REVISION, partial(memory_facts.revision, store))
    yield Files(layout, place.admissions, _PART, partial(memory_facts.admission, store))
    yield Files(layout, place.retired, _JOB, partial(memory_facts.tombstone, store))
    yield Files(layout, place.receipts, _JOB, partial(memory_facts.receipt, store))


def _key(layout: Layout, path: Path) -> str:
    return str(path)[len(str(layout.root)) + 1 :]


def _text_of(stamp: Stamp) -> str:
    return f"{stamp.mtime_ns}.{stamp.size}.{stamp.inode}"


def _mark(stamp: Stamp | None) -> Mark | None:
    return None if stamp is None else Mark(_text_of(stamp), stamp.mtime_ns)


def _mark_of_entry(entry: os.DirEntry[str]) -> Mark | None:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        return None
    return _mark(Stamp(status.st_mtime_ns, status.st_size, status.st_ino))
