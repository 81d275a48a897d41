"""A project's trajectory, removed on a person's word, with what of it lies in the inbox.

The lock domain is the trajectory's. Its lock file stays: whoever waits for it would otherwise hold another one.

INVARIANT  Tombstones go last, so that nothing that was forgotten stands without one.
CRASH      Some of it is gone; erasing again removes the rest.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from curator.durable.ages import names_in
from curator.durable.lock import kernel_domain
from curator.durable.publish import remove
from curator.durable.read import mode_of, read_bounded
from curator.errors import InvalidRecordError
from curator.model.limits import DELTA_BYTES_MAX

if TYPE_CHECKING:
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.durable.volume import Volume
    from curator.model.ids import ProjectKey


def erase_trajectory(volume: Volume, layout: Layout, key: ProjectKey) -> None:
    """Remove what was said in a project, and all that was made of it; durable when it returns."""
    place = layout.trajectory(key)
    if mode_of(place.root) is None:
        return
    folders = (place.waiting, place.segments, place.settled, place.coverage, place.sources, place.forgotten)
    with kernel_domain("trajectory", place.lock).hold():
        for name in sorted(names_in(place.root)):
            if name.startswith(place.index.name):
                volume.unlink(place.root / name)
        for folder in folders:
            _clear(volume, folder)
        for folder in folders:
            volume.remove_directory(folder)
        volume.sync_directory(place.root)


def erase_handed_over(volume: Volume, layout: Layout, root: str) -> None:
    """Remove what names a project's folder and was handed over, refused, or asked for."""
    inbox = layout.trajectory_inbox
    spellings = [json.dumps(root, ensure_ascii=is_ascii)[1:-1].encode() for is_ascii in (True, False)]
    for folder in (inbox.root, inbox.refused, inbox.wanted):
        for name in sorted(names_in(folder)):
            path = folder / name
            if any(spelling in _bytes_of(path) for spelling in spellings):
                remove(volume, path)


def _bytes_of(path: Path) -> bytes:
    try:
        return read_bounded(path, DELTA_BYTES_MAX) or b""
    except InvalidRecordError:
        return b""


def _clear(volume: Volume, folder: Path) -> None:
    names = sorted(names_in(folder))
    for name in names:
        volume.unlink(folder / name)
    if names:
        volume.sync_directory(folder)
