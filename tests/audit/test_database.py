"""Whatever is wrong with the database costs a warning and a rebuild, and is no job's business."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

import pytest
from sqlalchemy.exc import DBAPIError

from curator.audit.database import ask, fold_in
from curator.audit.schema import SCHEMA
from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.errors import BusyError
from curator.model.limits import AUDIT_BYTES_MAX
from tests.audit.histories import History


@pytest.fixture
def history(tmp_path: Path) -> History:
    history = History(tmp_path)
    history.enqueue()
    history.review()
    return history


def other_number(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    connection.close()


def other_bytes(path: Path) -> None:
    path.write_bytes(b"no database at all" * 1_000)


def torn_pages(path: Path) -> None:
    with path.open("r+b") as file:
        for page in range(1, path.stat().st_size // 4_096):
            file.seek(page * 4_096)
            file.write(os.urandom(4_096))


def cut_short(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def grown(path: Path) -> None:
    os.truncate(path, AUDIT_BYTES_MAX + 1)


def wide_open(path: Path) -> None:
    path.chmod(0o644)


def read_only(path: Path) -> None:
    path.chmod(0o400)


def elsewhere(path: Path) -> None:
    path.rename(path.with_suffix(".old"))
    path.symlink_to(path.with_suffix(".old"))


def emptied(path: Path) -> None:
    path.write_bytes(b"")


DAMAGES: Final = (other_number, other_bytes, torn_pages, cut_short, grown, wide_open, read_only, elsewhere, emptied)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_database_that_is_not_what_it_should_be_is_made_anew_with_one_warning(
    history: History, damage: Callable[[Path], None]
) -> None:
    history.fold()
    damage(history.layout.audit)

    assert history.folded() == history.files()
    assert len(history.warned) == 1
    assert "It is made anew from the files" in history.warned[0]
    assert history.folded() == history.files()
    assert len(history.warned) == 1


def test_a_missing_database_is_made_without_a_word(history: History) -> None:
    history.fold()
    history.layout.audit.unlink()

    assert history.folded() == history.files()
    assert history.warned == []


def test_a_database_that_somebody_holds_is_left_alone_and_the_files_are_asked(history: History) -> None:
    history.fold()
    holder = sqlite3.connect(history.layout.audit, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")

    with pytest.raises(BusyError):
        fold_in(history.layout, Volume(), history.warned.append, wait_ms=0)
    assert history.folded() == history.files()

    holder.close()
    assert ["The answer is made from the files alone" in word for word in history.warned] == [True]
    assert history.folded() == history.files()


def test_where_no_file_can_be_had_the_answer_is_made_from_memory(history: History) -> None:
    history.layout.audit.mkdir()

    assert history.folded() == history.files()
    assert history.layout.audit.is_dir()


def test_the_file_is_private_and_leaves_nothing_beside_it(history: History) -> None:
    history.fold()
    history.enqueue()
    history.review()
    history.fold()

    beside = sorted(path.name for path in history.layout.own.glob("shadow*"))

    assert beside == ["shadow.guard", "shadow.sqlite"]
    assert history.layout.audit.stat().st_mode & 0o777 == 0o600


def test_a_reader_that_stays_makes_no_log_grow(history: History) -> None:
    history.fold()
    reader = sqlite3.connect(f"file:{history.layout.audit}?mode=ro", uri=True, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM jobs").fetchone()
    history.enqueue()
    history.review()

    with pytest.raises(BusyError):
        fold_in(history.layout, Volume(), history.warned.append, wait_ms=0)

    assert not list(history.layout.own.glob("shadow.sqlite-wal"))
    reader.close()
    assert history.folded() == history.files()


def test_what_a_connection_for_questions_may_not_do_is_change_anything(history: History) -> None:
    with pytest.raises(DBAPIError, match="readonly"):
        ask(history.layout, Volume(), history.warned.append, lambda it: it.exec_driver_sql("DELETE FROM jobs").rowcount)
    assert history.folded() == history.files()


def test_damage_that_only_a_question_meets_is_mended_too(history: History) -> None:
    history.fold()
    path = history.layout.audit
    with sqlite3.connect(path) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'revisions'").fetchone()
    connection.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4_096)
        file.write(os.urandom(4_096))

    assert history.folded() == history.files()
    assert len(history.warned) == 1


def gone(path: Path) -> None:
    path.unlink()


def held(path: Path) -> None:
    """Hold it for the next fold, which is refused, and let go."""
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(BusyError):
        fold_in(Layout(path.parents[2]), Volume(), print, wait_ms=0)
    holder.close()


Ending: TypeAlias = "tuple[list[str], list[str], list[int]]"


def ending(history: History, between: Callable[[], None]) -> Ending:
    for answer in ("fail", "foreign"):
        history.enqueue()
        between()
        history.crash(60, answer)
        between()
        history.review()
    files = history.files()
    columns = ("status", "failure_code", "attempts", "tokens", "cost_nanousd", "entries")
    return (
        sorted(str([value for name, value in row if name in columns]) for row in files["closings"]),
        history.world.texts(history.app, history.key),
        [int(dict(row)["actual_calls"] or 0) for row in files["budgets"]],
    )


@pytest.mark.parametrize("damage", [*DAMAGES, gone, held])
def test_what_happens_to_the_database_in_mid_run_changes_no_outcome(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    quiet, troubled = History(tmp_path / "quiet"), History(tmp_path / "troubled")

    def trouble() -> None:
        troubled.fold()
        damage(troubled.layout.audit)

    assert ending(troubled, trouble) == ending(quiet, lambda: None)
    assert troubled.folded() == troubled.files()
