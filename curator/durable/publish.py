"""Publication: the primitives under every record that curator writes.

INVARIANT  After `publish` or `replace` returns, `path` holds exactly `data` and survives power loss; after `remove`
           returns, `path` is gone and stays gone; after `ensure_directory` returns, the folder stays.
CRASH      Before the link or the rename: the old state. After it, before the flush: either. A staged leftover may stay;
           the sweep finds it.
"""

from __future__ import annotations

import contextlib
import enum
import errno
import stat
from typing import TYPE_CHECKING, Final

from curator.durable.read import is_empty_folder, mode_of, read_bounded
from curator.durable.volume import FOLDER_MODE
from curator.errors import ConflictError, InvalidRecordError, StorageError
from curator.model.limits import PUBLISHED_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from curator.durable.volume import Volume

_OTHERS: Final = 0o077


class Published(enum.Enum):
    """How a publication ended."""

    CREATED = "created"
    REPLAYED = "replayed"


def publish(
    volume: Volume, path: Path, data: bytes, *, hidden: bool = False, is_same: Callable[[bytes], bool] | None = None
) -> Published:
    """Create `path` with `data`, or prove that it already holds it; durable when it returns.

    `is_same` tells whether other bytes say the same, where the protocol compares by meaning. Raises `ConflictError` if
    the name is taken by something else; then nothing was written.
    """
    staged = volume.stage(path, data, hidden=hidden)
    try:
        ending = link_or_compare(volume, staged, path, data, is_same=is_same)
    finally:
        volume.unlink(staged)
    # A replay flushes too: the first writer may have died between its link and its flush.
    volume.sync_directory(path.parent)
    return ending


def link_or_compare(
    volume: Volume, staged: Path, path: Path, data: bytes, *, is_same: Callable[[bytes], bool] | None = None
) -> Published:
    """Give a staged file its name, or prove that the name already says the same. Flushes nothing."""
    try:
        volume.link(staged, path)
    except FileExistsError:
        standing = read_bounded(path, PUBLISHED_BYTES_MAX)
        if standing is None or not (standing == data or (is_same is not None and is_same(standing))):
            raise ConflictError(path) from None
        return Published.REPLAYED
    return Published.CREATED


def replace(volume: Volume, path: Path, data: bytes) -> None:
    """Make `path` hold `data`, whatever stood there; durable when it returns."""
    _swap(volume, volume.stage(path, data), path)
    volume.sync_directory(path.parent)


def replace_lazily(volume: Volume, path: Path, data: bytes) -> None:
    """Make `path` hold `data` for readers of this moment, without a flush: power loss may leave it old, or empty."""
    _swap(volume, volume.stage(path, data, flush=False), path)


def _swap(volume: Volume, staged: Path, path: Path) -> None:
    try:
        volume.rename(staged, path)
    except BaseException:
        volume.unlink(staged)
        raise


def remove(volume: Volume, path: Path) -> bool:
    """Remove a name for good; tell whether it was there. A name that was not costs no flush."""
    was_there = volume.unlink(path)
    if was_there:
        volume.sync_directory(path.parent)
    return was_there


def ensure_directory(volume: Volume, path: Path) -> None:
    """Make sure of a private folder of ours; its name is durable when it returns.

    Folders above it are created too, each durable before the next is used; of those that stand, where they lead is the
    person's affair. Raises `InvalidRecordError` if `path` itself is a symlink or no folder.
    """
    mode = check_directory(path)
    if mode is None:
        _create(volume, path)
        return
    if mode & _OTHERS:
        volume.restrict(path, FOLDER_MODE)
    # Whoever put a name into it had made sure of it before. Into an empty one nobody has: its maker may have died, or
    # be about to, between making it and flushing its name.
    if is_empty_folder(path):
        volume.sync_directory(path.parent)


def flush_new(volume: Volume, folder: Path, made: Iterable[Path]) -> None:
    """Flush the names that were just made in a folder. Where that fails they go again, and the failure is raised.

    Whoever tries again would find them, flush them a second time and perhaps be told that all is well, which a disk that
    dropped them says too: only a name that is made anew is flushed anew. A folder that somebody uses already stays.
    """
    try:
        volume.sync_directory(folder)
    except StorageError:
        with contextlib.suppress(StorageError):
            for path in made:
                (volume.remove_directory if path.is_dir() else volume.unlink)(path)
        raise


def ensure_passing_directory(volume: Volume, path: Path) -> None:
    """Make sure of a folder in which only locks stand: if its name is lost, whoever needs it makes it again."""
    if check_directory(path) is None:
        ensure_directory(volume, path)


def check_directory(path: Path) -> int | None:
    """Return the mode of a folder of ours, or None where none stands and one can be made; change nothing.

    Raises `InvalidRecordError` if `path` is a symlink or no folder, or lies below something that is none.
    """
    mode = mode_of(path)
    if mode is None:
        if mode_of(path.parent) is not None and not path.parent.is_dir():
            raise InvalidRecordError(path.parent, "is not a folder")
        return None
    if stat.S_ISLNK(mode):
        raise InvalidRecordError(path, "is a symlink where a folder of ours belongs")
    if not stat.S_ISDIR(mode):
        raise InvalidRecordError(path, "is not a folder")
    return mode


def _create(volume: Volume, path: Path) -> None:
    if not path.parent.is_dir():
        _create(volume, path.parent)
    elif is_empty_folder(path.parent):
        # Its maker may have died before it flushed the name; nothing may be built on it until somebody has.
        _flush_if_allowed(volume, path.parent.parent)
    is_new = volume.make_directory(path)
    if not is_new and not path.is_dir():
        raise InvalidRecordError(path, "is not a folder")
    # Also where a racer made it: its flush may still be to come.
    flush_new(volume, path.parent, [path] if is_new else [])


def _flush_if_allowed(volume: Volume, path: Path) -> None:
    """Flush a folder that may be above what is ours; one that only others may look into is theirs to keep."""
    try:
        volume.sync_directory(path)
    except StorageError as error:
        if error.errno not in (errno.EACCES, errno.EPERM):
            raise
