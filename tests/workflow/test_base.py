"""Which memory a job may change: the project's own, proved anew at each turn."""

from __future__ import annotations

from pathlib import Path

from tests.workflow.lives import Life


def test_a_project_record_that_names_another_project_stops_its_jobs_before_anything_is_asked(tmp_path: Path) -> None:
    life = Life(tmp_path)
    job = life.enqueue()
    elsewhere = tmp_path / "elsewhere"
    other = life.world.project(life.app, elsewhere)
    record = life.project.project_json
    record.write_bytes(life.layout.project(other).project_json.read_bytes())

    life.app.review_once()

    (waiting,) = life.app.shop.stores.spool.queued()
    assert waiting.job.id == job.id
    (stopped,) = life.stopped
    assert str(record) in stopped.fact
    assert "names another project than its folder" in stopped.fact
    assert life.reviewer.asked == []
