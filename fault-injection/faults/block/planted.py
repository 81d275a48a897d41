"""Missing flushes, to be handed to a process that is then cut off: each must be found by what real ext4 forgot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from faults.block.watched import ForgetfulVolume
from faults.volumes import RecordingVolume

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curator.model.ports import Clock

Plant: TypeAlias = "Callable[[Path, Clock], RecordingVolume]"


PLANTS: Final[dict[str, Plant]] = {
    "nothing": RecordingVolume,
    "queued-names": lambda root, clock: ForgetfulVolume(root, clock, names_of="queued"),
    "attempt-names": lambda root, clock: ForgetfulVolume(root, clock, names_of="attempts"),
    "result-bytes": lambda root, clock: ForgetfulVolume(root, clock, bytes_of="provider-results"),
}
"""By name, what a process is given for a disk.

Not all that may be left out shows on ext4: a rename over a file starts to write its bytes, and any later flush settles the
names before it. Those the layer crash finds, whose models know no such favours.
"""
