"""Who lost its claim while it asked elects nothing: its result is kept and accounted, and the job is another's."""

from __future__ import annotations

from pathlib import Path

from curator.app import App
from curator.model.limits import LEASE_MS
from curator.workflow.claim import take
from tests.kit import ScriptedReviewer, adding
from tests.workflow.lives import Life


def test_a_result_that_comes_after_its_claim_was_taken_over_is_kept_and_not_elected(tmp_path: Path) -> None:
    life = Life(tmp_path)
    job = life.enqueue()
    others: list[App] = []

    def meanwhile(_number: int) -> str:
        life.world.clock.ms += LEASE_MS + 1_000
        other = life.world.open(life.reviewer, worker="other", volume=life.volume)
        others.append(other)
        (claimed,) = other.shop.stores.spool.claimed()
        assert take(other.shop, claimed) is not None
        return adding("Said too late.")

    late = life.world.open(ScriptedReviewer(meanwhile, clock=life.world.clock), worker="late", volume=life.volume)
    late.review_once()

    decisions = life.app.shop.stores.decisions
    assert len(others) == 1
    assert len(decisions.results(job.id)) == 1
    assert decisions.find(job.id) is None
    running = life.app.shop.stores.spool.running_one(job.id)
    assert running is not None
    assert running.worker_id == others[0].shop.worker_id
