"""A disk that fails one flush, drops what it was to flush, and says that all is well from then on."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest
from faults.campaign import Stage
from faults.figures import note
from faults.lying import ForgetfulDisk, LyingVolume, lie_everywhere
from faults.recording import Recording
from faults.scenarios import SCENARIOS
from faults.world import HandClock

from curator.durable.publish import publish
from curator.errors import StorageError

SAMPLE = ("failed", "rejected", "cancelled", "reconciled", "stopped-before", "receipt-rebuilt")
"""Stories of which some flushes fail in each run. With time, every flush of every story."""
EVERY = 5
STORIES = SCENARIOS if os.environ.get("CURATOR_FAULTS") == "long" else SAMPLE


@pytest.mark.parametrize("name", STORIES)
def test_what_is_lost_by_a_flush_that_failed_is_not_built_on(stage_folder: Path, name: str, *, is_long: bool) -> None:
    stage = Stage(SCENARIOS[name], stage_folder)

    report = lie_everywhere(stage, every=1 if is_long else EVERY)

    print(f"{name}: {report.verbs} flushes failed: {report.line()}")
    note("crash", report.figures() | {"flushes that failed and lied": report.verbs})
    assert report.verbs > 0
    assert [str(violation) for violation in report.violations] == []


def test_a_name_whose_flush_failed_is_gone_after_the_cut_whatever_was_flushed_later(tmp_path: Path) -> None:
    volume = LyingVolume(tmp_path, HandClock(), succeed=1)

    with pytest.raises(StorageError):
        publish(volume, tmp_path / "lost.json", b"data")
    publish(volume, tmp_path / "lost.json", b"data")
    publish(volume, tmp_path / "kept.json", b"data")

    disk = ForgetfulDisk(volume.recording())
    last = disk.points[-1]
    assert {*disk.whole(last)} >= {"kept.json"}
    assert all({*state.tree} == {"kept.json"} for state in disk.strict(last))


def test_a_name_that_is_made_anew_after_the_failure_is_flushed_like_any_other(tmp_path: Path) -> None:
    volume = LyingVolume(tmp_path, HandClock(), succeed=1)

    with pytest.raises(StorageError):
        publish(volume, tmp_path / "again.json", b"data")
    volume.unlink(tmp_path / "again.json")
    publish(volume, tmp_path / "again.json", b"data")

    disk = ForgetfulDisk(volume.recording())
    assert all({*state.tree} == {"again.json"} for state in disk.strict(disk.points[-1]))


def test_a_disk_of_which_no_flush_failed_forgets_nothing(tmp_path: Path) -> None:
    volume = LyingVolume(tmp_path, HandClock(), succeed=99)
    publish(volume, tmp_path / "kept.json", b"data")

    assert volume.failed_at is None
    disk = ForgetfulDisk(volume.recording())
    assert all({*state.tree} == {"kept.json"} for state in disk.strict(disk.points[-1]))


def test_bytes_whose_flush_failed_are_nowhere(tmp_path: Path) -> None:
    volume = LyingVolume(tmp_path, HandClock(), succeed=0)

    with pytest.raises(StorageError):
        publish(volume, tmp_path / "lost.json", b"data")

    staged, gone = volume.recording().asked
    assert (staged.content, gone.path) == (b"", staged.path)
    assert volume.failed_at == 0


def test_a_flush_that_is_tried_again_is_found(stage_folder: Path) -> None:
    """Planted: the disk forgets what a flush had made durable, as if curator had asked for it a second time."""
    stage = Stage(SCENARIOS["cancelled"], stage_folder)
    syncs = [step for step, each in enumerate(stage.recording.asked) if each.verb == "sync_directory"]

    found = []
    for step in syncs:
        asked = list(stage.recording.asked)
        asked[step] = dataclasses.replace(asked[step], is_done=False)
        disk = ForgetfulDisk(Recording(stage.recording.start, tuple(asked)))
        last = disk.points[-1]
        found += [
            breach
            for state in disk.strict(last)
            for breach in stage.breaches_after(state.tree, stage.said(last, disk), crashes=1)
        ]

    assert found != []
