"""A project's memory that goes on under another key, because its folder was renamed or moved.

The lock domain is the project's, as that of its memory; how memory changes otherwise stands there.

INVARIANT  Nothing is written over memory of the heir's own. What was received already is left as it is by now.
CRASH      Branches first, then their history: a crash leaves memory that works and cannot be undone yet. Receiving again
           brings what is missing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from curator.durable.lock import protocol_domain
from curator.durable.publish import ensure_directory, link_or_compare
from curator.durable.read import list_names
from curator.durable.records import read_as
from curator.errors import RefusedError
from curator.model.digest import pretty
from curator.model.ids import BRANCH_NAME_PATTERN, BranchName
from curator.model.limits import DIRECTORY_NAMES_MAX, PROJECT_FILE_BYTES_MAX
from curator.model.memory import Branch, branch_digest, read_branch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from curator.durable.layout import ProjectLayout
    from curator.durable.volume import Volume

_REVISION: Final = re.compile(r"\d{12}-[a-f0-9-]{36}\.json")
_RECORD: Final = re.compile(r"review_[0-9a-f]{40}(?:\.intent|\.complete)?\.json")


class HeirStore:
    """The store that memory is received into."""

    def __init__(self, volume: Volume, layout: ProjectLayout) -> None:
        """Open the store; nothing is read yet."""
        self._volume = volume
        self._layout = layout
        self._domain = protocol_domain("project", layout.lock)

    def own_memory(self, branches: Sequence[Branch], histories: Mapping[BranchName, Mapping[str, bytes]]) -> str | None:
        """Say which memory stands there that is not what is to be received; None where there is none."""
        layout = self._layout
        incoming = {branch.name: branch for branch in branches}
        for name in _branch_names(layout.branches):
            standing = self._branch(name)
            if standing is not None and standing.entries and not _is_received(standing, incoming.get(name)):
                return f"{layout.branch(name)} holds {len(standing.entries)} entries of its own"
            strangers = set(_names(layout.revisions(name), _REVISION)) - set(histories.get(name, {}))
            if strangers:
                return f"{layout.revisions(name)} holds a history of its own"
        for folder in (layout.admissions, layout.retired, layout.receipts):
            if _names(folder, _RECORD):
                return f"{folder} holds admissions of its own"
        return None

    def receive(self, branches: Sequence[Branch], histories: Mapping[BranchName, Mapping[str, bytes]]) -> None:
        """Take memory over; durable when it returns. Raises `RefusedError` where memory of its own stands."""
        layout, staged = self._layout, dict["Path", "Path"]()
        for folder in (layout.branches, *(layout.revisions(name) for name in histories)):
            ensure_directory(self._volume, folder)
        try:
            for branch in branches:
                staged[layout.branch(branch.name)] = self._stage(layout.branch(branch.name), _bytes_of(branch))
            for name, history in histories.items():
                for file, data in history.items():
                    path = layout.revisions(name) / file
                    staged[path] = self._stage(path, data)
            # Everything is flushed by now, so that Pi waits for a few flushes of folders alone.
            with self._domain.hold():
                own = self.own_memory(branches, histories)
                if own is not None:
                    raise RefusedError(own, remedy="Two memories are never mixed; link to a project without one")
                self._place(branches, histories, staged)
        finally:
            for each in staged.values():
                self._volume.unlink(each)

    def _place(
        self,
        branches: Sequence[Branch],
        histories: Mapping[BranchName, Mapping[str, bytes]],
        staged: Mapping[Path, Path],
    ) -> None:
        layout, volume = self._layout, self._volume
        for branch in branches:
            standing = self._branch(branch.name)
            if standing is None or not standing.entries:
                volume.rename(staged[layout.branch(branch.name)], layout.branch(branch.name))
        volume.sync_directory(layout.branches)
        for name, history in histories.items():
            for file, data in history.items():
                path = layout.revisions(name) / file
                link_or_compare(volume, staged[path], path, data)
            volume.sync_directory(layout.revisions(name))

    def _stage(self, path: Path, data: bytes) -> Path:
        return self._volume.stage(path, data)

    def _branch(self, name: BranchName) -> Branch | None:
        return read_as(self._layout.branch(name), lambda value: read_branch(value, name), PROJECT_FILE_BYTES_MAX)


def _is_received(standing: Branch, incoming: Branch | None) -> bool:
    """Tell whether a branch is the incoming one, as it came or as somebody went on with it: ids are never drawn twice."""
    if incoming is None:
        return False
    if branch_digest(standing) == branch_digest(incoming):
        return True
    return bool({entry.id for entry in standing.entries} & {entry.id for entry in incoming.entries})


def _branch_names(folder: Path) -> list[BranchName]:
    stems = [name.removesuffix(".json") for name in list_names(folder, DIRECTORY_NAMES_MAX) if name.endswith(".json")]
    return [BranchName(stem) for stem in stems if BRANCH_NAME_PATTERN.fullmatch(stem)]


def _names(folder: Path, pattern: re.Pattern[str]) -> list[str]:
    return [name for name in list_names(folder, DIRECTORY_NAMES_MAX) if pattern.fullmatch(name)]


def _bytes_of(branch: Branch) -> bytes:
    return pretty(branch.encode()).encode()
