"""What is old in a folder: names and times, without reading a file.

Unbounded folders are looked through as well: a bound here would stop retention exactly where it is needed.
"""

from __future__ import annotations

import dataclasses
import os
import stat
from typing import TYPE_CHECKING

from curator.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclasses.dataclass(frozen=True, slots=True)
class Aged:
    """A regular file, or a symlink, and when it was last written."""

    name: str
    mtime_ms: int


def ages_in(folder: Path) -> Iterator[Aged]:
    """Yield the files of a folder, in no order; none where no folder stands. Follows no symlink."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                aged = _aged(entry)
                if aged is not None:
                    yield aged
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise StorageError(folder, error) from error


def names_in(folder: Path) -> Iterator[str]:
    """Yield the names in a folder, in no order, whatever they are of; none where no folder stands."""
    try:
        with os.scandir(folder) as entries:
            yield from (entry.name for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise StorageError(folder, error) from error


def folders_in(folder: Path) -> Iterator[str]:
    """Yield the names of a folder's folders, in no order; none where no folder stands."""
    try:
        with os.scandir(folder) as entries:
            yield from (entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise StorageError(folder, error) from error


def newest_in(folder: Path) -> int | None:
    """Return the time of a folder's newest file, or None where it has none."""
    return max((aged.mtime_ms for aged in ages_in(folder)), default=None)


def _aged(entry: os.DirEntry[str]) -> Aged | None:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
        return None
    return Aged(entry.name, status.st_mtime_ns // 1_000_000)
