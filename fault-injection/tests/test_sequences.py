"""Whatever three things are done to a spool, one after the other: a crash in any of them is recovered, and the model allows all."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Final

import pytest
from faults.campaign import Stage
from faults.figures import note
from faults.model.trace import replay
from faults.recording import Mark
from faults.sequences import LAST, OPERATIONS, is_idle, judge_last, sequences, story
from faults.world import World

SHARE: Final = 16
"""So many sequences are tried by each of so many tests."""
STATES_SHARE: Final = {1: 1, 2: 2, 3: 12}
"""By length: of so many distinct states of the last operation one is judged, with time."""
SAMPLE: Final = 12
"""In each run: one sequence in so many, and one of its states in so many."""


@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("part", range(SHARE))
def test_a_crash_in_the_last_of_up_to_three_operations_is_recovered(
    stage_folder: Path, part: int, *, is_long: bool
) -> None:
    chosen = sequences()[part :: SHARE if is_long else SHARE * SAMPLE]
    tried, judged, breaches = 0, 0, []
    for names in chosen:
        folder = stage_folder / ".".join(names)
        folder.mkdir()
        stage = Stage(story(names), folder)
        if not is_idle(stage):
            tried += 1
            refusal = replay(stage.recording).refusal
            breaches += [] if refusal is None else [f"{stage.scenario.name}: the model does not allow it: {refusal}"]
            for violation in judge_last(stage, STATES_SHARE[len(names)] if is_long else SAMPLE):
                judged += 1
                breaches += [] if violation is None else [str(violation)]
        shutil.rmtree(folder)

    print(f"{len(chosen)} sequences, {tried} of which change something throughout, {judged} states judged")
    note("crash", {"sequences of operations": tried, "distinct states, sequences": judged})
    assert breaches == []


def test_what_is_said_to_be_accepted_before_it_is_breaks_a_promise(stage_folder: Path) -> None:
    def hasty(world: World) -> None:
        job = world.job("beta")
        world.tell(Mark(LAST, "enqueue"))
        world.tell(Mark("accepted", job.id))
        world.enqueue(job)

    stage = Stage(dataclasses.replace(story(("enqueue",)), run=hasty), stage_folder)

    assert any(violation is not None for violation in judge_last(stage, 1))


def test_every_operation_stands_in_a_sequence_that_changes_something(stage_folder: Path) -> None:
    begin = {
        "release": ("hold",),
        "undo": ("review", "review"),
        "beside": ("enqueue",),
        "overtaken": ("review", "enqueue"),
    }

    for name in OPERATIONS:
        folder = stage_folder / name
        folder.mkdir()
        assert not is_idle(Stage(story((*begin.get(name, ()), name)), folder)), name
