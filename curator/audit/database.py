"""The shadow's file: opened, proved, folded into, and made anew where it is not what it should be.

The file is SQLite's own, so it does not go through a volume. It has a rollback journal and no write-ahead log: none can
grow, and a copy on a read-only medium can be asked.

INVARIANT  Nothing that decides looks here, and no lock of a job's is held here. What is wrong with the file costs a
           warning and a rebuild; where no file can be had, the same questions are answered from memory.
CRASH      A fold that did not end is taken back by SQLite; a file that was made anew and not filled has no schema number.
"""

from __future__ import annotations

import sqlite3
import stat
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias, TypeVar
from urllib.parse import quote

from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool, StaticPool

from curator.audit.fold import Folded, fold
from curator.audit.schema import METADATA, SCHEMA
from curator.audit.shelves import shelves_of
from curator.durable.lock import Domain, KernelLock
from curator.durable.publish import ensure_directory, replace_lazily
from curator.durable.read import mode_of, stamp_of
from curator.durable.volume import FILE_MODE
from curator.errors import BusyError, CuratorError, StorageError
from curator.model.limits import AUDIT_BYTES_MAX, AUDIT_WAIT_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlalchemy import Connection, Engine

    from curator.durable.layout import Layout
    from curator.durable.volume import Volume

T = TypeVar("T")
Question: TypeAlias = "Callable[[Connection], T]"

_PAGE_BYTES: Final = 4_096
_CACHE_KIB: Final = 32_768
_BESIDE: Final = ("-journal", "-wal", "-shm")
_PRIMARY: Final = 0xFF
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class ShadowError(CuratorError):
    """The audit's database cannot be had. Nothing depends on it."""

    code: ClassVar[str] = "audit"
    exit_status: ClassVar[int] = 74
    remedy = "No job depends on it; mend the disk, then run `curator audit rebuild`"


def ask(
    layout: Layout,
    volume: Volume,
    warn: Callable[[str], None],
    question: Question[T],
    tell: Callable[[int, int], None] | None = None,
) -> T:
    """Return the answer to a question, from a database that says what the files say now.

    A database that turns out to be damaged while it is read is made anew, and asked again. Where there is no agent folder
    none is made for a question.
    """
    if stamp_of(layout.root) is None:
        return _answer(_in_memory(layout, tell), question)
    try:
        fold_in(layout, volume, warn, tell)
        try:
            return _answer(_engine(layout.audit, "ro"), question)
        except DBAPIError as error:
            if not _is_damage(error):
                raise
            warn(f"{layout.audit}: {_word_for(error)}. It is made anew from the files")
        fold_in(layout, volume, warn, tell, anew=True)
        return _answer(_engine(layout.audit, "ro"), question)
    except (BusyError, ShadowError, StorageError) as error:
        why = error.fact
    except DBAPIError as error:
        if not (_is_damage(error) or _code_of(error) in _BUSY):
            raise
        why = f"{layout.audit}: {_word_for(error)}"
    warn(f"{why}. The answer is made from the files alone, and kept nowhere")
    return _answer(_in_memory(layout, tell), question)


def _answer(engine: Engine, question: Question[T]) -> T:
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA query_only = ON")
            return question(connection)
    finally:
        engine.dispose()


def fold_in(
    layout: Layout,
    volume: Volume,
    warn: Callable[[str], None],
    tell: Callable[[int, int], None] | None = None,
    *,
    anew: bool = False,
    turn_ms: int = AUDIT_WAIT_MS,
    wait_ms: int = AUDIT_WAIT_MS,
) -> Folded:
    """Bring the file to what the files of the agent folder say; `anew` from nothing.

    Another's fold is waited for `turn_ms`, who reads or holds the file `wait_ms`. Raises `BusyError` after that,
    `ShadowError` or `StorageError` where no file can be had.
    """
    path = layout.audit
    ensure_directory(volume, layout.own)
    with Domain("audit", KernelLock(layout.audit_guard), turn_ms).hold():
        fault = None if anew else _fault_of(path)
        if fault is None and not anew and stamp_of(path) is not None:
            try:
                return _fold_into(path, layout, tell, wait_ms)
            except DBAPIError as error:
                if _code_of(error) in _BUSY:
                    raise _told(path, error) from error
                fault = _word_for(error)
            except _OtherSchemaError as other:
                fault = str(other)
        if fault is not None:
            warn(f"{path}: {fault}. It is made anew from the files")
        _replace(volume, path)
        try:
            return _fold_into(path, layout, tell, wait_ms, is_new=True)
        except DBAPIError as error:
            raise _told(path, error) from error


class _OtherSchemaError(Exception):
    """The database has another number than this release's."""


def _fold_into(
    path: Path, layout: Layout, tell: Callable[[int, int], None] | None, wait_ms: int, *, is_new: bool = False
) -> Folded:
    engine = _engine(path, "rw", wait_ms)
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            if is_new:
                METADATA.create_all(connection)
                connection.exec_driver_sql(f"PRAGMA user_version = {SCHEMA}")
            elif (number := connection.exec_driver_sql("PRAGMA user_version").scalar()) != SCHEMA:
                raise _OtherSchemaError(f"has the schema number {number}, and this release has {SCHEMA}")
            folded = fold(connection, list(shelves_of(layout)), tell)
            connection.commit()
            return folded
    finally:
        engine.dispose()


def _in_memory(layout: Layout, tell: Callable[[int, int], None] | None) -> Engine:
    engine = create_engine("sqlite://", poolclass=StaticPool)
    with engine.connect() as connection:
        METADATA.create_all(connection)
        fold(connection, list(shelves_of(layout)), tell)
        connection.commit()
    return engine


def _engine(path: Path, mode: str, wait_ms: int = AUDIT_WAIT_MS) -> Engine:
    def connect() -> sqlite3.Connection:
        url = f"file:{quote(str(path))}?mode={mode}"
        connection = sqlite3.connect(url, uri=True, isolation_level=None, timeout=wait_ms / 1000)
        try:
            for pragma in _pragmas(mode):
                connection.execute(f"PRAGMA {pragma}").close()
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    return create_engine("sqlite+pysqlite://", creator=connect, poolclass=NullPool)


def _pragmas(mode: str) -> Iterator[str]:
    yield "trusted_schema = OFF"
    yield "temp_store = MEMORY"
    yield f"cache_size = -{_CACHE_KIB}"
    if mode == "rw":
        yield "journal_mode = DELETE"
        yield "synchronous = FULL"
        # What is deleted is overwritten, so that retention holds in the file as well.
        yield "secure_delete = ON"
        yield f"max_page_count = {AUDIT_BYTES_MAX // _PAGE_BYTES}"


def _fault_of(path: Path) -> str | None:
    """Return what is wrong with the file as such; None where nothing is, or none stands."""
    mode, stamp = mode_of(path), stamp_of(path)
    if mode is None or stamp is None:
        return None
    if not stat.S_ISREG(mode):
        return "is not a regular file"
    if stat.S_IMODE(mode) != FILE_MODE:
        return f"has mode {stat.S_IMODE(mode):04o}, not {FILE_MODE:04o}"
    if stamp.size > AUDIT_BYTES_MAX:
        return f"is larger than {AUDIT_BYTES_MAX} bytes"
    return None


def _replace(volume: Volume, path: Path) -> None:
    """Put an empty file in its place. Its journal goes after it: on an empty file SQLite never plays one back."""
    replace_lazily(volume, path, b"")
    for suffix in _BESIDE:
        volume.unlink(path.with_name(path.name + suffix))


def _code_of(error: DBAPIError) -> int:
    code: object = getattr(error.orig, "sqlite_errorcode", 0)
    return code & _PRIMARY if isinstance(code, int) else 0


def _is_damage(error: DBAPIError) -> bool:
    """Tell what the file is to blame for from what the question is."""
    return _code_of(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR)


def _word_for(error: DBAPIError) -> str:
    name: object = getattr(error.orig, "sqlite_errorname", None)
    return f"cannot be used ({name if isinstance(name, str) else type(error.orig).__name__})"


def _told(path: Path, error: DBAPIError) -> CuratorError:
    if _code_of(error) in _BUSY:
        return BusyError(f"{path}: another process uses it")
    return ShadowError(f"{path}: {_word_for(error)}")
