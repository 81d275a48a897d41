"""A person's word on a job: it ends, or it waits as before and the person is told why."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from curator.durable.lock import try_protocol_lock
from curator.errors import BusyError
from curator.workflow.closing import cancel_job
from tests.workflow.lives import Life


def test_a_held_job_whose_memory_somebody_is_changing_is_not_cancelled_and_is_held_as_before(tmp_path: Path) -> None:
    life = Life(tmp_path)
    job, spool = life.enqueue(), life.app.shop.stores.spool
    spool.hold(job.id)
    somebody = try_protocol_lock(life.project.lock)
    assert somebody is not None

    with pytest.raises(BusyError, match="the project lock is held"):
        cancel_job(life.app.shop, job.id)

    assert spool.held_one(job.id) is not None
    assert (spool.running_one(job.id), spool.queued_one(job.id), spool.outcome(job.id)) == (None, None, None)
    somebody.release()
    cancel_job(life.app.shop, job.id)
    assert (spool.held_one(job.id), spool.outcome(job.id) is not None) == (None, True)


def test_a_job_of_a_project_without_a_memory_can_be_cancelled(tmp_path: Path) -> None:
    life = Life(tmp_path)
    job = life.enqueue(is_awaited=False)
    shutil.rmtree(life.project.root)

    cancel_job(life.app.shop, job.id)

    assert life.app.shop.stores.spool.outcome(job.id) is not None
    assert not life.project.root.exists()
