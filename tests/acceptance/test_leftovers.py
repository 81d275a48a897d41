"""What a power cut brings back goes for good at the next start."""

from __future__ import annotations

import json
from pathlib import Path

from curator.durable.layout import ProjectLayout
from curator.model.ids import ProjectKey
from tests.kit import ScriptedReviewer, World, adding


def reviewed(tmp_path: Path) -> tuple[World, ProjectKey]:
    world = World(tmp_path / "agent")
    world.configure()
    app = world.open(ScriptedReviewer(adding("Reviewed."), clock=world.clock))
    key = world.project(app, tmp_path / "code")
    app.shop.stores.spool.enqueue(world.job(app, key, "entry-1"))
    app.review_once()
    return world, key


def test_a_completion_that_came_back_after_its_removal_goes_for_good(tmp_path: Path) -> None:
    """A power cut can bring back a name whose removal was not flushed, when nothing else is left to do."""
    world, key = reviewed(tmp_path)
    project = ProjectLayout(tmp_path / "agent" / "no-forgetti" / key)
    (tombstone,) = project.retired.glob("*.json")
    shown = json.loads(tombstone.read_text("utf-8"))
    completion = {
        "version": 1,
        "kind": "review-admission-complete",
        "transactionId": shown["transactionId"],
        "intentDigest": shown["originalIntentDigest"],
    }
    back = project.completion(shown["transactionId"])
    back.write_text(json.dumps(completion, indent=2) + "\n", "utf-8")
    back.chmod(0o600)

    world.open(ScriptedReviewer(adding("x"), clock=world.clock)).review_once()

    assert not back.exists()
