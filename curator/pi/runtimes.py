"""Which of the extension's processes are alive, and of which release (interop.md 11).

Heartbeats are hints of another program: one that cannot be read costs itself, never the fleet.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from curator.durable.read import list_names, read_bounded
from curator.errors import InvalidRecordError, StorageError
from curator.model.digest import MalformedJsonError, parse
from curator.model.heartbeat import RuntimeBeat
from curator.model.limits import DIRECTORY_NAMES_MAX, RUNTIME_BYTES_MAX, RUNTIMES_MAX, WORKER_FRESH_MS
from curator.model.record import Violation
from curator.model.times import ms_of

_NAME: Final = re.compile(r"[0-9a-f]{24}\.json")


def read_runtimes(folder: Path) -> tuple[RuntimeBeat, ...]:
    """Return the readable runtime heartbeats of `folder`, newest first; what is not one is passed over."""
    names = [name for name in list_names(folder, DIRECTORY_NAMES_MAX) if _NAME.fullmatch(name)]
    beats = [beat for name in names[:RUNTIMES_MAX] if (beat := _read(folder / name)) is not None]
    return tuple(sorted(beats, key=lambda beat: (beat.updated_at, beat.runtime_id), reverse=True))


def is_fresh(beat: RuntimeBeat, now: int) -> bool:
    """Tell whether the process beat within the protocol's 30 s. A beat from the future is not fresh."""
    return beat.state == "running" and 0 <= now - ms_of(beat.updated_at) <= WORKER_FRESH_MS


def extension_release(beats: Sequence[RuntimeBeat]) -> str | None:
    """Return the release of the extension that beat last, running or not, or None if none ever did."""
    ordered = sorted((beat for beat in beats if beat.kind == "extension"), key=lambda beat: beat.updated_at)
    return ordered[-1].release_version if ordered else None


def _read(path: Path) -> RuntimeBeat | None:
    try:
        raw = read_bounded(path, RUNTIME_BYTES_MAX)
        return RuntimeBeat.decode(parse(raw)) if raw is not None else None
    except (InvalidRecordError, StorageError, MalformedJsonError, Violation):
        return None
