"""Publication: the primitives under every record that curator writes.

INVARIANT  After `publish` or `replace` returns, `path` holds exactly `data` and survives power loss; after `remove`
           returns, `path` is gone and stays gone.
CRASH      Before the link or the rename: the old state. After it, before the flush: either. A staged leftover may stay;
           the sweep finds it.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from curator.durable.read import read_bounded
from curator.errors import ConflictError, InvalidRecordError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curator.durable.volume import Volume


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
        standing = read_bounded(path, max(len(data) * 4, 4096))
        if standing is None or not (standing == data or (is_same is not None and is_same(standing))):
            raise ConflictError(path) from None
        return Published.REPLAYED
    return Published.CREATED


def replace(volume: Volume, path: Path, data: bytes) -> None:
    """Make `path` hold `data`, whatever stood there; durable when it returns."""
    staged = volume.stage(path, data)
    try:
        volume.rename(staged, path)
    except BaseException:
        volume.unlink(staged)
        raise
    volume.sync_directory(path.parent)


def replace_lazily(volume: Volume, path: Path, data: bytes) -> None:
    """Make `path` hold `data` for readers of this moment, without a flush: power loss may leave it old, or empty."""
    staged = volume.stage(path, data, flush=False)
    try:
        volume.rename(staged, path)
    except StorageError:
        volume.unlink(staged)
        raise


def remove(volume: Volume, path: Path) -> bool:
    """Remove a name for good; tell whether it was there. A name that was not costs no flush."""
    was_there = volume.unlink(path)
    if was_there:
        volume.sync_directory(path.parent)
    return was_there


def ensure_directory(volume: Volume, path: Path) -> None:
    """Create a private folder and those above it, each durable before the next is used."""
    if path.is_dir():
        if path.is_symlink():
            raise InvalidRecordError(path, "is a symlink where a folder of ours belongs")
        return
    ensure_directory(volume, path.parent)
    if volume.make_directory(path):
        volume.sync_directory(path.parent)
    elif path.is_symlink() or not path.is_dir():
        raise InvalidRecordError(path, "is not a folder")
