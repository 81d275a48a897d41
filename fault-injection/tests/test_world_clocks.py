"""The clock of a real process jumps while its call runs, and a day ends in it: nothing is done twice, lost or uncounted."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from faults.surroundings.clocks import JumpingClock, why_no_jump
from faults.surroundings.watched import watched

from curator.model.attempt import Settled
from curator.model.ids import ProjectKey
from curator.model.job import Job
from curator.model.times import iso, ms_of
from tests.acceptance.processes import Place, ended, go_on, provided, wait_until
from tests.fakes.provider import Settings

FACTS: Final = '{"operations": [{"action": "add", "content": "Fact number {n}.", "importance": "normal"}]}'
SLOW: Final = Settings(review="slow,ok", proposal=FACTS, slow_s=0.3, chunk=1_000)
DAY_MS: Final = 86_400_000
JUMPS: Final = {
    "two days ahead": 2 * DAY_MS,
    "two days back": -2 * DAY_MS,
    "a year ahead": 365 * DAY_MS,
    "a year back": -365 * DAY_MS,
}


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def start(place: Place, clock: JumpingClock) -> subprocess.Popen[bytes]:
    return place.start("review", "--once", **clock.environ())


@contextlib.contextmanager
def in_mid_call(
    tmp_path: Path, clock: JumpingClock
) -> Iterator[tuple[Place, Job, ProjectKey, subprocess.Popen[bytes]]]:
    """Give a worker that stands still while its call runs; SIGCONT lets it go on."""
    if why_no_jump():
        pytest.skip(f"no clock can jump here: {why_no_jump()}")
    with watched(tmp_path) as watch, provided(tmp_path, SLOW, watch.place) as (place, _):
        job = place.enqueue(key := place.project())
        with start(place, clock) as worker:
            try:
                wait_until(lambda: place.requests() == 1 or worker.poll() is not None)
                assert worker.poll() is None, ended(worker).err
                worker.send_signal(signal.SIGSTOP)
                yield place, job, key, worker
            finally:
                worker.kill()
                worker.wait()
                watch.dies(worker.pid)


def assert_at_rest(place: Place, job: Job, key: ProjectKey, *clocks: tuple[JumpingClock, int]) -> None:
    """Review by each clock in turn: the job is applied once, by its one call, and the rest changes nothing."""
    for clock, offset_ms in clocks:
        clock.set(offset_ms)
        ran = ended(start(place, clock))
        assert (ran.status, ran.err, place.ending(job)) == (0, "", "applied")
        assert place.texts(key) == ["Fact number 1."]
        assert (place.states(job), place.requests()) == ({"settled": 1}, 1)


@pytest.mark.parametrize("jump", JUMPS)
def test_a_clock_that_jumps_in_mid_call_costs_no_job_and_no_second_call(jump: str, tmp_path: Path) -> None:
    clock = JumpingClock(tmp_path / "clock")
    clock.set(0)
    with in_mid_call(tmp_path, clock) as (place, job, key, worker):
        today = iso(now_ms())[:10]
        clock.set(JUMPS[jump])

        ran = go_on(worker)

        assert (ran.status, ran.err) == (0, "")
        (seen,) = place.attempts(job)
        assert isinstance(seen.latest, Settled)
        lasted_ms = ms_of(seen.latest.settled_at) - ms_of(seen.latest.dispatched_at)
        assert abs(lasted_ms - JUMPS[jump]) < 60_000, "the clock has jumped, and the process went by it"
        assert seen.latest.day == today, "what a call costs stays with the day that it was reserved on"
        assert_at_rest(place, job, key, (clock, JUMPS[jump]), (clock, 0))


def test_a_lease_that_a_wrong_clock_gave_until_next_year_is_named_with_its_remedy_which_lets_the_job_go_on(
    tmp_path: Path,
) -> None:
    clock = JumpingClock(tmp_path / "clock")
    clock.set(365 * DAY_MS)
    with in_mid_call(tmp_path, clock) as (place, job, key, worker):
        worker.kill()
        assert worker.wait() == -signal.SIGKILL
        (seen,) = place.attempts(job)
        assert seen.latest.day == iso(now_ms() + 365 * DAY_MS)[:10], "it went by the wrong clock"
        clock.set(0)

        waits, found = place.review(), place.run("doctor")

        assert (waits.status, place.ending(job)) == (0, "running")
        assert "whose process is gone" in waits.out
        assert "the clock was set back" in found.out
        assert f"lease: {job.id}" in found.out
        assert "curator release" in found.out
        assert place.run("release").status == 0
        assert place.review().status == 0
        assert (place.ending(job), place.texts(key)) == ("applied", ["Fact number 2."])
        counted = {each.state.value: each.exposure.total.calls for each in place.attempts(job)}
        # The lost call stands under a moment that has not come; it is closed like any other, and counted.
        assert (counted, place.requests()) == ({"unknown": 1, "settled": 1}, 2)


def test_a_day_that_ends_in_mid_call_keeps_that_call_and_the_next_one_counts_for_the_new_day(tmp_path: Path) -> None:
    now = now_ms()
    midnight = (now // DAY_MS + 1) * DAY_MS
    clock = JumpingClock(tmp_path / "clock")
    clock.set(midnight - 10_000 - now)
    with in_mid_call(tmp_path, clock) as (place, job, key, worker):
        place.configure(provider="fake", maxCallsPerDay=1)
        second = place.enqueue(key, "entry-2", "USER: and another thing")
        clock.set(midnight + 1_000 - now_ms())

        ran = go_on(worker)

        assert (ran.status, ran.err) == (0, "")
        old, new = iso(midnight - 1)[:10], iso(midnight)[:10]
        (before,), (after,) = place.attempts(job), place.attempts(second)
        assert before.latest.reserved_at.startswith(f"{old}T23:59:5")
        assert isinstance(before.latest, Settled)
        assert before.latest.settled_at.startswith(f"{new}T00:00:0")
        assert (before.latest.day, after.latest.day) == (old, new)
        store = place.shop().stores.attempts
        calls = [store.exposure("fake", each.latest.day).total.calls for each in (before, after)]
        assert (calls, place.requests()) == ([1, 1], 2)
        assert (place.ending(job), place.ending(second)) == ("applied", "applied")
