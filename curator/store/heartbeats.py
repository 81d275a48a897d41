"""Signs of life for Pi's panel and its doctor: one file a worker, one a runtime, each replaced in place (interop.md 11).

Runtimes' are read in `curator.pi.runtimes`: most are the extension's.

INVARIANT  Readers see a whole beat or the one before. Whoever cannot be read costs itself alone.
CRASH      A beat that was not flushed may be lost with the power, and so is the process that it spoke of.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from curator.durable.ages import ages_in
from curator.durable.publish import ensure_directory, replace, replace_lazily
from curator.durable.read import list_names
from curator.durable.records import read_record
from curator.durable.retire import retire_file
from curator.errors import InvalidRecordError, StorageError
from curator.model.digest import pretty
from curator.model.heartbeat import RuntimeBeat, WorkerBeat
from curator.model.ids import file_key
from curator.model.limits import DIRECTORY_NAMES_MAX, RUNTIME_BYTES_MAX, RUNTIMES_MAX, WORKER_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.durable.volume import Volume

_NAME: Final = re.compile(r"[0-9a-f]{24}\.json")


class HeartbeatStore:
    """The heartbeats of one agent folder."""

    def __init__(self, volume: Volume, layout: Layout) -> None:
        """Open the store; nothing is read yet."""
        self._volume = volume
        self._layout = layout

    def write(self, beat: WorkerBeat | RuntimeBeat, *, is_lasting: bool) -> None:
        """Replace a beat. The first and the last of a life are `is_lasting`: flushed, where those between are not."""
        if isinstance(beat, WorkerBeat):
            path = self._layout.worker_beat(beat.worker_id)
        else:
            path = self._layout.runtimes / f"{beat.runtime_id}.json"
        ensure_directory(self._volume, path.parent)
        data = pretty(beat.encode()).encode()
        if is_lasting:
            replace(self._volume, path, data)
        else:
            replace_lazily(self._volume, path, data)

    def workers(self) -> tuple[WorkerBeat, ...]:
        """Return the workers' beats, the last first."""
        folder = self._layout.workers
        names = [name for name in list_names(folder, DIRECTORY_NAMES_MAX) if _NAME.fullmatch(name)]
        found = [beat for name in names[:RUNTIMES_MAX] if (beat := _read(folder / name)) is not None]
        return tuple(sorted(found, key=lambda beat: beat.updated_at, reverse=True))

    def forget(self, before_ms: int, is_over: Callable[[WorkerBeat | RuntimeBeat], bool]) -> None:
        """Remove beats that were written before a moment and are over; one that cannot be read, or is empty, stays."""
        for folder, read in ((self._layout.workers, _read), (self._layout.runtimes, _read_runtime)):
            old = [each.name for each in ages_in(folder) if each.mtime_ms < before_ms and _NAME.fullmatch(each.name)]
            gone = False
            for name in sorted(old):
                beat = read(folder / name)
                if beat is not None and is_over(beat):
                    # Its process may have come back meanwhile, under the same name.
                    gone = retire_file(self._volume, folder / name, before_ms) or gone
            if gone:
                self._volume.sync_directory(folder)


def _read(path: Path) -> WorkerBeat | None:
    try:
        beat = read_record(path, WorkerBeat, WORKER_BYTES_MAX)
    except (InvalidRecordError, StorageError):
        return None
    return beat if beat is not None and file_key(beat.worker_id) == path.stem else None


def _read_runtime(path: Path) -> RuntimeBeat | None:
    try:
        beat = read_record(path, RuntimeBeat, RUNTIME_BYTES_MAX)
    except (InvalidRecordError, StorageError):
        return None
    return beat if beat is not None and beat.runtime_id == path.stem else None
