"""Copying an agent folder while curator and Pi work in it, so that the copy could be what a crash left.

The order is the argument. A record is only ever made after what it rests on is durable, so whatever is copied first may
miss what comes later, and never what came before: effects before causes. Where a record *moves* (the spool, a project's
admissions) no order helps, so those are copied whole under their lock, one at a time: first without it, then, under it,
only what has changed meanwhile.

1. closing records: each has an outcome, in 3
2. cards: one that tells of a failure has its outcome, in 3
3. the spool, under its lock: one moment, in which every job stands where it stands
4. bases: those of the jobs that ran at that moment may go once they end
5. projects, each under its lock: each intent has a decision, in 7; what is waited for was so before its job was queued;
   each receipt has its card, but a card that tells of a failure counts as it was in 2
6. accounting, days before identities: the projection never is ahead of the journal, so it comes before 8
7. decisions, those that stood before 5 or were begun in it: each has a result, in 9, and an attempt in 8 or 10. A later
   one may rest on memory that is younger than its copy; without it, its result is judged anew
8. the journal's corrections, then its settlements and unknowns: each rests on a result, in 9, and a dispatch, in 10
9. results, then evidence; then plans of old sessions: a promotion has its decision in 7, an answer is settled in 8
10. the journal's dispatches, then its reservations, then its closed days: each reservation has its acceptance, in 11
11. acceptances, and the bases that came since 4
12. whatever else is there
13. trajectories, each under its lock, for there small files move into larger ones: what plans say of them rests on them

So a dispatch has its reservation, a decision its result, an outcome its decision. A job that stands in the queue of 3 may
have a receipt in 5: that is a crash before its outcome, and recovery goes on from there. What was accepted after 3 may
have left traces without its job.

INVARIANT  Nothing in the folder changes but for the lock files. The backup appears whole under its name, or not at all.
CRASH      A staged leftover beside the backup's name.
"""

from __future__ import annotations

import dataclasses
import mmap
import os
import re
import tempfile
from functools import partial
from typing import TYPE_CHECKING, Final

from curator.backup.archive import FILE_BYTES_MAX, ROOT, Member, Writer
from curator.backup.cut import cut
from curator.durable.lock import kernel_domain, protocol_domain
from curator.durable.read import list_names, read_bounded
from curator.errors import InvalidRecordError, NotFoundError, RefusedError, StorageError
from curator.model.digest import MalformedJsonError, parse
from curator.model.ids import PROJECT_KEY_PATTERN, ProjectKey
from curator.model.limits import READY_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from curator.durable.layout import Layout, ProjectLayout
    from curator.durable.lock import Domain
    from curator.durable.trajectory_layout import TrajectoryLayout
    from curator.durable.volume import Volume

_NAMES_MAX: Final = 10_000_000
_UUID: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_LEFT_OUT: Final = re.compile(
    r"(review-workers|runtimes|review-spool/proposal-decisions/\.locks)/.*"
    r"|(curator/)?[^/]+\.sqlite(-wal|-shm|-journal)?|curator/([^/]+\.(guard|pid|lock)|report/.*)"
    r"|curator/backfill/[^/]+/run\.(guard|pid)"
    r"|curator/trajectory/[^/]+/(index\.sqlite(-wal|-shm|-journal)?|trajectory\.guard)"
    rf"|(.*/)?\.(spool\.)?lock(\.breaker|\.stale\.{_UUID})?|review-budget\.json\.lock.*"
    rf"|(.*/)?([^/]+\.\d+\.{_UUID}|\.{_UUID})\.tmp"
)
"""Heartbeats, locks, staged files, and what is made anew from the files: databases, and the page."""
_OF_A_PLAN: Final = ("rollbacks", "promotions", "snapshots", "staged", "answers")


@dataclasses.dataclass(frozen=True, slots=True)
class Taken:
    """What a backup came to."""

    files: int
    left_out: tuple[Path, ...]
    """What is no readable, regular file: named, so that nobody relies on it."""


def take(layout: Layout, volume: Volume, target: Path, now: int, told: Callable[[str], None]) -> Taken:
    """Write a backup of an agent folder to `target`, which must not be there yet.

    `told` hears each part before it is copied, with no lock held. Raises `NotFoundError` without a folder, `RefusedError`
    where the target stands or lies inside the folder, `BusyError` where a lock is not to be had.
    """
    if not layout.root.is_dir():
        fact = f"{layout.root}: no such folder"
        raise NotFoundError(fact, remedy="Name the agent folder, the one above `no-forgetti`, with --agent-dir")
    _refuse_target(layout, target)
    try:
        # Without a name: it needs no sweep, and what is copied into it is as private as what it is copied from.
        with tempfile.TemporaryFile(dir=target.parent) as packed:
            writer = Writer(packed, now)
            copy = _Copy(layout, writer)
            for part, step in copy.parts():
                told(part)
                step()
                writer.end_section()
            writer.finish()
            packed.flush()
            _publish(volume, target, packed.fileno())
    except OSError as error:
        raise StorageError(target, error) from error
    return Taken(writer.files, tuple(copy.left_out))


def _refuse_target(layout: Layout, target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise RefusedError(f"{target}: is there already", remedy="Name a file that is not")
    if not target.parent.is_dir():
        raise NotFoundError(f"{target.parent}: no such folder", remedy="Make it, or name a file elsewhere")
    if layout.root.resolve() in (target.parent.resolve(), *target.parent.resolve().parents):
        raise RefusedError(f"{target}: lies in the folder that is copied", remedy="Name a file elsewhere")


def _publish(volume: Volume, target: Path, descriptor: int) -> None:
    with mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as mapped:
        staged = volume.stage(target, mapped)  # type: ignore[arg-type]  # bytes that stay on the disk until written
    try:
        volume.rename(staged, target)
    except BaseException:
        volume.unlink(staged)
        raise
    volume.sync_directory(target.parent)


class _Copy:
    """One copying, part by part."""

    def __init__(self, layout: Layout, writer: Writer) -> None:
        self._layout = layout
        self._writer = writer
        self._bases: set[Path] = set()
        self._decided: set[str] = set()
        self._cards: set[Path] = set()
        self._plans = layout.plans
        self.left_out: dict[Path, None] = {}

    def parts(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield the parts in their order; each is to be copied before the next is asked for."""
        layout = self._layout
        for shard in self._folders(layout.finished):
            yield f"closing records {shard.name}", lambda shard=shard: self._plain(_walk(shard))  # type: ignore[misc]  # bound early
        cards = [project.ready for project in self._projects()]
        yield "cards", lambda: self._plain((path for folder in cards for path in _walk(folder)), self._cards)
        yield "spool", self._spool
        yield "bases", lambda: self._plain(_walk(layout.bases), self._bases)
        self._decided.update(list_names(layout.decisions, _NAMES_MAX))
        for project in self._projects():
            yield f"project {project.root.name}", lambda project=project: self._project(project)  # type: ignore[misc]  # bound early
        yield "accounting", lambda: self._plain((*_walk(layout.days), *_walk(layout.identities)))
        yield "decisions", lambda: self._plain(path for path in _walk(layout.decisions) if path.name in self._decided)
        yield from self._steps((3, 2))
        yield "results", lambda: self._plain(_walk(layout.results))
        yield "evidence", lambda: self._plain(_walk(layout.evidence))
        yield "plans", lambda: self._plain(sorted(_walk(self._plans), key=_rank))
        yield from self._steps((1, 0))
        yield "closed days", lambda: self._plain(self._rest_of_journal())
        yield "acceptances", lambda: self._plain(_walk(layout.jobs))
        yield "late bases", lambda: self._plain(path for path in _walk(layout.bases) if path not in self._bases)
        yield "the rest", lambda: self._plain(self._rest())
        for place in self._trajectories():
            yield f"trajectory {place.root.name}", lambda place=place: self._trajectory(place)  # type: ignore[misc]  # bound early

    def _steps(self, numbers: tuple[int, ...]) -> Iterator[tuple[str, Callable[[], None]]]:
        for number in numbers:
            for day in self._folders(self._layout.attempts):
                ending = f".{number}.json"
                yield (
                    f"attempts of {day.name}, step {number}",
                    lambda day=day, ending=ending: self._plain(  # type: ignore[misc]  # bound early
                        path for path in _walk(day) if path.name.endswith(ending)
                    ),
                )

    def _rest_of_journal(self) -> Iterator[Path]:
        """Yield what is no step: legacy carries, and last the closed days, which stand for folders that go."""
        steps = re.compile(r".+\.[0-3]\.json")
        others = [path for path in _walk(self._layout.attempts) if not steps.fullmatch(path.name)]
        return iter(sorted(others, key=lambda path: (path.parent == self._layout.attempts, path)))

    def _spool(self) -> None:
        layout = self._layout
        folders = (layout.queued, layout.running, layout.held, layout.outcomes, layout.dead_letter)
        files = partial(_walk_all, folders)
        self._cut(files, layout.spool_lock, protocol_domain("spool", layout.spool_lock))

    def _project(self, project: ProjectLayout) -> None:
        def files() -> Iterator[Path]:
            return (path for path in _walk(project.root) if path.parent != project.ready or self._is_due(path))

        proofs = {project.admissions, project.retired, project.receipts}
        for path in self._cut(files, project.lock, protocol_domain("project", project.lock)):
            if path.parent in proofs:
                self._decided.add(f"{path.name.partition('.')[0]}.json")

    def _trajectory(self, place: TrajectoryLayout) -> None:
        self._cut(partial(_walk, place.root), place.lock, kernel_domain("trajectory", place.lock))

    def _is_due(self, card: Path) -> bool:
        """Tell whether a card may be copied with its project: one of a failure whose outcome we may have missed may not."""
        if card in self._cards:
            return True
        try:
            value = parse(read_bounded(card, READY_BYTES_MAX) or b"")
        except (InvalidRecordError, MalformedJsonError):
            return False
        return isinstance(value, dict) and value.get("status") != "failed"

    def _rest(self) -> Iterator[Path]:
        """Yield what no part before has covered: configuration, standings, what a later release keeps."""
        layout = self._layout
        covered = {layout.finished, layout.bases, layout.days, layout.identities, layout.decisions, layout.attempts}
        covered |= {layout.results, layout.evidence, layout.jobs, layout.queued, layout.running, layout.held}
        covered |= {layout.outcomes, layout.dead_letter, *(project.root for project in self._projects())}
        covered |= {self._plans, *(place.root for place in self._trajectories())}
        return _walk(layout.root, covered)

    def _plain(self, paths: Iterable[Path], noted: set[Path] | None = None) -> None:
        for path in paths:
            self._add(path)
            if noted is not None:
                noted.add(path)

    def _cut(self, files: Callable[[], Iterator[Path]], lock: Path, domain: Domain) -> list[Path]:
        if not lock.parent.is_dir():
            return []
        return cut(files, domain, self._add, lambda path: self._writer.drop(self._name(path)))

    def _add(self, path: Path) -> None:
        if _LEFT_OUT.fullmatch(path.relative_to(self._layout.root).as_posix()):
            return
        try:
            data = read_bounded(path, FILE_BYTES_MAX)
            mtime_ns = path.lstat().st_mtime_ns
        except FileNotFoundError:
            data, mtime_ns = None, 0
        except InvalidRecordError:
            self.left_out[path] = None
            return
        if data is None:
            # It went while we looked; within a cut it is dropped, or comes again under its new name.
            self._writer.drop(self._name(path))
            return
        self._writer.add(Member(self._name(path), data, mtime_ns))

    def _name(self, path: Path) -> str:
        return f"{ROOT}/{path.relative_to(self._layout.root).as_posix()}"

    def _projects(self) -> list[ProjectLayout]:
        layout = self._layout
        real = [name for name in list_names(layout.root, _NAMES_MAX) if PROJECT_KEY_PATTERN.fullmatch(name)]
        shadow = [name for name in list_names(layout.shadow, _NAMES_MAX) if PROJECT_KEY_PATTERN.fullmatch(name)]
        return [layout.project(ProjectKey(key)) for key in real] + [
            layout.shadow_project(ProjectKey(key)) for key in shadow
        ]

    def _trajectories(self) -> list[TrajectoryLayout]:
        layout = self._layout
        names = [folder.name for folder in self._folders(layout.trajectories)]
        return [layout.trajectory(ProjectKey(name)) for name in names if PROJECT_KEY_PATTERN.fullmatch(name)]

    def _folders(self, folder: Path) -> list[Path]:
        return [folder / name for name in list_names(folder, _NAMES_MAX) if (folder / name).is_dir()]


def _rank(path: Path) -> tuple[int, Path]:
    """Order what stands of a plan: effects before causes."""
    return _OF_A_PLAN.index(path.parent.name) if path.parent.name in _OF_A_PLAN else len(_OF_A_PLAN), path


def _walk_all(folders: Iterable[Path]) -> Iterator[Path]:
    return (path for folder in folders for path in _walk(folder))


def _walk(folder: Path, without: Iterable[Path] = ()) -> Iterator[Path]:
    """Yield the files below a folder, by name; follows no symlink, and a folder that goes meanwhile is over."""
    try:
        with os.scandir(folder) as entries:
            found = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        return
    for name, is_folder in found:
        path = folder / name
        if not is_folder:
            yield path
        elif path not in without:
            yield from _walk(path, without)
