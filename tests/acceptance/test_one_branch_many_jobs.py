"""Jobs captured from one branch state are all applied, and a foreground write is never lost."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from curator.model.feedback import Pending
from curator.model.settings import CuratorSettings
from tests.foreign import foreground_add
from tests.kit import ScriptedReviewer, World, adding

COUNT = 20


def prepared(tmp_path: Path, reviewer_of: object = None) -> tuple[World, ScriptedReviewer, str, list[str]]:
    """Twenty jobs of one project, all captured from the empty branch, each with a card waited for."""
    world = World(tmp_path / "agent")
    world.configure()
    script = reviewer_of or (lambda number: adding(f"Fact number {number}."))
    reviewer = ScriptedReviewer(script, clock=world.clock)  # type: ignore[arg-type]  # a script or its maker
    app = world.open(reviewer)
    key = world.project(app, tmp_path / "code")
    jobs = [world.job(app, key, f"entry-{number:04d}", f"USER: fact {number}") for number in range(COUNT)]
    for job in jobs:
        app.shop.mailbox(key).register(Pending(job_id=job.id, job_digest=job.digest))
        app.shop.stores.spool.enqueue(job)
    return world, reviewer, key, [job.id for job in jobs]


def cards(world: World, key: str) -> list[dict[str, object]]:
    ready = world.agent / "no-forgetti" / key / "service" / "review-feedback" / "ready"
    return [json.loads(path.read_text("utf-8")) for path in sorted(ready.glob("*.json"))]


def test_twenty_jobs_of_one_branch_state_are_all_applied_with_twenty_calls(tmp_path: Path) -> None:
    world, reviewer, key, ids = prepared(tmp_path)

    app = world.open(reviewer)
    drained = app.review_once()

    assert (drained.completed, drained.left) == (COUNT, 0)
    assert len(reviewer.asked) == COUNT
    assert world.texts(app, key) == [f"Fact number {number}." for number in range(1, COUNT + 1)]  # type: ignore[arg-type]  # a key
    shown = cards(world, key)
    assert sorted(str(card["jobId"]) for card in shown) == sorted(ids)
    assert all(card["status"] == "applied" and len(card["changes"]) == 1 for card in shown)  # type: ignore[arg-type]  # JSON


def test_a_foreground_write_during_a_call_survives_and_costs_one_call_more(tmp_path: Path) -> None:
    project = tmp_path / "agent" / "no-forgetti"

    def script(number: int) -> str:
        if number == 7:
            (key,) = [path for path in project.iterdir() if (path / "branches").is_dir()]
            foreground_add(key, "Written by hand.")
        return adding(f"Fact number {number}.")

    world, reviewer, key, _ = prepared(tmp_path, script)

    app = world.open(reviewer)
    drained = app.review_once()

    assert drained.completed == COUNT
    assert len(reviewer.asked) == COUNT + 1
    texts = world.texts(app, key)  # type: ignore[arg-type]  # a key
    assert "Written by hand." in texts
    assert len(texts) == COUNT + 1
    shown = cards(world, key)
    assert len(shown) == COUNT
    assert all("Written by hand." not in json.dumps(card) for card in shown)


def test_a_branch_that_moves_at_every_call_ends_stale_after_three(tmp_path: Path) -> None:
    project = tmp_path / "agent" / "no-forgetti"

    def script(number: int) -> str:
        (key,) = [path for path in project.iterdir() if (path / "branches").is_dir()]
        foreground_add(key, f"By hand {number}.")
        return adding(f"Fact number {number}.")

    world, reviewer, key, _ = prepared(tmp_path, script)

    app = world.open(reviewer)
    app.review_once(limit=1)

    assert len(reviewer.asked) == 3
    assert [card["status"] for card in cards(world, key)] == ["stale"]
    assert world.texts(app, key) == ["By hand 1.", "By hand 2.", "By hand 3."]  # type: ignore[arg-type]  # a key


def test_on_stale_report_gives_the_protocols_plain_behaviour(tmp_path: Path) -> None:
    world, reviewer, key, _ = prepared(tmp_path)
    app = world.open(reviewer)
    plain = dataclasses.replace(app.shop, settings=CuratorSettings(on_stale="report"))

    dataclasses.replace(app, shop=plain).review_once()

    statuses = [str(card["status"]) for card in cards(world, key)]
    assert statuses.count("applied") >= 1
    assert len(reviewer.asked) == COUNT
