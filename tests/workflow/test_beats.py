"""Pi sees the worker alive while it works, stopped when it stopped, and never kept by a dead one."""

import dataclasses
import errno
import os
import subprocess
import threading
from pathlib import Path

import pytest

from curator.durable.volume import Volume
from curator.errors import StorageError
from curator.model.event import Degraded
from curator.model.heartbeat import RuntimeBeat, WorkerBeat
from curator.model.ids import JobId, file_key
from curator.model.times import iso
from curator.pi.runtimes import read_runtimes
from curator.store.heartbeats import HeartbeatStore
from curator.workflow.beats import Beating, foreign_live_worker, retire_leftovers
from tests.workflow.shops import Scene, open_shop

NOW = "2099-01-03T12:00:00.000Z"
"""After the start of every process that runs now."""
JOB = JobId("review_" + "a" * 40)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return open_shop(tmp_path / "agent", NOW)


@pytest.fixture(scope="module")
def dead() -> int:
    """Return the number of a process that has ended."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    return ended.pid


def beats(scene: Scene) -> tuple[WorkerBeat, RuntimeBeat]:
    """Return both beats of our worker."""
    store = HeartbeatStore(Volume(), scene.shop.layout)
    workers = [beat for beat in store.workers() if beat.worker_id == scene.shop.worker_id]
    runtimes = [
        beat
        for beat in read_runtimes(scene.shop.layout.runtimes)
        if beat.runtime_id == file_key(f"worker:{scene.shop.worker_id}")
    ]
    return workers[0], runtimes[0]


def put(scene: Scene, beat: WorkerBeat | RuntimeBeat) -> None:
    HeartbeatStore(Volume(), scene.shop.layout).write(beat, is_lasting=False)


def worker(scene: Scene, pid: int, *, age_ms: int = 0, worker_id: str = "host:1") -> WorkerBeat:
    at = iso(scene.clock.at - age_ms)
    return WorkerBeat(
        worker_id=worker_id, pid=pid, started_at=at, updated_at=at, state="working", job_id=JOB, attempt=1
    )


def runtime(scene: Scene, identity: str, release: str, *, age_ms: int = 0, pid: int = 1) -> RuntimeBeat:
    at = iso(scene.clock.at - age_ms)
    return RuntimeBeat(
        runtime_id=file_key(identity),
        kind="worker" if identity.startswith("worker") else "extension",
        pid=pid,
        release_version=release,
        memory_policy_version=2,
        started_at=at,
        updated_at=at,
        state="running",
    )


def test_a_life_shows_from_its_start_to_its_stop(scene: Scene) -> None:
    with Beating(scene.shop) as beating:
        first, as_runtime = beats(scene)
        assert (first.state, first.pid, first.updated_at) == ("starting", os.getpid(), NOW)
        assert (first.memory_policy_version, first.max_memory_chars) == (2, 6000)
        assert (as_runtime.kind, as_runtime.state, as_runtime.pid) == ("worker", "running", os.getpid())
        scene.clock.at += 5
        beating.note("working", JOB, 2)
        working = beats(scene)[0]
        assert (working.state, working.job_id, working.attempt) == ("working", JOB, 2)
        assert working.updated_at == iso(scene.clock.at)
        beating.note("idle")
        assert (beats(scene)[0].state, beats(scene)[0].job_id) == ("idle", None)

    last, as_runtime = beats(scene)
    assert (last.state, as_runtime.state) == ("stopped", "stopped")
    assert last.started_at == NOW


def test_the_background_beats_by_itself_until_it_is_stopped(scene: Scene) -> None:
    beaten = threading.Event()

    class Ears(Volume):
        renamed = 0

        def rename(self, source: Path, target: Path) -> None:
            super().rename(source, target)
            self.renamed += 1
            if self.renamed >= 8:
                beaten.set()

    shop = dataclasses.replace(scene.shop, volume=Ears())
    with Beating(shop, every_ms=1):
        assert beaten.wait(10)

    assert beats(scene)[0].state == "stopped"
    assert "heartbeat" not in [thread.name for thread in threading.enumerate()]


def test_a_clock_that_goes_back_makes_no_beat_older_than_its_worker(scene: Scene) -> None:
    with Beating(scene.shop) as beating:
        scene.clock.at -= 60_000
        beating.note("idle")

        assert beats(scene)[0].updated_at == NOW


@pytest.mark.parametrize(
    ("age_ms", "release"),
    [(0, "0.6.1"), (30_000, "0.6.1"), (30_001, "0.5.4"), (-1, "0.5.4")],
)
def test_the_release_is_that_of_a_running_extension_else_the_configured_one(
    scene: Scene, age_ms: int, release: str
) -> None:
    put(scene, runtime(scene, "extension:1:s", "0.6.1", age_ms=age_ms))
    put(scene, runtime(scene, "worker:host:9", "0.9.9"))

    with Beating(scene.shop):
        assert beats(scene)[1].release_version == release


def test_a_beat_that_fails_is_told_once_and_stops_nothing(scene: Scene) -> None:
    class Full(Volume):
        def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
            del data, hidden, flush
            raise StorageError(path, OSError(errno.ENOSPC, "No space left on device"))

    with Beating(dataclasses.replace(scene.shop, volume=Full())) as beating:
        beating.note("working", JOB, 1)
        beating.note("idle")

    (told,) = scene.ear.events
    assert isinstance(told, Degraded)
    assert "No space left" in told.fact


def test_a_foreign_worker_that_lives_is_named_with_its_process(scene: Scene) -> None:
    put(scene, worker(scene, os.getppid()))

    assert foreign_live_worker(scene.shop) == ("host:1", os.getppid())


@pytest.mark.parametrize("case", ["ours", "stopped", "old", "dead"])
def test_whoever_is_ours_or_stopped_or_silent_or_dead_is_no_foreign_worker(scene: Scene, dead: int, case: str) -> None:
    beat = worker(scene, os.getppid())
    match case:
        case "ours":
            beat = dataclasses.replace(beat, worker_id="curator:host:1")
        case "stopped":
            beat = dataclasses.replace(beat, state="stopped")
        case "old":
            beat = worker(scene, os.getppid(), age_ms=360_001)
        case _:
            beat = dataclasses.replace(beat, pid=dead)
    put(scene, beat)

    assert foreign_live_worker(scene.shop) is None


def test_a_process_that_started_after_the_beat_is_another_one(scene: Scene) -> None:
    scene.clock.at = 1_000_000_000_000
    put(scene, worker(scene, os.getpid()))

    assert foreign_live_worker(scene.shop) is None


def test_a_killed_workers_leftover_is_retired_and_keeps_its_time(scene: Scene, dead: int) -> None:
    left = dataclasses.replace(worker(scene, dead, age_ms=360_001), memory_policy_version=1)
    put(scene, left)
    put(scene, runtime(scene, "worker:host:1", "0.5.4", age_ms=360_001, pid=dead))

    assert retire_leftovers(scene.shop) == 1
    assert retire_leftovers(scene.shop) == 0

    store = HeartbeatStore(Volume(), scene.shop.layout)
    assert store.workers() == (dataclasses.replace(left, state="stopped", job_id=None, attempt=None),)
    assert [beat.state for beat in read_runtimes(scene.shop.layout.runtimes)] == ["stopped"]


@pytest.mark.parametrize("case", ["young", "alive", "extension"])
def test_only_a_dead_process_and_an_old_beat_together_are_retired(scene: Scene, dead: int, case: str) -> None:
    match case:
        case "young":
            put(scene, worker(scene, dead, age_ms=360_000))
        case "alive":
            put(scene, worker(scene, os.getppid(), age_ms=400_000))
        case _:
            put(scene, runtime(scene, "extension:1:s", "0.5.4", age_ms=400_000, pid=dead))
    before = {path: path.read_bytes() for path in scene.shop.layout.root.rglob("*.json")}

    assert retire_leftovers(scene.shop) == 0

    assert {path: path.read_bytes() for path in scene.shop.layout.root.rglob("*.json")} == before
    assert before


def test_a_start_retires_leftovers_first(scene: Scene, dead: int) -> None:
    put(scene, worker(scene, dead, age_ms=400_000))

    with Beating(scene.shop):
        pass

    states = [beat.state for beat in HeartbeatStore(Volume(), scene.shop.layout).workers()]
    assert states == ["stopped", "stopped"]
