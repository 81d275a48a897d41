"""Bringing a backup back, into a folder that holds nothing else.

A spent call never comes back unspent: every attempt that was open when the backup was taken is closed (reserved:
cancelled; dispatched: settled, where its result came along, else unknown), so that it counts and is not made again. What
was spent *after* the backup, the backup cannot know. It stays counted where the folder's own `curator/attempts` is left
standing, alone: both journals are then merged, name by name, and a name that says two things refuses the restore.

INVARIANT  The folder appears whole, or not at all: everything is written and flushed beside it, then renamed.
CRASH      A folder `no-forgetti.restoring` beside the place, to be removed by hand; or, with a journal kept, between the
           two renames, the old one's under its new name.
"""

from __future__ import annotations

import dataclasses
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from curator.backup.archive import FILE_BYTES_MAX, ROOT, Contents, Member, check, files_of
from curator.durable.layout import Layout
from curator.durable.publish import ensure_directory
from curator.durable.read import read_bounded
from curator.errors import ConflictError, InvalidRecordError, NotFoundError, RefusedError, StorageError
from curator.model.attempt import (
    Attempt,
    AttemptState,
    Dispatched,
    Reserved,
    cancelled_from,
    settled_from,
    state_of,
    unknown_from,
)
from curator.model.digest import MalformedJsonError, parse
from curator.model.job import Queued
from curator.model.record import Violation
from curator.model.times import iso
from curator.store.attempts import AttemptStore
from curator.store.decisions import DecisionStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curator.durable.volume import Volume

_JOURNAL: Final = f"{ROOT}/curator/attempts/"
_QUEUED: Final = f"{ROOT}/review-spool/queued/"
_HELD: Final = f"{ROOT}/curator/held/"
_TICK_S: Final = 0.02
"""Longer than the step of any file time: what is written after it is younger."""


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """What a backup holds, checked, and what the place holds already."""

    path: Path
    contents: Contents
    kept: tuple[Path, ...]
    """The journal files of the place, which stay counted."""


@dataclasses.dataclass(frozen=True, slots=True)
class Restored:
    """What was done."""

    files: int
    kept: int
    """Journal files of the place that the backup did not have."""
    cancelled: int
    settled: int
    unknown: int
    moved: Path | None
    """Where the old folder went, if it held a journal."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Building(Layout):
    """The tree of an agent folder while it is brought back, beside its place."""

    @property
    def root(self) -> Path:
        """Where it is built."""
        return self.agent / f"{ROOT}.restoring"


def plan(layout: Layout, path: Path) -> Plan:
    """Check a whole backup, and whether it may be brought back here; nothing is changed.

    Raises `NotFoundError` without a backup, `InvalidRecordError` for one that is not whole, `RefusedError` where the
    place holds more than a journal, `ConflictError` where both journals say different things under one name.
    """
    if not path.is_file():
        fact = f"{path}: no such file"
        raise NotFoundError(fact, remedy="Name a file that `curator backup` wrote")
    kept = tuple(_kept(layout))

    def hold_to_the_journal(member: Member) -> None:
        if member.name.startswith(_JOURNAL):
            standing = layout.agent / member.name
            if standing in kept_set and read_bounded(standing, FILE_BYTES_MAX) != member.data:
                raise ConflictError(standing, "says something else than the backup")

    kept_set = frozenset(kept)
    return Plan(path, check(path, hold_to_the_journal), kept)


def restore(layout: Layout, volume: Volume, planned: Plan, now: int, told: Callable[[str], None]) -> Restored:
    """Bring a checked backup back. `now` is when its open attempts are closed."""
    building = _Building(layout.agent)
    if building.root.exists():
        remedy = "An earlier restore was cut short; remove that folder, and run again"
        raise RefusedError(f"{building.root}: is there already", remedy=remedy)
    ensure_directory(volume, layout.agent)
    writer = _Writer(building, volume)
    told("journal of the place")
    for path in planned.kept:
        data = read_bounded(path, FILE_BYTES_MAX)
        assert data is not None
        writer.write(Member(path.relative_to(layout.agent).as_posix(), data, 0))
    kept = len(planned.kept)
    waiting: list[_Waiting] = []
    for member in files_of(planned.path, planned.contents):
        told(member.name.rpartition("/")[0])
        if not writer.write(member):
            # Of the journal it was there already; of the bases a backup may hold one twice.
            kept -= member.name.startswith(_JOURNAL)
        elif member.name.startswith((_QUEUED, _HELD)):
            waiting.append(_Waiting.of(member))
    _in_order(building, volume, waiting)
    told("open attempts")
    closed = _close_open(building, volume, now)
    writer.flush()
    return Restored(
        files=planned.contents.files,
        kept=kept,
        cancelled=closed.count(AttemptState.CANCELLED),
        settled=closed.count(AttemptState.SETTLED),
        unknown=closed.count(AttemptState.UNKNOWN),
        moved=_swap(layout, building, volume, now),
    )


def _kept(layout: Layout) -> Iterator[Path]:
    """Yield the journal files of the place. Raises `RefusedError` if it holds anything else."""
    if layout.root.is_symlink() or (layout.root.exists() and not layout.root.is_dir()):
        raise RefusedError(f"{layout.root}: is no folder of its own", remedy="Move it away, and run again")
    for folder, folders, names in os.walk(layout.root):
        del folders
        for name in names:
            path = Path(folder, name)
            if layout.attempts in path.parents:
                if not name.endswith(".tmp"):
                    yield path
            elif path != layout.attempts_lock:
                raise RefusedError(
                    f"{layout.root}: holds something already, {path.relative_to(layout.root)} for one",
                    remedy=(
                        "Stop curator and close Pi, move the folder away, and run again. So that what was spent since the "
                        "backup stays counted, leave its curator/attempts where it is"
                    ),
                )


class _Writer:
    """Writes files of a backup below the folder that is built; flushes each, and the folders at the end."""

    def __init__(self, building: Layout, volume: Volume) -> None:
        self._building = building
        self._volume = volume
        self._folders: dict[Path, None] = {}
        self._make(building.root)

    def write(self, member: Member) -> bool:
        """Write one file; tell whether it was not there yet. A backup may hold an immutable one twice."""
        path = self._building.root / Path(member.name).relative_to(ROOT)
        self._make(path.parent)
        staged = self._volume.stage(path, member.data)
        try:
            self._volume.link(staged, path)
        except FileExistsError:
            if read_bounded(path, FILE_BYTES_MAX) != member.data:
                raise ConflictError(path, "stands twice in the backup, and differs") from None
            return False
        finally:
            self._volume.unlink(staged)
        return True

    def flush(self) -> None:
        """Make every name durable, the deepest first."""
        for folder in sorted(self._folders, key=lambda each: len(each.parts), reverse=True):
            self._volume.sync_directory(folder)

    def _make(self, folder: Path) -> None:
        if folder in self._folders:
            return
        if folder != self._building.root:
            self._make(folder.parent)
        self._volume.make_directory(folder)
        self._folders[folder] = None


@dataclasses.dataclass(frozen=True, slots=True)
class _Waiting:
    """A job that waits, and since when: a file's time says it until its first claim."""

    name: str
    branch: str
    since_ns: int

    @classmethod
    def of(cls, member: Member) -> _Waiting:
        try:
            job = Queued.decode(parse(member.data)).job
        except (Violation, MalformedJsonError):
            # It goes to the dead letters at the first start, as it would have before.
            return cls(member.name, "", member.mtime_ns)
        return cls(member.name, f"{job.project_key} {job.branch.name}", member.mtime_ns)


def _in_order(building: Layout, volume: Volume, waiting: list[_Waiting]) -> None:
    """Give the jobs of each branch their order again, by the times of their files: the first of all, then the second."""
    rounds: dict[str, list[_Waiting]] = {}
    for each in sorted(waiting, key=lambda one: (one.since_ns, one.name)):
        rounds.setdefault(each.branch, []).append(each)
    pause = threading.Event()
    for turn in range(max(map(len, rounds.values()), default=0)):
        if turn:
            pause.wait(_TICK_S)
        for jobs in rounds.values():
            if turn < len(jobs):
                volume.touch(building.root / Path(jobs[turn].name).relative_to(ROOT))


def _close_open(building: Layout, volume: Volume, now: int) -> list[AttemptState]:
    """Close every attempt that nobody owns any more: all that were open."""
    attempts, decisions = AttemptStore(volume, building), DecisionStore(volume, building)
    closed = []
    for seen in attempts.open_attempts():
        ending = _ending(seen.latest, decisions, iso(now))
        attempts.advance(ending)
        closed.append(state_of(ending))
    return closed


def _ending(latest: Attempt, decisions: DecisionStore, at: str) -> Attempt:
    match latest:
        case Reserved():
            return cancelled_from(latest, at)
        case Dispatched():
            result = None
            if latest.job_id is not None:
                try:
                    result = decisions.result(latest.job_id, latest.id)
                except InvalidRecordError:
                    # Nobody can tell what it cost: it stays counted at its hold.
                    result = None
            provenance = None if result is None else result.outcome.provenance
            if result is None or provenance is None or result.job.digest != latest.job_digest:
                return unknown_from(latest, at)
            return settled_from(latest, at, provenance, is_estimated=provenance.usage.total_tokens == 0)
        case _:
            raise AssertionError(latest.state)


def _swap(layout: Layout, building: Layout, volume: Volume, now: int) -> Path | None:
    moved = None
    if layout.root.is_dir() and any(layout.root.iterdir()):
        moved = layout.root.with_name(f"{ROOT}.before-restore.{now}")
        volume.rename(layout.root, moved)
    try:
        volume.rename(building.root, layout.root)
    except StorageError as error:
        fact = f"{layout.root}: somebody wrote into it meanwhile"
        remedy = f"Close Pi, remove it and {building.root.name}, and run again"
        raise RefusedError(fact, remedy=remedy) from error
    volume.sync_directory(layout.agent)
    return moved
