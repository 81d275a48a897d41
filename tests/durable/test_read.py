"""A read is bounded, follows no symlink, never hangs, and names the path and the fact."""

import os
import socket
from pathlib import Path

import pytest

from curator.durable.read import is_empty_folder, list_names, mode_of, read_bounded, stamp_of
from curator.errors import InvalidRecordError, StorageError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "record.json"


def test_a_whole_file_is_read_up_to_its_bound(path: Path) -> None:
    path.write_bytes(b"12345")

    assert read_bounded(path, 5) == b"12345"


def test_nothing_is_none(path: Path) -> None:
    path.write_bytes(b"x")

    assert read_bounded(path.with_name("gone"), 5) is None
    assert read_bounded(path / "below", 5) is None


def test_one_byte_too_many_is_refused(path: Path) -> None:
    path.write_bytes(b"123456")

    with pytest.raises(InvalidRecordError, match=r"record\.json: is larger than 5 bytes"):
        read_bounded(path, 5)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no file here says a size that is not its own")
def test_what_says_that_it_is_small_and_is_not_is_refused() -> None:
    with pytest.raises(InvalidRecordError, match="is larger than 10 bytes"):
        read_bounded(Path("/proc/self/status"), 10)


def test_an_empty_file_is_refused(path: Path) -> None:
    path.write_bytes(b"")

    with pytest.raises(InvalidRecordError, match="is empty"):
        read_bounded(path, 5)


def test_a_symlink_is_refused_unless_it_is_asked_for(path: Path) -> None:
    path.with_name("real").write_bytes(b"12345")
    path.symlink_to(path.with_name("real"))

    with pytest.raises(InvalidRecordError, match="is a symlink where a file belongs"):
        read_bounded(path, 5)
    assert read_bounded(path, 5, follow=True) == b"12345"


@pytest.mark.parametrize("follow", [False, True])
def test_a_pipe_is_refused_at_once(path: Path, *, follow: bool) -> None:
    os.mkfifo(path)

    with pytest.raises(InvalidRecordError, match="is not a regular file"):
        read_bounded(path, 5, follow=follow)


def test_a_socket_and_a_folder_and_a_device_are_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("a-socket")  # the path as a whole may be longer than a socket's may
        (path.parent / "a-folder").mkdir()
        for stranger in (path.parent / "a-socket", path.parent / "a-folder", Path("/dev/zero")):
            with pytest.raises(InvalidRecordError, match="is not a regular file"):
                read_bounded(stranger, 5)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o400, 0o700, 0o4600])
def test_a_private_file_has_exactly_mode_0600(path: Path, mode: int) -> None:
    path.write_bytes(b"12345")
    path.chmod(mode)

    with pytest.raises(InvalidRecordError, match=f"has mode {mode:04o}, not 0600") as caught:
        read_bounded(path, 5, private=True)
    assert f"chmod 600 '{path}'" in caught.value.remedy

    path.chmod(0o600)
    assert read_bounded(path, 5, private=True) == b"12345"


def test_one_file_that_this_user_may_not_read_costs_that_file(path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    path.write_bytes(b"12345")
    path.chmod(0)

    with pytest.raises(InvalidRecordError, match="may not be read by this user"):
        read_bounded(path, 5)


def test_names_are_sorted_and_bounded(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        (tmp_path / name).touch()

    assert list_names(tmp_path, 3) == ["a", "b", "c"]
    assert list_names(tmp_path / "gone", 3) == []
    with pytest.raises(InvalidRecordError, match="holds more than 2 names"):
        list_names(tmp_path, 2)
    with pytest.raises(InvalidRecordError, match="is not a folder"):
        list_names(tmp_path / "a", 3)


def test_a_stamp_changes_when_the_file_does_and_is_none_for_nothing(path: Path) -> None:
    assert stamp_of(path) is None
    path.write_bytes(b"1")
    before = stamp_of(path)
    path.write_bytes(b"12")

    assert stamp_of(path) != before
    assert stamp_of(path / "below") is None


def test_a_stamp_is_the_symlinks_own(path: Path) -> None:
    path.symlink_to("gone")

    assert stamp_of(path) is not None
    assert mode_of(path) is not None


def test_an_empty_folder_is_told_from_one_with_a_name(tmp_path: Path) -> None:
    assert is_empty_folder(tmp_path)
    assert is_empty_folder(tmp_path / "gone")
    (tmp_path / "x").touch()
    assert not is_empty_folder(tmp_path)


def test_a_name_too_long_for_the_disk_is_the_disks_refusal(tmp_path: Path) -> None:
    for read in (stamp_of, lambda path: read_bounded(path, 5)):
        with pytest.raises(StorageError):
            read(tmp_path / ("x" * 300))
