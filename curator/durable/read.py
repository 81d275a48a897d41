"""Bounded reads that follow no symlink.

INVARIANT  A read returns the whole of one regular, non-empty file within its bound, or None where no file stands.
           Anything else is an `InvalidRecordError` that names the path and the fact, never the content.
"""

from __future__ import annotations

import dataclasses
import errno
import os
import stat
from pathlib import Path
from typing import Final

from curator.durable.volume import FILE_MODE
from curator.errors import InvalidRecordError, StorageError

_DENIED: Final = "may not be read by this user"
_NO_RECORD: Final = {
    errno.ELOOP: "is a symlink where a file belongs",
    errno.ENXIO: "is not a regular file",
    errno.ENODEV: "is not a regular file",
    errno.EOPNOTSUPP: "is not a regular file",
    errno.EACCES: _DENIED,
    errno.EPERM: _DENIED,
}
"""What the system says of one name that stands and cannot be opened: it costs that record. Anything else is the disk."""


@dataclasses.dataclass(frozen=True, slots=True)
class Stamp:
    """What changes when a file or folder does: an index compares it and reads nothing."""

    mtime_ns: int
    size: int
    inode: int


def stamp_of(path: Path | str) -> Stamp | None:
    """Return the stamp of a name, or None where nothing stands. Follows no symlink."""
    status = _status_of(path)
    return None if status is None else Stamp(status.st_mtime_ns, status.st_size, status.st_ino)


def mode_of(path: Path) -> int | None:
    """Return the kind and the mode of a name, or None where nothing stands. Follows no symlink."""
    status = _status_of(path)
    return None if status is None else status.st_mode


def _owner_of(path: Path) -> str:
    """Say whose a name is, where it is somebody else's: one run by sudo leaves such files behind."""
    try:
        owner = os.lstat(path).st_uid
    except OSError:
        return ""
    return "" if owner == os.geteuid() else f", for it belongs to user {owner}"


def _status_of(path: Path | str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StorageError(Path(path), error) from error


def prove_free(folder: Path, size: int) -> None:
    """Raise `StorageError`, as a full disk does, if less than `size` bytes are free under a folder that stands."""
    try:
        disk = os.statvfs(folder)
    except OSError as error:
        raise StorageError(folder, error) from error
    if disk.f_bavail * disk.f_frsize < size:
        raise StorageError(folder, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))


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
        fact = _NO_RECORD.get(error.errno or 0)
        if fact == _DENIED:
            raise InvalidRecordError(path, f"{_DENIED}{_owner_of(path)}") from error
        if fact is not None:
            raise InvalidRecordError(path, fact) from error
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
    raw = os.read(descriptor, status.st_size + 1)
    if len(raw) != status.st_size:
        # It changes while it is read, or comes in pieces.
        raw = _read_on(path, descriptor, raw, limit)
    if not raw:
        raise InvalidRecordError(path, "is empty")
    return raw


def _read_on(path: Path, descriptor: int, raw: bytes, limit: int) -> bytes:
    chunks, size = [raw], len(raw)
    while size <= limit and (chunk := os.read(descriptor, min(65_536, limit + 1 - size))):
        chunks.append(chunk)
        size += len(chunk)
    if size > limit:
        raise InvalidRecordError(path, f"is larger than {limit} bytes")
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


def is_empty_folder(path: Path) -> bool:
    """Tell whether a folder that stands has no name in it."""
    try:
        with os.scandir(path) as names:
            return next(names, None) is None
    except FileNotFoundError:
        return True
    except OSError as error:
        raise StorageError(path, error) from error


def is_own_file(path: Path) -> bool:
    """Tell whether a name is that of a regular file of this user, whose links and times may be changed."""
    status = _status_of(path)
    return status is not None and stat.S_ISREG(status.st_mode) and os.geteuid() in (0, status.st_uid)


def other_name(path: Path, folder: Path) -> Path | None:
    """Return a name in `folder` of the same file, if it has one there."""
    status = _status_of(path)
    if status is None or status.st_nlink == 1:
        return None
    try:
        with os.scandir(folder) as names:
            return next((folder / each.name for each in names if each.inode() == status.st_ino), None)
    except OSError as error:
        raise StorageError(folder, error) from error
