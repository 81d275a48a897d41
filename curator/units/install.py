"""Putting the units in place, and taking them away.

INVARIANT  A file that curator did not write is never touched. Of the two kinds at most one stands: the other one is laid
           down and removed first, so that one agent folder has one service.
CRASH      Each file is replaced whole. Whatever of it has happened, running the command again does the rest.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from curator.durable.publish import remove, replace
from curator.durable.read import read_bounded
from curator.durable.volume import Volume
from curator.errors import ConflictError, InvalidRecordError
from curator.units.supervisor import MARK, UNIT_BYTES_MAX, Kind, Supervisor, UnitFile, Wanted


@dataclasses.dataclass(frozen=True, slots=True)
class Installed:
    """What an installation did: files written, files that stood as they should, files of the other kind removed."""

    written: tuple[Path, ...]
    unchanged: tuple[Path, ...]
    removed: tuple[Path, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Removed:
    """What was taken away, and whether the service manager answered."""

    paths: tuple[Path, ...]
    was_told: bool


def install(volume: Volume, supervisor: Supervisor, wanted: Wanted) -> Installed:
    """Write the units of one kind and start them. Raises `ConflictError` for a file of the same name that is not ours."""
    files = supervisor.render(wanted)
    other = Kind.TIMER if wanted.kind is Kind.SERVICE else Kind.SERVICE
    standing = {file.path: standing_text(file.path) for file in files}
    gone = standing_paths(supervisor, wanted.base, other)
    if gone:
        supervisor.lay_down(wanted.base, other)
        for path in gone:
            remove(volume, path)
    written = [file for file in files if standing[file.path] != file.text]
    for file in written:
        _write(volume, file)
    supervisor.take_up(wanted.base, wanted.kind)
    unchanged = tuple(file.path for file in files if file not in written)
    return Installed(tuple(file.path for file in written), unchanged, gone)


def uninstall(volume: Volume, supervisor: Supervisor, base: str) -> Removed:
    """Stop and remove whatever of curator's units stands; also where no service manager answers."""
    was_told = supervisor.is_reachable()
    removed: list[Path] = []
    for kind in Kind:
        paths = standing_paths(supervisor, base, kind)
        if not paths:
            continue
        if was_told:
            supervisor.lay_down(base, kind)
        removed += paths
        for path in paths:
            remove(volume, path)
        for link in supervisor.links(base, kind):
            if link.is_symlink():
                remove(volume, link)
    if removed and was_told:
        supervisor.forget()
    return Removed(tuple(removed), was_told)


def installed_kind(supervisor: Supervisor, base: str) -> Kind | None:
    """Return which kind stands, or None."""
    return next((kind for kind in Kind if standing_paths(supervisor, base, kind)), None)


def standing_paths(supervisor: Supervisor, base: str, kind: Kind) -> tuple[Path, ...]:
    """Return the files of a kind that stand and are ours. Raises `ConflictError` for one that is not."""
    return tuple(path for path in supervisor.places(base, kind) if standing_text(path) is not None)


def standing_text(path: Path) -> str | None:
    """Return a unit of ours, or None where nothing stands. Raises `ConflictError` for what somebody else put there."""
    try:
        raw = read_bounded(path, UNIT_BYTES_MAX)
    except InvalidRecordError as error:
        raise ConflictError(path, f"{error.why}; curator did not write it, so move it away first") from error
    if raw is None:
        return None
    text = raw.decode("utf-8", "replace")
    if MARK not in text:
        raise ConflictError(path, "stands there and curator did not write it, so move it away first")
    return text


def _write(volume: Volume, file: UnitFile) -> None:
    _make_way(volume, file.path.parent)
    replace(volume, file.path, file.text.encode())


def _make_way(volume: Volume, folder: Path) -> None:
    """Make sure of a folder that is the person's: one that stands keeps its mode, and may be a link."""
    if folder.is_dir():
        return
    _make_way(volume, folder.parent)
    volume.make_directory(folder)
    volume.sync_directory(folder.parent)
