"""What everything stands on."""

import os
from pathlib import Path

import pytest

from curator.doctor.finding import Drop, Restrict
from curator.doctor.ground import look_at_clock, look_at_disk, look_at_folder, look_at_modes
from curator.durable.layout import Layout
from curator.durable.publish import ensure_directory
from curator.durable.volume import Volume
from curator.model.heartbeat import WorkerBeat
from curator.model.times import iso
from curator.store.heartbeats import HeartbeatStore
from tests.doctor.trees import NOW, bad, configure, levels

KEY = "a" * 24


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(tmp_path / "agent")
    configure(made)
    made.own.mkdir(mode=0o700)
    return made


def private(path: Path, data: bytes = b"x") -> Path:
    ensure_directory(Volume(), path.parent)
    path.write_bytes(data)
    path.chmod(0o600)
    return path


def test_a_folder_that_is_not_there_is_an_error_with_its_path(tmp_path: Path) -> None:
    (finding,) = look_at_folder(Layout(tmp_path / "none"))

    assert (finding.level, str(tmp_path / "none") in finding.fact) == ("error", True)


def test_one_that_nothing_was_written_into_yet_is_no_fault(tmp_path: Path) -> None:
    assert levels(look_at_folder(Layout(tmp_path))) == ["ok", "note"]


def test_private_folders_and_files_are_right(layout: Layout) -> None:
    private(layout.queued / "job.json")

    assert bad(look_at_modes(layout, NOW)) == []


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o622, 0o666])
def test_files_that_others_may_read_are_named_and_can_be_mended(layout: Layout, mode: int) -> None:
    path = private(layout.queued / "job.json")
    path.chmod(mode)

    (finding,) = bad(look_at_modes(layout, NOW))

    assert finding.level == "error"
    assert finding.mend == Restrict((path,), 0o600)


def test_folders_that_others_may_enter_are_named_and_can_be_mended(layout: Layout) -> None:
    private(layout.queued / "job.json")
    layout.queued.chmod(0o755)

    (finding,) = bad(look_at_modes(layout, NOW))

    assert finding.mend == Restrict((layout.queued,), 0o700)


def test_what_holds_no_evidence_may_be_read_but_not_changed(layout: Layout) -> None:
    private(layout.curator_toml).chmod(0o644)
    layout.service_json.chmod(0o644)
    assert bad(look_at_modes(layout, NOW)) == []

    layout.service_json.chmod(0o666)
    (finding,) = bad(look_at_modes(layout, NOW))
    assert finding.mend == Restrict((layout.service_json,), 0o600)


def test_what_is_the_extension_s_alone_is_not_looked_at(layout: Layout) -> None:
    private(layout.root / KEY / "skills" / "one.md").chmod(0o644)
    (layout.root / KEY / "skills").chmod(0o755)

    assert bad(look_at_modes(layout, NOW)) == []


def test_staged_files_of_dead_writers_are_named(layout: Layout) -> None:
    old = private(layout.queued / "a.json.1.00000000-0000-4000-8000-000000000000.tmp")
    young = private(layout.queued / "b.json.1.00000000-0000-4000-8000-000000000000.tmp")
    os.utime(old, ns=((NOW - 3_700_000) * 1_000_000,) * 2)
    os.utime(young, ns=((NOW - 1_000) * 1_000_000,) * 2)

    (finding,) = bad(look_at_modes(layout, NOW))

    assert finding.mend == Drop((old,))


def test_the_disk_is_tried_and_nothing_of_the_trial_stays(layout: Layout) -> None:
    before = sorted(layout.root.rglob("*"))

    told = {finding.subject for finding in look_at_disk(layout)}

    assert told >= {"filesystem", "space"}
    assert sorted(layout.root.rglob("*")) == before


def test_nothing_is_made_where_no_agent_folder_stands(tmp_path: Path) -> None:
    assert list(look_at_disk(Layout(tmp_path / "none"))) == []
    assert list(tmp_path.iterdir()) == []


def test_a_project_on_another_device_is_an_error(layout: Layout) -> None:
    """Nothing can be linked from one to the other."""
    other = Path("/dev/shm")  # noqa: S108 - a second device that most systems have; what is made there is removed
    if not other.is_dir() or other.stat().st_dev == layout.root.stat().st_dev:
        pytest.skip("there is no second device here")
    target = other / f"curator-doctor-{os.getpid()}"
    target.mkdir()
    try:
        (layout.root / KEY).symlink_to(target)
        found = [finding for finding in look_at_disk(layout) if finding.level == "error"]
        assert [str(layout.root / KEY) in finding.fact for finding in found] == [True]
    finally:
        target.rmdir()


def test_files_that_get_another_time_than_the_clock_s_are_told(layout: Layout) -> None:
    found = bad(look_at_clock(layout, NOW))

    assert [("a fresh file" in finding.fact, "behind the clock" in finding.fact) for finding in found] == [(True, True)]
    assert list(layout.own.iterdir()) == []


def test_a_beat_and_a_day_from_the_future_are_told(layout: Layout) -> None:
    at = iso(NOW + 60_000)
    beat = WorkerBeat(worker_id="curator:w", pid=1, started_at=at, updated_at=at, state="idle")
    HeartbeatStore(Volume(), layout).write(beat, is_lasting=True)
    (layout.attempts / "2099-01-04" / "aa").mkdir(parents=True)

    facts = [finding.fact for finding in bad(look_at_clock(layout, NOW))]

    assert sum("in the future" in fact for fact in facts) == 1
    assert sum("2099-01-04" in fact for fact in facts) == 1
