"""A disk that refuses one verb and remembers all others: what a process then does is a trace like any other."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from curator.errors import StorageError
from faults.volumes import RecordingVolume

if TYPE_CHECKING:
    from pathlib import Path

    from curator.model.ports import Clock


class RefusingRecorder(RecordingVolume):
    """A disk that has no room at its N-th verb, and once only."""

    def __init__(self, root: Path, clock: Clock, succeed: int) -> None:
        """Refuse the verb after `succeed` ones."""
        super().__init__(root, clock)
        self._succeed = succeed
        self.count = 0

    @property
    def has_refused(self) -> bool:
        """Whether the refusal has come."""
        return self.count > self._succeed

    def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
        self._ask(path)
        return super().stage(path, data, hidden=hidden, flush=flush)

    def link(self, staged: Path, path: Path) -> None:
        self._ask(path)
        super().link(staged, path)

    def rename(self, source: Path, target: Path) -> None:
        self._ask(target)
        super().rename(source, target)

    def unlink(self, path: Path) -> bool:
        self._ask(path)
        return super().unlink(path)

    def sync_directory(self, path: Path) -> None:
        self._ask(path)
        super().sync_directory(path)

    def make_directory(self, path: Path) -> bool:
        self._ask(path)
        return super().make_directory(path)

    def remove_directory(self, path: Path) -> bool:
        self._ask(path)
        return super().remove_directory(path)

    def _ask(self, path: Path) -> None:
        self.count += 1
        if self.count == self._succeed + 1:
            raise StorageError(path, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
