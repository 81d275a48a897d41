"""What is old in a folder, and letting it go."""

import os
from pathlib import Path

import pytest

from curator.durable.ages import Aged, ages_in, folders_in, newest_in
from curator.durable.retire import retire_file, retire_folder
from curator.durable.volume import Volume
from tests.durable.volumes import Recorded


def file(path: Path, second: int) -> Path:
    path.write_text("x", "utf-8")
    os.utime(path, (second, second))
    return path


def test_files_are_told_with_their_times_and_folders_apart(tmp_path: Path) -> None:
    file(tmp_path / "a", 1)
    file(tmp_path / "b", 2)
    (tmp_path / "folder").mkdir()

    assert sorted(ages_in(tmp_path), key=lambda aged: aged.name) == [Aged("a", 1_000), Aged("b", 2_000)]
    assert list(folders_in(tmp_path)) == ["folder"]
    assert newest_in(tmp_path) == 2_000


def test_a_symlink_is_told_by_its_own_time(tmp_path: Path) -> None:
    file(tmp_path / "a", 1)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    os.utime(tmp_path / "link", (5, 5), follow_symlinks=False)

    assert newest_in(tmp_path) == 5_000


def test_where_no_folder_stands_nothing_is(tmp_path: Path) -> None:
    gone = tmp_path / "gone"

    assert (list(ages_in(gone)), list(folders_in(gone)), newest_in(gone)) == ([], [], None)


@pytest.mark.parametrize(("before_ms", "goes"), [(1_000, False), (1_001, True)])
def test_a_file_goes_if_it_was_last_written_before(tmp_path: Path, before_ms: int, *, goes: bool) -> None:
    path = file(tmp_path / "a", 1)

    assert retire_file(Volume(), path, before_ms) == goes
    assert path.exists() != goes
    assert not retire_file(Volume(), tmp_path / "gone", before_ms)


def test_a_folder_goes_with_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    file(folder / "a", 1)

    assert retire_folder(Volume(), folder, 1_001)
    assert not folder.exists()


def test_a_folder_with_something_young_stays_with_it_and_is_flushed(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    file(folder / "a", 1)
    young = file(folder / "b", 2)
    volume = Recorded()

    assert retire_folder(volume, folder, 1_001)

    assert list(folder.iterdir()) == [young]
    assert volume.asked == ["unlink a", "remove folder", "flush folder"]


def test_an_empty_folder_goes_and_a_missing_one_is_no_failure(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()

    assert retire_folder(Volume(), folder, 0)
    assert not folder.exists()
    assert not retire_folder(Volume(), folder, 0)
