"""Shadow mode reviews everything and changes no memory; what it would have remembered can be compared."""

from __future__ import annotations

from pathlib import Path

from curator.model.feedback import Pending
from curator.model.ports import CallFailure, Class
from curator.workflow.authority import compare
from tests.kit import ScriptedReviewer, World, adding

COUNT = 50


class Killed(BaseException):
    """The process dies here."""


def test_fifty_jobs_with_kills_leave_the_projects_byte_identical(tmp_path: Path) -> None:
    world = World(tmp_path / "agent")
    world.configure("shadow")

    def script(number: int) -> str:
        if number % 7 == 0:
            raise Killed
        return adding(f"Fact {number}.")

    reviewer = ScriptedReviewer(script, clock=world.clock)
    app = world.open(reviewer)
    keys = [world.project(app, tmp_path / f"code-{index}") for index in range(5)]
    for number in range(COUNT):
        job = world.job(app, keys[number % 5], f"entry-{number:04d}", f"USER: fact {number}")
        app.shop.mailbox(job.project_key).register(Pending(job_id=job.id, job_digest=job.digest))
        app.shop.stores.spool.enqueue(job)
    before = {key: _files(app.layout.project(key).root) for key in keys}

    left, kills = COUNT, 0
    while left:
        try:
            left = world.open(reviewer).review_once().left
        except Killed:
            kills += 1
            world.clock.ms += 600_000

    assert kills >= COUNT // 7

    assert {key: _files(app.layout.project(key).root) for key in keys} == before
    differences = compare(world.open(reviewer).shop)
    assert sorted(difference.key for difference in differences) == sorted(keys)
    assert sum(len(difference.only_shadow) for difference in differences) == COUNT
    assert all(difference.only_real == () for difference in differences)


def test_a_job_begun_in_shadow_stays_in_shadow_when_the_mode_changes(tmp_path: Path) -> None:
    world = World(tmp_path / "agent")
    world.configure("shadow")
    failing = ScriptedReviewer(CallFailure("provider_error", Class.RETRY, "busy"), clock=world.clock)
    app = world.open(failing)
    key = world.project(app, tmp_path / "code")
    app.shop.stores.spool.enqueue(world.job(app, key, "entry-1"))
    app.review_once()

    world.configure("external")
    world.clock.ms += 60_000
    app = world.open(ScriptedReviewer(adding("Remembered."), clock=world.clock))
    drained = app.review_once()

    assert drained.completed == 1
    assert world.texts(app, key) == []


def test_a_job_begun_for_the_real_memory_waits_out_shadow_mode(tmp_path: Path) -> None:
    world = World(tmp_path / "agent")
    world.configure("external")
    failing = ScriptedReviewer(CallFailure("provider_error", Class.RETRY, "busy"), clock=world.clock)
    app = world.open(failing)
    key = world.project(app, tmp_path / "code")
    app.shop.stores.spool.enqueue(world.job(app, key, "entry-1"))
    app.review_once()
    world.clock.ms += 60_000

    world.configure("shadow")
    reviewer = ScriptedReviewer(adding("Remembered."), clock=world.clock)
    assert world.open(reviewer).review_once().left == 1

    world.configure("external")
    app = world.open(reviewer)
    assert app.review_once().completed == 1
    assert world.texts(app, key) == ["Remembered."]


def test_embedded_mode_claims_nothing(tmp_path: Path) -> None:
    world = World(tmp_path / "agent")
    world.configure("external")
    reviewer = ScriptedReviewer(adding("Remembered."), clock=world.clock)
    app = world.open(reviewer)
    key = world.project(app, tmp_path / "code")
    app.shop.stores.spool.enqueue(world.job(app, key, "entry-1"))

    world.configure("embedded")
    app = world.open(reviewer)
    app.review_once()

    assert reviewer.asked == []
    assert app.shop.stores.spool.counts() == (1, 0)
    assert world.heard.names() == ["Stopped"]


def _files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}
