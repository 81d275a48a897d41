"""Set a file aside whole: it gets a second name, and only then loses its first.

INVARIANT  What is set aside is never lost on the way, and never overwrites what was set aside before.
CRASH      Between the two both names stand; moving again goes on with the second one that is there.
"""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING

from curator.durable.publish import ensure_directory
from curator.durable.read import is_own_file, mode_of, other_name
from curator.durable.volume import FILE_MODE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.durable.volume import Volume


def move_aside(volume: Volume, path: Path, folder: Path, now: int) -> Path | None:
    """Move a file to `<folder>/<its name>.<now>.bad` and return where it lies; None where nothing stands."""
    if mode_of(path) is None:
        return None
    ensure_directory(volume, folder)
    if is_own_file(path):
        target = other_name(path, folder) or _linked(volume, path, folder, now)
        volume.restrict(target, FILE_MODE)
        volume.touch(target)
        volume.sync_directory(folder)
        volume.unlink(path)
    else:
        # A folder, a symlink or another user's file cannot be linked, so it is moved as it is.
        target = next(each for each in _names(path, folder, now) if mode_of(each) is None)
        with contextlib.suppress(FileNotFoundError):
            volume.rename(path, target)
        volume.sync_directory(folder)
    volume.sync_directory(path.parent)
    return target


def _linked(volume: Volume, path: Path, folder: Path, now: int) -> Path:
    for target in _names(path, folder, now):
        try:
            volume.link(path, target)
        except FileExistsError:
            continue
        return target
    raise AssertionError(path)


def _names(path: Path, folder: Path, now: int) -> Iterator[Path]:
    """Yield the place of that moment, and of those after it: for where one is taken."""
    return (folder / f"{path.name}.{at}.bad" for at in itertools.count(now))
