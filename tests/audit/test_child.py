"""The service's fold runs in a process of its own: what goes wrong in it is told once, and nobody waits for it."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

import pytest

from curator.audit.child import FoldingChild
from curator.durable.lock import KernelLock
from curator.model.event import Stopped
from tests.acceptance.processes import wait_until
from tests.audit.histories import History
from tests.kit import Listening


@pytest.fixture
def history(tmp_path: Path) -> History:
    history = History(tmp_path)
    history.enqueue()
    history.review()
    return history


def run(history: History) -> Listening:
    child, heard = FoldingChild(dict(os.environ)), Listening()
    child.start(history.layout, heard)
    wait_until(lambda: child.collect(heard))
    return heard


def test_a_child_folds_what_is_there_and_says_nothing(history: History) -> None:
    heard = run(history)

    assert heard.events == []
    assert history.layout.audit.stat().st_mode & 0o777 == 0o600
    assert history.folded() == history.files()
    assert history.warned == []


def test_a_broken_database_is_told_once_and_is_whole_after(history: History) -> None:
    history.layout.audit.write_bytes(b"nothing of the kind")
    history.layout.audit.chmod(0o600)

    (told,) = run(history).events

    assert isinstance(told, Stopped)
    assert "made anew from the files" in told.fact
    assert run(history).events == []
    assert history.folded() == history.files()


def test_where_no_file_can_be_had_that_is_told_and_nothing_else_happens(history: History) -> None:
    history.layout.audit.mkdir()

    (told,) = run(history).events

    assert isinstance(told, Stopped)
    assert told.subject == "audit"
    assert "No job depends on it" in told.remedy


def test_while_somebody_else_folds_a_child_ends_without_a_word(history: History) -> None:
    lock = KernelLock(history.layout.audit_guard)
    assert lock.acquire(0)

    heard = run(history)

    lock.release()
    assert heard.events == []
    assert not history.layout.audit.exists()


def test_a_reader_in_the_way_is_waited_for(history: History) -> None:
    """Who asks just when a fold is written should not cost what is in it until the next one."""
    history.fold()
    reader = sqlite3.connect(
        f"file:{history.layout.audit}?mode=ro", uri=True, isolation_level=None, check_same_thread=False
    )
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM jobs").fetchone()
    history.enqueue()
    history.review()
    child, heard = FoldingChild(dict(os.environ)), Listening()
    child.start(history.layout, heard)
    wait_until(history.layout.audit.with_name("shadow.sqlite-journal").exists)
    threading.Timer(0.3, reader.close).start()
    wait_until(lambda: child.collect(heard))

    assert heard.events == []
    asked = sqlite3.connect(f"file:{history.layout.audit}?mode=ro", uri=True)
    assert asked.execute("SELECT count(*) FROM jobs").fetchone() == (2,)
    asked.close()


def test_one_child_at_a_time_and_an_ended_one_leaves_nothing(history: History) -> None:
    child, heard = FoldingChild(dict(os.environ)), Listening()

    child.start(history.layout, heard)
    child.start(history.layout, heard)
    is_over = child.collect(heard)
    child.stop()

    assert not is_over
    assert child.collect(heard)
    assert heard.events == []
    assert history.folded() == history.files()


def test_a_child_is_told_no_key(history: History) -> None:
    child = FoldingChild({"PATH": os.defpath, "SECRET_API_KEY": "k"})

    assert "SECRET_API_KEY" not in child.environ
    assert history.layout.own.is_dir()


def test_a_server_that_is_gone_is_told_once_and_the_file_is_folded_all_the_same(history: History) -> None:
    toml = history.layout.curator_toml
    toml.write_text('[audit]\nurl = "postgresql://nobody:s3cret@/none?host=/nowhere"\n', "utf-8")
    toml.chmod(0o600)

    (told,) = run(history).events

    assert isinstance(told, Stopped)
    assert "the server that [audit] url names cannot be used" in told.fact
    assert "s3cret" not in told.fact
    assert history.folded() == history.files()
    assert history.warned == []
