"""A claim whose lease has ended is taken over where it stands (design: expired running records, lazily)."""

import contextlib
import dataclasses
from pathlib import Path

import pytest

from curator.errors import LeaseLostError
from curator.model.ids import WorkerId
from curator.model.job import Finished, Queued
from curator.model.limits import LEASE_MS
from curator.model.times import iso
from curator.store.spool import Claim, Waiting
from tests.durable.volumes import Crash, Mortal, Recorded
from tests.made_up import completed, job
from tests.store.spool.queues import WORKER, Queue


@pytest.fixture
def queue(tmp_path: Path) -> Queue:
    return Queue(tmp_path)


def finished(claim: Claim) -> Finished:
    running = claim.running
    return Finished(
        attempt=running.attempt,
        worker_id=running.worker_id,
        lease_token=running.lease_token,
        outcome=completed(job()),
    )


def expired(queue: Queue) -> Claim:
    """Leave a claim whose lease has ended."""
    claim = queue.claimed()
    queue.clock.ms += LEASE_MS
    return claim


def taken(queue: Queue) -> Waiting:
    return next(iter(queue.spool.claimed()))


def test_a_claim_whose_lease_has_ended_is_taken_over_in_place_with_the_next_number(queue: Queue) -> None:
    old = expired(queue)

    new = queue.spool.claim(taken(queue), WorkerId("curator:host:2"))

    assert new is not None
    assert (new.attempt, new.running.worker_id) == (old.attempt + 1, "curator:host:2")
    assert new.running.lease_token != old.running.lease_token
    assert (queue.stands(), queue.reopened().spool.running()) == (["running"], (new.running,))
    with pytest.raises(LeaseLostError):
        queue.spool.renew(old)


def test_only_one_of_two_takes_a_claim_over(queue: Queue) -> None:
    expired(queue)
    rival = queue.reopened()
    seen, seen_by_rival = taken(queue), taken(rival)

    assert rival.spool.claim(seen_by_rival, WORKER) is not None
    assert queue.spool.claim(seen, WORKER) is None


@pytest.mark.parametrize("meanwhile", ["renewed", "over", "queued", "gone"])
def test_a_claim_that_lives_or_is_over_is_not_taken_over(queue: Queue, meanwhile: str) -> None:
    old = expired(queue)
    seen = taken(queue)
    match meanwhile:
        case "renewed":
            until = iso(queue.clock.ms + 1)
            queue.put("running", dataclasses.replace(old.running, lease_until=until))
        case "over":
            queue.put("outcomes", finished(old))
        case "queued":
            queue.put("queued", Queued(job=job(), next_attempt=2))
        case _:
            queue.file("running").unlink()

    assert queue.spool.claim(seen, WORKER) is None


def test_a_claim_whose_lease_runs_is_not_taken_over(queue: Queue) -> None:
    queue.claimed()

    assert queue.spool.claim(taken(queue), WORKER) is None


def test_taking_over_is_durable_when_it_returns(queue: Queue, tmp_path: Path) -> None:
    expired(queue)
    volume = Recorded()
    late = Queue(tmp_path, volume, queue.clock)

    assert late.spool.claim(taken(late), WORKER) is not None
    assert [asked for asked in volume.asked if "flush" in asked][-1] == "flush running"


@pytest.mark.parametrize("survive", range(6))
def test_a_crash_while_taking_over_leaves_the_old_claim_or_the_new_one(queue: Queue, survive: int) -> None:
    old = expired(queue)
    dying = queue.reopened(Mortal(survive))
    with contextlib.suppress(Crash):
        dying.spool.claim(taken(dying), WORKER)

    (standing,) = queue.reopened().spool.running()
    assert standing.attempt in (old.attempt, old.attempt + 1)
    assert queue.stands() == ["running"]
