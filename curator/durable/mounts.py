"""What lies under a path: the mounted filesystem, and whether it is a network's, removable, or kept in memory.

Symlinks are followed and bind mounts seen through: two paths may rename and link into each other only where both the
mount and the device are the same.
"""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

_OCTAL: Final = re.compile(r"\\([0-7]{3})")
_MOUNT_LINE: Final = re.compile(r"(?P<source>.+) on (?P<point>/.*) \((?P<kind>[^,)]+)(?P<options>[^)]*)\)")

_NETWORK: Final = frozenset(
    """
    9p afpfs afs ceph cifs coda davfs drvfs fuse gfs2 glusterfs lustre ncpfs nfs nfs4 ocfs2 prl_fs smb2 smb3 smbfs
    vboxsf virtiofs vmhgfs webdav
    """.split()  # noqa: SIM905 - read as a list of words
)
_NETWORK_PREFIXES: Final = ("fuse.", "macfuse", "osxfuse")
_REMOVABLE: Final = frozenset(("exfat", "msdos", "vfat"))
_REMOVABLE_PLACES: Final = ("/media", "/run/media", "/Volumes")
_MEMORY: Final = frozenset(("ramfs", "tmpfs"))


@dataclasses.dataclass(frozen=True, slots=True)
class Mount:
    """One mounted filesystem."""

    point: Path
    kind: str
    """Its type, as the system names it: `ext4`, `nfs4`, `apfs`."""
    device: tuple[int, int] | None = None
    """Major and minor number, where the system tells them."""

    @property
    def is_network(self) -> bool:
        """Whether another machine, or a program, keeps the files."""
        return self.kind in _NETWORK or self.kind.startswith(_NETWORK_PREFIXES)

    @property
    def is_memory(self) -> bool:
        """Whether the files are gone with the power, flushed or not."""
        return self.kind in _MEMORY

    def is_removable(self, sysfs: Path = Path("/sys")) -> bool:
        """Tell whether it can be pulled out while curator runs: by its type, its place, or its bus."""
        if self.kind in _REMOVABLE or any(self.point.is_relative_to(place) for place in _REMOVABLE_PLACES):
            return True
        if self.device is None:
            return False
        block = Path(os.path.realpath(sysfs / "dev" / "block" / f"{self.device[0]}:{self.device[1]}"))
        if any(part.startswith("usb") for part in block.parts):
            return True
        # A partition's folder stands inside its disk's, and only the disk says it.
        return any(_says_one(folder / "removable") for folder in (block, block.parent))


@dataclasses.dataclass(frozen=True, slots=True)
class Ground:
    """What one path stands on."""

    path: Path
    """Resolved, and cut to what is there already."""
    device: int
    mount: Mount

    def is_one_with(self, other: Ground) -> bool:
        """Tell whether a file can be renamed and linked from one to the other."""
        return (self.device, self.mount.point) == (other.device, other.mount.point)


def ground_of(path: Path, mounts: tuple[Mount, ...]) -> Ground:
    """Return what a path stands on, or will stand on once it is made."""
    resolved = Path(os.path.realpath(path))
    while not resolved.exists():
        resolved = resolved.parent
    device = resolved.stat().st_dev
    lineage = {resolved, *resolved.parents}
    above = [mount for mount in mounts if mount.point in lineage]
    # A later mount can hide an earlier one below it, so those that are the path's own device come first.
    own = [mount for mount in above if mount.device == (os.major(device), os.minor(device))]
    nearest = Mount(Path("/"), "unknown")
    for mount in own or above:
        if len(mount.point.parts) >= len(nearest.point.parts):
            nearest = mount
    return Ground(resolved, device, nearest)


def read_mounts() -> tuple[Mount, ...]:
    """Return what the system has mounted; nothing where it does not tell."""
    try:
        if sys.platform == "darwin":
            return parse_mount_lines(
                subprocess.run(["/sbin/mount"], capture_output=True, check=True, encoding="utf-8", timeout=5).stdout
            )
        return parse_mountinfo(Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape"))
    except (OSError, subprocess.SubprocessError):
        return ()


def parse_mountinfo(text: str) -> tuple[Mount, ...]:
    """Parse Linux's table: `36 35 98:0 /root /point options … - type source options`."""
    mounts = []
    for line in text.splitlines():
        head, dash, tail = line.partition(" - ")
        fields = head.split()
        if not dash or len(fields) < 5 or not tail:  # noqa: PLR2004 - the table's columns
            continue
        major, _, minor = fields[2].partition(":")
        point = _OCTAL.sub(lambda match: chr(int(match.group(1), 8)), fields[4])
        mounts.append(Mount(Path(point), tail.split()[0], (int(major), int(minor))))
    return tuple(mounts)


def parse_mount_lines(text: str) -> tuple[Mount, ...]:
    """Parse what macOS prints: `/dev/disk3s1 on / (apfs, local, journaled)`."""
    found = [match for line in text.splitlines() if (match := _MOUNT_LINE.fullmatch(line))]
    return tuple(Mount(Path(match["point"]), match["kind"]) for match in found)


def _says_one(path: Path) -> bool:
    try:
        return path.read_bytes().strip() == b"1"
    except OSError:
        return False
