"""Heartbeats are written as Pi reads them, and read leniently."""

from pathlib import Path

import pytest

from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.model.heartbeat import RuntimeBeat, WorkerBeat
from curator.model.ids import file_key
from curator.pi.runtimes import read_runtimes
from curator.store.heartbeats import HeartbeatStore
from tests.golden_fixtures import real_pi

AT = "2026-01-03T12:00:00.000Z"


class Counting(Volume):
    """Counts the flushes."""

    def __init__(self) -> None:
        self.flushes = 0

    def _flush_file(self, descriptor: int) -> None:
        self.flushes += 1
        super()._flush_file(descriptor)

    def _flush_directory(self, descriptor: int) -> None:
        self.flushes += 1
        super()._flush_directory(descriptor)


def worker(worker_id: str = "curator:host:1", updated_at: str = AT) -> WorkerBeat:
    return WorkerBeat(worker_id=worker_id, pid=1, started_at=AT, updated_at=updated_at, state="idle")


def test_beats_of_the_protocols_own_worker_are_read_and_written_byte_for_byte(tmp_path: Path) -> None:
    theirs = Layout(real_pi("consumed", tmp_path))
    ours = Layout(tmp_path / "ours")
    store = HeartbeatStore(Volume(), ours)
    workers, runtimes = HeartbeatStore(Volume(), theirs).workers(), read_runtimes(theirs.runtimes)

    for worker_beat in workers:
        store.write(worker_beat, is_lasting=True)
    for runtime_beat in runtimes:
        store.write(runtime_beat, is_lasting=True)

    assert (len(workers), len(runtimes)) == (1, 3)
    for folder in ("review-workers", "runtimes"):
        for path in (theirs.root / folder).iterdir():
            assert (ours.root / folder / path.name).read_bytes() == path.read_bytes()


def test_a_beat_stands_under_the_key_of_its_worker_privately_and_with_policy_2_and_6000(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    HeartbeatStore(Volume(), layout).write(worker("host:123"), is_lasting=False)

    path = layout.workers / "f65015ab01017794ea1db036.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert '  "memoryPolicyVersion": 2,\n  "maxMemoryChars": 6000\n}\n' in path.read_text()


@pytest.mark.parametrize(("is_lasting", "flushes"), [(True, 2), (False, 0)])
def test_only_a_lasting_beat_is_flushed(tmp_path: Path, *, is_lasting: bool, flushes: int) -> None:
    volume = Counting()
    store = HeartbeatStore(volume, Layout(tmp_path))
    store.write(worker(), is_lasting=True)
    before = volume.flushes

    store.write(worker(), is_lasting=is_lasting)

    assert volume.flushes - before == flushes
    assert len(list((tmp_path / "no-forgetti" / "review-workers").iterdir())) == 1


def test_the_last_beat_comes_first_and_what_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    store = HeartbeatStore(Volume(), layout)
    store.write(worker("one:1", AT), is_lasting=False)
    store.write(worker("two:2", "2026-01-03T12:00:01.000Z"), is_lasting=False)
    (layout.workers / f"{'0' * 24}.json").write_text("{")
    (layout.workers / f"{'1' * 24}.json").write_bytes(layout.worker_beat("one:1").read_bytes())
    (layout.workers / f"{'2' * 24}.json").symlink_to(layout.worker_beat("one:1"))
    (layout.workers / f"{'3' * 24}.json").write_bytes(b"")
    (layout.workers / ".DS_Store").write_bytes(b"\0")

    assert [beat.worker_id for beat in store.workers()] == ["two:2", "one:1"]


def test_a_runtime_stands_under_its_id(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    beat = RuntimeBeat(
        runtime_id=file_key("worker:host:123"),
        kind="worker",
        pid=1,
        release_version="0.5.4",
        memory_policy_version=2,
        started_at=AT,
        updated_at=AT,
        state="running",
    )

    HeartbeatStore(Volume(), layout).write(beat, is_lasting=False)

    assert [path.name for path in layout.runtimes.iterdir()] == ["fa6f1d05ce2c59ce24e2ba1e.json"]
    assert read_runtimes(layout.runtimes) == (beat,)


def test_without_a_folder_nobody_lives(tmp_path: Path) -> None:
    assert HeartbeatStore(Volume(), Layout(tmp_path)).workers() == ()
