"""Three machines, one PostgreSQL: each folds its own, through kills and an outage, and no row is lost or doubled."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy import Connection, create_engine, select, text
from sqlalchemy.pool import NullPool

from curator.audit.child import FoldingChild
from curator.audit.database import ShadowError
from curator.audit.schema import DERIVED, FACTS
from curator.audit.server import fold_out, host_of
from curator.errors import ConfigError
from tests.acceptance.processes import wait_until
from tests.audit import postgres
from tests.audit.histories import History
from tests.audit.oracle import Tables, rows_in
from tests.audit.taint import CANARIES, MEMORY, tainted
from tests.cli.commands import make_home
from tests.kit import Listening

CANARY: Final = "quetzal-harbour"


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    why = postgres.why_not()
    if why is not None:
        pytest.skip(why)
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    server = postgres.Server(folder)
    server.start()
    try:
        yield server
    finally:
        with contextlib.suppress(AssertionError):
            server.stop()
        shutil.rmtree(folder)


@contextlib.contextmanager
def connected(server: postgres.Server) -> Iterator[Connection]:
    engine = create_engine(server.url.replace("postgresql:", "postgresql+psycopg:", 1), poolclass=NullPool)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def rows_of_host(server: postgres.Server, history: History) -> Tables:
    with connected(server) as connection:
        connection.exec_driver_sql(f"SET LOCAL search_path TO curator_host_{host_of(history.layout)}")
        return rows_in(connection)


def live(history: History) -> None:
    for answer in ("add", "fail"):
        history.enqueue()
        history.crash(60, answer)
        history.review()


def test_three_hosts_an_outage_and_kills_lose_and_double_no_row(server: postgres.Server, tmp_path: Path) -> None:
    hosts = [History(tmp_path / name) for name in ("one", "two", "three")]
    for history in hosts:
        live(history)
        fold_out(history.layout, server.url)
    server.stop()
    for history in hosts:
        live(history)
        with pytest.raises(ShadowError) as caught:
            fold_out(history.layout, server.url)
        assert server.url not in str(caught.value)
        assert "the next" not in caught.value.fact
    server.start()
    hosts[0].pass_by(25)
    for history in hosts:
        kill_in_mid_fold(history, server)
        fold_out(history.layout, server.url)
        again = fold_out(history.layout, server.url)
        assert (again.read, again.gone) == (0, 0)

    for history in hosts:
        assert rows_of_host(server, history) == history.files()
    with connected(server) as connection:
        counted = connection.execute(text("SELECT host_id, COUNT(*) FROM curator.jobs GROUP BY 1")).all()
    told = {str(host): int(number) for host, number in counted}
    assert {host_of(each.layout): len(each.files()["jobs"]) for each in hosts}.items() <= told.items()


def kill_in_mid_fold(history: History, server: postgres.Server) -> None:
    """Begin a fold in a process, hold it at the lock of its host, and kill it there."""
    url = server.url.replace("postgresql:", "postgresql+psycopg:", 1)
    code = f"""
import sys
from pathlib import Path
from curator.audit.server import fold_out
from curator.durable.layout import Layout
def tell(done, of):
    if done >= of // 2:
        print("half", flush=True)
        sys.stdin.read()
fold_out(Layout(Path({str(history.layout.agent)!r})), {server.url!r}, tell)
"""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], env=environ, stdin=pipe, stdout=pipe) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"half\n"
        child.send_signal(signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    engine = create_engine(url, poolclass=NullPool)

    def is_let_go() -> bool:
        with engine.begin() as connection:
            held = connection.scalar(text("SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory'"))
        return bool(held == 0)

    wait_until(is_let_go)
    engine.dispose()


def test_tables_of_another_release_are_made_anew(server: postgres.Server, tmp_path: Path) -> None:
    history = History(tmp_path)
    live(history)
    fold_out(history.layout, server.url)
    namespace = f"curator_host_{host_of(history.layout)}"
    with connected(server) as connection:
        connection.exec_driver_sql(f"COMMENT ON SCHEMA {namespace} IS 'curator audit 0'")
        connection.exec_driver_sql(f"DROP TABLE {namespace}.jobs CASCADE")

    folded = fold_out(history.layout, server.url)

    assert folded.read > 0
    assert rows_of_host(server, history) == history.files()


def test_no_canary_reaches_the_server(server: postgres.Server, tmp_path: Path) -> None:
    home = make_home(tmp_path)
    home.enqueue(f"Please remember that we always call the staging host {CANARY} in our scripts.")
    home.review()
    fold_out(home.layout, server.url)

    with connected(server) as connection:
        connection.exec_driver_sql(f"SET LOCAL search_path TO curator_host_{host_of(home.layout)}")
        told = [str(row) for table in (*FACTS, *DERIVED) for row in connection.execute(select(table))]

    assert any("review_" in row for row in told)
    assert [row for row in told if CANARY in row or str(home.project) in row] == []


def test_nothing_that_went_to_or_came_from_a_provider_reaches_the_server(
    server: postgres.Server, tmp_path: Path
) -> None:
    with tainted(tmp_path) as place:
        fold_out(place.layout, server.url)

    with connected(server) as connection:
        connection.exec_driver_sql(f"SET LOCAL search_path TO curator_host_{host_of(place.layout)}")
        told = [str(row) for table in (*FACTS, *DERIVED) for row in connection.execute(select(table))]
    assert any("noop" in row for row in told)
    assert [row for row in told for canary in (*CANARIES, MEMORY) if canary in row] == []


def test_the_command_and_the_child_push_where_curator_toml_names_a_server(
    server: postgres.Server, tmp_path: Path
) -> None:
    home = make_home(tmp_path)
    home.enqueue("Please remember that we always use pnpm for installing packages.")
    home.review()
    toml = home.layout.curator_toml

    unset = home.run("audit", "push")
    toml.write_text(f'[audit]\nurl = "{server.url}"\n', "utf-8")
    pushed = home.run("audit", "push", "--json")
    toml.write_text('[audit]\nurl = "postgresql://nobody:s3cret@/none?host=/nowhere"\n', "utf-8")
    gone = home.run("audit", "push")
    toml.write_text('[audit]\nurl = "sqlite:///x"\n', "utf-8")
    wrong = home.run("audit", "push")

    assert (unset.status, pushed.status, gone.status, wrong.status) == (78, 0, 74, 78)
    assert pushed.document["hostId"] == host_of(home.layout)
    assert "s3cret" not in gone.err + wrong.err
    assert "No job depends on it" in gone.err
    toml.write_text(f'[audit]\nurl = "{server.url}"\n', "utf-8")
    child, heard = FoldingChild(dict(os.environ)), Listening()
    home.enqueue("From now on, never push to main directly.", name="b.jsonl")
    child.start(home.layout, heard)
    wait_until(lambda: child.collect(heard))
    assert heard.events == []
    with connected(server) as connection:
        places = text("SELECT place FROM curator.spool WHERE host_id = :host ORDER BY 1")
        assert list(connection.scalars(places, {"host": host_of(home.layout)})) == ["outcomes", "queued"]
    with pytest.raises(ConfigError):
        fold_out(home.layout, "postgresql://host:port/x")
