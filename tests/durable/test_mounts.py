"""Mount tables are read as the systems print them."""

from pathlib import Path
from typing import Final

import pytest

from curator.durable.mounts import Mount, ground_of, parse_mount_lines, parse_mountinfo, read_mounts

LINUX: Final = r"""
22 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw
35 22 0:31 / /home/a\040person/net rw shared:2 master:1 - nfs4 server:/export rw,vers=4.2
36 22 8:17 /data /mnt/stick rw - ext4 /dev/sdb1 rw
a line of another kind
"""

MACOS: Final = """/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
/dev/disk4s2 on /Volumes/My (old) Stick (exfat, local, nodev, nosuid, noowners)
//person@server.test/share on /Users/person/share (smbfs, nodev, nosuid, mounted by person)
"""


def test_linux_tells_point_kind_and_device() -> None:
    assert parse_mountinfo(LINUX) == (
        Mount(Path("/"), "ext4", (8, 2)),
        Mount(Path("/home/a person/net"), "nfs4", (0, 31)),
        Mount(Path("/mnt/stick"), "ext4", (8, 17)),
    )


def test_macos_tells_point_and_kind() -> None:
    assert parse_mount_lines(MACOS) == (
        Mount(Path("/"), "apfs"),
        Mount(Path("/Volumes/My (old) Stick"), "exfat"),
        Mount(Path("/Users/person/share"), "smbfs"),
    )


def test_the_system_under_this_test_tells_its_mounts() -> None:
    assert any(mount.point == Path("/") for mount in read_mounts())


def test_the_deepest_mount_that_is_the_paths_own_device_counts(tmp_path: Path) -> None:
    device = tmp_path.stat().st_dev
    own = Mount(tmp_path, "own", (device >> 8, device & 255))
    hidden = Mount(tmp_path / "below", "hidden", (250, 250))
    (tmp_path / "below").mkdir()

    assert ground_of(tmp_path / "below", (hidden, own)).mount.kind == "own"
    assert ground_of(tmp_path / "below", (Mount(Path("/"), "root"), Mount(tmp_path, "near"))).mount.kind == "near"


def test_without_a_table_the_kind_is_unknown(tmp_path: Path) -> None:
    assert ground_of(tmp_path, ()).mount == Mount(Path("/"), "unknown")


def test_a_path_that_is_not_there_yet_stands_on_its_nearest_folder(tmp_path: Path) -> None:
    assert ground_of(tmp_path / "a" / "b", ()).path == tmp_path.resolve()


@pytest.mark.parametrize(
    ("disk", "flag", "is_removable"),
    [
        ("pci0000:00/ata1/block/sda", "0", False),
        ("pci0000:00/usb2/block/sda", "0", True),
        ("mmc0/block/sda", "1", True),
    ],
)
def test_a_partition_is_as_removable_as_its_disk(tmp_path: Path, disk: str, flag: str, *, is_removable: bool) -> None:
    partition = tmp_path / "devices" / disk / "sda1"
    partition.mkdir(parents=True)
    (partition.parent / "removable").write_text(f"{flag}\n")
    (tmp_path / "dev" / "block").mkdir(parents=True)
    (tmp_path / "dev" / "block" / "8:1").symlink_to(partition)

    assert Mount(Path("/data"), "ext4", (8, 1)).is_removable(tmp_path) is is_removable


@pytest.mark.parametrize("point", ["/media/person/stick", "/run/media/person/stick", "/Volumes/Stick"])
def test_where_a_desktop_mounts_sticks_is_removable(point: str) -> None:
    assert Mount(Path(point), "ext4").is_removable()
