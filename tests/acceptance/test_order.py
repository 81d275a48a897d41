"""Within a branch, strictly by acceptance: neither a person's hand nor another's requeue lets a younger job overtake."""

from __future__ import annotations

import os
from pathlib import Path

from curator.model.ids import JobId, ProjectKey
from tests.kit import ScriptedReviewer, World, adding


def three_jobs(tmp_path: Path) -> tuple[World, ScriptedReviewer, ProjectKey, list[JobId]]:
    world = World(tmp_path / "agent")
    world.configure()
    reviewer = ScriptedReviewer(adding("Same fact."), clock=world.clock)
    app = world.open(reviewer)
    key = world.project(app, tmp_path / "code")
    ids: list[JobId] = []
    for number in range(3):
        job = world.job(app, key, f"entry-{number}", f"USER: fact {number}")
        app.shop.stores.spool.enqueue(job)
        os.utime(app.layout.queued / f"{job.id}.json", (1_000 + number, 1_000 + number))
        ids.append(job.id)
    return world, reviewer, key, ids


def reviewed(reviewer: ScriptedReviewer) -> list[JobId]:
    return [brief.job.id for brief in reviewer.briefs]


def test_jobs_go_by_acceptance(tmp_path: Path) -> None:
    world, reviewer, _, ids = three_jobs(tmp_path)

    world.open(reviewer).review_once()

    assert reviewed(reviewer) == ids


def test_holding_and_releasing_keeps_a_jobs_place(tmp_path: Path) -> None:
    world, reviewer, _, ids = three_jobs(tmp_path)
    spool = world.open(reviewer).shop.stores.spool

    spool.hold(ids[0])
    spool.release(ids[0])

    world.open(reviewer).review_once()
    assert reviewed(reviewer) == ids


def test_hurrying_keeps_a_jobs_place(tmp_path: Path) -> None:
    world, reviewer, _, ids = three_jobs(tmp_path)
    spool = world.open(reviewer).shop.stores.spool

    spool.hurry(next(each for each in spool.waiting() if each.job_id == ids[1]))

    world.open(reviewer).review_once()
    assert reviewed(reviewer) == ids
