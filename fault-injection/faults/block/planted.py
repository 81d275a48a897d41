"""Missing flushes, to be handed to a process that is then cut off: each must be found by what real ext4 forgot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from faults.volumes import TimedVolume

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curator.durable.volume import Volume
    from curator.model.ports import Clock

Plant: TypeAlias = "Callable[[Clock], Volume]"


class ForgetfulVolume(TimedVolume):
    """A volume that leaves out the flushes of some folders or of the files in them."""

    def __init__(self, clock: Clock, *, names_of: str = "", bytes_of: str = "") -> None:
        """Flush no folder that has `names_of` in its path, and no file in one that has `bytes_of`."""
        super().__init__(clock)
        self._names_of = names_of
        self._bytes_of = bytes_of

    def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
        is_forgotten = self._bytes_of in path.parts
        return super().stage(path, data, hidden=hidden, flush=flush and not is_forgotten)

    def sync_directory(self, path: Path) -> None:
        if self._names_of not in path.parts:
            super().sync_directory(path)


PLANTS: Final[dict[str, Plant]] = {
    "nothing": TimedVolume,
    "queued-names": lambda clock: ForgetfulVolume(clock, names_of="queued"),
    "attempt-names": lambda clock: ForgetfulVolume(clock, names_of="attempts"),
    "result-bytes": lambda clock: ForgetfulVolume(clock, bytes_of="provider-results"),
}
"""By name, what a process is given for a disk.

Not all that may be left out shows on ext4: a rename over a file starts to write its bytes, and any later flush settles the
names before it. Those the layer crash finds, whose models know no such favours.
"""
