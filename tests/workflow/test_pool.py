"""The slots: as many at once as the settings say, never two of one branch, and one job's trouble is its own."""

import dataclasses
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from curator.app import App
from curator.model.event import Stopped
from curator.model.heartbeat import WorkerState
from curator.model.ids import JobId, ProjectKey
from curator.model.job import Job
from curator.model.ports import Answer, CallFailure, Class, Prepared, Stop
from curator.workflow.claim import take
from curator.workflow.line import line_up
from curator.workflow.pool import Pool
from tests.acceptance.processes import wait_until
from tests.foreign import foreground_add
from tests.kit import HandClock, ScriptedReviewer, World, adding

PATIENCE_S: Final = 20.0
REVIEWED: Final = adding("It was reviewed.")


class Thinking(ScriptedReviewer):
    """Thinks about each job until it may answer, and counts who else is being thought about."""

    def __init__(self, clock: HandClock, says: str | CallFailure) -> None:
        super().__init__(says, clock=clock)
        self.inside: set[str] = set()
        self.most = 0
        self.may_answer = threading.Event()
        self.changed = threading.Condition()

    def ask(self, prepared: Prepared, stop: Stop) -> Answer | CallFailure:
        with self.changed:
            self.inside.add(prepared.user_prompt)
            self.most = max(self.most, len(self.inside))
            self.changed.notify_all()
        assert self.may_answer.wait(PATIENCE_S)
        with self.changed:
            self.inside.discard(prepared.user_prompt)
            self.changed.notify_all()
            return super().ask(prepared, stop)

    def wait_for(self, count: int) -> bool:
        with self.changed:
            return self.changed.wait_for(lambda: len(self.inside) == count, PATIENCE_S)


class Noting:
    """Remembers what the worker was said to do."""

    def __init__(self) -> None:
        self.states: list[WorkerState] = []

    def note(self, state: WorkerState, job_id: JobId | None = None, attempt: int | None = None) -> None:
        del job_id, attempt
        self.states.append(state)


class Scene:
    """A pool over four projects, and a reviewer that thinks until it may answer."""

    def __init__(self, tmp_path: Path, says: str | CallFailure = REVIEWED) -> None:
        self.world = World(tmp_path / "agent")
        self.world.configure()
        self.reviewer = Thinking(self.world.clock, says)
        self.app = self.world.open(self.reviewer)
        self.keys = [self.world.project(self.app, tmp_path / name) for name in ("one", "two", "three", "four")]
        self.woken = threading.Semaphore(0)
        self.pulse = Noting()

    def pool(self, concurrency: int) -> Pool:
        return Pool(self.app.shop, concurrency, self.pulse, self.woken.release)

    def enqueue(self, key: ProjectKey, frontier: str) -> Job:
        job = self.world.job(self.app, key, frontier)
        self.app.shop.stores.spool.enqueue(job)
        return job

    def end(self, pool: Pool, jobs: int) -> None:
        """Let the reviewer answer, and fill the slots until so many jobs have ended."""
        self.reviewer.may_answer.set()
        for _ in range(jobs):
            assert self.woken.acquire(timeout=PATIENCE_S)
            # The clock goes on with each look at it, so that drawing up a line seems to take its time.
            self.world.clock.ms += 1_000
            pool.fill()
        assert pool.close(int(PATIENCE_S * 1000), threading.Event())

    def over(self, app: App) -> int:
        return len(app.shop.stores.spool.finished())


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    made = Scene(tmp_path)
    yield made
    made.reviewer.may_answer.set()


def test_as_many_calls_are_under_way_as_may_be_and_as_many_jobs_again_are_ready(scene: Scene) -> None:
    for key in scene.keys:
        scene.enqueue(key, "a")
        scene.enqueue(key, "b")
    pool = scene.pool(2)

    assert pool.fill() == 4
    assert scene.reviewer.wait_for(2)
    assert pool.fill() == 0
    assert len(scene.app.shop.stores.spool.running()) == 4
    scene.end(pool, 8)

    assert (scene.reviewer.most, scene.over(scene.app)) == (2, 8)


def test_who_waits_for_a_call_to_end_keeps_its_claim_alive_and_is_asked_about_the_memory_as_it_then_is(
    scene: Scene,
) -> None:
    first, second = (scene.enqueue(key, "a") for key in scene.keys[:2])
    pool = scene.pool(1)
    assert pool.fill() == 2
    assert scene.reviewer.wait_for(1)
    (asked,) = scene.reviewer.inside
    waiting = second if asked == f"review {first.id}" else first
    wait_until(lambda: [each.name for each in threading.enumerate()].count("lease") == 2)

    foreground_add(scene.app.layout.root / waiting.project_key, "Written by hand while it waited.")
    scene.end(pool, 2)

    assert len(scene.reviewer.asked) == 2
    assert scene.over(scene.app) == 2
    base = scene.reviewer.briefs[1].base
    assert "Written by hand while it waited." in [entry.text for entry in base.entries]


def test_who_waits_for_a_call_to_end_goes_back_unasked_when_the_pool_closes(scene: Scene) -> None:
    for key in scene.keys[:2]:
        scene.enqueue(key, "a")
    pool = scene.pool(1)
    assert pool.fill() == 2
    assert scene.reviewer.wait_for(1)

    assert not pool.close(0, threading.Event())
    assert scene.woken.acquire(timeout=PATIENCE_S)

    (given_back,) = scene.app.shop.stores.spool.queued()
    assert given_back.available_at is None
    scene.reviewer.may_answer.set()
    assert pool.close(int(PATIENCE_S * 1000), threading.Event())
    assert len(scene.reviewer.asked) == 1


def test_who_waits_for_a_call_to_end_goes_back_unasked_where_nobody_can_be_asked(tmp_path: Path) -> None:
    scene = Scene(tmp_path, CallFailure("auth_unavailable", Class.CONFIGURATION, "There is no key."))
    for key in scene.keys[:2]:
        scene.enqueue(key, "a")
    pool = scene.pool(1)
    assert pool.fill() == 2
    assert scene.reviewer.wait_for(1)

    scene.end(pool, 2)

    assert len(scene.reviewer.asked) == 1
    assert len(scene.app.shop.stores.spool.queued()) == 2


def test_two_jobs_of_one_branch_never_run_together(scene: Scene) -> None:
    for frontier in "abc":
        scene.enqueue(scene.keys[0], frontier)
    pool = scene.pool(4)

    assert pool.fill() == 1
    assert scene.reviewer.wait_for(1)
    assert pool.fill() == 0
    scene.end(pool, 3)

    assert (scene.reviewer.most, scene.over(scene.app)) == (1, 3)


def test_another_number_of_slots_counts_from_the_next_job_on(scene: Scene) -> None:
    for key in scene.keys:
        scene.enqueue(key, "a")
    pool = scene.pool(1)
    assert pool.fill() == 2
    assert scene.reviewer.wait_for(1)
    settings = dataclasses.replace(scene.app.shop.settings, concurrency=4)

    pool.replace_shop(dataclasses.replace(scene.app.shop, settings=settings))

    assert scene.reviewer.wait_for(2)
    assert pool.fill() == 2
    assert scene.reviewer.wait_for(4)
    scene.end(pool, 4)


def test_what_another_worker_runs_keeps_its_branch_waiting(scene: Scene) -> None:
    scene.enqueue(scene.keys[0], "a")
    scene.enqueue(scene.keys[0], "b")
    other = scene.enqueue(scene.keys[1], "c")
    rival = scene.world.open(ScriptedReviewer("", clock=scene.world.clock), worker="rival").shop
    head = next(each for each in line_up(rival).ready if each.glimpse.project_key == scene.keys[0])
    assert take(rival, head) is not None
    pool = scene.pool(4)

    assert pool.fill() == 1
    assert scene.reviewer.wait_for(1)
    assert scene.reviewer.inside == {f"review {other.id}"}
    scene.end(pool, 1)


def test_a_job_that_cannot_be_taken_is_named_and_lets_its_branch_go_on(scene: Scene) -> None:
    stuck, behind = (scene.enqueue(scene.keys[0], frontier) for frontier in "ab")
    acceptance = scene.app.layout.jobs / f"{stuck.id}.json"
    acceptance.parent.mkdir(parents=True, exist_ok=True)
    acceptance.write_text("{")
    acceptance.chmod(0o600)
    pool = scene.pool(4)

    pool.fill()
    scene.end(pool, 2)

    told = [event for event in scene.world.heard.events if isinstance(event, Stopped)]
    assert [event.subject for event in told] == [f"job {stuck.id}"]
    assert scene.app.shop.stores.spool.outcome(behind.id) is not None
    assert scene.app.shop.stores.spool.queued_one(stuck.id) is not None
    assert pool.next_at is not None


def test_a_closed_pool_begins_nothing_more(scene: Scene) -> None:
    pool = scene.pool(4)
    assert pool.close(0, threading.Event())
    scene.enqueue(scene.keys[0], "a")

    assert pool.fill() == 0
