"""Sweep what dead writers left: staged files that never got their name.

INVARIANT  Only a name that `Volume.stage` or the protocol's own writers give to a staged file is removed, and only when
           it is older than any write can take.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from curator.model.limits import STAGED_LEFTOVER_MS

if TYPE_CHECKING:
    from pathlib import Path

    from curator.durable.volume import Volume

_UUID: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
STAGED: Final = re.compile(rf"(?:.+\.\d+\.{_UUID}|\.{_UUID})\.tmp")
_LOCK_LEFTOVER: Final = re.compile(rf".+\.stale\.{_UUID}")


def sweep(volume: Volume, folder: Path, now: int) -> int:
    """Remove aged staged leftovers from one folder, and return how many."""
    swept = 0
    try:
        entries = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return 0
    for entry in entries:
        if not (STAGED.fullmatch(entry.name) or _LOCK_LEFTOVER.fullmatch(entry.name)):
            continue
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        if now - status.st_mtime_ns // 1_000_000 > STAGED_LEFTOVER_MS and volume.unlink(folder / entry.name):
            swept += 1
    return swept
