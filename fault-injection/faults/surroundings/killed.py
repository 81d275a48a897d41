"""A curator whose processes are killed at one of their changes to the disk, by SIGKILL and before it is made.

The primitives of the volume are counted in the real command. That they are what the kernel is asked for, and all of it, is
the claim of `tests/test_strace.py`.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Final

from curator.durable.clock import SystemClock
from faults.model.taped import FAULTS, lay_with
from faults.volumes import CountingVolume

if TYPE_CHECKING:
    from pathlib import Path

SURVIVE: Final = "CURATOR_FAULTS_SURVIVE"
"""How many primitives a process of it survives; all where nothing is said."""
_KILLED: Final = """

import sys

sys.path.append({faults!r})
from faults.surroundings.killed import KilledVolume as Volume
"""


class KilledVolume(CountingVolume):
    """A real disk under a process that is killed at one primitive, whichever of its volumes is asked for it."""

    asked = 0

    def __init__(self) -> None:
        """Count with all the others of this process."""
        super().__init__(SystemClock())

    def before(self, path: Path | None) -> None:
        del path
        KilledVolume.asked += 1
        if KilledVolume.asked > int(os.environ.get(SURVIVE, "1000000000")):
            os.kill(os.getpid(), signal.SIGKILL)


def lay_killed(folder: Path) -> Path:
    """Lay such a curator out, and return what goes before all else on the path of a process."""
    return lay_with(folder, _KILLED.format(faults=str(FAULTS)))
