"""What is done above a real filesystem, replayed on the model: the run until its end or its filesystem's, and each recovery."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faults.campaign import Stage
from faults.model.trace import replay
from faults.recording import Mark
from faults.scenarios import SCENARIOS
from faults.volumes import CountingVolume, RecordingVolume

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curator.durable.volume import Volume
    from curator.model.ports import Clock
    from faults.recording import Recording
    from faults.world import HandClock


class WatchedStage(Stage):
    """A stage that records each first recovery."""

    recovered: Recording | None = None
    """What the last first recovery asked of the disk."""

    def recover(self, life: str, clock: HandClock, since: list[Mark], volume: Volume | None = None) -> list[str]:
        """Run the product once more; what it asks for the first time is kept."""
        if volume is not None or life != "first recovery":
            return super().recover(life, clock, since, volume)
        disk = RecordingVolume(self.agent, clock)
        heard = Heard(disk.mark)
        told = super().recover(life, clock, heard, disk)
        since.extend(heard)
        self.recovered = disk.recording()
        return told

    @property
    def is_modelled(self) -> bool:
        """Whether the model tells of this scenario: a backfill calls a provider for no job of the spool."""
        return self.scenario.name in SCENARIOS

    def refusal(self) -> list[str]:
        """Return why the model does not allow what the last first recovery did, or nothing."""
        if not self.is_modelled:
            return []
        if self.recovered is None:
            return ["no recovery was recorded"]
        replayed, self.recovered = replay(self.recovered), None
        return [] if replayed.refusal is None else [f"the model does not allow the recovery: {replayed.refusal}"]


class Heard(list[Mark]):
    """Marks that are also told to somebody else, at once."""

    def __init__(self, tell: Callable[[Mark], None]) -> None:
        """Begin with none."""
        super().__init__()
        self._tell = tell

    def append(self, mark: Mark) -> None:
        """Keep a mark, and tell it."""
        super().append(mark)
        self._tell(mark)


class ForgetfulVolume(RecordingVolume):
    """A volume that leaves out the flushes of some folders or of the files in them, and records what it does."""

    def __init__(self, root: Path, clock: Clock, *, names_of: str = "", bytes_of: str = "") -> None:
        """Flush no folder that has `names_of` in its path, and no file in one that has `bytes_of`."""
        super().__init__(root, clock)
        self._names_of = names_of
        self._bytes_of = bytes_of

    def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
        is_forgotten = self._bytes_of in path.parts
        return super().stage(path, data, hidden=hidden, flush=flush and not is_forgotten)

    def sync_directory(self, path: Path) -> None:
        if self._names_of not in path.parts:
            super().sync_directory(path)


class CountingRecorder(CountingVolume, RecordingVolume):
    """A volume on which a fault may fall at any one primitive, and which records what it did before."""

    def __init__(self, root: Path, clock: Clock) -> None:
        """Count from nothing."""
        RecordingVolume.__init__(self, root, clock)
        self.count = 0
