"""How a turn ends that a job's surroundings stop: the job is named, and waits for them and no longer."""

import os
import uuid
from pathlib import Path

from curator.model.event import Stopped
from curator.model.limits import LOCK_STALE_MS
from curator.model.times import ms_of
from tests.workflow.lives import Life


def test_a_lock_that_somebody_holds_costs_a_job_no_more_than_such_a_lock_can_be_old(tmp_path: Path) -> None:
    life = Life(tmp_path)
    job = life.enqueue()
    life.project.lock.write_text(f"{os.getpid()}:{uuid.uuid4()}\n{life.world.clock.ms}\n")
    began = life.world.clock.ms

    drained = life.app.review_once()

    (waiting,) = life.app.shop.stores.spool.queued()
    assert (drained.retried, waiting.job.id, waiting.next_attempt) == (1, job.id, 2)
    assert waiting.available_at is not None
    assert LOCK_STALE_MS <= ms_of(waiting.available_at) - began < LOCK_STALE_MS + 10_000
    told = [event.code for event in life.world.heard.events if isinstance(event, Stopped)]
    assert told == ["busy"]
