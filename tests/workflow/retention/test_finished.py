"""Evidence, outcomes, proofs and acceptances: each goes by its own rule, both ways."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from curator.model.limits import OUTCOMES_KEPT_MAX
from curator.workflow.replay import replay_job
from tests.kit import adding
from tests.workflow.lives import ALL, BUSY, DAY, ENDS, HOUR, Life, left, live_long, multiply_outcomes


@pytest.fixture
def life(tmp_path: Path) -> Life:
    return Life(tmp_path)


def test_evidence_of_a_job_that_waits_for_another_try_stays(tmp_path: Path) -> None:
    life = Life(tmp_path, BUSY)
    job = life.enqueue()
    life.app.review_once()
    assert life.evidence_of(job) == ["provider-results"]

    life.pass_by(10 * DAY)

    assert life.evidence_of(job) == ["provider-results"]


def test_evidence_of_a_held_job_stays(tmp_path: Path) -> None:
    life = Life(tmp_path, BUSY)
    job = life.enqueue()
    life.app.review_once()
    life.app.shop.stores.spool.hold(job.id)

    life.pass_by(10 * DAY)

    assert life.evidence_of(job) == ["provider-results"]


def test_evidence_stays_while_somebody_waits_for_a_card_that_cannot_be_written(life: Life) -> None:
    job = life.review(is_consumed=False)
    card = life.project.ready / f"{job.id}.json"
    card.unlink()
    card.mkdir()

    life.pass_by(3 * DAY)

    assert life.evidence_of(job) == ["proposal-decisions", "provider-results", "evidence"]


def test_evidence_goes_in_its_time_though_nobody_ever_takes_the_card(life: Life) -> None:
    job = life.review(is_consumed=False)

    life.pass_by(3 * DAY)

    assert life.evidence_of(job) == []
    assert life.app.shop.mailbox(life.key).ready(job.id) is not None


def test_evidence_stays_while_a_change_has_begun(life: Life) -> None:
    job = life.review()
    intent = life.project.intent(job.id)
    intent.write_text("{}", "utf-8")  # one that nobody can read, so that nobody finishes it

    life.pass_by(3 * DAY)

    assert life.evidence_of(job) == ["proposal-decisions", "provider-results", "evidence"]
    assert left(life, job) == ALL


def test_a_failed_job_is_kept_for_pis_retry_as_long_as_its_evidence(tmp_path: Path) -> None:
    life = Life(tmp_path, ENDS, adding("Reviewed."))
    job = life.review()
    life.pass_by(20 * HOUR)

    again = replay_job(life.app.shop, job.id)

    assert again.generation == 1
    life.pass_by(10 * HOUR)
    assert left(life, job) == ("acceptance", "closing")


def test_bases_go_with_the_rest(tmp_path: Path) -> None:
    life = Life(tmp_path)
    first, second = life.enqueue("entry-1"), life.enqueue("entry-2")
    life.app.review_once()
    for job in (first, second):
        life.consume(job)
    assert life.evidence_of(second) == ["proposal-decisions", "provider-results", "evidence", "bases"]

    life.pass_by(25 * HOUR)

    assert life.evidence_of(second) == []
    for folder in (life.layout.results, life.layout.bases):
        assert list(folder.iterdir()) == []
    assert [path for path in life.layout.evidence.rglob("*") if path.is_file()] == []


def test_empty_folders_and_leftovers_of_a_job_go_too(life: Life) -> None:
    job = life.review()
    staged = life.volume.stage(life.layout.results / job.id / "x", b"half", hidden=True)
    (life.layout.bases / job.id).mkdir(parents=True)

    life.pass_by(25 * HOUR)

    assert not staged.exists()
    assert life.evidence_of(job) == []


def test_a_closing_record_is_made_before_the_evidence_goes(life: Life) -> None:
    job = life.review()
    closing = life.app.shop.stores.finished.find(job.id)
    shutil.rmtree(life.layout.finished)

    life.pass_by(25 * HOUR)

    assert life.app.shop.stores.finished.find(job.id) == closing
    assert left(life, job) == ("tombstone", "receipt", "acceptance", "closing")


def test_what_another_worker_left_without_evidence_goes_as_its_own_worker_lets_it_go(life: Life) -> None:
    job = life.review()
    shutil.rmtree(life.layout.finished)
    shutil.rmtree(life.layout.results / job.id)
    life.layout.decision(job.id).unlink()

    life.pass_by(25 * HOUR)

    assert left(life, job) == ("tombstone", "receipt", "acceptance")
    life.pass_by(30 * DAY)
    # Without a closing record nothing else would say that the job is over.
    assert left(life, job) == ("tombstone", "receipt", "acceptance")


def test_evidence_of_a_job_that_was_set_aside_stays_until_that_is_gone(tmp_path: Path) -> None:
    life = Life(tmp_path, BUSY)
    job = life.enqueue(is_awaited=False)
    life.app.review_once()
    (life.layout.queued / f"{job.id}.json").write_text("{", "utf-8")

    life.pass_by(20 * HOUR)
    life.pass_by(10 * HOUR)
    assert life.evidence_of(job) == ["provider-results"]

    life.pass_by(20 * HOUR)
    assert list(life.layout.dead_letter.iterdir()) == []
    life.pass_by(0)
    assert life.evidence_of(job) == []


def test_at_most_so_many_outcomes_stay_whatever_the_ttl(life: Life) -> None:
    live_long(life)
    job = life.review()
    multiply_outcomes(life, job, OUTCOMES_KEPT_MAX + 3)

    life.pass_by(HOUR)

    names = {path.name for path in life.layout.outcomes.iterdir()}
    assert len(names) == OUTCOMES_KEPT_MAX
    assert f"{job.id}.json" in names  # the newest
    assert left(life, job) == ALL


def test_the_newest_outcomes_stay(life: Life) -> None:
    live_long(life)
    jobs = [life.review(f"entry-{number}") for number in range(3)]
    multiply_outcomes(life, jobs[0], OUTCOMES_KEPT_MAX - 1)
    for job, age in zip(jobs, (20, 3, 1), strict=True):
        at = (life.world.clock.ms - age * HOUR) / 1000
        os.utime(life.layout.outcomes / f"{job.id}.json", (at, at))

    life.pass_by(0)

    assert [life.has(job)["outcome"] for job in jobs] == [False, True, True]
    assert all(life.has(job)["closing"] for job in jobs)


def test_an_outcome_stays_while_somebody_who_waits_has_no_card_and_cannot_get_one(life: Life) -> None:
    job = life.review(is_consumed=False)
    (life.project.ready / f"{job.id}.json").unlink()
    pending = life.project.pending / f"{job.id}.json"
    pending.write_text("{", "utf-8")

    life.pass_by(3 * DAY)

    assert life.has(job)["outcome"]
    assert f"feedback of {job.id}" in {event.subject for event in life.stopped}

    pending.unlink()
    life.pass_by(0)
    assert not life.has(job)["outcome"]


def test_an_outcome_that_cannot_be_read_is_set_aside_when_it_is_due(life: Life) -> None:
    job, other = life.review(), life.review("entry-2")
    path = life.layout.outcomes / f"{job.id}.json"
    at = path.stat().st_mtime
    path.write_text("{", "utf-8")
    os.utime(path, (at, at))
    shutil.rmtree(life.layout.finished)

    life.pass_by(25 * HOUR)

    assert not path.exists()
    assert [letter.read_text("utf-8") for letter in life.layout.dead_letter.iterdir()] == ["{"]
    assert left(life, other) == ("tombstone", "receipt", "acceptance", "closing")


def test_what_was_set_aside_starts_its_own_clock(life: Life) -> None:
    bad = life.layout.queued / f"review_{'0' * 40}.json"
    life.app.shop.stores.spool.prepare()
    bad.write_text("{", "utf-8")
    os.utime(bad, (0, 0))

    life.pass_by(0)
    life.pass_by(23 * HOUR)
    assert len(list(life.layout.dead_letter.iterdir())) == 1

    life.pass_by(2 * HOUR)
    assert list(life.layout.dead_letter.iterdir()) == []


def test_what_another_worker_set_aside_counts_from_its_moving(life: Life) -> None:
    life.app.shop.stores.spool.prepare()
    now = life.world.clock.ms
    moved = life.layout.dead_letter / f"x.json.{now}.00000000-0000-4000-8000-000000000001.bad"
    moved.write_text("{", "utf-8")
    os.utime(moved, (0, 0))
    folder = life.layout.dead_letter / "a folder"
    folder.mkdir()

    life.pass_by(23 * HOUR)
    assert moved.exists()

    life.pass_by(2 * HOUR)
    assert not moved.exists()
    assert folder.is_dir()


@pytest.mark.parametrize("what", ["held", "decision", "intent", "completion", "pending", "ready"])
def test_proofs_stay_while_anything_of_their_job_stands(life: Life, what: str) -> None:
    job = life.review()
    life.pass_by(2 * DAY)
    life.app.shop.stores.spool.prepare()
    place = {
        "held": life.layout.held / f"{job.id}.json",
        "decision": life.layout.decision(job.id),
        "intent": life.project.intent(job.id),
        "completion": life.project.completion(job.id),
        "pending": life.project.pending / f"{job.id}.json",
        "ready": life.project.ready / f"{job.id}.json",
    }[what]
    life.world.clock.ms += 10 * DAY
    place.write_text("{", "utf-8")  # written now, and nobody can read it: its name is all that counts

    life.pass_by(0)
    assert left(life, job)[:2] != ("acceptance", "closing")
    assert {"tombstone", "receipt"} <= set(left(life, job))

    place.unlink()
    life.pass_by(0)
    assert left(life, job) == ("closing",)


@pytest.mark.parametrize("is_running", [False, True])
def test_proofs_stay_while_their_job_is_queued_again_or_runs(life: Life, is_running: bool) -> None:  # noqa: FBT001 - a case
    job = life.review()
    life.pass_by(2 * DAY)
    life.world.clock.ms += 10 * DAY
    life.put(job, is_awaited=False)
    if is_running:
        spool = life.app.shop.stores.spool
        assert spool.claim(spool.waiting()[0], life.app.shop.worker_id) is not None

    life.pass_by(0)

    assert {"tombstone", "receipt", "acceptance"} <= set(left(life, job))


def test_proofs_stay_without_a_closing_record(life: Life) -> None:
    job = life.review()
    life.pass_by(2 * DAY)
    shutil.rmtree(life.layout.finished)

    life.pass_by(30 * DAY)

    assert left(life, job) == ("tombstone", "receipt", "acceptance")


def test_a_receipt_whose_tombstone_a_crash_has_taken_goes_the_next_time(life: Life) -> None:
    job = life.review()
    life.project.tombstone(job.id).unlink()

    life.pass_by(8 * DAY)

    assert left(life, job) == ("closing",)


def test_the_proofs_of_shadow_mode_go_too(tmp_path: Path) -> None:
    life = Life(tmp_path)
    life.world.configure("shadow")
    life.reopen()
    job = life.enqueue(is_awaited=False)
    life.app.review_once()
    shadow = life.layout.shadow_project(life.key)
    assert shadow.receipt(job.id).exists()

    life.pass_by(8 * DAY)

    assert not shadow.receipt(job.id).exists()
    assert not shadow.tombstone(job.id).exists()
    assert left(life, job) == ("closing",)


def test_an_acceptance_stays_while_its_outcome_does(life: Life) -> None:
    live_long(life)
    job = life.review()

    life.pass_by(30 * DAY)

    assert left(life, job) == ALL
