"""A folder of records in memory: what did not change is not read again.

INVARIANT  `refresh` returns what a fresh reading of the folder would. A record is told by its inode, size and mtime; the
           folder's own stamp spares even the listing, except when it lies too close to the last one to be trusted.
"""

from __future__ import annotations

import dataclasses
import threading
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from curator.durable.clock import file_clock_ns
from curator.durable.read import list_names, stamp_of
from curator.errors import InvalidRecordError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from curator.durable.read import Stamp

T = TypeVar("T")

_RACY_NS: Final = 20_000_000
"""A folder's mtime ticks coarsely: what lies this close to the last listing may hide a later name."""


class Listing:
    """Whether a folder may have changed since it was last listed."""

    def __init__(self, folder: Path) -> None:
        """Watch `folder` by its stamp; it has never been listed yet."""
        self._folder = folder
        self._last: tuple[Stamp, int] | None = None

    def is_current(self) -> bool:
        """Tell whether the last listing still holds; if not, the caller lists now, and this call counts as the look."""
        now = file_clock_ns()
        stamp = stamp_of(self._folder)
        last, self._last = self._last, None if stamp is None else (stamp, now)
        if stamp is None:
            return False
        return last is not None and last[0] == stamp and last[1] - stamp.mtime_ns >= _RACY_NS


@dataclasses.dataclass(frozen=True, slots=True)
class Indexed(Generic[T]):
    """One record, or why it cannot be read."""

    path: Path
    stamp: Stamp
    record: T | None
    fault: InvalidRecordError | None

    @property
    def mtime_ms(self) -> int:
        """When the file was written."""
        return self.stamp.mtime_ns // 1_000_000


class FolderIndex(Generic[T]):
    """The `.json` records of one folder, by name."""

    def __init__(self, folder: Path, limit: int, read: Callable[[Path], T | None]) -> None:
        """Index `folder`, at most `limit` names, with `read` for one file; None from it means gone."""
        self._folder = folder
        self._limit = limit
        self._read = read
        self._known: dict[str, Indexed[T]] = {}
        self._listing = Listing(folder)
        self._mutex = threading.Lock()

    def refresh(self) -> Mapping[str, Indexed[T]]:
        """Return the folder's records by file name, in the names' order."""
        with self._mutex:
            if not self._listing.is_current():
                names = [name for name in list_names(self._folder, self._limit) if name.endswith(".json")]
                found = ((name, self._one(name)) for name in names)
                self._known = {name: one for name, one in found if one is not None}
            return self._known

    def _one(self, name: str) -> Indexed[T] | None:
        path = self._folder / name
        stamp = stamp_of(path)
        if stamp is None:
            return None
        known = self._known.get(name)
        if known is not None and known.stamp == stamp:
            return known
        try:
            record = self._read(path)
        except InvalidRecordError as fault:
            return Indexed(path, stamp, None, fault)
        return None if record is None else Indexed(path, stamp, record, None)
