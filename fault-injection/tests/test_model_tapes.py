"""What many processes wrote down is one trace of the model, in an order that the times leave open; a lie among it is refused."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from faults.block.stage import in_a_process
from faults.block.watched import WatchedStage
from faults.campaign import Stage
from faults.model.tape import Tape, mark_death
from faults.model.tapes import Step, replay_steps, steps_of
from faults.recording import Asked, Recording, Verb
from faults.scenarios import SCENARIOS
from faults.surroundings.watched import Watch, on_tape, watched
from faults.tree import is_staged

WHO = 7
"""The one process of a scenario."""


@pytest.fixture
def applied(stage_folder: Path) -> Recording:
    return Stage(SCENARIOS["applied"], stage_folder).recording


def steps_from(recording: Recording) -> list[Step]:
    """Return a recording as one process would have written it down: each verb after the one before it.

    Without the removals of staged names, which nobody looks at: so a publication can be moved alone.
    """
    kept = [each for each in recording.asked if not (each.verb is Verb.UNLINK and is_staged(each.path))]
    return [Step(at * 10, at * 10 + 5, WHO, asked) for at, asked in enumerate(kept)]


def told(recording: Recording, steps: list[Step]) -> str:
    refusal = replay_steps(recording.start, steps).refusal
    return "" if refusal is None else str(refusal)


def place_of(steps: list[Step], folder: str) -> int:
    return next(at for at, each in enumerate(steps) if is_publication(each.asked, folder))


def is_publication(asked: Asked | None, folder: str) -> bool:
    return asked is not None and asked.verb in (Verb.LINK, Verb.RENAME) and f"/{folder}/" in asked.path


# --- in which order ---------------------------------------------------------------------------------------------------


def test_what_one_process_did_is_the_trace_that_was_recorded(applied: Recording) -> None:
    assert told(applied, steps_from(applied)) == ""


def test_verbs_that_touch_are_taken_in_the_order_that_the_model_allows(applied: Recording) -> None:
    steps = steps_from(applied)
    result, decision = place_of(steps, "provider-results"), place_of(steps, "proposal-decisions")
    late = dataclasses.replace(steps[result], ends=steps[decision].ends + 1)

    others = [each for at, each in enumerate(steps) if at != result]
    touching = sorted((*others, late), key=lambda each: each.ends)

    assert touching.index(late) > place_of(touching, "proposal-decisions")
    assert told(applied, touching) == ""


def test_verbs_that_do_not_touch_keep_their_order(applied: Recording) -> None:
    steps = steps_from(applied)
    result, decision = place_of(steps, "provider-results"), place_of(steps, "proposal-decisions")
    end = steps[decision].ends
    late = dataclasses.replace(steps[result], begins=end + 1, ends=end + 2)

    apart = [*steps[:result], *steps[result + 1 : decision + 1], late, *steps[decision + 1 :]]

    assert "settle.result" in told(applied, apart)


def test_a_step_that_is_refused_leaves_no_trace_of_itself(applied: Recording) -> None:
    steps = steps_from(applied)
    early = dataclasses.replace(steps[place_of(steps, "proposal-decisions")], begins=0, ends=1)

    assert "nobody holds that claim" in told(applied, [steps[0], early, *steps[1:]])
    # The first one touches everything: whatever comes next is tried in its place.
    long = dataclasses.replace(early, ends=steps[-1].ends + 1)
    rest = [each for each in steps if each.asked is not early.asked]
    assert told(applied, [*rest, long]) == ""


# --- who dies ---------------------------------------------------------------------------------------------------------


def a_rename(folder: Path, tape: Tape, *, comes_to_pass: bool) -> Callable[[], None]:
    def run() -> None:
        staged, path = folder / "agent" / "x.tmp", folder / "agent" / "x"
        staged.write_bytes(b"{}")
        tape.staged(staged, b"{}")
        with tape.asked("rename", path, staged, [], 0):
            if comes_to_pass:
                staged.rename(path)
            os._exit(9)

    return run


@pytest.mark.parametrize("comes_to_pass", [True, False])
def test_of_the_last_verb_of_the_dead_it_is_known_whether_it_came_to_pass(
    tmp_path: Path, *, comes_to_pass: bool
) -> None:
    (tmp_path / "agent").mkdir()
    tapes = tmp_path / "tapes"
    tapes.mkdir()
    assert in_a_process(a_rename(tmp_path, Tape(tapes), comes_to_pass=comes_to_pass)) == 9
    (pid,) = (int(each.name.partition("-")[0]) for each in tapes.iterdir())

    mark_death(tapes, pid)

    staged, renamed, death = steps_of(tapes)
    assert staged.asked is not None
    assert renamed.asked is not None
    assert (staged.asked.content, renamed.asked.path, renamed.asked.is_done) == (b"{}", "x", comes_to_pass)
    assert death.asked is None


def test_the_death_of_who_holds_no_claim_changes_nothing(applied: Recording) -> None:
    steps = steps_from(applied)
    result = place_of(steps, "provider-results")

    stranger, owner = (Step(steps[result].begins - 1, steps[result].begins - 1, pid, None) for pid in (WHO + 1, WHO))

    assert told(applied, [*steps[:result], stranger, *steps[result:]]) == ""
    assert "nobody holds that claim" in told(applied, [*steps[:result], owner, *steps[result:]])


# --- a lie in each layer ----------------------------------------------------------------------------------------------


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    watch = on_tape(tmp_path, tmp_path)
    watch.place.configure()
    return watch


def lies(watch: Watch) -> str:
    watch.end(watch.place.layout.agent)
    return watch.refusals()[-1]


def test_a_decision_that_a_process_publishes_without_a_result_is_refused(watch: Watch) -> None:
    job = watch.place.enqueue(watch.place.project())
    disk = watch.place.disk(watch.place.shop().clock)

    watch.place.layout.decisions.mkdir(parents=True)
    path = watch.place.layout.decisions / f"{job.id}.json"
    disk.link(disk.stage(path, b'{"attemptId": "none"}'), path)

    assert "nobody holds that claim" in lies(watch)


def test_a_real_review_is_allowed_and_a_job_that_goes_past_the_tape_is_not(watch: Watch) -> None:
    job = watch.place.enqueue(watch.place.project())
    assert watch.place.review().status == 0
    watch.end(watch.place.layout.agent)
    assert watch.refusals() == []

    (watch.place.layout.outcomes / f"{job.id}.json").unlink()

    assert "stands otherwise than any tape tells" in lies(watch)


def test_what_the_model_does_not_allow_fails_the_test_that_watches(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"drop queued\.covered"), watched(tmp_path) as watch:  # noqa: PT012 - the watch ends it
        job = watch.place.enqueue(watch.place.project())
        watch.place.disk(watch.place.shop().clock).unlink(watch.place.layout.queued / f"{job.id}.json")


def test_a_recovery_that_the_model_does_not_allow_is_a_breach_of_the_layer_block(stage_folder: Path) -> None:
    stage = WatchedStage(SCENARIOS["applied"], stage_folder)
    point = stage.disk.points[len(stage.disk.points) // 2]
    stage.breaches_after(stage.disk.whole(point), stage.said(point), crashes=1)
    kept = stage.recovered
    assert kept is not None

    assert stage.refusal() == []
    outcome = next(at for at, each in enumerate(kept.asked) if is_publication(each, "outcomes"))
    stage.recovered = dataclasses.replace(kept, asked=(kept.asked[outcome], *kept.asked))

    assert len(stage.refusal()) == 1
