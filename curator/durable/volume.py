"""The only place that changes the disk, one verb a method.

INVARIANT  Everything else in curator changes the disk through a `Volume` (locks and SQLite apart), so that swapping it
           swaps the disk. A verb is one change or one flush; what it returns from has been asked of the kernel.
CRASH      Between two verbs anything not flushed may be lost, names and bytes independently. A failed flush is never
           retried on the same file: the second one may lie.
"""

from __future__ import annotations

import errno
import os
import sys
import uuid
from typing import TYPE_CHECKING, Final

from curator.durable.baton import laid_down
from curator.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700

_NO_DIRECTORY_FLUSH: Final = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EBADF})
"""What a filesystem says that cannot flush a folder. The probe finds it first and tells the person."""

_NOT_EMPTY: Final = {errno.ENOTEMPTY, errno.EEXIST}
"""The standard allows either."""

_F_FULLFSYNC: Final = 51
"""On macOS only this flushes the drive's own cache; the number is the system's."""


class Volume:
    """A real disk. Every verb raises `StorageError`, or `FileExistsError` and `FileNotFoundError` where named."""

    def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
        """Write and flush `data` under a name of its own beside `path`, and return that name.

        The name is one that the protocol's readers ignore; `hidden` picks the spelling of the canonical records.
        Without `flush` the bytes may be lost with the power: only for what the next beat writes anew.
        """
        unique = uuid.uuid4()
        name = f".{unique}.tmp" if hidden else f"{path.name}.{os.getpid()}.{unique}.tmp"
        staged = path.parent / name
        try:
            descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, FILE_MODE)
            try:
                os.fchmod(descriptor, FILE_MODE)
                self._write(descriptor, data)
                if flush:
                    with laid_down():
                        self._flush_file(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            self._forget_quietly(staged)
            raise refusal(path, error) from error
        return staged

    def link(self, staged: Path, path: Path) -> None:
        """Give the staged file its name. Raises `FileExistsError` if the name is taken."""
        try:
            os.link(staged, path, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError as error:
            raise refusal(path, error) from error

    def rename(self, source: Path, target: Path) -> None:
        """Move a file over `target`, whatever stands there. Raises `FileNotFoundError` if the source is gone."""
        try:
            os.replace(source, target)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise refusal(target, error) from error

    def unlink(self, path: Path) -> bool:
        """Remove a name; tell whether it was there."""
        try:
            os.unlink(path)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise refusal(path, error) from error
        return True

    def sync_directory(self, path: Path) -> None:
        """Make the names in a folder durable, where the filesystem can."""
        self.can_sync_directory(path)

    def can_sync_directory(self, path: Path) -> bool:
        """Flush a folder for the probe; tell whether the filesystem can."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            try:
                with laid_down():
                    self._flush_directory(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            if error.errno not in _NO_DIRECTORY_FLUSH:
                raise refusal(path, error) from error
            return False
        return True

    def make_directory(self, path: Path) -> bool:
        """Create one private folder; tell whether it was new."""
        try:
            os.mkdir(path, FOLDER_MODE)
        except FileExistsError:
            return False
        except OSError as error:
            raise refusal(path, error) from error
        return True

    def remove_directory(self, path: Path) -> bool:
        """Remove an empty folder; tell whether it is gone now. One that holds something stays, and is no failure."""
        try:
            os.rmdir(path)
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno in _NOT_EMPTY:
                return False
            raise refusal(path, error) from error
        return True

    def restrict(self, path: Path, mode: int) -> None:
        """Set the mode of a file or folder of ours."""
        try:
            os.chmod(path, mode)
        except OSError as error:
            raise refusal(path, error) from error

    def touch(self, path: Path) -> None:
        """Set a file's modification time to now: its clock starts anew."""
        try:
            os.utime(path)
        except OSError as error:
            raise refusal(path, error) from error

    def keep_time(self, path: Path, mtime_ns: int) -> None:
        """Give a file the modification time of the one that it stands in for."""
        try:
            os.utime(path, ns=(mtime_ns, mtime_ns))
        except OSError as error:
            raise refusal(path, error) from error

    def _write(self, descriptor: int, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]

    def _flush_file(self, descriptor: int) -> None:
        if sys.platform == "darwin":
            import fcntl  # noqa: PLC0415 - only this system has the call

            fcntl.fcntl(descriptor, _F_FULLFSYNC)
        else:
            os.fsync(descriptor)

    def _flush_directory(self, descriptor: int) -> None:
        os.fsync(descriptor)

    def _forget_quietly(self, staged: Path) -> None:
        """Drop what a failed write left; the failure itself is the news, and the sweep finds what stays."""
        try:
            os.unlink(staged)
        except OSError:
            return


def refusal(path: Path, error: OSError) -> StorageError:
    """Return that the disk refused. The system has one word for a disk without room and for one without inodes."""
    free_mib = _free_mib_without_inodes(path) if error.errno == errno.ENOSPC else None
    if free_mib is None:
        return StorageError(path, error)
    fact = f"{error.strerror}: the disk has no inode left for another file, though {free_mib:,} MiB are free"
    return StorageError(path, OSError(errno.ENOSPC, fact))


def _free_mib_without_inodes(path: Path) -> int | None:
    standing = next((each for each in path.parents if each.exists()), None)
    try:
        disk = None if standing is None else os.statvfs(standing)
    except OSError:
        return None
    # Some filesystems have no number of inodes to run out of, and tell none.
    is_out = disk is not None and disk.f_files > 0 and disk.f_favail == 0 and disk.f_bavail > 0
    return disk.f_bavail * disk.f_frsize >> 20 if disk is not None and is_out else None
