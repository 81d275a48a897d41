"""The fold: the database is brought to what the files say, by what changed since, or from nothing.

INVARIANT  A row is a function of its source as it stands: it comes with it and goes with it. So a fold of what changed and
           one from nothing end with the same rows, and what retention takes from the files goes here too.
CRASH      All of a fold is one transaction: after a crash it was never begun.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from sqlalchemy import delete, func, insert, select

from curator.audit.derived import Touched, derive
from curator.audit.schema import FACTS, FOLDERS, SOURCES, Relation
from curator.durable.clock import file_clock_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from curator.audit.facts import Row, Value
    from curator.audit.shelves import Mark, Reading, Shelf

_RACY_NS: Final = 20_000_000
"""An mtime ticks coarsely: what lies this close to the look at it may hide a later change."""
_ROWS_AT_ONCE: Final = 1_000
_IDS_AT_ONCE: Final = 500
_SHELVES_AT_ONCE: Final = 100
"""What is known of so many is asked for at once: a question costs more than what it brings."""

_COLUMNS: Final = {table.name: tuple(column.name for column in table.columns) for table in FACTS}
_KEYS: Final = tuple((table, tuple(key for key in ("job_id", "day") if key in table.c)) for table in FACTS)
"""By what what is made of a table's rows is found again."""


@dataclasses.dataclass(slots=True)
class Folded:
    """What a fold came to."""

    read: int = 0
    """Sources that were read, because they are new or changed."""
    gone: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class _Known:
    id: int
    stamp: str
    is_faulty: bool


def fold(connection: Connection, shelves: Sequence[Shelf], tell: Callable[[int, int], None] | None = None) -> Folded:
    """Bring the tables to what the shelves hold. `tell` hears how many of how many are done."""
    folding = _Folding(connection)
    for first in range(0, len(shelves), _SHELVES_AT_ONCE):
        if tell is not None:
            tell(first, len(shelves))
        folding.look_through(shelves[first : first + _SHELVES_AT_ONCE])
    folding.forget_others([shelf.key for shelf in shelves])
    folding.finish()
    if tell is not None:
        tell(len(shelves), len(shelves))
    return folding.folded


@dataclasses.dataclass(frozen=True, slots=True)
class _Look:
    """How a shelf stood, and when that was asked: before what stands on it is listed, so that no change is missed."""

    shelf: Shelf
    now: int
    mark: Mark | None

    @classmethod
    def at(cls, shelf: Shelf) -> _Look:
        """Look at a shelf."""
        now = file_clock_ns()
        return cls(shelf, now, shelf.mark())


class _Folding:
    """One run of the fold."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        stamps = connection.execute(select(FOLDERS.c.folder, FOLDERS.c.stamp)).all()
        self._stamps: dict[str, str] = {folder: stamp for folder, stamp in stamps}  # noqa: C416 - rows are no pairs to a type checker
        listed = connection.scalars(select(SOURCES.c.folder).distinct())
        self._filled: set[str] = set(map(str, listed))
        faulty = select(SOURCES.c.folder).where(SOURCES.c.fault.is_not(None)).distinct()
        self._faulty = {folder for (folder,) in connection.execute(faulty)}
        self._next_id = int(connection.scalar(select(func.coalesce(func.max(SOURCES.c.id), 0))) or 0) + 1
        self._is_new = self._next_id == 1
        self._touched = Touched()
        self._going: list[int] = []
        self._kept: list[dict[str, str]] = []
        self._unkept: list[str] = []
        self._waiting: dict[str, list[dict[str, Value]]] = {}
        self._tables: dict[str, Relation] = {SOURCES.name: SOURCES, **{table.name: table for table in FACTS}}
        self.folded = Folded()

    def look_through(self, shelves: Sequence[Shelf]) -> None:
        """Take in what is new or changed on shelves, and let go what is gone."""
        changed = [look for look in map(_Look.at, shelves) if self._is_changed(look)]
        known = self._known([look.shelf.key for look in changed if look.shelf.key in self._filled])
        for look in changed:
            self._take_in(look, known.get(look.shelf.key, {}))

    def _is_changed(self, look: _Look) -> bool:
        key, saved = look.shelf.key, self._stamps.get(look.shelf.key)
        if look.mark is None:
            return saved is not None or key in self._filled
        return look.mark.text != saved or key in self._faulty

    def _take_in(self, look: _Look, known: Mapping[str, _Known]) -> None:
        shelf, now = look.shelf, file_clock_ns()
        standing = {} if look.mark is None else shelf.sources()
        self.folded.gone += sum(name not in standing for name in known)
        changed = {name: _stamp(source, now) for name, source in standing.items()}
        changed = {name: stamp for name, stamp in changed.items() if not _holds(known.get(name), stamp)}
        self._drop([each.id for name, each in known.items() if name not in standing or name in changed])
        for name, stamp in changed.items():
            self._take(shelf.key, name, stamp, shelf.read(name))
        self._keep(shelf.key, look.mark, look.now, self._stamps.get(shelf.key))

    def forget_others(self, keys: Iterable[str]) -> None:
        """Let go what stood in folders that are gone."""
        kept = set(keys)
        gone = sorted((self._filled | set(self._stamps)) - kept)
        for first in range(0, len(gone), _SHELVES_AT_ONCE):
            for folder, known in self._known(gone[first : first + _SHELVES_AT_ONCE]).items():
                self._drop([each.id for each in known.values()])
                self.folded.gone += len(known)
                self._unkept.append(folder)

    def finish(self) -> None:
        """Write what still waits, and make of it what is made of facts."""
        self._remove()
        for name in [*self._waiting]:
            self._write(name)
        self._write_stamps()
        derive(self._connection, None if self._is_new else self._touched)

    def _known(self, folders: Sequence[str]) -> dict[str, dict[str, _Known]]:
        found: dict[str, dict[str, _Known]] = {folder: {} for folder in folders}
        columns = select(SOURCES.c.folder, SOURCES.c.id, SOURCES.c.name, SOURCES.c.stamp, SOURCES.c.fault)
        if folders:
            for folder, number, name, stamp, fault in self._connection.execute(
                columns.where(SOURCES.c.folder.in_(folders))
            ):
                found[folder][name] = _Known(number, stamp, fault is not None)
        return found

    def _take(self, folder: str, name: str, stamp: str, reading: Reading | None) -> None:
        if reading is None:
            return
        number, self._next_id = self._next_id, self._next_id + 1
        source: dict[str, Value] = {"id": number, "folder": folder, "name": name, "stamp": stamp}
        self._wait(SOURCES.name, source | {"fault": reading.fault})
        for row in reading.rows:
            self._take_row(row, number)
        self.folded.read += 1

    def _take_row(self, row: Row, source_id: int) -> None:
        given, table = row.values, row.table.name
        values = {name: given.get(name) for name in _COLUMNS[table]}
        values["source_id"] = source_id
        self._wait(table, values)
        if not self._is_new:
            if isinstance(job_id := given.get("job_id"), str):
                self._touched.jobs.add(job_id)
            if isinstance(day := given.get("day"), str):
                self._touched.days.add(day)

    def _drop(self, ids: Iterable[int]) -> None:
        """Remove sources and their rows, before anything new is written."""
        self._going.extend(ids)

    def _remove(self) -> None:
        ids, self._going = self._going, []
        for first in range(0, len(ids), _IDS_AT_ONCE):
            part = ids[first : first + _IDS_AT_ONCE]
            for table, keys in _KEYS:
                theirs = table.c.source_id.in_(part)
                for key in keys:
                    values = set(self._connection.scalars(select(table.c[key]).where(theirs)))
                    (self._touched.jobs if key == "job_id" else self._touched.days).update(map(str, values - {None}))
                self._connection.execute(delete(table).where(theirs))
            self._connection.execute(delete(SOURCES).where(SOURCES.c.id.in_(part)))

    def _keep(self, folder: str, mark: Mark | None, now: int, saved: str | None) -> None:
        if saved is not None:
            self._unkept.append(folder)
        if mark is not None and now - mark.newest_ns >= _RACY_NS:
            self._kept.append({"folder": folder, "stamp": mark.text})

    def _write_stamps(self) -> None:
        for first in range(0, len(self._unkept), _IDS_AT_ONCE):
            part = self._unkept[first : first + _IDS_AT_ONCE]
            self._connection.execute(delete(FOLDERS).where(FOLDERS.c.folder.in_(part)))
        if self._kept:
            self._connection.execute(insert(FOLDERS), self._kept)

    def _wait(self, table: str, values: dict[str, Value]) -> None:
        waiting = self._waiting.setdefault(table, [])
        waiting.append(values)
        if len(waiting) >= _ROWS_AT_ONCE:
            self._write(table)

    def _write(self, name: str) -> None:
        self._remove()
        if name != SOURCES.name:
            # A row names its source, which stands before it.
            self._write(SOURCES.name)
        rows = self._waiting.pop(name, [])
        if rows:
            self._connection.execute(insert(self._tables[name]), rows)


def _holds(known: _Known | None, stamp: str) -> bool:
    return known is not None and not known.is_faulty and known.stamp == stamp


def _stamp(mark: Mark, now: int) -> str:
    """Return a source's stamp, marked where it may hide a later change: then it is no other's equal."""
    return mark.text if now - mark.newest_ns >= _RACY_NS else f"{mark.text}?{now}"
