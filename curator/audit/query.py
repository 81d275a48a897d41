"""A person's own question in SQL: one statement that reads, bounded in time and rows."""

from __future__ import annotations

import math
import sqlite3
import time
from typing import TYPE_CHECKING, Final

from curator.audit.questions import Answer
from curator.errors import UsageError
from curator.model.limits import AUDIT_ROWS_MAX, AUDIT_SQL_MS_MAX

if TYPE_CHECKING:
    from sqlalchemy import Connection

_ALLOWED: Final = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)
_VALUE_BYTES_MAX: Final = 1_048_576
_STEPS: Final = 10_000
"""So many steps of SQLite's machine go by between two looks at the clock."""


def query(connection: Connection, statement: str, *, ms_max: int = AUDIT_SQL_MS_MAX) -> Answer:
    """Answer a statement. Raises `UsageError` for one that does not read, is wrong, or takes too long."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection), "the shadow that is asked is SQLite's"
    deadline = time.monotonic() + ms_max / 1000
    driver.set_authorizer(_authorize)
    driver.set_progress_handler(lambda: int(time.monotonic() > deadline), _STEPS)
    driver.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _VALUE_BYTES_MAX)
    try:
        found = driver.execute(statement)
        rows = found.fetchmany(AUDIT_ROWS_MAX + 1)
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise _refused(error, ms_max) from error
    finally:
        driver.set_authorizer(None)
        driver.set_progress_handler(None, 0)
    columns = tuple(str(column[0]) for column in found.description or ())
    cut = [tuple(_plain(value) for value in row) for row in rows[:AUDIT_ROWS_MAX]]
    return Answer(columns, cut, is_cut=len(rows) > AUDIT_ROWS_MAX)


def _authorize(action: int, first: str | None, second: str | None, _schema: str | None, _trigger: str | None) -> int:
    del first
    is_loading = action == sqlite3.SQLITE_FUNCTION and (second or "").lower() == "load_extension"
    return sqlite3.SQLITE_OK if action in _ALLOWED and not is_loading else sqlite3.SQLITE_DENY


def _plain(value: object) -> str | int | float | None:
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return value if value is None or isinstance(value, str | int) else type(value).__name__


def _refused(error: sqlite3.Error | sqlite3.Warning, ms_max: int) -> UsageError:
    code: object = getattr(error, "sqlite_errorcode", 0)
    if code == sqlite3.SQLITE_INTERRUPT:
        return UsageError(f"the statement took longer than {ms_max / 1000:g} s", remedy="Ask for less of it")
    if code == sqlite3.SQLITE_AUTH:
        return UsageError("the statement does more than read", remedy="Only SELECT is answered")
    tables = 'Its tables: curator audit sql "SELECT sql FROM sqlite_master"'
    return UsageError(f"SQLite does not take the statement: {str(error).rstrip('.')}", remedy=tables)
