"""A FUSE filesystem of two files: `disk`, whose writes and flushes are logged in order, and `mark`, which only logs.

    python -m faults.block.recorder MOUNTPOINT IMAGE LOG

IMAGE is what the disk holds at first; it is not changed. Ends when it is unmounted, or when its standard input closes:
whoever started it is gone then.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import threading
from pathlib import Path
from typing import BinaryIO, Final

import mfusepy  # type: ignore[import-untyped]  # it has annotations, but does not say so

from faults.block.log import READY, Entry, Kind

_DISK: Final = "/disk"
_MARK: Final = "/mark"


class Recorder:
    """What the kernel asks for. Offsets and bytes are the kernel's own."""

    use_ns = True

    def __init__(self, content: bytes, log: BinaryIO) -> None:
        """Hold `content`, and log what changes it; `log` is unbuffered."""
        self._content = bytearray(content)
        self._log = log

    def init(self, path: str) -> None:
        del path
        os.write(1, READY)

    def getattr(self, path: str, fh: int | None = None) -> dict[str, int]:
        del fh
        match path:
            case "/":
                return {"st_mode": stat.S_IFDIR | 0o700, "st_nlink": 2}
            case "/disk" | "/mark":
                size = len(self._content) if path == _DISK else 0
                return {"st_mode": stat.S_IFREG | 0o600, "st_nlink": 1, "st_size": size}
            case _:
                raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)

    def readdir(self, path: str, fh: int) -> list[str]:
        del path, fh
        return [".", "..", "disk", "mark"]

    def open(self, path: str, flags: int) -> int:
        del path, flags
        return 0

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        del path, fh
        return bytes(self._content[offset : offset + size])

    def write(self, path: str, content: bytes, offset: int, fh: int) -> int:
        del fh
        if path == _MARK:
            self._note(Entry(Kind.MARK, 0, bytes(content)))
        else:
            self._content[offset : offset + len(content)] = content
            self._note(Entry(Kind.WRITE, offset, bytes(content)))
        return len(content)

    def fsync(self, path: str, datasync: int, fh: int) -> int:
        del datasync, fh
        if path == _DISK:
            self._note(Entry(Kind.FLUSH))
        return 0

    def truncate(self, path: str, length: int, fh: int | None = None) -> int:
        del path, length, fh
        return 0

    def fallocate(self, path: str, mode: int, offset: int, length: int, fh: int) -> int:
        # Holes would be changes that are no writes: the device does without.
        del mode, offset, length, fh
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP), path)

    def _note(self, entry: Entry) -> None:
        self._log.write(entry.encode())


def _end_with_whoever_started_us() -> None:
    while os.read(0, 4096):
        pass
    os._exit(0)


def main() -> None:
    """Serve until unmounted."""
    mountpoint, image, log = sys.argv[1:]
    threading.Thread(target=_end_with_whoever_started_us, daemon=True).start()
    with Path(log).open("wb", buffering=0) as file:
        recorder = Recorder(Path(image).read_bytes(), file)
        # One thread: what is logged is then the order in which the device did it.
        mfusepy.FUSE(recorder, mountpoint, foreground=True, nothreads=True)


if __name__ == "__main__":
    main()
