"""The shadow says what the files say: folded step by step, rebuilt from nothing, and worked out by other code, row by row."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.audit.histories import History

ANSWERS: Final = st.sampled_from(["add", "fail", "retry", "lose", "foreign"])
STEPS: Final = st.one_of(
    st.tuples(st.just("enqueue")),
    st.tuples(st.just("review"), ANSWERS),
    st.tuples(st.just("crash"), st.integers(0, 150), ANSWERS),
    st.tuples(st.just("crash_in_maintenance"), st.integers(0, 60)),
    st.tuples(st.just("hold")),
    st.tuples(st.just("undo")),
    st.tuples(st.just("tear")),
    st.tuples(st.just("carry")),
    st.tuples(st.just("pass_by"), st.sampled_from([1, 25, 24 * 8])),
    st.tuples(st.just("fold")),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEPS, min_size=3, max_size=14))
def test_after_any_history_the_fold_the_rebuild_and_the_files_are_the_same_rows(
    steps: list[tuple[str | int, ...]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        history = History(Path(folder))
        for name, *arguments in steps:
            getattr(history, str(name))(*arguments)

        folded, rebuilt, files = history.folded(), history.rebuilt(), history.files()

        assert folded == files
        assert rebuilt == files


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path)


def test_a_whole_life_leaves_rows_in_every_table_and_takes_them_along(history: History) -> None:
    history.fold()
    for answer in ("add", "fail", "foreign", "lose"):
        history.enqueue()
        history.fold()
        history.crash(45, answer)
        history.fold()
        history.review()
    history.undo()
    history.carry()
    history.enqueue()
    history.tear()
    history.review()
    history.enqueue()
    history.hold()
    seen = history.folded()
    for hours in (25, 24 * 9):
        history.pass_by(hours)
        assert history.folded() == history.files()

    left = history.folded()

    assert seen != left
    assert [name for name, rows in seen.items() if not rows] == []
    assert [name for name in ("decisions", "spans", "bases") if left[name]] == []
    assert all(left[name] for name in ("closings", "closed_entries", "revisions", "attempts", "budgets", "generations"))


def test_a_fold_reads_what_is_new_and_nothing_else(history: History) -> None:
    from curator.audit.database import fold_in
    from curator.durable.volume import Volume

    for _ in range(3):
        history.enqueue()
        history.review()
    history.fold()
    history.fold()

    quiet = fold_in(history.layout, Volume(), history.warned.append)

    assert (quiet.read, quiet.gone, history.warned) == (0, 0, [])


def test_a_record_that_cannot_be_read_costs_its_rows_alone_and_is_looked_at_again(history: History) -> None:
    history.enqueue()
    history.review()
    (closing,) = history.layout.finished.glob("*/*.json")
    whole = closing.read_bytes()
    history.fold()
    closing.write_bytes(b"{")
    torn = history.rebuilt()

    closing.write_bytes(whole)

    assert (torn["closings"], len(torn["jobs"])) == ([], 1)
    assert history.folded() == history.files()
