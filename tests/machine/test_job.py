"""The life of a job, by hand: who owns it, and how it always comes to an end."""

import itertools

import pytest

from curator.machine.job import JOB, JobState

QUEUED, RUNNING, FINISHED = JobState.QUEUED, JobState.RUNNING, JobState.FINISHED
HELD, QUARANTINED = JobState.HELD, JobState.QUARANTINED
ARROWS = {
    (QUEUED, "claim"): RUNNING,
    (QUEUED, "hold"): HELD,
    (QUEUED, "quarantine"): QUARANTINED,
    (RUNNING, "renew"): RUNNING,
    (RUNNING, "rebase"): RUNNING,
    (RUNNING, "take over"): RUNNING,
    (RUNNING, "defer"): QUEUED,
    (RUNNING, "expire"): QUEUED,
    (RUNNING, "return"): QUEUED,
    (RUNNING, "finish"): FINISHED,
    (RUNNING, "quarantine"): QUARANTINED,
    (HELD, "release"): QUEUED,
    (HELD, "quarantine"): QUARANTINED,
    (QUARANTINED, "release"): QUEUED,
}


def test_a_job_begins_queued() -> None:
    assert (JOB.entry, JOB.initial) == ("enqueue", QUEUED)


@pytest.mark.parametrize(("state", "verb"), [*itertools.product(JobState, sorted({verb for _, verb in ARROWS}))])
def test_a_job_moves_along_these_arrows_and_no_other(state: JobState, verb: str) -> None:
    target = ARROWS.get((state, verb))

    assert ({each.target for each in JOB.transitions if (each.source, each.verb) == (state, verb)}) == (
        set() if target is None else {target}
    )


def test_a_job_whose_owner_is_gone_goes_back_to_the_queue() -> None:
    assert JOB.step(RUNNING, JOB.orphaned[RUNNING]) is QUEUED
    assert set(JOB.orphaned) == {RUNNING}


def test_a_finished_job_stays_finished() -> None:
    assert all(each.source is not FINISHED for each in JOB.transitions)


def test_every_other_state_leads_to_the_end_in_some_way() -> None:
    reaches = {FINISHED}
    while more := {each.source for each in JOB.transitions if each.target in reaches} - reaches:
        reaches |= more

    assert reaches == set(JobState)
