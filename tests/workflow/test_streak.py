"""Many jobs that fail alike in a row pause the queue; the pause grows while nothing but failures comes, and one answer ends it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final

from curator.app import App
from curator.model.event import Stopped
from curator.model.ids import JobId
from curator.model.limits import EQUAL_FAILURES_MAX, RETRY_CONFIG_MS_MAX, RETRY_MS_MAX
from curator.workflow.ending import Applied, Ended, Ending, Interrupted, Waits
from curator.workflow.pool import Pool
from curator.workflow.streak import Streak
from tests.cli.test_listener import receipt
from tests.kit import ScriptedReviewer, World, adding
from tests.workflow.test_pool import Noting

FAILED: Final = Waits("provider_error", 1, was_asked=True)
ENDED: Final = Ended("provider_error", was_asked=True)


def job(number: int) -> JobId:
    return JobId(f"review_{number:040x}")


def failing(streak: Streak, ending: Ending = FAILED, count: int = EQUAL_FAILURES_MAX, now: int = 0) -> list[bool]:
    return [streak.note(job(number), ending, now) is not None for number in range(count)]


def test_the_last_of_so_many_jobs_that_fail_alike_begins_a_pause_and_says_until_when() -> None:
    streak = Streak()

    assert failing(streak, count=EQUAL_FAILURES_MAX - 1) == [False] * (EQUAL_FAILURES_MAX - 1)
    told = streak.note(job(99), ENDED, 0)

    assert told is not None
    assert (told.subject, told.code) == ("reviewer", "provider_error")
    assert "10 jobs in a row failed alike, so nothing is asked until 1970-01-01T00:05:00.000Z" in told.fact
    assert streak.until == RETRY_CONFIG_MS_MAX


def test_one_job_that_fails_again_and_again_pauses_nothing() -> None:
    streak = Streak()

    assert [streak.note(job(1), FAILED, 0) for _ in range(3 * EQUAL_FAILURES_MAX)] == [None] * 3 * EQUAL_FAILURES_MAX


def test_another_failure_or_a_proposal_between_begins_the_count_anew() -> None:
    for between in (Waits("timed_out", 1, was_asked=True), Applied(None, receipt("noop"))):
        streak = Streak()
        failing(streak, count=EQUAL_FAILURES_MAX - 1)
        streak.note(job(50), between, 0)

        assert not any(failing(streak, count=EQUAL_FAILURES_MAX - 1))


def test_what_was_not_asked_neither_counts_nor_ends_the_count() -> None:
    streak = Streak()
    failing(streak, count=EQUAL_FAILURES_MAX - 1)
    for ending in (Waits("cancelled_before_dispatch", None), Ended("review_error"), Interrupted(), Applied(None, None)):
        assert streak.note(job(50), ending, 0) is None

    assert streak.note(job(51), FAILED, 0) is not None


def test_what_was_under_way_makes_a_pause_no_longer_and_each_failure_after_it_the_next_one() -> None:
    streak = Streak()
    failing(streak)
    first = streak.until
    assert not any(failing(streak, count=4, now=first - 1))

    waits = []
    for _ in range(12):
        began = streak.until
        assert streak.note(job(1), FAILED, began) is not None
        waits.append(streak.until - began)

    assert waits == [min(RETRY_MS_MAX, RETRY_CONFIG_MS_MAX * 2**nth) for nth in range(1, 13)]


def backlog(tmp_path: Path, replies: tuple[str, ...]) -> tuple[World, ScriptedReviewer, App]:
    world = World(tmp_path / "agent")
    world.configure("external")
    reviewer = ScriptedReviewer(*replies, clock=world.clock)
    app = world.open(reviewer)
    for number in range(EQUAL_FAILURES_MAX + 2):
        app.shop.stores.spool.enqueue(world.job(app, world.project(app, tmp_path / f"p{number:02}"), f"entry-{number}"))
    return world, reviewer, app


MOMENT: Final = 5_000
NOTICE: Final = "You have reached your monthly usage limit."
"""What a provider answers with status 200 where an account is spent: no proposal, and no error either."""


def test_a_drain_asks_nobody_after_the_tenth_in_vain_and_loses_no_job(tmp_path: Path) -> None:
    world, reviewer, app = backlog(tmp_path, (NOTICE,))

    drained = app.review_once()

    assert len(reviewer.asked) == EQUAL_FAILURES_MAX
    assert (drained.left, drained.blocked_by) == (EQUAL_FAILURES_MAX + 2, "invalid_model_output")
    assert [told.code for told in world.heard.events if isinstance(told, Stopped)] == ["invalid_model_output"]


def test_a_pool_pauses_tries_one_after_the_pause_and_goes_on_when_that_is_answered(tmp_path: Path) -> None:
    replies: tuple[str, ...] = (*[NOTICE] * EQUAL_FAILURES_MAX, NOTICE, adding("It was reviewed."))
    world, reviewer, app = backlog(tmp_path, replies)
    woken = threading.Semaphore(0)
    pool = Pool(app.shop, 1, Noting(), woken.release)

    def work() -> int:
        before = len(reviewer.asked)
        while pool.fill() or pool.busy or (pool.next_at is not None and pool.next_at < world.clock.now() + 1_000):
            if pool.busy:
                assert woken.acquire(timeout=20)
            else:
                world.clock.ms = max(world.clock.ms, pool.next_at or 0)
        return len(reviewer.asked) - before

    began = world.clock.now()
    assert (work(), work()) == (EQUAL_FAILURES_MAX, 0)
    world.clock.ms = began + RETRY_CONFIG_MS_MAX - MOMENT
    assert work() == 0
    world.clock.ms += 2 * MOMENT
    assert (work(), work()) == (1, 0)
    world.clock.ms += 2 * RETRY_CONFIG_MS_MAX - 2 * MOMENT
    assert work() == 0
    world.clock.ms += 4 * MOMENT
    assert work() == EQUAL_FAILURES_MAX + 2
    assert app.shop.stores.spool.queued() == ()
    assert pool.close(1_000, threading.Event())
