"""What everything stands on: the agent folder, its modes, its filesystem, its space, and the clock."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from curator.doctor.finding import Drop, Finding, Restrict
from curator.durable.mounts import ground_of, read_mounts
from curator.durable.probe import probe
from curator.durable.read import list_names, stamp_of
from curator.durable.sweep import STAGED
from curator.durable.volume import FILE_MODE, FOLDER_MODE, Volume
from curator.errors import CuratorError, StorageError
from curator.model.ids import PROJECT_KEY_PATTERN, ProjectKey
from curator.model.limits import DIRECTORY_NAMES_MAX, STAGED_LEFTOVER_MS
from curator.model.times import day_of, iso
from curator.pi.runtimes import read_runtimes
from curator.store.attempts import AttemptStore
from curator.store.heartbeats import HeartbeatStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator.durable.layout import Layout

_OTHERS: Final = 0o077
_OTHERS_WRITE: Final = 0o022
_SPACE_LOW: Final = 268_435_456
_SPACE_NONE: Final = 33_554_432
"""A few hundred jobs, each with its evidence in as many copies as the protocol wants."""
_NAMES_LOW: Final = 1_000
_SKEW_MS: Final = 2_000
_EXTENSION_ONLY: Final = frozenset(
    {"memory-pending", "skills", "skill-pending", "skill-revisions", "skill-activity-index"}
)
_OPEN: Final = frozenset({"review-workers", "runtimes"})
"""Signs of life hold no secret; whoever may read them is the person's affair."""


def look_at_folder(layout: Layout) -> Iterator[Finding]:
    """Find the agent folder, and name what others may read in it."""
    if not layout.agent.is_dir():
        fact = f"{layout.agent}: is not there"
        yield Finding("error", "agent folder", fact, "Start Pi once, or name its folder with --agent-dir")
        return
    yield Finding("ok", "agent folder", str(layout.agent))
    if not layout.root.is_dir():
        yield Finding("note", "agent folder", f"{layout.root}: is not there yet", "Run `curator config init`")


def look_at_modes(layout: Layout, now: int) -> Iterator[Finding]:
    """Name folders and files that others may enter or read, and what dead writers left."""
    folders: list[Path] = []
    files: list[Path] = []
    staged: list[Path] = []
    for path, status in _walk(layout.root, depth=0):
        mode = stat.S_IMODE(status.st_mode)
        is_open = bool(mode & (_OTHERS_WRITE if _is_open(layout, path) else _OTHERS))
        if stat.S_ISDIR(status.st_mode):
            folders += [path] if is_open else []
        elif STAGED.fullmatch(path.name) and now - status.st_mtime_ns // 1_000_000 > STAGED_LEFTOVER_MS:
            staged.append(path)
        elif is_open:
            files.append(path)
    yield from _open_to_others("folders", folders, FOLDER_MODE)
    yield from _open_to_others("files", files, FILE_MODE)
    if staged:
        fact = f"{_many(staged)}: left by writers that are dead"
        yield Finding("warning", "leftovers", fact, "Run `curator doctor --fix`", Drop(tuple(staged)))


def look_at_disk(layout: Layout) -> Iterator[Finding]:
    """Try what correctness needs of the filesystem, and see whether there is room."""
    if not layout.agent.is_dir():
        return
    keys = [name for name in list_names(layout.root, DIRECTORY_NAMES_MAX) if PROJECT_KEY_PATTERN.fullmatch(name)]
    projects = [layout.project(ProjectKey(key)).root for key in keys]
    ground = ground_of(layout.own, read_mounts())
    named = f"{ground.mount.kind} at {ground.mount.point}"
    try:
        found = probe(Volume(), layout, projects)
    except CuratorError as error:
        yield Finding("error", "filesystem", error.fact, error.remedy)
    else:
        for told in found.warnings:
            yield Finding("warning", "filesystem", told.fact, told.remedy)
        if found.is_power_safe:
            yield Finding("ok", "filesystem", f"{named}: what is accepted survives power loss")
    yield from _look_at_space(ground.path)


def look_at_clock(layout: Layout, now: int) -> Iterator[Finding]:
    """Compare the clock with the times of files and of what was written before."""
    if layout.own.is_dir():
        yield from _look_at_file_time(layout.own, now)
    beats = [(f"worker {each.worker_id}", each.updated_at) for each in HeartbeatStore(Volume(), layout).workers()]
    beats += [(f"{each.kind} of process {each.pid}", each.updated_at) for each in read_runtimes(layout.runtimes)]
    for who, at in beats:
        if at > iso(now + _SKEW_MS):
            fact = f"the {who} beat at {at}, which is in the future"
            yield Finding("warning", "clock", fact, "Set the clock right; it counts as stale until then")
    later = [day for day in AttemptStore(Volume(), layout).days() if day > day_of(now)]
    if later:
        fact = f"attempts of {later[-1]} stand in the journal, and today is {day_of(now)}: the clock was set back"
        yield Finding("warning", "clock", fact, "Set the clock right: a budget day counts by it")


def _look_at_file_time(folder: Path, now: int) -> Iterator[Finding]:
    volume = Volume()
    staged = volume.stage(folder / "clock", b"\n", flush=False)
    try:
        stamp = stamp_of(staged)
    finally:
        volume.unlink(staged)
    skew = 0 if stamp is None else stamp.mtime_ns // 1_000_000 - now
    if abs(skew) > _SKEW_MS:
        fact = f"{folder}: a fresh file is {abs(skew) // 1_000} s {'ahead of' if skew > 0 else 'behind'} the clock"
        yield Finding("warning", "clock", fact, "Set both clocks by one time server: jobs go by the time of their file")
    else:
        yield Finding("ok", "clock", "files get the time of the clock")


def _look_at_space(path: Path) -> Iterator[Finding]:
    try:
        space = os.statvfs(path)
    except OSError as error:
        raise StorageError(path, error) from error
    free = space.f_bavail * space.f_frsize
    fact = f"{path}: {free // 1_048_576:,} MiB free"
    if free < _SPACE_LOW:
        yield Finding("error" if free < _SPACE_NONE else "warning", "space", fact, "Free some space on that disk")
    elif space.f_files and space.f_favail < _NAMES_LOW:
        fact = f"{path}: room for only {space.f_favail:,} more files"
        yield Finding("warning", "space", fact, "Remove some files on that disk")
    else:
        yield Finding("ok", "space", fact)


def _walk(folder: Path, depth: int) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield what stands under a folder, its own name too; what is the extension's alone is not looked into."""
    try:
        if depth == 0 and folder.is_dir():
            yield folder, folder.stat()
        with os.scandir(folder) as entries:
            found = [(Path(each.path), each.stat(follow_symlinks=False)) for each in entries]
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise StorageError(folder, error) from error
    for path, status in found:
        if stat.S_ISLNK(status.st_mode) or (depth == 1 and path.name in _EXTENSION_ONLY):
            continue
        yield path, status
        if stat.S_ISDIR(status.st_mode):
            yield from _walk(path, depth + 1)


def _is_open(layout: Layout, path: Path) -> bool:
    """Tell whether others may read a path: configuration and signs of life, which hold no evidence."""
    if path.name in _OPEN or path.parent.name in _OPEN:
        return True
    return path.parent in (layout.root, layout.own) and path.is_file()


def _open_to_others(what: str, paths: list[Path], mode: int) -> Iterator[Finding]:
    if paths:
        fact = f"{_many(paths)}: {what} that others may read or change, and not {mode:04o}"
        yield Finding("error", "modes", fact, "Run `curator doctor --fix`", Restrict(tuple(paths), mode))
    else:
        yield Finding("ok", "modes", f"all {what} are private")


def _many(paths: list[Path]) -> str:
    rest = len(paths) - 1
    return str(paths[0]) + (f" and {rest:,} more" if rest else "")
