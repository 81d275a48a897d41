"""A project's store, removed on a person's word; what is the extension's alone stays.

The lock domain is the project's, as that of its memory.

INVARIANT  What a begun change could be finished from goes first, so that nothing that was removed comes back by itself.
CRASH      Some of it is gone; erasing again removes the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.durable.ages import ages_in, folders_in
from curator.durable.lock import protocol_domain
from curator.durable.publish import remove
from curator.durable.read import list_names, mode_of
from curator.model.limits import DIRECTORY_NAMES_MAX

if TYPE_CHECKING:
    from pathlib import Path

    from curator.durable.layout import ProjectLayout
    from curator.durable.volume import Volume


class Erasure:
    """The removal of one project's store; the real one, or the one of shadow mode."""

    def __init__(self, volume: Volume, layout: ProjectLayout) -> None:
        """Open the store; nothing is removed yet."""
        self._volume = volume
        self._layout = layout
        self._domain = protocol_domain("project", layout.lock)

    def kept(self) -> tuple[Path, ...]:
        """Return what would stay: what is not ours."""
        ours = {path.name for path in self._folders()} | {
            "service",
            "revisions",
            ".lock",
            self._layout.project_json.name,
        }
        root = self._layout.root
        return tuple(root / name for name in list_names(root, DIRECTORY_NAMES_MAX) if name not in ours)

    def erase(self) -> None:
        """Remove everything of ours; durable when it returns."""
        layout, volume = self._layout, self._volume
        if mode_of(layout.root) is None:
            return
        with self._domain.hold():
            folders = self._folders()
            for folder in folders:
                self._clear(folder)
            remove(volume, layout.project_json)
            for folder in (*reversed(folders), layout.root / "service", layout.root / "revisions"):
                volume.remove_directory(folder)
            volume.sync_directory(layout.root)
        # The lock itself stood in it until now. Where something is kept, or somebody waits for the lock, it stays.
        if volume.remove_directory(layout.root):
            volume.sync_directory(layout.root.parent)

    def _folders(self) -> tuple[Path, ...]:
        """Return the folders that hold our records: what others are made from first, and a folder before those in it."""
        layout = self._layout
        histories = [layout.root / "revisions" / name for name in sorted(folders_in(layout.root / "revisions"))]
        return (
            layout.admissions,
            layout.retired,
            layout.mailbox,
            layout.pending,
            layout.ready,
            layout.receipts,
            *histories,
            layout.branches,
            layout.reviews,
        )

    def _clear(self, folder: Path) -> None:
        names = sorted(aged.name for aged in ages_in(folder))
        # An intent without its completion is to Pi a change to be made; so its going is durable before that goes.
        intents = [name for name in names if name.endswith(".intent.json")]
        for batch in (intents, [name for name in names if name not in intents]):
            for name in batch:
                self._volume.unlink(folder / name)
            if batch:
                self._volume.sync_directory(folder)
