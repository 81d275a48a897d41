"""Reading an agent folder without changing it: bounded, regular files only, one record at a time.

INVARIANT  Nothing is created, locked, touched or flushed. What is remembered is bounded: a few records, one folder's
           names at a time.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, TypeAlias

from curator.errors import StorageError
from curator.model.digest import MalformedJsonError, parse
from curator.model.ids import PROJECT_KEY_PATTERN, ProjectKey
from curator.verify.finding import Finding, error, sure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from curator.durable.layout import Layout, ProjectLayout
    from curator.verify.shape import Fields, Rule

_REMEMBERED_MAX: Final = 32
_LISTINGS_MAX: Final = 4
_Stamp: TypeAlias = tuple[int, int, int]
_NO_RECORD: Final = {
    errno.ELOOP: "is a symlink where a file belongs",
    errno.ENXIO: "is not a regular file",
    errno.EACCES: "may not be read by this user",
    errno.EPERM: "may not be read by this user",
}


class BrokenError(Exception):
    """A name stands and does not hold what it promises."""


def alone(_path: Path, _fields: Fields) -> Iterator[Finding]:
    """Find nothing: for a record that is bound to no other."""
    return iter(())


class Tree:
    """One agent folder, or a copy of one."""

    def __init__(self, layout: Layout, looked: Callable[[Path], None]) -> None:
        """Look at the tree of `layout`; `looked` is told each record that is judged."""
        self.layout = layout
        self._looked = looked
        self._closed = (f"{layout.spool}/", f"{layout.own}/")
        self._known: OrderedDict[tuple[Path, int], tuple[_Stamp, Fields]] = OrderedDict()
        self._listed: OrderedDict[Path, tuple[_Stamp, dict[str, str]]] = OrderedDict()

    def names(self, folder: Path) -> list[str]:
        """Return a folder's names, sorted; none where no folder stands."""
        try:
            with os.scandir(folder) as entries:
                return sorted(entry.name for entry in entries)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as failure:
            raise StorageError(folder, failure) from failure

    def records(self, folder: Path) -> Iterator[Path]:
        """Yield the paths of a folder's JSON files, by name."""
        return (folder / name for name in self.names(folder) if name.endswith(".json"))

    def projects(self) -> Iterator[ProjectLayout]:
        """Yield the real project stores."""
        keys = (ProjectKey(name) for name in self.names(self.layout.root) if PROJECT_KEY_PATTERN.fullmatch(name))
        return map(self.layout.project, keys)

    def shadows(self) -> Iterator[ProjectLayout]:
        """Yield the project stores of shadow mode."""
        keys = (ProjectKey(name) for name in self.names(self.layout.shadow) if PROJECT_KEY_PATTERN.fullmatch(name))
        return map(self.layout.shadow_project, keys)

    def ending(self, folder: Path, tail: str) -> str | None:
        """Return the name in a folder that is something, a hyphen, and `tail`; the last few listings are kept."""
        status = self._status(folder)
        if status is None:
            return None
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        listed = self._listed.pop(folder, None)
        if listed is None or listed[0] != stamp:
            listed = (stamp, {name.partition("-")[2]: name for name in self.names(folder)})
        self._listed[folder] = listed
        if len(self._listed) > _LISTINGS_MAX:
            self._listed.popitem(last=False)
        return listed[1].get(tail)

    def stands(self, path: Path) -> bool:
        """Tell whether a name is taken, by whatever."""
        return self._status(path) is not None

    def find(self, path: Path, rule: Rule, limit: int) -> Fields | None:
        """Return a record for comparison; None where none stands, or a broken one, which its own check tells."""
        try:
            return self._load(path, rule, limit)
        except BrokenError:
            return None

    def judge(
        self, path: Path, rule: Rule, limit: int, body: Callable[[Path, Fields], Iterator[Finding]]
    ) -> Iterator[Finding]:
        """Hold one record to its shape, and then, by `body`, to everything around it."""
        self._looked(path)
        return sure(lambda: self._judge(path, rule, limit, body))

    def _judge(
        self, path: Path, rule: Rule, limit: int, body: Callable[[Path, Fields], Iterator[Finding]]
    ) -> Iterator[Finding]:
        try:
            fields = self._load(path, rule, limit)
        except BrokenError as broken:
            yield error(path, str(broken))
            return
        if fields is not None:
            yield from body(path, fields)

    def _load(self, path: Path, rule: Rule, limit: int) -> Fields | None:
        status = self._status(path)
        if status is None:
            return None
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        known = self._known.get((path, id(rule)))
        if known is not None and known[0] == stamp:
            return known[1]
        fields = self._read(path, rule, limit)
        if fields is not None:
            self._known[path, id(rule)] = (stamp, fields)
            if len(self._known) > _REMEMBERED_MAX:
                self._known.popitem(last=False)
        return fields

    def _read(self, path: Path, rule: Rule, limit: int) -> Fields | None:
        raw = self.read(path, limit)
        if raw is None:
            return None
        try:
            value = parse(raw)
        except MalformedJsonError as malformed:
            raise BrokenError(str(malformed)) from None
        fault = rule(value)
        if fault is not None or not isinstance(value, dict):
            raise BrokenError(fault or "is not an object")
        return value

    def read(self, path: Path, limit: int) -> bytes | None:
        """Return a file's bytes, or None where none stands. Raises `BrokenError` for what is no bounded, regular file."""
        # A project's store may lie behind a symlink: its other readers follow one.
        is_closed = str(path).startswith(self._closed)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (os.O_NOFOLLOW if is_closed else 0))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as failure:
            fact = _NO_RECORD.get(failure.errno or 0)
            if fact is None:
                raise StorageError(path, failure) from failure
            raise BrokenError(fact) from None
        try:
            return _read_open(descriptor, limit)
        except OSError as failure:
            raise StorageError(path, failure) from failure
        finally:
            os.close(descriptor)

    def _status(self, path: Path) -> os.stat_result | None:
        try:
            return path.stat(follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as failure:
            raise StorageError(path, failure) from failure


def _read_open(descriptor: int, limit: int) -> bytes:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise BrokenError("is not a regular file")
    chunks: list[bytes] = []
    left = limit + 1
    while left > 0 and (chunk := os.read(descriptor, min(left, 1_048_576))):
        chunks.append(chunk)
        left -= len(chunk)
    if left <= 0:
        raise BrokenError(f"is larger than {limit} bytes")
    if not chunks:
        raise BrokenError("is empty")
    return b"".join(chunks)
