"""A project's trajectory, removed on a person's word, with what of it lies in the inbox.

The lock domain is the trajectory's. Its lock file stays: whoever waits for it would otherwise hold another one.

INVARIANT  Tombstones go last, so that nothing that was forgotten stands without one.
CRASH      Some of it is gone; erasing again removes the rest.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from curator.durable.ages import names_in
from curator.durable.lock import kernel_domain
from curator.durable.publish import remove
from curator.durable.read import mode_of, read_bounded
from curator.errors import InvalidRecordError
from curator.model.ids import project_key
from curator.model.limits import DELTA_BYTES_MAX

if TYPE_CHECKING:
    from curator.durable.layout import Layout
    from curator.durable.volume import Volume
    from curator.model.ids import ProjectKey

_ROOT: Final = re.compile(rb'"projectRoot"\s*:\s*("(?:[^"\\]|\\.)*")')


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


def erase_handed_over(volume: Volume, layout: Layout, key: ProjectKey) -> None:
    """Remove what was handed over, refused or asked for of a project; what is torn tells its folder as well."""
    inbox = layout.trajectory_inbox
    for folder in (inbox.root, inbox.refused, inbox.wanted):
        for name in sorted(names_in(folder)):
            if key in _keys_in(folder / name):
                remove(volume, folder / name)


def _keys_in(path: Path) -> set[ProjectKey]:
    """Return the keys of every folder that a file may be about: the one that it names, and those above it."""
    try:
        raw = read_bounded(path, DELTA_BYTES_MAX) or b""
    except InvalidRecordError:
        return set()
    keys: set[ProjectKey] = set()
    for found in _ROOT.finditer(raw):
        try:
            named = Path(str(json.loads(found[1])))
        except ValueError:
            continue
        keys |= {project_key(str(each)) for each in (named, *named.parents)}
    return keys


def _clear(volume: Volume, folder: Path) -> None:
    names = sorted(names_in(folder))
    for name in names:
        volume.unlink(folder / name)
    if names:
        volume.sync_directory(folder)
