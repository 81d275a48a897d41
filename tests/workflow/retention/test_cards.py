"""Whoever waits for a job that is over is answered, as long as anything is left to say."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from curator.model.feedback import Pending
from tests.workflow.lives import DAY, ENDS, Life


@pytest.fixture
def life(tmp_path: Path) -> Life:
    return Life(tmp_path)


def test_who_waits_is_answered_before_the_outcome_goes(life: Life) -> None:
    job = life.review(is_consumed=False)
    (life.project.ready / f"{job.id}.json").unlink()
    shutil.rmtree(life.layout.results / job.id)
    life.layout.decision(job.id).unlink()

    life.pass_by(3 * DAY)

    card = life.app.shop.mailbox(life.key).ready(job.id)
    assert card is not None
    assert (card.status, card.branch_name, card.changes) == ("applied", "main", ())
    assert not life.has(job)["outcome"]


def test_who_waits_for_a_job_that_failed_is_told_why(tmp_path: Path) -> None:
    life = Life(tmp_path, ENDS)
    job = life.review(is_consumed=False)
    (life.project.ready / f"{job.id}.json").unlink()
    shutil.rmtree(life.layout.results / job.id)

    life.pass_by(3 * DAY)

    card = life.app.shop.mailbox(life.key).ready(job.id)
    assert card is not None
    assert (card.status, card.messages) == ("failed", (ENDS.message,))


def test_who_came_to_wait_after_the_outcome_was_gone_is_answered_from_the_closing_record(tmp_path: Path) -> None:
    life = Life(tmp_path, ENDS)
    job = life.review()
    life.pass_by(3 * DAY)
    life.app.shop.mailbox(life.key).register(Pending(job_id=job.id, job_digest=job.digest, requested_by="manual"))

    life.pass_by(0)

    card = life.app.shop.mailbox(life.key).ready(job.id)
    assert card is not None
    assert (card.status, card.messages, card.requested_by) == ("failed", ("invalid_request",), "manual")


def test_who_waits_for_another_job_of_that_id_is_not_answered(life: Life) -> None:
    job = life.review()
    other = Pending(job_id=job.id, job_digest=type(job.digest)("f" * 64))
    life.app.shop.mailbox(life.key).register(other)

    life.pass_by(3 * DAY)

    assert life.app.shop.mailbox(life.key).ready(job.id) is None
