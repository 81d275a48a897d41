"""Sweep what dead writers left: staged files that never got their name.

INVARIANT  Only a name that `Volume.stage` or the protocol's own writers give to a staged file is removed, and only when
           it is older than any write can take.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from curator.durable.read import stamp_of
from curator.errors import StorageError
from curator.model.limits import STAGED_LEFTOVER_MS

if TYPE_CHECKING:
    from pathlib import Path

    from curator.durable.read import Stamp
    from curator.durable.volume import Volume

_UUID: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
STAGED: Final = re.compile(rf"(?:.+\.\d+\.{_UUID}|\.{_UUID})\.tmp")
_LOCK_LEFTOVER: Final = re.compile(rf".+\.stale\.{_UUID}")


def sweep(volume: Volume, folder: Path, now: int) -> int:
    """Remove aged staged leftovers from one folder, and return how many."""
    try:
        with os.scandir(folder) as names:
            leftovers = [folder / each.name for each in names if _is_leftover(each.name)]
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError as error:
        raise StorageError(folder, error) from error
    return sum(_is_aged(stamp_of(each), now) and volume.unlink(each) for each in leftovers)


def _is_leftover(name: str) -> bool:
    # Most names are records: they are told apart by their ends, at a tenth of the cost.
    return (name.endswith(".tmp") and STAGED.fullmatch(name) is not None) or (
        ".stale." in name and _LOCK_LEFTOVER.fullmatch(name) is not None
    )


def _is_aged(stamp: Stamp | None, now: int) -> bool:
    return stamp is not None and now - stamp.mtime_ns // 1_000_000 > STAGED_LEFTOVER_MS
