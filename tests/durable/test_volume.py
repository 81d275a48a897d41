"""The verbs that change the disk, each on a real one."""

import os
import re
import stat
from pathlib import Path

import pytest

from curator.durable.sweep import STAGED
from curator.durable.volume import Volume
from curator.errors import StorageError


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o777], ids=oct)
def umask(request: pytest.FixtureRequest) -> object:
    before = os.umask(int(request.param))
    yield request.param
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_a_file_is_private_under_every_umask(tmp_path: Path) -> None:
    staged = Volume().stage(tmp_path / "record.json", b"data")

    assert (mode_of(staged), staged.read_bytes()) == (0o600, b"data")


@pytest.mark.parametrize("hidden", [False, True])
def test_a_staged_name_is_one_that_readers_pass_over_and_the_sweep_knows(tmp_path: Path, *, hidden: bool) -> None:
    staged = Volume().stage(tmp_path / "record.json", b"data", hidden=hidden)

    uuid = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    shape = rf"\.{uuid}\.tmp" if hidden else rf"record\.json\.{os.getpid()}\.{uuid}\.tmp"
    assert re.fullmatch(shape, staged.name)
    assert STAGED.fullmatch(staged.name)


def test_staging_beside_a_folder_that_is_not_there_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="No such file or directory"):
        Volume().stage(tmp_path / "no" / "record.json", b"data")

    assert list(tmp_path.iterdir()) == []


def test_a_link_never_takes_a_name_that_is_taken(tmp_path: Path) -> None:
    taken = tmp_path / "record.json"
    taken.write_bytes(b"old")
    staged = Volume().stage(taken, b"new")

    with pytest.raises(FileExistsError):
        Volume().link(staged, taken)

    assert taken.read_bytes() == b"old"


def test_a_link_does_not_take_a_name_that_is_a_dangling_symlink(tmp_path: Path) -> None:
    (tmp_path / "record.json").symlink_to(tmp_path / "elsewhere")
    staged = Volume().stage(tmp_path / "record.json", b"new")

    with pytest.raises(FileExistsError):
        Volume().link(staged, tmp_path / "record.json")

    assert not (tmp_path / "elsewhere").exists()


def test_a_rename_takes_the_name_whatever_stood_there(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"kept")
    (tmp_path / "record.json").symlink_to(tmp_path / "elsewhere")

    Volume().rename(Volume().stage(tmp_path / "record.json", b"new"), tmp_path / "record.json")

    assert (tmp_path / "record.json").read_bytes() == b"new"
    assert (tmp_path / "elsewhere").read_bytes() == b"kept"


def test_a_rename_of_what_is_gone_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Volume().rename(tmp_path / "gone", tmp_path / "record.json")


def test_unlinking_tells_whether_the_name_was_there(tmp_path: Path) -> None:
    (tmp_path / "record.json").write_bytes(b"x")

    assert [Volume().unlink(tmp_path / "record.json") for _ in range(2)] == [True, False]


def test_a_folder_is_private_and_made_once(tmp_path: Path) -> None:
    assert [Volume().make_directory(tmp_path / "folder") for _ in range(2)] == [True, False]
    assert mode_of(tmp_path / "folder") == 0o700


@pytest.mark.parametrize(
    "verb",
    [
        lambda path: Volume().unlink(path),
        lambda path: Volume().rename(path.parent, path / "x" / "y"),
        lambda path: Volume().sync_directory(path / "gone"),
        lambda path: Volume().make_directory(path / "gone" / "x"),
        lambda path: Volume().restrict(path / "gone", 0o600),
        lambda path: Volume().touch(path / "gone"),
        lambda path: Volume().link(path / "gone", path / "x"),
    ],
    ids=["unlink", "rename", "flush", "make", "restrict", "touch", "link"],
)
def test_what_the_disk_refuses_is_a_storage_error_that_names_the_path(tmp_path: Path, verb: object) -> None:
    (tmp_path / "folder").mkdir()
    assert callable(verb)

    with pytest.raises((StorageError, FileNotFoundError)) as caught:
        verb(tmp_path / "folder")

    assert str(tmp_path) in str(caught.value)


def test_touching_starts_a_files_clock_anew(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_bytes(b"x")
    os.utime(path, (1, 1))

    Volume().touch(path)

    assert path.stat().st_mtime > 1_000_000


def test_a_folder_can_be_flushed_here(tmp_path: Path) -> None:
    assert Volume().can_sync_directory(tmp_path)
