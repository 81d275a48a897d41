"""Who is next, how long the answer is kept, and when a dead worker's job has its turn."""

import os
from pathlib import Path
from typing import Final

import pytest

from curator.app import App
from curator.errors import InvalidRecordError
from curator.model.event import Claimed, Completed, Recovered
from curator.model.ids import ProjectKey
from curator.model.job import Job
from curator.model.limits import LEASE_MS
from curator.model.times import ms_of
from curator.store.spool import Waiting
from curator.workflow.claim import take
from curator.workflow.line import Lookout, line_up
from tests.kit import ScriptedReviewer, World, adding

KEPT_MS: Final = 200


class Scene:
    """Two projects and their jobs, each a second younger than the one before."""

    def __init__(self, tmp_path: Path) -> None:
        self.world = World(tmp_path / "agent")
        self.world.configure()
        self.app = self.open()
        self.keys = [self.world.project(self.app, tmp_path / name) for name in ("one", "two")]
        self.lookout = Lookout()
        self._made = 0

    def open(self) -> App:
        return self.world.open(ScriptedReviewer(adding("It was reviewed."), clock=self.world.clock))

    def enqueue(self, key: ProjectKey, frontier: str) -> Job:
        job = self.world.job(self.app, key, frontier)
        self.app.shop.stores.spool.enqueue(job)
        self._made += 1
        at = self.world.clock.ms / 1000 - 100 + self._made
        os.utime(self.app.layout.queued / f"{job.id}.json", (at, at))
        return job

    def ready(self) -> list[str]:
        return [each.job_id for each in self.lookout.line(self.app.shop).ready]

    def first(self) -> Waiting:
        return self.lookout.line(self.app.shop).ready[0]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_only_the_oldest_of_each_branch_is_ready_and_the_oldest_of_them_first(scene: Scene) -> None:
    one, two = scene.keys
    first = scene.enqueue(two, "a")
    scene.enqueue(two, "b")
    third = scene.enqueue(one, "c")

    assert scene.ready() == [first.id, third.id]


def test_the_next_of_a_branch_comes_forward_when_the_one_before_it_is_over(scene: Scene) -> None:
    first, second = (scene.enqueue(scene.keys[0], frontier) for frontier in "ab")
    line = scene.lookout.line(scene.app.shop)
    (head,) = line.ready

    line.took(head)
    is_anybody_left = len(line.ready) > 0
    scene.lookout.follow(head.branch)

    assert (head.job_id, is_anybody_left) == (first.id, False)
    assert [each.job_id for each in line.ready] == [second.id]


def test_who_comes_forward_stands_where_its_age_puts_it(scene: Scene) -> None:
    one, two = scene.keys
    scene.enqueue(one, "a")
    older, younger = scene.enqueue(one, "b"), scene.enqueue(two, "c")
    line = scene.lookout.line(scene.app.shop)
    head = line.ready[0]

    line.took(head)
    scene.lookout.follow(head.branch)

    assert [each.job_id for each in line.ready] == [older.id, younger.id]


def test_a_line_is_kept_for_a_moment_while_somebody_in_it_is_ready(scene: Scene) -> None:
    one, two = scene.keys
    known = scene.enqueue(one, "a")
    assert scene.ready() == [known.id]
    new = scene.enqueue(two, "b")

    assert scene.ready() == [known.id]
    scene.world.clock.ms += KEPT_MS
    assert scene.ready() == [known.id, new.id]


def test_a_line_with_nobody_ready_is_no_reason_to_wait(scene: Scene) -> None:
    assert scene.ready() == []
    new = scene.enqueue(scene.keys[0], "a")

    assert scene.ready() == [new.id]


def test_a_line_that_something_may_have_changed_is_drawn_up_anew(scene: Scene) -> None:
    scene.enqueue(scene.keys[0], "a")
    scene.ready()
    new = scene.enqueue(scene.keys[1], "b")

    scene.lookout.forget()

    assert new.id in scene.ready()


def test_a_live_lease_keeps_its_branch_waiting_and_says_until_when(scene: Scene) -> None:
    scene.enqueue(scene.keys[0], "a")
    scene.enqueue(scene.keys[0], "b")
    claim = take(scene.app.shop, scene.first())
    assert claim is not None

    line = line_up(scene.app.shop)

    assert (line.ready, line.next_at) == ((), None)
    assert line.lease_end == ms_of(claim.running.lease_until)


def test_a_dead_workers_job_has_its_turn_when_its_lease_has_ended(scene: Scene) -> None:
    job, behind = (scene.enqueue(scene.keys[0], frontier) for frontier in "ab")
    assert take(scene.app.shop, scene.first()) is not None
    scene.world.clock.ms += LEASE_MS

    drained = scene.open().review_once()

    told = scene.world.heard.events
    assert drained.completed == 2
    assert [each.job_id for each in told if isinstance(each, Completed)] == [job.id, behind.id]
    assert [each.attempt for each in told if isinstance(each, Claimed)] == [2, 1]
    assert Recovered("expired leases", 1) in told


def test_a_record_that_turns_out_bad_when_it_is_taken_is_set_aside_alone(scene: Scene) -> None:
    bad, good = (scene.enqueue(scene.keys[0], frontier) for frontier in "ab")
    path = scene.app.layout.queued / f"{bad.id}.json"
    path.write_text(
        path.read_text("utf-8").replace('"digest":"', '"digest":"0', 1).replace(bad.digest, bad.digest[:-1])
    )
    with pytest.raises(InvalidRecordError):
        scene.app.shop.stores.spool.queued_one(bad.id)

    drained = scene.app.review_once()

    assert (drained.completed, drained.left) == (1, 0)
    assert [path.name.startswith(bad.id) for path in scene.app.layout.dead_letter.iterdir()] == [True]
    assert scene.app.shop.stores.spool.outcome(good.id) is not None


def test_an_acceptance_that_cannot_be_read_does_not_hold_the_order_up(scene: Scene) -> None:
    job = scene.enqueue(scene.keys[0], "a")
    assert take(scene.app.shop, scene.first()) is not None
    scene.world.clock.ms += LEASE_MS
    for path in scene.app.layout.jobs.rglob("*.json"):
        path.write_text("{")
    other = scene.enqueue(scene.keys[1], "b")

    assert sorted(each.job_id for each in line_up(scene.app.shop).ready) == sorted([job.id, other.id])
