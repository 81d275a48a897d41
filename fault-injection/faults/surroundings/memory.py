"""A cage in which memory runs out, and something in it that takes the rest: the kernel then kills the other one.

Both versions of control groups are known. The process under test stands first in the kernel's order of whom to kill.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_OLD: Final = Path("/sys/fs/cgroup/memory")
_NEW: Final = Path("/sys/fs/cgroup")
_LIMIT: Final = str(160 << 20)
"""More than curator needs, and soon filled."""
_HOG: Final = """
import os, sys
from pathlib import Path
folder, told = Path(sys.argv[1]), Path(sys.argv[2])
folder.joinpath("cgroup.procs").write_text(str(os.getpid()))
taken = []
while "oom_kill 0" in told.read_text().splitlines() and len(taken) < 400:
    taken.append(b"x" * (1 << 20))
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Cage:
    """One control group with a limit of memory."""

    folder: Path
    is_old: bool

    def enter(self) -> tuple[str, ...]:
        """Return what, before a command, makes everything count here that it takes."""
        return (
            "sh",
            "-c",
            f'echo 1000 > /proc/self/oom_score_adj && echo $$ > {self.folder}/cgroup.procs && exec "$@"',
            "sh",
        )

    def fill(self) -> None:
        """Take memory until the kernel has killed somebody for it."""
        hog = [sys.executable, "-c", _HOG, str(self.folder), str(self._told)]
        subprocess.run(hog, check=True, timeout=60)

    def kills(self) -> int:
        """Return how often the kernel killed for want of memory here."""
        counts = dict(line.split() for line in self._told.read_text("ascii").splitlines())
        return int(counts["oom_kill"])

    @property
    def _told(self) -> Path:
        """Where the kernel counts whom it killed."""
        return self.folder / ("memory.oom_control" if self.is_old else "memory.events")


def why_no_cage() -> str:
    """Say why no memory can run out here, or nothing where it can."""
    if os.geteuid() != 0:
        return "a control group of our own takes root"
    if not (_OLD / "memory.limit_in_bytes").exists() and "memory" not in _controllers():
        return "there is no control group for memory"
    return ""


def _controllers() -> str:
    file = _NEW / "cgroup.subtree_control"
    return file.read_text("ascii") if file.exists() else ""


@contextlib.contextmanager
def cage() -> Iterator[Cage]:
    """Have a cage while the block runs; whoever is in it must have ended by then."""
    is_old = (_OLD / "memory.limit_in_bytes").exists()
    folder = (_OLD if is_old else _NEW) / f"curator-faults-{os.getpid()}"
    folder.mkdir()
    try:
        (folder / ("memory.limit_in_bytes" if is_old else "memory.max")).write_text(_LIMIT)
        yield Cage(folder, is_old)
    finally:
        folder.rmdir()
