"""What is old goes when nobody needs it any more, and not before; what was decided stays decided."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from curator.model.ids import Day
from curator.model.times import day_of
from curator.workflow.undo import undo
from tests.kit import START_MS
from tests.workflow.lives import ALL, DAY, HOUR, MAIN, Life, left


@pytest.fixture
def life(tmp_path: Path) -> Life:
    return Life(tmp_path)


def test_a_finished_job_shrinks_to_its_closing_record(life: Life) -> None:
    job = life.review()
    assert left(life, job) == ALL

    life.pass_by(23 * HOUR)
    assert left(life, job) == ALL

    life.pass_by(2 * HOUR)
    assert left(life, job) == ("tombstone", "receipt", "acceptance", "closing")

    life.pass_by(5 * DAY)
    assert left(life, job) == ("tombstone", "receipt", "acceptance", "closing")

    life.pass_by(DAY)
    assert left(life, job) == ("closing",)
    assert life.stopped == []


def test_memory_and_its_history_are_never_removed(life: Life) -> None:
    life.review()
    before = {path: path.read_bytes() for path in (life.project.root / "revisions").rglob("*.json")}

    life.pass_by(400 * DAY)

    assert before
    assert {path: path.read_bytes() for path in (life.project.root / "revisions").rglob("*.json")} == before
    assert life.world.texts(life.app, life.key) == ["Reviewed."]


def test_a_review_can_still_be_undone_when_all_of_its_job_is_gone(life: Life) -> None:
    life.review()
    life.pass_by(30 * DAY)

    undo(life.app.shop, life.key, MAIN)

    assert life.world.texts(life.app, life.key) == []


def test_an_old_job_that_is_queued_again_is_a_replay_and_asks_nobody(life: Life) -> None:
    job = life.review()
    life.pass_by(30 * DAY)
    calls = len(life.reviewer.asked)

    life.put(job)
    life.app.review_once()

    assert len(life.reviewer.asked) == calls
    card = life.app.shop.mailbox(life.key).ready(job.id)
    assert card is not None
    assert (card.status, card.changes) == ("applied", ())
    assert left(life, job) == ("acceptance", "closing")
    assert not (life.layout.queued / f"{job.id}.json").exists()
    assert life.world.texts(life.app, life.key) == ["Reviewed."]


def test_maintaining_again_changes_nothing(life: Life) -> None:
    life.review()
    life.enqueue("entry-2")
    for days in (1, 3, 9, 30):
        life.pass_by(days * DAY)
        before = life.tree()
        life.pass_by(0)
        assert life.tree() == before


def test_a_waiting_job_never_expires(life: Life) -> None:
    job = life.enqueue()
    held = life.enqueue("entry-2")
    life.app.shop.stores.spool.hold(held.id)

    life.pass_by(400 * DAY)

    assert (life.layout.queued / f"{job.id}.json").exists()
    assert (life.layout.held / f"{held.id}.json").exists()
    assert life.project.pending.joinpath(f"{job.id}.json").exists()


def test_one_bad_job_stops_nothing_but_itself_and_is_told(life: Life) -> None:
    bad, good = life.review(), life.review("entry-2")
    shutil.rmtree(life.layout.finished)
    receipt = life.project.receipt(bad.id)
    at = receipt.stat().st_mtime
    receipt.write_text("{", "utf-8")
    os.utime(receipt, (at, at))

    life.pass_by(8 * DAY)

    assert left(life, good) == ("closing",)
    assert {"outcome", "evidence"} <= set(left(life, bad))
    assert f"job {bad.id}" in {event.subject for event in life.stopped}


def test_a_day_file_that_cannot_be_read_stops_no_other_day(life: Life) -> None:
    life.review()
    life.world.clock.ms += DAY
    life.review("entry-2")
    first, second = (life.layout.days / day_of(START_MS + part * DAY) for part in (0, 1))
    first.write_text("{", "utf-8")

    life.pass_by(10 * DAY)

    assert first.exists()
    assert not second.exists()
    assert Counter(event.subject for event in life.stopped)[f"accounting of {first.name}"] >= 1
    assert life.app.shop.stores.attempts.days() == (Day(first.name), Day(second.name))
