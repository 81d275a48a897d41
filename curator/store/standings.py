"""What a person decided about projects: paused, excluded, linked, purged.

A decision is a wish, and proves nothing: the latest one counts and none before it, so its file is replaced. What leads
from one to the next is done under a lock, for a link and a purge are more than one write.

INVARIANT  A standing that cannot be read lets nothing run: somebody had decided something.
CRASH      A replaced file is the old one or the new one; whoever asked was told only after the flush.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.durable.index import FolderIndex
from curator.durable.lock import kernel_domain
from curator.durable.publish import ensure_directory, replace
from curator.durable.records import read_record
from curator.errors import InvalidRecordError
from curator.model.digest import compact
from curator.model.ids import PROJECT_KEY_PATTERN, ProjectKey
from curator.model.limits import DIRECTORY_NAMES_MAX, JOURNAL_BYTES_MAX
from curator.model.project import Standing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.durable.volume import Volume


class StandingStore:
    """The standings of one agent folder."""

    def __init__(self, volume: Volume, layout: Layout) -> None:
        """Open the store; nothing is read yet."""
        self._volume = volume
        self._folder = layout.standings
        self._domain = kernel_domain("projects", layout.standings_lock)
        self._index = FolderIndex(layout.standings, DIRECTORY_NAMES_MAX, _read)

    def find(self, key: ProjectKey) -> Standing | None:
        """Return what was decided about a project; None where nothing ever was."""
        return _read(self._path(key))

    def all(self) -> tuple[Standing, ...]:
        """Return every standing that can be read."""
        found = self._index.refresh().values()
        return tuple(each.record for each in found if each.record is not None)

    def faults(self) -> tuple[InvalidRecordError, ...]:
        """Return why others cannot."""
        return tuple(each.fault for each in self._index.refresh().values() if each.fault is not None)

    def resting(self) -> frozenset[ProjectKey]:
        """Return the projects whose jobs wait; costs one look at the folder where nothing changed."""
        found = self._index.refresh().values()
        return frozenset(ProjectKey(each.path.stem) for each in found if each.record is None or each.record.is_resting)

    def change(self, key: ProjectKey, amend: Callable[[Standing | None], Standing]) -> Standing:
        """Replace what was decided by what `amend` makes of it; durable when it returns."""
        ensure_directory(self._volume, self._folder)
        with self._domain.hold():
            standing = self.find(key)
            after = amend(standing)
            assert after.project_key == key
            if after != standing:
                replace(self._volume, self._path(key), (compact(after.encode()) + "\n").encode())
        return after

    def _path(self, key: ProjectKey) -> Path:
        return self._folder / f"{key}.json"


def _read(path: Path) -> Standing | None:
    standing = read_record(path, Standing, JOURNAL_BYTES_MAX, private=True)
    if standing is not None and (standing.project_key != path.stem or not PROJECT_KEY_PATTERN.fullmatch(path.stem)):
        raise InvalidRecordError(path, "holds another project than its name says")
    return standing
