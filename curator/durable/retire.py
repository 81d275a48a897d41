"""Removing what is old: the last thing that happens to a record.

INVARIANT  Only what was last written before a moment goes: what somebody has written since stays, and so does its folder.
CRASH      Names that are gone may come back until their folder is flushed; whoever removes them says when that must be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.durable.ages import ages_in
from curator.durable.read import mode_of, stamp_of

if TYPE_CHECKING:
    from pathlib import Path

    from curator.durable.volume import Volume


def retire_file(volume: Volume, path: Path, before_ms: int) -> bool:
    """Remove a file that was last written before a moment; tell whether it went. Flushes nothing."""
    stamp = stamp_of(path)
    return stamp is not None and stamp.mtime_ns // 1_000_000 < before_ms and volume.unlink(path)


def retire_folder(volume: Volume, folder: Path, before_ms: int) -> bool:
    """Remove a folder's files that were last written before a moment, and the folder, if it is empty then.

    Tells whether anything went. The folder's own going is not flushed; where it stays, what went from it is.
    """
    if mode_of(folder) is None:
        return False
    old = sorted(aged.name for aged in ages_in(folder) if aged.mtime_ms < before_ms)
    gone = sum(volume.unlink(folder / name) for name in old)
    if volume.remove_directory(folder):
        return True
    if gone:
        volume.sync_directory(folder)
    return gone > 0
