"""One audit for several machines: each folds its own files into a PostgreSQL, in a namespace of its own.

The fold is the one of the local file, and what it has read so far stands beside the rows. So it is the same rows, doing it
twice changes nothing, and after a time offline it goes on with what is new. Views in the namespace `curator` show all
machines together, with the host's id before each row.

INVARIANT  A fold is one transaction under a lock of its host's own: no row is lost, none is doubled.
CRASH      The server takes back what did not end, and the next fold begins where the last whole one ended.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Final

from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool

from curator.audit.database import ShadowError
from curator.audit.fold import Folded, fold
from curator.audit.schema import DERIVED, FACTS, METADATA, SCHEMA
from curator.audit.shelves import shelves_of
from curator.errors import ConfigError
from curator.model.ids import file_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import URL, Connection

    from curator.durable.layout import Layout

_CONNECT_S: Final = 10
_PREFIX: Final = "curator_host_"
_WHOLE: Final = "curator"
_COMMENT: Final = f"curator audit {SCHEMA}"
_GONE: Final = "No job depends on it, and what is missing is folded when the server is back"


def host_of(layout: Layout) -> str:
    """Return the id under which this machine and agent folder stand in a shared audit."""
    return file_key(f"{socket.gethostname()}\n{layout.agent.resolve()}")


def fold_out(layout: Layout, url: str, tell: Callable[[int, int], None] | None = None) -> Folded:
    """Bring this host's rows on the server to what its files say.

    Raises `ConfigError` for an address that is none, and `ShadowError` where the server cannot be had; neither tells the
    address, which may hold a password.
    """
    try:
        # The address names a database; how it is spoken to is ours.
        engine = create_engine(_spoken(url), poolclass=NullPool, connect_args={"connect_timeout": _CONNECT_S})
    except ImportError as error:
        fact = "[audit] url names a PostgreSQL, and psycopg is not installed"
        raise ConfigError(fact, remedy="Run: pip install 'pi-curator[postgresql]'") from error
    try:
        with engine.begin() as connection:
            _enter(connection, f"{_PREFIX}{host_of(layout)}")
            return fold(connection, list(shelves_of(layout)), tell)
    except DBAPIError as error:
        word = type(error.orig).__name__
        raise ShadowError(f"the server that [audit] url names cannot be used ({word})", remedy=_GONE) from error
    finally:
        engine.dispose()


def _spoken(url: str) -> URL:
    try:
        return make_url(url).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError) as error:
        raise ConfigError("curator.toml: [audit] url is no address of a PostgreSQL") from error


def _enter(connection: Connection, namespace: str) -> None:
    """Take the host's lock, and make its namespace where it is missing or of another release."""
    lock = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")
    connection.execute(lock, {"name": namespace})
    found = text("SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = :name")
    is_ours = connection.execute(found, {"name": namespace}).scalar() == _COMMENT
    if not is_ours:
        # The views name every host: one host at a time becomes one of them.
        connection.execute(lock, {"name": _WHOLE})
        connection.exec_driver_sql(f"DROP SCHEMA IF EXISTS {namespace} CASCADE")
        connection.exec_driver_sql(f"CREATE SCHEMA {namespace}")
        connection.exec_driver_sql(f"COMMENT ON SCHEMA {namespace} IS '{_COMMENT}'")
    connection.exec_driver_sql(f"SET LOCAL search_path TO {namespace}")
    if not is_ours:
        METADATA.create_all(connection, checkfirst=False)
        _show_all(connection)


def _show_all(connection: Connection) -> None:
    """Make the views of all hosts whose tables are of this release."""
    listed = text(
        "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, :prefix)"
        " AND obj_description(oid, 'pg_namespace') = :comment ORDER BY nspname"
    )
    hosts = list(connection.scalars(listed, {"prefix": _PREFIX, "comment": _COMMENT}))
    connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {_WHOLE}")
    for table in (*FACTS, *DERIVED):
        parts = [f"SELECT '{host.removeprefix(_PREFIX)}' AS host_id, * FROM {host}.{table.name}" for host in hosts]  # noqa: S608 - names of ours
        connection.exec_driver_sql(f"DROP VIEW IF EXISTS {_WHOLE}.{table.name}")
        connection.exec_driver_sql(f"CREATE VIEW {_WHOLE}.{table.name} AS {' UNION ALL '.join(parts)}")
