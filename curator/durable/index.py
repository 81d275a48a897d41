"""A folder of records in memory: what did not change is not read again.

INVARIANT  `refresh` returns what a fresh reading of the folder would, as long as writers rename or link whole files, as
           all of the protocol do. A record is told by its inode, size and mtime; the folder's own stamp spares even the
           listing. Neither is trusted while it lies too close to the look at it. A record that cannot be read is looked
           at each time: somebody may be mending it in place.
"""

from __future__ import annotations

import dataclasses
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from curator.durable.clock import file_clock_ns
from curator.durable.read import list_names, stamp_of
from curator.errors import InvalidRecordError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from curator.durable.read import Stamp

T = TypeVar("T")

_RACY_NS: Final = 20_000_000
"""An mtime ticks coarsely: what lies this close to the look at it may hide a later change."""


class Listing:
    """Whether a folder may have changed since it was last listed. A busy day's journal asks it of 256 folders at a time."""

    def __init__(self, folder: Path) -> None:
        """Watch `folder` by its stamp; it has never been listed yet."""
        self._folder = str(folder)
        self._looked: tuple[int, ...] | None = None
        self._looked_ns = 0
        self._listed: tuple[int, ...] | None = None
        self._listed_ns = 0

    def is_current(self) -> bool:
        """Tell whether the last listing still holds. If not, list now, and call `done` when all of it was taken in."""
        self._looked_ns = file_clock_ns()
        try:
            status = os.lstat(self._folder)
        except (FileNotFoundError, NotADirectoryError):
            self._looked = None
            return False
        except OSError as error:
            raise StorageError(Path(self._folder), error) from error
        self._looked = (status.st_mtime_ns, status.st_size, status.st_ino)
        return self._looked == self._listed and self._listed_ns - status.st_mtime_ns >= _RACY_NS

    def done(self) -> None:
        """Say that the folder was listed since the last look: one that failed in between is no listing."""
        self._listed, self._listed_ns = self._looked, self._looked_ns


@dataclasses.dataclass(frozen=True, slots=True)
class Indexed(Generic[T]):
    """One record, or why it cannot be read."""

    path: Path
    stamp: Stamp
    record: T | None
    fault: InvalidRecordError | None
    looked_ns: int

    def still_holds(self, stamp: Stamp) -> bool:
        """Tell whether the record need not be read again."""
        return self.fault is None and self.stamp == stamp and self.looked_ns - stamp.mtime_ns >= _RACY_NS


class FolderIndex(Generic[T]):
    """The `.json` records of one folder, by name."""

    def __init__(self, folder: Path, limit: int, read: Callable[[Path], T | None]) -> None:
        """Index `folder`, at most `limit` names, with `read` for one file; None from it means gone."""
        self._folder = folder
        self._limit = limit
        self._read = read
        self._known: Mapping[str, Indexed[T]] = {}
        self._listing = Listing(folder)
        self._mutex = threading.Lock()

    def refresh(self) -> Mapping[str, Indexed[T]]:
        """Return the folder's records by file name, in the names' order. What was returned before stays as it is."""
        with self._mutex:
            if not self._listing.is_current():
                names = [name for name in list_names(self._folder, self._limit) if name.endswith(".json")]
                self._known = self._looked_at(names)
                self._listing.done()
            elif any(each.fault is not None for each in self._known.values()):
                self._known = self._looked_at([*self._known])
            return self._known

    def _looked_at(self, names: list[str]) -> Mapping[str, Indexed[T]]:
        # Thousands of names are looked at: a path is made only of what is read.
        prefix = f"{self._folder}{os.sep}"
        found = ((name, self._one(prefix + name, self._known.get(name))) for name in names)
        return {name: one for name, one in found if one is not None}

    def _one(self, name: str, known: Indexed[T] | None) -> Indexed[T] | None:
        now = file_clock_ns()
        stamp = stamp_of(name)
        if stamp is None:
            return None
        if known is not None and known.still_holds(stamp):
            return known
        path = Path(name)
        try:
            record = self._read(path)
        except InvalidRecordError as fault:
            return Indexed(path, stamp, None, fault, now)
        return None if record is None else Indexed(path, stamp, record, None, now)
