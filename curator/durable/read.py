"""Bounded reads that follow no symlink.

INVARIANT  A read returns the whole of one regular, non-empty file within its bound, or None where no file stands.
           Anything else is an `InvalidRecordError` that names the path and the fact, never the content.
"""

from __future__ import annotations

import dataclasses
import errno
import os
import stat
from typing import TYPE_CHECKING

from curator.durable.volume import FILE_MODE
from curator.errors import InvalidRecordError, StorageError

if TYPE_CHECKING:
    from pathlib import Path


@dataclasses.dataclass(frozen=True, slots=True)
class Stamp:
    """What changes when a file or folder does: an index compares it and reads nothing."""

    mtime_ns: int
    size: int
    inode: int


def stamp_of(path: Path) -> Stamp | None:
    """Return the stamp of a name, or None where nothing stands. Follows no symlink."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return None
    except OSError as error:
        raise StorageError(path, error) from error
    return Stamp(status.st_mtime_ns, status.st_size, status.st_ino)


def read_bounded(path: Path, limit: int, *, private: bool = False, follow: bool = False) -> bytes | None:
    """Return the bytes of `path`, at most `limit`; None where nothing stands.

    `private` demands mode 0600, as the protocol does for what holds evidence or money. `follow` accepts a symlink, for
    the project store, whose other readers do.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise InvalidRecordError(path, "is a symlink where a file belongs") from error
        raise StorageError(path, error) from error
    try:
        return _read_open(path, descriptor, limit, private=private)
    except OSError as error:
        raise StorageError(path, error) from error
    finally:
        os.close(descriptor)


def _read_open(path: Path, descriptor: int, limit: int, *, private: bool) -> bytes:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise InvalidRecordError(path, "is not a regular file")
    if private and (mode := stat.S_IMODE(status.st_mode)) != FILE_MODE:
        fact = f"has mode {mode:04o}, not {FILE_MODE:04o}"
        raise InvalidRecordError(path, fact, remedy=f"Check who changed it, then run: chmod 600 '{path}'")
    if status.st_size > limit:
        raise InvalidRecordError(path, f"is larger than {limit} bytes")
    chunks: list[bytes] = []
    size = 0
    while chunk := os.read(descriptor, min(65_536, limit + 1 - size)):
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            raise InvalidRecordError(path, f"is larger than {limit} bytes")
    if size == 0:
        raise InvalidRecordError(path, "is empty")
    return b"".join(chunks)


def list_names(path: Path, limit: int) -> list[str]:
    """Return the names in a folder, sorted; an empty list where there is none.

    Raises `InvalidRecordError` above `limit`: reading on would cost without bound.
    """
    try:
        names = sorted(os.listdir(path))
    except FileNotFoundError:
        return []
    except NotADirectoryError as error:
        raise InvalidRecordError(path, "is not a folder") from error
    except OSError as error:
        raise StorageError(path, error) from error
    if len(names) > limit:
        raise InvalidRecordError(path, f"holds more than {limit} names")
    return names
