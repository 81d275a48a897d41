"""Loop devices, mounts and power cuts of a filesystem, by the system's own calls; all inside a mount namespace of ours.

Whoever uses this was started by `unshare -m`: what it mounts nobody else sees, and the kernel unmounts it with the last
process that does. A loop device lets go of its file by itself once nobody has it open.
"""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import fcntl
import importlib.util
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLKFLSBUF: Final = 0x1261
_EXT4_IOC_SHUTDOWN: Final = 0x8004587D
DEFAULT, LOGFLUSH, NOLOGFLUSH = 0, 1, 2
"""What a shutdown does first: freezes all; writes the journal out; nothing, which is what a power cut does."""

_LIBC: Final = ctypes.CDLL(None, use_errno=True)


def why_not(*, needs_fuse: bool = True) -> str:
    """Say why no filesystem can be mounted here, or nothing where one can."""
    if sys.platform != "linux":
        return "loop devices and ext4 are Linux's"
    if os.geteuid() != 0:
        return "mounting takes root"
    tools = [tool for tool in ("unshare", "losetup", "mkfs.ext4") if shutil.which(tool, path=_path()) is None]
    if tools:
        return f"{', '.join(tools)} is not installed"
    if not Path("/dev/loop-control").exists():
        return "there are no loop devices: /dev/loop-control is missing"
    if needs_fuse and not Path("/dev/fuse").exists():
        return "/dev/fuse is missing"
    if needs_fuse and importlib.util.find_spec("mfusepy") is None:
        return "mfusepy is not installed"
    if needs_fuse and ctypes.util.find_library("fuse3") is None:
        return "libfuse 3 is not installed (Debian: fuse3)"
    tried = subprocess.run(["unshare", "-m", "true"], capture_output=True, text=True, check=False)
    return tried.stderr.strip()


def _path() -> str:
    """Return where tools are, those of root too."""
    return os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"


def tool(*arguments: str | Path) -> str:
    """Run a tool of the system to its end and return what it said."""
    environ = {**os.environ, "PATH": _path()}
    return subprocess.run(
        [str(each) for each in arguments], env=environ, capture_output=True, text=True, check=True
    ).stdout.strip()


def mount(source: Path | str, target: Path, kind: str, options: str = "") -> None:
    """Mount. Raises `OSError` as the kernel says."""
    if _LIBC.mount(os.fsencode(source), os.fsencode(target), kind.encode(), 0, options.encode()) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(target))


def unmount(target: Path) -> None:
    """Unmount; everything that was on it must be closed."""
    if _LIBC.umount(os.fsencode(target)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(target))


@contextlib.contextmanager
def mounted(source: Path | str, target: Path, kind: str = "ext4", options: str = "") -> Iterator[Path]:
    """Mount while the block runs."""
    mount(source, target, kind, options)
    try:
        yield target
    finally:
        unmount(target)


def sync_filesystem(folder: Path) -> None:
    """Flush one whole filesystem."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if _LIBC.syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(folder))
    finally:
        os.close(descriptor)


def shut_down(folder: Path, how: int = NOLOGFLUSH) -> None:
    """End a mounted filesystem at once: from now on each change of it fails, and only a new mount brings it back."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.ioctl(descriptor, _EXT4_IOC_SHUTDOWN, struct.pack("I", how))
    finally:
        os.close(descriptor)


class Loop:
    """A block device over a file, for as long as it is open."""

    def __init__(self, file: Path) -> None:
        """Take the next free device."""
        self.path = Path(tool("losetup", "--find", "--show", file))
        try:
            self._descriptor = os.open(self.path, os.O_RDWR)
        finally:
            # A device that is in use is only marked: the kernel detaches it when the last of us has closed it.
            tool("losetup", "--detach", self.path)

    def forget(self) -> None:
        """Drop what the kernel remembers of the device: its file has been changed beneath it."""
        fcntl.ioctl(self._descriptor, _BLKFLSBUF)

    def close(self) -> None:
        """Let go."""
        os.close(self._descriptor)


def make_ext4(file: Path, size: int) -> None:
    """Make a file of a new, journaled ext4 in 4 KB blocks, with nothing left to be done in the background."""
    with file.open("wb") as image:
        image.truncate(size)
    quiet = "lazy_itable_init=0,lazy_journal_init=0,nodiscard"
    tool("mkfs.ext4", "-q", "-b", "4096", "-I", "256", "-N", "1024", "-J", "size=4", "-E", quiet, file)
