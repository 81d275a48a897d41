"""What correctness needs is refused where it is missing; what weakens a promise is told."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from curator.durable.layout import Layout
from curator.durable.mounts import Mount
from curator.durable.probe import Probe, TryLock, probe
from curator.durable.sweep import STAGED
from curator.durable.volume import Volume
from curator.errors import StorageError, UnsupportedStorageError

LOCAL: Final = (Mount(Path("/"), "ext4"),)


class NoHardLinks(Volume):
    def link(self, staged: Path, path: Path) -> None:
        del staged
        raise StorageError(path, OSError(errno.EPERM, "Operation not permitted"))


class ForbiddenHardLinks(Volume):
    def link(self, staged: Path, path: Path) -> None:
        del staged
        raise StorageError(path, OSError(errno.EACCES, "Permission denied"))


class LinksOverWhatStands(Volume):
    def link(self, staged: Path, path: Path) -> None:
        path.unlink(missing_ok=True)
        os.link(staged, path)


class NoRename(Volume):
    def rename(self, source: Path, target: Path) -> None:
        del source
        raise StorageError(target, OSError(errno.EXDEV, "Invalid cross-device link"))


class RenamesNothing(Volume):
    def rename(self, source: Path, target: Path) -> None:
        del target
        source.unlink()


class WideModes(Volume):
    def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
        staged = super().stage(path, data, hidden=hidden, flush=flush)
        staged.chmod(0o777)
        return staged


class NoFileFlush(Volume):
    def _flush_file(self, descriptor: int) -> None:
        del descriptor
        raise OSError(errno.EINVAL, "Invalid argument")


class NoFolderFlush(Volume):
    def _flush_directory(self, descriptor: int) -> None:
        del descriptor
        raise OSError(errno.EINVAL, "Invalid argument")


class Full(Volume):
    def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
        del data, hidden, flush
        raise StorageError(path, OSError(errno.ENOSPC, "No space left on device"))


class Everybody:
    def release(self) -> None:
        """Nobody was kept out."""


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path / "agent")
    layout.own.mkdir(parents=True)
    return layout


def run(layout: Layout, volume: Volume | None = None, mounts: tuple[Mount, ...] = LOCAL) -> Probe:
    return probe(volume or Volume(), layout, mounts=mounts)


def test_a_local_disk_passes_without_a_word_and_keeps_nothing_of_the_probe(layout: Layout) -> None:
    found = run(layout)

    assert found == Probe(is_power_safe=True, warnings=())
    assert list(layout.own.iterdir()) == []


def test_the_real_mount_table_names_what_this_test_stands_on(layout: Layout) -> None:
    assert isinstance(probe(Volume(), layout).is_power_safe, bool)


def test_before_the_first_start_the_nearest_folder_is_tried_and_nothing_is_made(tmp_path: Path) -> None:
    found = run(Layout(tmp_path / "agent"))

    assert found.is_power_safe
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("volume", "fact"),
    [
        (NoHardLinks, "cannot make a hard link"),
        (ForbiddenHardLinks, "cannot make a hard link"),
        (LinksOverWhatStands, "cannot make a hard link only where no name stands"),
        (NoRename, "cannot rename over a file"),
        (RenamesNothing, "cannot rename over a file"),
        (WideModes, "makes a private file 0777, not 0600"),
        (NoFileFlush, "cannot write a private file and flush it"),
    ],
)
def test_a_missing_verb_is_refused_by_name_with_place_and_filesystem(
    layout: Layout, volume: Callable[[], Volume], fact: str
) -> None:
    with pytest.raises(UnsupportedStorageError) as refused:
        run(layout, volume())

    assert fact in refused.value.fact
    assert f"{layout.own} (ext4 at /)" in refused.value.fact
    assert list(layout.own.iterdir()) == []


def test_a_full_disk_is_not_called_unsupported(layout: Layout) -> None:
    with pytest.raises(StorageError) as refused:
        run(layout, Full())

    assert refused.value.errno == errno.ENOSPC


def test_a_missing_folder_flush_weakens_the_promise_and_is_said(layout: Layout) -> None:
    found = run(layout, NoFolderFlush())

    assert not found.is_power_safe
    assert [warning.fact for warning in found.warnings] == [
        f"{layout.root} (ext4 at /) cannot flush a folder: what was accepted survives a crash, but not power loss"
    ]


def test_a_missing_folder_flush_is_refused_where_power_safety_is_required(layout: Layout) -> None:
    with pytest.raises(UnsupportedStorageError, match="require_power_safe"):
        probe(NoFolderFlush(), layout, require_power_safe=True, mounts=LOCAL)


def unknown_lock(_path: Path) -> Everybody | None:
    raise OSError(errno.ENOLCK, "No locks available")


def lock_for_everybody(_path: Path) -> Everybody | None:
    return Everybody()


def lock_for_nobody(_path: Path) -> Everybody | None:
    return None


@pytest.mark.parametrize("lock", [unknown_lock, lock_for_everybody, lock_for_nobody])
def test_a_lock_that_does_not_exclude_is_refused_with_the_mount_type(layout: Layout, lock: TryLock) -> None:
    mounts = (Mount(Path("/"), "nfs4"),)

    with pytest.raises(UnsupportedStorageError, match=r"nfs4 at /.* a kernel lock"):
        probe(Volume(), layout, mounts=mounts, kernel_lock=lock)
    with pytest.raises(UnsupportedStorageError, match=r"nfs4 at /.* an exclusively created file"):
        probe(Volume(), layout, mounts=mounts, protocol_lock=lock)


def test_a_folder_of_the_spool_behind_a_bind_mount_is_refused(layout: Layout) -> None:
    layout.dead_letter.mkdir(parents=True)
    mounts = (*LOCAL, Mount(layout.dead_letter, "xfs"))

    with pytest.raises(UnsupportedStorageError) as refused:
        run(layout, mounts=mounts)

    assert f"{layout.dead_letter} stands on another device (xfs at {layout.dead_letter})" in refused.value.fact


def test_a_project_folder_that_is_a_symlink_to_another_mount_is_refused(layout: Layout, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    project = layout.root / ("a" * 24)
    project.symlink_to(elsewhere)

    with pytest.raises(UnsupportedStorageError, match="stands on another device"):
        probe(Volume(), layout, [project], mounts=(*LOCAL, Mount(elsewhere, "ext4")))


def test_another_device_below_the_same_mount_is_refused(layout: Layout) -> None:
    shared = Path("/dev/shm")  # noqa: S108 - looked at, not written to
    if not shared.is_dir() or shared.stat().st_dev == layout.own.stat().st_dev:
        pytest.skip("no second device here")
    layout.shadow.symlink_to(shared)

    with pytest.raises(UnsupportedStorageError, match="stands on another device"):
        run(layout)


def test_a_symlink_on_the_same_device_is_seen_through(layout: Layout, tmp_path: Path) -> None:
    (tmp_path / "moved").mkdir()
    layout.spool.symlink_to(tmp_path / "moved")

    assert run(layout).warnings == ()


@pytest.mark.parametrize(
    "kind", ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "fuse.rclone", "virtiofs"]
)
def test_a_network_is_warned_about(layout: Layout, kind: str) -> None:
    (warning,) = run(layout, mounts=(Mount(Path("/"), kind),)).warnings

    assert "kept by a network" in warning.fact
    assert kind in warning.fact


def test_a_removable_place_is_warned_about(layout: Layout) -> None:
    (warning,) = run(layout, mounts=(Mount(Path("/"), "exfat"),)).warnings

    assert "is removable" in warning.fact


def test_a_disk_in_memory_is_not_power_safe(layout: Layout) -> None:
    found = run(layout, mounts=(Mount(Path("/"), "tmpfs"),))

    assert not found.is_power_safe
    assert "in memory" in found.warnings[0].fact


@pytest.mark.parametrize(
    "folder",
    [
        "Dropbox",
        "Dropbox (Example)",
        "OneDrive",
        "OneDrive - Example",
        "iCloud Drive",
        "iCloudDrive",
        "Mobile Documents",
        "com~apple~CloudDocs",
        "Google Drive",
        "GoogleDrive-person@example.test",
        "My Drive",
    ],
)
def test_a_synced_folder_is_warned_about(tmp_path: Path, folder: str) -> None:
    layout = Layout(tmp_path / folder / "agent")
    layout.own.mkdir(parents=True)

    (warning,) = run(layout).warnings

    assert f"synced to a cloud ({folder})" in warning.fact


@pytest.mark.parametrize("folder", ["dropboxes", "my-onedriver", "drive", "clouds"])
def test_a_folder_that_only_sounds_synced_is_not(tmp_path: Path, folder: str) -> None:
    layout = Layout(tmp_path / folder / "agent")
    layout.own.mkdir(parents=True)

    assert run(layout).warnings == ()


def test_a_crash_in_the_middle_leaves_only_names_that_the_sweep_knows(layout: Layout) -> None:
    class Crash(BaseException):
        pass

    class DiesAtTheRename(Volume):
        is_dead = False

        def rename(self, source: Path, target: Path) -> None:
            del source, target
            self.is_dead = True
            raise Crash

        def unlink(self, path: Path) -> bool:
            return False if self.is_dead else super().unlink(path)

    with pytest.raises(Crash):
        run(layout, DiesAtTheRename())

    left = [path.name for path in layout.own.iterdir()]
    assert left
    assert all(STAGED.fullmatch(name) for name in left)
