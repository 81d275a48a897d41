"""A tree is recovered once and judged for whatever was told: nothing that was remembered hides a breach."""

from __future__ import annotations

from pathlib import Path

from faults.campaign import LOSSY, Stage
from faults.scenarios import SCENARIOS
from faults.tree import digest_of_tree
from faults.view import is_inert


def test_a_tree_that_was_recovered_for_one_knowledge_is_judged_for_another(stage_folder: Path) -> None:
    stage = Stage(SCENARIOS["rejected"], stage_folder)
    start, last = stage.disk.whole(0), stage.disk.points[-1]

    healthy = stage.breaches_after(start, stage.said(0), crashes=1)
    broken = stage.breaches_after(start, stage.said(last), crashes=1)
    again = stage.breaches_after(start, stage.said(0), crashes=1)

    assert (healthy, again) == ([], [])
    # Somebody was told of a request, and of the end of the job, of which nothing is left.
    assert broken != []
    assert all(each.startswith("first recovery: ") for each in broken)


def test_a_remembered_course_tells_what_a_new_one_does(stage_folder: Path) -> None:
    stage = Stage(SCENARIOS["rejected"], stage_folder)
    start, said = stage.disk.whole(0), stage.said(stage.disk.points[-1])

    first = stage.breaches_after(start, said, crashes=1)
    stage.breaches_after(start, stage.said(0), crashes=1)

    assert stage.breaches_after(start, said, crashes=1) == first


def test_a_state_is_known_by_the_digest_of_the_tree_that_it_would_grow(stage_folder: Path) -> None:
    stage = Stage(SCENARIOS["trajectory-packed"], stage_folder)

    states = [state for model in LOSSY for _, state in stage.states(model)]

    assert len({state.digest for state in states}) > 20
    assert all(state.digest == digest_of_tree(state.tree, is_inert) for state in states)


def test_a_sample_of_second_lives_is_drawn_the_same_way_and_says_what_it_left(stage_folder: Path) -> None:
    whole = Stage(SCENARIOS["undone"], stage_folder).run_second_lives()
    total = whole.states.total()

    one, same = (Stage(SCENARIOS["undone"], stage_folder).run_second_lives(most=total - 1) for _ in range(2))

    assert one.states.total() == total - 1
    assert one.passed_over == 1
    assert one.after == same.after
    assert (whole.passed_over, whole.violations) == (0, [])
