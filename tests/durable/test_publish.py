"""Create or compare, replace, remove, make: each durable when it returns, and in an order that a crash cannot hurt."""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from curator.durable.publish import Published, ensure_directory, publish, remove, replace, replace_lazily
from curator.durable.volume import Volume
from curator.errors import ConflictError, InvalidRecordError, StorageError
from tests.durable.volumes import Crash, Full, Mortal, Recorded


@pytest.fixture
def record(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o700)
    return folder / "record.json"


def names(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir())


def test_publishing_stages_and_flushes_then_links_then_flushes_the_name(record: Path) -> None:
    volume = Recorded()

    assert publish(volume, record, b"data") is Published.CREATED

    assert volume.asked == ["stage record.json", "link record.json", "unlink staged", "flush folder"]
    assert record.read_bytes() == b"data"
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert names(record) == ["record.json"]


def test_a_name_that_was_taken_and_is_gone_is_a_conflict_and_nothing_is_compared(record: Path) -> None:
    class Taken(Volume):
        def link(self, staged: Path, path: Path) -> None:
            raise FileExistsError(staged, path)

    with pytest.raises(ConflictError):
        publish(Taken(), record, b"bytes", is_same=lambda standing: len(standing) > 0)


def test_a_replay_changes_nothing_and_flushes_too(record: Path) -> None:
    publish(Volume(), record, b"data")
    inode, volume = record.stat().st_ino, Recorded()

    assert publish(volume, record, b"data") is Published.REPLAYED

    assert record.stat().st_ino == inode
    assert volume.asked[-1] == "flush folder"
    assert names(record) == ["record.json"]


@pytest.mark.parametrize("standing", [b"other", b"dat", b"data ", b"x" * 100_000])
def test_other_bytes_are_a_conflict_and_nothing_is_written(record: Path, standing: bytes) -> None:
    record.write_bytes(standing)

    with pytest.raises(ConflictError, match=r"record\.json"):
        publish(Volume(), record, b"data")

    assert record.read_bytes() == standing
    assert names(record) == ["record.json"]


def test_other_bytes_that_say_the_same_are_a_replay(record: Path) -> None:
    record.write_bytes(b" data ")

    ending = publish(Volume(), record, b"data", is_same=lambda standing: standing.strip() == b"data")

    assert ending is Published.REPLAYED
    assert record.read_bytes() == b" data "


@pytest.mark.parametrize("put", [Path.mkdir, lambda at: at.symlink_to("x"), os.mkfifo], ids=["folder", "link", "pipe"])
def test_a_name_that_is_no_file_is_never_followed_nor_waited_for(record: Path, put: Callable[[Path], None]) -> None:
    put(record)

    with pytest.raises(InvalidRecordError):
        publish(Volume(), record, b"data")

    assert names(record) == ["record.json"]


@pytest.mark.parametrize("survive", range(4))
def test_a_publication_that_dies_at_any_verb_is_whole_or_not_there_and_can_be_repeated(
    record: Path, survive: int
) -> None:
    with pytest.raises(Crash):
        publish(Mortal(survive), record, b"data")

    assert not record.exists() or record.read_bytes() == b"data"
    assert publish(Volume(), record, b"data") in Published
    assert record.read_bytes() == b"data"


@pytest.mark.parametrize("verb", ["stage", "link", "flush"])
def test_a_full_disk_is_said_and_leaves_no_half_record(record: Path, verb: str) -> None:
    with pytest.raises(StorageError, match="No space left on device"):
        publish(Full(verb), record, b"data")

    assert names(record) in ([], ["record.json"])
    assert not record.exists() or record.read_bytes() == b"data"


def test_replacing_stages_and_flushes_then_renames_then_flushes_the_name(record: Path) -> None:
    record.write_bytes(b"old")
    volume = Recorded()

    replace(volume, record, b"new")

    assert volume.asked == ["stage record.json", "rename record.json", "flush folder"]
    assert record.read_bytes() == b"new"
    assert names(record) == ["record.json"]


@pytest.mark.parametrize("survive", range(3))
def test_a_replacement_that_dies_at_any_verb_leaves_the_old_or_the_new(record: Path, survive: int) -> None:
    record.write_bytes(b"old")

    with pytest.raises(Crash):
        replace(Mortal(survive), record, b"new")

    assert record.read_bytes() in (b"old", b"new")


def test_a_replacement_that_fails_leaves_the_old_and_nothing_staged(record: Path) -> None:
    record.mkdir()

    with pytest.raises(StorageError):
        replace(Volume(), record, b"new")

    assert names(record) == ["record.json"]


def test_a_lazy_replacement_flushes_nothing(record: Path) -> None:
    volume = Recorded()

    replace_lazily(volume, record, b"new")

    assert volume.asked == ["stage unflushed record.json", "rename record.json"]
    assert record.read_bytes() == b"new"


def test_removing_flushes_what_it_removed_and_nothing_else(record: Path) -> None:
    record.write_bytes(b"x")
    volume = Recorded()

    assert [remove(volume, record), remove(volume, record)] == [True, False]

    assert volume.asked == ["unlink record.json", "flush folder", "unlink record.json"]


def test_folders_are_made_from_above_each_flushed_before_the_next(tmp_path: Path) -> None:
    (tmp_path / "beside").write_bytes(b"x")
    volume = Recorded()

    ensure_directory(volume, tmp_path / "one" / "two" / "three")

    root = tmp_path.name
    assert volume.asked == ["make one", f"flush {root}", "make two", "flush one", "make three", "flush two"]
    assert stat.S_IMODE((tmp_path / "one" / "two").stat().st_mode) == 0o700


def test_a_folder_that_stands_empty_is_flushed_for_its_maker_may_have_died_before_it_did(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir(mode=0o700)
    volume = Recorded()

    ensure_directory(volume, tmp_path / "one")

    assert volume.asked == [f"flush {tmp_path.name}"]


def test_nothing_is_built_in_an_empty_folder_before_its_own_name_is_flushed(tmp_path: Path) -> None:
    (tmp_path / "day").mkdir(mode=0o700)
    volume = Recorded()

    ensure_directory(volume, tmp_path / "day" / "shard")

    assert volume.asked == [f"flush {tmp_path.name}", "make shard", "flush day"]


def test_a_folder_that_has_a_name_in_it_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir(mode=0o700)
    (tmp_path / "one" / "record.json").write_bytes(b"x")
    volume = Recorded()

    ensure_directory(volume, tmp_path / "one")

    assert volume.asked == []


@pytest.mark.parametrize("survive", range(6))
def test_making_folders_that_dies_at_any_verb_can_be_repeated_and_flushes_what_was_left(
    tmp_path: Path, survive: int
) -> None:
    with pytest.raises(Crash):
        ensure_directory(Mortal(survive), tmp_path / "one" / "two" / "three")
    volume = Recorded()

    ensure_directory(volume, tmp_path / "one" / "two" / "three")

    assert volume.asked[-1] == "flush two"


def test_a_folder_whose_flush_failed_is_made_anew_for_a_second_flush_of_its_name_may_lie(tmp_path: Path) -> None:
    (tmp_path / "beside").write_bytes(b"x")
    failing, good = Full("flush"), Recorded()

    with pytest.raises(StorageError):
        ensure_directory(failing, tmp_path / "one")
    ensure_directory(good, tmp_path / "one")

    assert good.asked == ["make one", f"flush {tmp_path.name}"]


def test_a_folder_whose_flush_failed_stays_where_somebody_uses_it_already(tmp_path: Path) -> None:
    (tmp_path / "beside").write_bytes(b"x")

    class Used(Full):
        def sync_directory(self, path: Path) -> None:
            (tmp_path / "one" / "record.json").write_bytes(b"x")
            super().sync_directory(path)

    with pytest.raises(StorageError):
        ensure_directory(Used("flush"), tmp_path / "one")

    assert (tmp_path / "one" / "record.json").read_bytes() == b"x"


def test_a_folder_that_others_may_enter_is_tightened(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir(mode=0o777)
    (tmp_path / "one").chmod(0o777)

    ensure_directory(Volume(), tmp_path / "one")

    assert stat.S_IMODE((tmp_path / "one").stat().st_mode) == 0o700


def test_a_symlink_where_a_folder_of_ours_belongs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "one").symlink_to(tmp_path / "real")

    with pytest.raises(InvalidRecordError, match="is a symlink where a folder of ours belongs"):
        ensure_directory(Volume(), tmp_path / "one")

    assert list((tmp_path / "real").iterdir()) == []


def test_a_dangling_symlink_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "gone")

    for path in (tmp_path / "one", tmp_path / "one" / "two"):
        with pytest.raises(InvalidRecordError):
            ensure_directory(Volume(), path)

    assert not (tmp_path / "gone").exists()


def test_a_persons_own_symlink_above_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "agent").symlink_to(tmp_path / "real")

    ensure_directory(Volume(), tmp_path / "agent" / "no-forgetti" / "curator")

    assert (tmp_path / "real" / "no-forgetti" / "curator").is_dir()


@pytest.mark.parametrize("below", [".", "two", "two/three"])
def test_a_file_where_a_folder_belongs_is_refused(tmp_path: Path, below: str) -> None:
    (tmp_path / "one").write_bytes(b"x")

    with pytest.raises(InvalidRecordError, match="is not a folder"):
        ensure_directory(Volume(), tmp_path / "one" / below)


def test_an_empty_folder_below_one_that_only_others_may_look_into_is_built_in_all_the_same(tmp_path: Path) -> None:
    class Denied(Recorded):
        def sync_directory(self, path: Path) -> None:
            if path == tmp_path:
                raise StorageError(path, PermissionError(errno.EACCES, "Permission denied"))
            super().sync_directory(path)

    (tmp_path / "agent").mkdir()

    ensure_directory(Denied(), tmp_path / "agent" / "no-forgetti")

    assert (tmp_path / "agent" / "no-forgetti").is_dir()


def test_a_folder_whose_flush_fails_is_not_built_in(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()

    with pytest.raises(StorageError):
        ensure_directory(Full("flush"), tmp_path / "agent" / "no-forgetti")

    assert not (tmp_path / "agent" / "no-forgetti").exists()
