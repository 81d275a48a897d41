"""What processes left goes a day after them, and staged files an hour after their writer must have died."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from curator.durable.volume import Volume
from curator.model.heartbeat import RuntimeBeat, WorkerBeat, WorkerState
from curator.model.ids import file_key
from curator.model.times import iso
from curator.store.heartbeats import HeartbeatStore
from curator.workflow.maintenance import maintain
from curator.workflow.retention.leftovers import retire_beats, sweep_all
from curator.workflow.retention.ties import Ties
from tests.workflow.lives import DAY, HOUR, Life
from tests.workflow.shops import Scene, open_shop

NOW = "2099-01-03T12:00:00.000Z"
"""After the start of every process that runs now."""


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return open_shop(tmp_path / "agent", NOW)


@pytest.fixture(scope="module")
def dead() -> int:
    """Return the number of a process that has ended."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    return ended.pid


def worker(scene: Scene, pid: int, age_ms: int, *, is_stopped: bool = False, name: str = "host:1") -> Path:
    at = iso(scene.clock.at - age_ms)
    state: WorkerState = "stopped" if is_stopped else "idle"
    beat = WorkerBeat(worker_id=name, pid=pid, started_at=at, updated_at=at, state=state)
    return written(scene, beat, scene.shop.layout.worker_beat(name), age_ms)


def runtime(scene: Scene, pid: int, age_ms: int, *, is_stopped: bool = False) -> Path:
    at = iso(scene.clock.at - age_ms)
    beat = RuntimeBeat(
        runtime_id=file_key("extension:1:session"),
        kind="extension",
        pid=pid,
        release_version="0.5.4",
        memory_policy_version=2,
        started_at=at,
        updated_at=at,
        state="stopped" if is_stopped else "running",
    )
    return written(scene, beat, scene.shop.layout.runtime_beat("extension:1:session"), age_ms)


def written(scene: Scene, beat: WorkerBeat | RuntimeBeat, path: Path, age_ms: int) -> Path:
    HeartbeatStore(Volume(), scene.shop.layout).write(beat, is_lasting=False)
    at = (scene.clock.at - age_ms) / 1000
    os.utime(path, (at, at))
    return path


def retire(scene: Scene) -> None:
    retire_beats(scene.shop, Ties(scene.shop))


@pytest.mark.parametrize(("age_ms", "stays"), [(23 * HOUR, True), (25 * HOUR, False)])
def test_a_beat_of_a_dead_process_stays_for_a_day(scene: Scene, dead: int, age_ms: int, *, stays: bool) -> None:
    beats = [worker(scene, dead, age_ms), runtime(scene, dead, age_ms)]

    retire(scene)

    assert [path.exists() for path in beats] == [stays, stays]


def test_a_worker_that_was_killed_is_said_to_have_stopped_though_its_successor_came_too_soon(
    scene: Scene, dead: int
) -> None:
    path = worker(scene, dead, HOUR)

    maintain(scene.shop)

    (beat,) = HeartbeatStore(Volume(), scene.shop.layout).workers()
    assert (path.exists(), beat.state) == (True, "stopped")


@pytest.mark.parametrize(("age_ms", "stays"), [(23 * HOUR, True), (25 * HOUR, False)])
def test_a_beat_of_a_stopped_process_stays_for_a_day(scene: Scene, age_ms: int, *, stays: bool) -> None:
    beats = [worker(scene, os.getpid(), age_ms, is_stopped=True), runtime(scene, os.getpid(), age_ms, is_stopped=True)]

    retire(scene)

    assert [path.exists() for path in beats] == [stays, stays]


def test_a_beat_of_a_live_process_stays_however_old(scene: Scene) -> None:
    beats = [worker(scene, os.getpid(), 30 * DAY), runtime(scene, os.getpid(), 30 * DAY)]

    retire(scene)

    assert [path.exists() for path in beats] == [True, True]


@pytest.mark.parametrize("content", [b"", b"{", b"{}"])
def test_a_beat_without_content_or_sense_stays(scene: Scene, dead: int, content: bytes) -> None:
    beats = [worker(scene, dead, 30 * DAY), runtime(scene, dead, 30 * DAY)]
    for path in beats:
        path.write_bytes(content)
        os.utime(path, (0, 0))

    retire(scene)

    assert [path.exists() for path in beats] == [True, True]


def test_a_beat_that_says_that_it_is_young_stays_whatever_its_file_says(scene: Scene, dead: int) -> None:
    path = worker(scene, dead, HOUR)
    os.utime(path, (0, 0))

    retire(scene)

    assert path.exists()


def folders(life: Life) -> list[Path]:
    layout, project = life.layout, life.project
    layout.report.parent.mkdir(mode=0o700, exist_ok=True)
    return [
        layout.root,
        layout.workers,
        layout.queued,
        layout.running,
        layout.outcomes,
        layout.dead_letter,
        layout.decisions,
        layout.days,
        layout.identities,
        layout.own,
        layout.report.parent,
        layout.jobs,
        project.root,
        project.branches,
        project.admissions,
        project.retired,
        project.receipts,
        project.pending,
        project.ready,
        *(project.root / "revisions").iterdir(),
    ]


def test_staged_leftovers_go_from_every_folder_after_an_hour(tmp_path: Path) -> None:
    life = Life(tmp_path)
    life.review()
    staged = [life.volume.stage(folder / "x", b"half") for folder in folders(life)]

    life.pass_by(HOUR // 2)
    assert all(path.exists() for path in staged)

    life.pass_by(HOUR)
    assert [path for path in staged if path.exists()] == []


def test_leftovers_among_the_closing_records_and_attempts_go_an_hour_at_a_time(tmp_path: Path) -> None:
    life = Life(tmp_path)
    life.review()
    shards = [*life.layout.finished.iterdir(), *next(life.layout.attempts.iterdir()).iterdir()]
    staged = [life.volume.stage(folder / "x", b"half") for folder in shards]
    assert staged

    for _ in range(258):
        life.world.clock.ms += HOUR
        sweep_all(life.app.shop, Ties(life.app.shop))

    assert [path for path in staged if path.exists()] == []


def test_what_is_no_staged_name_is_left_alone(tmp_path: Path) -> None:
    life = Life(tmp_path)
    life.review()
    notes = [folder / "notes.tmp" for folder in folders(life)]
    for path in notes:
        path.write_text("mine", "utf-8")
        os.utime(path, (0, 0))

    sweep_all(life.app.shop, Ties(life.app.shop))

    assert all(path.exists() for path in notes)
