"""A backfill is cut off at every point; its person runs it again, and ends as if nobody had been cut off."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from faults.backfill_oracles import BACKFILL_ORACLES
from faults.backfill_stories import BACKFILL_STORIES
from faults.campaign import Stage
from faults.figures import note
from faults.live import die_everywhere, primitives, refuse_everywhere
from faults.mutants import Mutant, mutants_of, try_mutant
from faults.tree import Tree, scratch
from faults.view import look

ARGUED: Final = {
    "_create < durable/publish.py:ensure_directory < tracks/backfill/shelf.py:PlanShelf.keep_snapshot": (
        "the folder of promotions is made next, and the flush of its parent settles both"
    ),
    "ProjectStore.restore <> _keep": "the record names the revision by which it was taken back, so it cannot come first",
    "undo <> _keep": "as for the restoring: the revision's id is in the record",
    "telling request <> _Review._ask.<locals>.keep": "what is kept is what the request brought",
}
"""Planted bugs that may live, each with why."""
SECOND: Final = {"backfill-run"}
"""In each run: whose second lives are crashed. With time, all."""

STATES_MAX: Final = 1_400
"""With time: so many distinct states of the second lives of one story are judged, drawn by its name where there are more."""


@pytest.mark.parametrize("name", BACKFILL_STORIES)
def test_a_rerun_ends_with_the_same_proposals_and_the_same_memory(
    stage_folder: Path, name: str, *, is_long: bool
) -> None:
    stage = Stage(BACKFILL_STORIES[name], stage_folder)

    report = stage.run(share=1 if is_long else 3)

    print(f"{name}: {report.line()}")
    note("crash", report.figures())
    assert stage.ending_breaches() == []
    assert [str(violation) for violation in report.violations] == []


@pytest.mark.parametrize("name", BACKFILL_STORIES)
def test_a_run_that_dies_or_is_refused_by_the_disk_costs_no_promise(
    stage_folder: Path, name: str, *, is_long: bool
) -> None:
    stage = Stage(BACKFILL_STORIES[name], stage_folder)
    every = 1 if is_long else 17

    died, strangers = die_everywhere(stage, every)
    report = refuse_everywhere(stage, errno.ENOSPC, every=every)

    note("kill", {"deaths": died, "refusals": report.points, "violations": len(report.violations)})
    assert died == -(-primitives(stage) // every)
    assert strangers == []
    assert [str(violation) for violation in report.violations] == []


@pytest.mark.parametrize("name", BACKFILL_STORIES)
def test_nothing_is_built_on_what_a_killed_run_had_not_flushed(stage_folder: Path, name: str, *, is_long: bool) -> None:
    if not is_long and name not in SECOND:
        pytest.skip("only in the whole campaign: CURATOR_FAULTS=long")
    stage = Stage(BACKFILL_STORIES[name], stage_folder)

    report = stage.run_second_lives(is_whole=is_long, most=STATES_MAX)

    note("crash", report.figures())
    assert report.points > 0
    assert [str(violation) for violation in report.violations] == []


@pytest.fixture
def stages() -> Iterator[list[Stage]]:
    folders = [scratch() for _ in BACKFILL_STORIES]
    yield [Stage(story, folder) for story, folder in zip(BACKFILL_STORIES.values(), folders, strict=True)]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def is_of_the_track(mutant: Mutant) -> bool:
    return "backfill" in mutant.where or "workflow/trial.py" in mutant.where


def test_each_flush_and_each_order_of_the_track_is_needed_or_argued(stages: list[Stage]) -> None:
    mutants = [each for each in mutants_of(stage.recording for stage in stages) if is_of_the_track(each)]
    argued = {each: next((why for where, why in ARGUED.items() if each.where.endswith(where)), "") for each in mutants}

    verdicts = {each: try_mutant(each, stages).ending(argued[each]) for each in mutants}

    assert len(mutants) > 30
    assert [str(each) for each, ending in verdicts.items() if ending == "ALIVE"] == []
    assert sum(ending == "argued" for ending in verdicts.values()) == len(ARGUED)


def without(tree: Tree, ending: str) -> Tree:
    """Take a file of a plan away."""
    return {path: node for path, node in tree.items() if not (path.endswith(ending) and "/backfill/" in path)}


@pytest.mark.parametrize(
    ("name", "ending", "oracle"),
    [
        ("backfill-run", "staged/000002.json", "what_was_staged_stays"),
        ("backfill-run", "plan.json", "what_was_staged_stays"),
        ("backfill-run", "answers/000002.1.json", "a_settled_call_has_its_answer"),
        ("backfill-run", "answers/000002.1.json", "no_answered_call_is_repeated"),
        ("backfill-run", "windows.json", "a_rerun_ends_the_same"),
        ("backfill-promoted", "promotions/000001.json", "a_promotion_is_put_down_first"),
        ("backfill-promoted", "snapshots/000001.json", "a_promotion_is_put_down_first"),
    ],
)
def test_an_oracle_finds_what_is_missing(stage_folder: Path, name: str, ending: str, oracle: str) -> None:
    stage = Stage(BACKFILL_STORIES[name], stage_folder)
    last = stage.disk.points[-1]
    whole = stage.disk.whole(last)
    finds = next(each for each in BACKFILL_ORACLES if each.__name__ == oracle)

    healthy = stage.case(look(whole), look(whole), stage.said(last))
    case = stage.case(look(without(whole, ending)), look(whole), stage.said(last))

    assert list(finds(healthy)) == []
    assert list(finds(case)) != []


def test_an_oracle_finds_memory_that_was_changed_without_a_promotion(stage_folder: Path) -> None:
    stage = Stage(BACKFILL_STORIES["backfill-promoted"], stage_folder)
    last = stage.disk.points[-1]
    view = look(stage.disk.whole(last))
    told = tuple(mark for mark in stage.said(last) if mark.kind != "promoting")
    finds = next(each for each in BACKFILL_ORACLES if each.__name__ == "a_shadow_changes_no_memory")

    assert list(finds(stage.case(view, view, stage.said(last)))) == []
    assert list(finds(stage.case(view, view, told))) != []
