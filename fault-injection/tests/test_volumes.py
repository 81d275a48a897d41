"""Volumes that watch, die or fail, each against a real folder."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from faults.disk import LossyDisk
from faults.recording import Mark, Verb
from faults.tree import differences, is_staged, lay_out, read_tree
from faults.volumes import ERRORS, CountingVolume, Crash, CrashingVolume, FailingVolume, RecordingVolume
from faults.world import HandClock

from curator.durable.publish import Published, ensure_directory, publish, remove, replace
from curator.durable.volume import Volume
from curator.errors import StorageError


def live(root: Path, volume: Volume) -> None:
    """One life with every primitive of publication in it."""
    ensure_directory(volume, root / "records")
    publish(volume, root / "records" / "a", b"A")
    publish(volume, root / "records" / "a", b"A")
    replace(volume, root / "records" / "b", b"old")
    replace(volume, root / "records" / "b", b"new")
    volume.touch(root / "records" / "b")
    volume.restrict(root / "records" / "b", 0o600)
    remove(volume, root / "records" / "a")


def count(root: Path) -> int:
    root.mkdir()
    volume = CountingVolume(HandClock())
    live(root, volume)
    return volume.count


def test_a_recording_names_who_asked_up_to_the_first_outside_the_primitives(stage_folder: Path) -> None:
    volume = RecordingVolume(stage_folder, HandClock())
    publish(volume, stage_folder / "a", b"A")

    sites = volume.recording().sites()

    assert sites == {
        "stage in durable/publish.py:publish": 1,
        "link in durable/publish.py:link_or_compare < durable/publish.py:publish": 1,
        "unlink in durable/publish.py:publish": 1,
        "sync_directory in durable/publish.py:publish": 1,
    }


def test_a_recording_tells_what_changed_nothing(stage_folder: Path) -> None:
    publish(Volume(), stage_folder / "a", b"A")
    volume = RecordingVolume(stage_folder, HandClock())

    assert publish(volume, stage_folder / "a", b"A") is Published.REPLAYED

    assert [(each.verb, each.is_done) for each in volume.recording().asked] == [
        (Verb.STAGE, True),
        (Verb.LINK, False),
        (Verb.UNLINK, True),
        (Verb.SYNC, True),
    ]


def test_a_mark_stands_between_the_verbs_around_it(stage_folder: Path) -> None:
    volume = RecordingVolume(stage_folder, HandClock())
    publish(volume, stage_folder / "a", b"A")
    volume.mark(Mark("accepted", "a"))
    publish(volume, stage_folder / "b", b"B")

    disk = LossyDisk(volume.recording())

    assert [disk.said(point) for point in (4, 5)] == [(), (Mark("accepted", "a"),)]


def test_the_model_of_a_process_crash_is_what_a_crashing_run_leaves(stage_folder: Path) -> None:
    watched = RecordingVolume(stage_folder, HandClock())
    live(stage_folder, watched)
    disk = LossyDisk(watched.recording())
    told = {tuple(visible(disk, point)) for point in disk.points}

    for survive in range(count(stage_folder / "counted") + 1):
        root = stage_folder / f"crash{survive}"
        root.mkdir()
        volume = CrashingVolume(HandClock(), survive)
        try:
            live(root, volume)
        except Crash:
            assert volume.is_dead
        left = [f"{path} {node.content!r}" for path, node in sorted(read_tree(root).items()) if not is_staged(path)]
        assert tuple(left) in told


def visible(disk: LossyDisk, point: int) -> list[str]:
    return [f"{path} {node.content!r}" for path, node in sorted(disk.whole(point).items()) if not is_staged(path)]


def test_a_dead_process_changes_nothing_more_whoever_cleans_up(stage_folder: Path) -> None:
    volume = CrashingVolume(HandClock(), 3)

    with pytest.raises(Crash):
        publish(volume, stage_folder / "a", b"A")  # stage, write and flush; the link dies, and so does the clean-up
    left = read_tree(stage_folder)
    with pytest.raises(Crash):
        volume.unlink(stage_folder / "a")

    assert [is_staged(path) for path in left] == [True]
    assert read_tree(stage_folder) == left


def test_a_refusal_falls_on_every_primitive_and_leaves_the_old_record_or_the_new(stage_folder: Path) -> None:
    total = count(stage_folder / "counted")

    for error in ERRORS:
        for succeed in range(total):
            for for_good in (False, True):
                root = stage_folder / f"{error}.{succeed}.{for_good}"
                root.mkdir()
                volume = FailingVolume(HandClock(), succeed, error, for_good=for_good)
                with pytest.raises(StorageError) as refused:
                    live(root, volume)
                assert refused.value.errno == error
                assert volume.has_failed
                shown = {path: node.content for path, node in read_tree(root).items() if not is_staged(path)}
                assert shown.get("records/a", b"A") == b"A"
                assert shown.get("records/b", b"old") in (b"old", b"new")


def test_a_full_disk_keeps_half_of_what_was_written_out_of_sight(stage_folder: Path) -> None:
    volume = FailingVolume(HandClock(), 1, errno.ENOSPC)

    with pytest.raises(StorageError):
        publish(volume, stage_folder / "a", b"AAAA")

    assert read_tree(stage_folder) == {}


def test_a_tree_is_laid_out_as_it_was_read(stage_folder: Path) -> None:
    live(stage_folder / "lived", Volume())
    tree = read_tree(stage_folder / "lived")

    lay_out(tree, stage_folder / "again")

    assert read_tree(stage_folder / "again") == tree
    assert differences(tree, {}) == ["- records", "- records/b"]


def test_no_verb_of_the_volume_passes_unseen() -> None:
    looks_only = {"can_sync_directory"}
    verbs = {name for name, method in vars(Volume).items() if callable(method) and not name.startswith("_")}

    for watcher in (RecordingVolume, CountingVolume):
        assert verbs - looks_only - set(vars(watcher)) == set()
    assert {verb.value for verb in Verb} - {"mark"} == verbs - looks_only
