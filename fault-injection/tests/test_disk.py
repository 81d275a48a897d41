"""The crash model, held to what is known of disks: literal cases first, then the publication primitives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from faults.disk import LossyDisk, NotExpressibleError
from faults.recording import Asked, Recording, Verb
from faults.tree import Node, Tree, is_staged
from faults.volumes import RecordingVolume
from faults.world import HandClock

from curator.durable.publish import ensure_directory, publish, remove, replace
from curator.durable.volume import Volume

Shown: TypeAlias = frozenset[tuple[str, bytes]]
Run: TypeAlias = Callable[[Path, Volume], object]


def record(stage_folder: Path, prepare: Run, run: Run) -> Recording:
    prepare(stage_folder, Volume())
    volume = RecordingVolume(stage_folder, HandClock())
    run(stage_folder, volume)
    return volume.recording()


def nothing(root: Path, volume: Volume) -> None:
    del root, volume


def files(tree: Tree) -> Shown:
    return frozenset((path, node.content) for path, node in tree.items() if node.content is not None)


def strict_ends(recording: Recording) -> set[Shown]:
    disk = LossyDisk(recording, is_inert=lambda _: False)
    return {files(state.tree) for state in disk.strict(disk.points[-1])}


def ordered_ends(recording: Recording) -> set[Shown]:
    disk = LossyDisk(recording)
    return {files(state.tree) for state in disk.ordered(disk.points[-1])}


def shows(**content: bytes) -> Shown:
    return frozenset(content.items())


def stand(root: Path, **content: bytes) -> None:
    for name, text in content.items():
        (root / name).write_bytes(text)


def test_a_name_without_its_folders_flush_may_be_lost_or_kept(stage_folder: Path) -> None:
    recording = record(
        stage_folder, lambda root, _: stand(root, a=b"A"), lambda root, volume: volume.link(root / "a", root / "b")
    )

    assert strict_ends(recording) == {shows(a=b"A"), shows(a=b"A", b=b"A")}


def test_a_flush_settles_the_names_of_its_folder(stage_folder: Path) -> None:
    def run(root: Path, volume: Volume) -> None:
        volume.link(root / "a", root / "b")
        volume.sync_directory(root)

    recording = record(stage_folder, lambda root, _: stand(root, a=b"A"), run)

    assert strict_ends(recording) == {shows(a=b"A", b=b"A")}


def test_names_of_one_folder_are_lost_independently(stage_folder: Path) -> None:
    def run(root: Path, volume: Volume) -> None:
        volume.link(root / "a", root / "b")
        volume.unlink(root / "a")

    recording = record(stage_folder, lambda root, _: stand(root, a=b"A"), run)

    assert strict_ends(recording) == {shows(a=b"A"), shows(a=b"A", b=b"A"), shows(b=b"A"), shows()}
    assert ordered_ends(recording) == {shows(a=b"A"), shows(a=b"A", b=b"A"), shows(b=b"A")}


def test_a_rename_shows_the_old_name_the_new_one_or_both_but_never_neither(stage_folder: Path) -> None:
    recording = record(
        stage_folder,
        lambda root, _: stand(root, a=b"A", b=b"B"),
        lambda root, volume: volume.rename(root / "a", root / "b"),
    )

    assert strict_ends(recording) == {shows(a=b"A", b=b"B"), shows(a=b"A", b=b"A"), shows(b=b"A")}
    assert ordered_ends(recording) == {shows(a=b"A", b=b"B"), shows(b=b"A")}


def test_a_rename_across_folders_keeps_that_when_only_the_old_folder_was_flushed(stage_folder: Path) -> None:
    def prepare(root: Path, volume: Volume) -> None:
        stand(root, a=b"A")
        volume.make_directory(root / "to")

    def run(root: Path, volume: Volume) -> None:
        volume.rename(root / "a", root / "to" / "b")
        volume.sync_directory(root)

    assert strict_ends(record(stage_folder, prepare, run)) == {frozenset({("to/b", b"A")})}


def test_bytes_without_their_flush_are_whole_half_or_missing(stage_folder: Path) -> None:
    def run(root: Path, volume: Volume) -> None:
        staged = volume.stage(root / "a", b"AAAA", flush=False)
        volume.rename(staged, root / "a")
        volume.sync_directory(root)

    recording = record(stage_folder, nothing, run)

    assert strict_ends(recording) == {shows(a=b"AAAA"), shows(a=b"AA"), shows(a=b"")}
    assert ordered_ends(recording) == {shows(a=b"AAAA"), shows(a=b"")}


def test_flushed_bytes_stay_though_the_name_that_they_were_written_under_goes(stage_folder: Path) -> None:
    def run(root: Path, volume: Volume) -> None:
        publish(volume, root / "a", b"AAAA")

    assert strict_ends(record(stage_folder, nothing, run)) == {shows(a=b"AAAA")}


def test_a_lost_folder_takes_what_was_flushed_inside_it_along(stage_folder: Path) -> None:
    def run(root: Path, volume: Volume) -> None:
        volume.make_directory(root / "new")
        publish(volume, root / "new" / "a", b"AAAA")

    assert strict_ends(record(stage_folder, nothing, run)) == {shows(), frozenset({("new/a", b"AAAA")})}


def test_a_journal_flushes_every_earlier_name_with_any_later_file(stage_folder: Path) -> None:
    def run(root: Path, volume: Volume) -> None:
        volume.link(root / "a", root / "b")
        volume.unlink(volume.stage(root / "c", b"C"))

    recording = record(stage_folder, lambda root, _: stand(root, a=b"A"), run)

    assert {shown - {("a", b"A")} for shown in strict_ends(recording)} > {shows(b=b"A"), shows()}
    assert all(("b", b"A") in shown for shown in ordered_ends(recording))


def test_what_a_process_crash_leaves_is_what_lies_there(stage_folder: Path) -> None:
    def run(root: Path, volume: Volume) -> None:
        ensure_directory(volume, root / "one" / "two")
        publish(volume, root / "one" / "two" / "a", b"A")
        replace(volume, root / "one" / "b", b"B")
        remove(volume, root / "one" / "two" / "a")

    disk = LossyDisk(record(stage_folder, nothing, run))

    assert disk.whole(disk.points[0]) == {}
    assert disk.whole(disk.points[-1]) == {
        "one": Node(None),
        "one/two": Node(None),
        "one/b": Node(b"B", disk.whole(disk.points[-1])["one/b"].mtime_ns),
    }
    assert disk.unsettled(disk.points[-1]) == ()


@pytest.mark.parametrize("model", ["strict", "ordered"])
def test_publication_leaves_nothing_or_the_whole_record(stage_folder: Path, model: str) -> None:
    disk = LossyDisk(record(stage_folder, nothing, lambda root, volume: publish(volume, root / "a", b"AAAA")))

    left = {files(tree) for point in disk.points for tree in visible(disk, model, point)}

    assert left == {shows(), shows(a=b"AAAA")}


@pytest.mark.parametrize("model", ["strict", "ordered"])
def test_replacement_leaves_the_old_record_or_the_new(stage_folder: Path, model: str) -> None:
    disk = LossyDisk(
        record(
            stage_folder,
            lambda root, _: stand(root, a=b"old"),
            lambda root, volume: replace(volume, root / "a", b"new"),
        )
    )

    left = {files(tree) for point in disk.points for tree in visible(disk, model, point)}

    assert left == {shows(a=b"old"), shows(a=b"new")}


def visible(disk: LossyDisk, model: str, point: int) -> list[Tree]:
    states = disk.strict(point) if model == "strict" else disk.ordered(point)
    return [{path: node for path, node in state.tree.items() if not is_staged(path)} for state in states]


def test_a_dropped_flush_of_the_file_leaves_a_torn_record_behind(stage_folder: Path) -> None:
    recording = record(stage_folder, nothing, lambda root, volume: publish(volume, root / "a", b"AAAA"))
    careless = Recording(recording.start, tuple(without_flush(each) for each in recording.asked))

    assert shows(a=b"") in strict_ends(careless)
    assert LossyDisk(careless).unsettled(len(careless.asked)) == ("the bytes of a",)


def without_flush(asked: Asked) -> Asked:
    import dataclasses

    return dataclasses.replace(asked, is_flushed=False)


def test_a_dropped_flush_of_the_folder_leaves_no_record_behind(stage_folder: Path) -> None:
    recording = record(stage_folder, nothing, lambda root, volume: publish(volume, root / "a", b"AAAA"))
    careless = Recording(recording.start, tuple(each for each in recording.asked if each.verb is not Verb.SYNC))

    assert shows() in strict_ends(careless)
    assert LossyDisk(careless).unsettled(len(careless.asked)) == ("a",)


def test_an_order_that_cannot_be_does_not_compile(stage_folder: Path) -> None:
    recording = record(stage_folder, nothing, lambda root, volume: publish(volume, root / "a", b"AAAA"))
    stage, link, unlink, sync = recording.asked

    with pytest.raises(NotExpressibleError):
        LossyDisk(Recording(recording.start, (stage, unlink, link, sync)))


def test_a_folder_made_past_the_volume_is_noticed(stage_folder: Path) -> None:
    def run(root: Path, volume: Volume) -> None:
        (root / "beside").mkdir()
        publish(volume, root / "beside" / "a", b"AAAA")

    with pytest.raises(NotExpressibleError):
        LossyDisk(record(stage_folder, nothing, run))


def test_too_many_combinations_are_sampled_the_same_way_each_time(stage_folder: Path) -> None:
    def run(root: Path, volume: Volume) -> None:
        for number in range(9):
            volume.link(root / "a", root / f"b{number}")

    disk = LossyDisk(record(stage_folder, lambda root, _: stand(root, a=b"A"), run), states_max=20)
    first = [files(state.tree) for state in disk.strict(disk.points[-1], seed=7)]

    assert first == [files(state.tree) for state in disk.strict(disk.points[-1], seed=7)]
    assert first != [files(state.tree) for state in disk.strict(disk.points[-1], seed=8)]
    assert 20 < len(set(first)) < 2**9
