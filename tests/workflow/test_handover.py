"""The tree changes hands in mid-queue, and back: nothing is lost, nothing is paid for twice."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from curator.app import App
from curator.durable.lock import try_kernel_lock
from curator.errors import BusyError
from curator.model.event import Stopped
from curator.model.heartbeat import WorkerBeat
from curator.model.ids import Day
from curator.model.job import Job
from curator.model.times import day_of, iso, ms_of
from curator.store.heartbeats import HeartbeatStore
from curator.workflow.base import open_memory
from curator.workflow.claim import take
from curator.workflow.election import decide
from curator.workflow.handover import hand_over
from curator.workflow.line import line_up
from tests.foreign import foreground_add
from tests.kit import HandClock, ScriptedReviewer, World, adding
from tests.other_worker import OtherWorker

NOW = ms_of("2099-01-03T12:00:00.000Z")
"""After the start of every process that runs now."""
PROVIDER = "fixture-provider"


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path / "agent", HandClock(NOW))
    made.configure()
    return made


@pytest.fixture(scope="module")
def dead() -> int:
    """Return the number of a process that has ended."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    return ended.pid


def fill(world: World, app: App, projects: int, jobs: int) -> list[Job]:
    """Queue jobs in so many projects, all of a project captured from one branch state."""
    queued: list[Job] = []
    for number in range(projects):
        key = world.project(app, world.agent.parent / f"project-{number}")
        queued += [world.job(app, key, f"frontier-{number}-{each}") for each in range(jobs)]
    for job in queued:
        app.shop.stores.spool.enqueue(job)
    return queued


def remembering(clock: HandClock) -> ScriptedReviewer:
    return ScriptedReviewer(lambda nth: adding(f"Fact number {nth} holds."), clock=clock)


def day_file(world: World) -> dict[str, str]:
    """Return the state of each attempt in today's day file."""
    path = world.agent / "no-forgetti" / "review-spool" / "accounting" / "days" / day_of(world.clock.ms)
    file = json.loads(path.read_bytes())
    return {each["id"]: each["state"] for attempts in file["providers"].values() for each in attempts}


def over(world: World) -> list[str]:
    """Return the jobs that are over: by their outcome, or by the record that closed them when that grew old."""
    root = world.agent / "no-forgetti"
    outcomes = (root / "review-spool" / "outcomes").glob("review_*.json")
    closings = (root / "curator" / "finished").glob("*/review_*.json")
    return sorted({path.stem for path in (*outcomes, *closings)})


def test_the_queue_changes_hands_and_comes_back(world: World, dead: int) -> None:
    reviewer = remembering(world.clock)
    app = world.open(reviewer)
    jobs = fill(world, app, projects=4, jobs=2)
    app.review_once(limit=2)
    # One that dies with an elected decision in hand, and one that dies with nothing but a claim.
    dying = world.open(reviewer, worker=f"host:{dead}").shop
    decided, claimed = (claim for each in line_up(dying).ready[:2] if (claim := take(dying, each)) is not None)
    decide(decided, open_memory(decided.job, dying), dying)
    assert len(reviewer.asked) == 3

    done = hand_over(world.open(reviewer).shop)

    assert len(reviewer.asked) == 3
    assert set(done.let_go) == {decided.job.id, claimed.job.id}
    assert done.closed == (decided.job.id,)
    assert (done.waiting, done.leased) == (5, ())
    assert set(day_file(world).values()) == {"settled"}

    other = OtherWorker(world.agent, world.clock.now())
    assert [other.finish_one() is not None for _ in range(2)] == [True, True]
    left = other.claim()
    assert left is not None
    world.clock.ms += 600_000

    drained = world.open(reviewer).review_once()

    assert (drained.completed, drained.left) == (3, 0)
    assert over(world) == sorted(job.id for job in jobs)
    assert (other.calls, len(reviewer.asked)) == (2, len(jobs) - 2)
    spent = world.open(reviewer).shop.stores.attempts.exposure(PROVIDER, Day(day_of(NOW)))
    assert (spent.actual.calls, spent.held.calls, spent.unknown.calls) == (len(jobs), 0, 0)
    assert len(day_file(world)) == len(jobs)
    assert [other.finish_one()] == [None]


def test_what_a_dead_worker_sent_is_unknown_to_whoever_takes_over(world: World, dead: int) -> None:
    reviewer = ScriptedReviewer(_Dies(), clock=world.clock)
    app = world.open(reviewer)
    fill(world, app, projects=1, jobs=1)
    dying = world.open(reviewer, worker=f"host:{dead}").shop
    claim = take(dying, line_up(dying).ready[0])
    assert claim is not None
    with pytest.raises(_Dead):
        decide(claim, open_memory(claim.job, dying), dying)

    hand_over(world.open(reviewer).shop)

    assert set(day_file(world).values()) == {"unknown"}
    assert len(reviewer.asked) == 1


class _Dead(BaseException):
    """The process is gone."""


class _Dies:
    def __call__(self, nth: int) -> str:
        raise _Dead(nth)


def test_a_paid_answer_is_elected_without_another_call(world: World, dead: int) -> None:
    """The other worker would pay for it again (W10)."""
    reviewer = remembering(world.clock)
    app = world.open(reviewer)
    (job,) = fill(world, app, projects=1, jobs=1)
    dying = world.open(reviewer, worker=f"host:{dead}").shop
    claim = take(dying, line_up(dying).ready[0])
    assert claim is not None
    decide(claim, open_memory(job, dying), dying)
    app.layout.decision(job.id).unlink()

    done = hand_over(world.open(reviewer).shop)

    assert (done.closed, len(reviewer.asked)) == ((job.id,), 1)
    assert world.texts(app, job.project_key) == ["Fact number 1 holds."]


def test_one_whose_memory_moved_on_waits_as_it_did(world: World) -> None:
    """Its answer is paid for and fits no more; whoever takes over asks anew, when it is due."""
    reviewer = remembering(world.clock)
    app = world.open(reviewer)
    (job,) = fill(world, app, projects=1, jobs=1)
    claim = take(app.shop, line_up(app.shop).ready[0])
    assert claim is not None
    decide(claim, open_memory(job, app.shop), app.shop)
    app.layout.decision(job.id).unlink()
    due = world.clock.now() + 3_600_000
    app.shop.stores.spool.defer(claim, due)
    foreground_add(app.layout.project(job.project_key).root, "Pi wrote this meanwhile.")

    done = hand_over(world.open(reviewer).shop)

    waiting = app.shop.stores.spool.queued_one(job.id)
    assert waiting is not None
    assert (waiting.available_at, done.closed, len(reviewer.asked)) == (iso(due), (), 1)


def test_a_lease_of_somebody_who_may_live_is_left(world: World) -> None:
    reviewer = remembering(world.clock)
    app = world.open(reviewer)
    fill(world, app, projects=1, jobs=1)
    alive = world.open(reviewer, worker=f"host:{os.getpid()}").shop
    claim = take(alive, line_up(alive).ready[0])
    assert claim is not None

    done = hand_over(world.open(reviewer).shop)

    assert [running.job.id for running in done.leased] == [claim.job.id]
    assert done.let_go == ()


def test_a_running_service_is_named_with_how_to_stop_it(world: World) -> None:
    app = world.open(remembering(world.clock))
    held = try_kernel_lock(app.layout.instance_guard)
    assert held is not None
    app.layout.instance_pid.write_text("4711\n", "ascii")

    with pytest.raises(BusyError, match="process 4711") as refused:
        hand_over(app.shop)

    assert "curator service stop" in refused.value.remedy
    held.release()


@pytest.mark.parametrize("worker_id", ["curator:host:1", "host:1"])
def test_a_running_worker_is_named_with_how_to_stop_it(world: World, worker_id: str) -> None:
    app = world.open(remembering(world.clock))
    beat(app, world, worker_id, os.getpid())

    with pytest.raises(BusyError, match=f"process {os.getpid()}"):
        hand_over(app.shop)


def test_dead_workers_are_said_to_have_stopped(world: World, dead: int) -> None:
    app = world.open(remembering(world.clock))
    beat(app, world, "curator:host:1", dead)
    before = HeartbeatStore(app.shop.volume, app.layout).workers()[0].updated_at

    assert hand_over(app.shop).stopped == 1

    after = HeartbeatStore(app.shop.volume, app.layout).workers()[0]
    assert (after.state, after.updated_at) == ("stopped", before)


def test_in_embedded_mode_nothing_is_claimed(world: World, dead: int) -> None:
    reviewer = remembering(world.clock)
    app = world.open(reviewer)
    (job,) = fill(world, app, projects=1, jobs=1)
    dying = world.open(reviewer, worker=f"host:{dead}").shop
    claim = take(dying, line_up(dying).ready[0])
    assert claim is not None
    decide(claim, open_memory(job, dying), dying)
    world.configure("embedded")

    done = hand_over(world.open(reviewer).shop)

    assert (done.let_go, done.closed) == ((job.id,), ())


def test_a_project_that_is_gone_stops_only_its_own_job(world: World, dead: int) -> None:
    reviewer = remembering(world.clock)
    app = world.open(reviewer)
    jobs = fill(world, app, projects=2, jobs=1)
    dying = world.open(reviewer, worker=f"host:{dead}").shop
    for waiting in line_up(dying).ready:
        claim = take(dying, waiting)
        assert claim is not None
        decide(claim, open_memory(claim.job, dying), dying)
    (world.agent.parent / "project-0").rmdir()

    done = hand_over(world.open(reviewer).shop)

    assert done.closed == (jobs[1].id,)
    assert [told.code for told in world.heard.events if isinstance(told, Stopped)] == ["project_gone"]
    assert app.shop.stores.spool.queued_one(jobs[0].id) is not None


def test_releasing_again_changes_nothing(world: World) -> None:
    app = world.open(remembering(world.clock))
    fill(world, app, projects=2, jobs=1)
    app.review_once(limit=1)
    hand_over(world.open(remembering(world.clock)).shop)
    before = snapshot(world)

    again = hand_over(world.open(remembering(world.clock)).shop)

    assert (again.closed, again.let_go, again.stopped) == ((), (), 0)
    assert snapshot(world) == before


def snapshot(world: World) -> dict[str, bytes]:
    root = world.agent / "no-forgetti"
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def beat(app: App, world: World, worker_id: str, pid: int) -> None:
    now = iso(world.clock.now())
    told = WorkerBeat(worker_id=worker_id, pid=pid, started_at=now, updated_at=now, state="idle")
    HeartbeatStore(app.shop.volume, app.layout).write(told, is_lasting=True)
