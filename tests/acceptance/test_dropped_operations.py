"""What the gates leave out is told on the card, by number and reason, and never by its text."""

from __future__ import annotations

import json
from pathlib import Path

from curator.model.feedback import Pending
from tests.kit import ScriptedReviewer, World


def test_an_operation_whose_quote_is_not_in_the_transcript_is_left_out_and_named(tmp_path: Path) -> None:
    world = World(tmp_path / "agent")
    world.configure()
    kept = {"action": "add", "content": "Use uv.", "importance": "normal", "quote": "we use uv"}
    made_up = {"action": "add", "content": "Deploy on Fridays.", "importance": "normal", "quote": "never said this"}
    answer = json.dumps({"operations": [made_up, kept]})
    app = world.open(ScriptedReviewer(answer, clock=world.clock))
    key = world.project(app, tmp_path / "code")
    job = world.job(app, key, "entry-1", "USER: we use uv here")
    app.shop.mailbox(key).register(Pending(job_id=job.id, job_digest=job.digest))
    app.shop.stores.spool.enqueue(job)

    app.review_once()

    assert world.texts(app, key) == ["Use uv."]
    card = app.shop.mailbox(key).ready(job.id)
    assert card is not None
    assert card.status == "applied"
    assert any("operation 1" in message for message in card.messages)
    assert "Fridays" not in json.dumps(card.encode())
    decision = app.shop.stores.decisions.find(job.id)
    assert decision is not None
    evidence = app.shop.stores.decisions.evidence(job.id, decision.attempt_id)
    assert evidence is not None
    assert [(span.operation, span.start, span.end) for span in evidence.spans] == [(0, 6, 15)]
