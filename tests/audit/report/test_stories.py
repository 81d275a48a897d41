"""A memory's history is read from its revisions, the latest first; the shadow says only whose and by which model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curator.audit.database import ask
from curator.audit.questions import Scope
from curator.audit.report.stories import Story, branches_of, root_of, story_of
from curator.durable.volume import Volume
from curator.model.ids import Day
from curator.model.limits import REPORT_PROJECTS_MAX
from curator.model.times import day_of
from tests.audit.histories import HOUR_MS, History

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def history(tmp_path: Path) -> History:
    history = History(tmp_path)
    for _ in range(2):
        history.enqueue()
        history.review()
    history.world.clock.ms += 30 * HOUR_MS
    history.enqueue()
    history.review()
    history.undo()
    return history


def stories(history: History, scope: Scope, most: int = 20) -> list[Story]:
    found, of = ask(history.layout, Volume(), history.warned.append, lambda it: branches_of(it, scope))
    assert of == len(found) <= REPORT_PROJECTS_MAX
    return [story_of(history.layout, each, scope.since, most) for each in found]


def test_the_latest_comes_first_with_its_words_its_job_and_its_model(history: History) -> None:
    (story,) = stories(history, Scope())

    assert [(told.sequence, told.is_undo) for told in story.told] == [(4, True), (3, False), (2, False), (1, False)]
    undo, _, second, first = story.told
    assert [each.kind for each in undo.changes] == ["remove"]
    assert [(each.kind, each.after) for each in (*first.changes, *second.changes)] == [
        ("add", "Fact number 2."),
        ("add", "Fact number 4."),
    ]
    assert first.behind is not None
    assert first.behind.model == "fixture-provider/fixture-reviewer"
    assert (history.layout.outcomes / f"{first.behind.job_id}.json").exists()
    assert undo.behind is None
    assert (story.untold, story.fault) == (0, None)
    assert root_of(history.layout, history.key) == str(history.root.parent.parent / "code")


def test_older_ones_are_counted_and_those_before_a_day_are_not_told(history: History) -> None:
    (cut,) = stories(history, Scope(), most=1)
    today = Day(day_of(history.world.clock.now()))
    (since,) = stories(history, Scope(since=today))

    assert (len(cut.told), cut.untold) == (1, 3)
    assert [told.sequence for told in since.told] == [4, 3]
    assert since.untold == 0


def test_a_damaged_history_and_one_that_is_gone_say_so(history: History) -> None:
    (branch,), _ = ask(history.layout, Volume(), history.warned.append, lambda it: branches_of(it, Scope()))
    (first, *_) = sorted(history.root.glob("*/revisions/main/*.json"))
    first.write_bytes(b"{")
    damaged = story_of(history.layout, branch, None, 9)
    (path,) = history.root.glob("*/branches/main.json")
    path.unlink()

    gone = story_of(history.layout, branch, None, 9)

    assert damaged.told == gone.told == ()
    assert str(first) in str(damaged.fault)
    assert gone.fault == "the memory is not there any more"


def test_what_is_no_key_has_no_folder(history: History) -> None:
    assert root_of(history.layout, "../../etc") is None
    assert root_of(history.layout, "0" * 24) is None
