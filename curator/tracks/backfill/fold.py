"""From staged proposals to changes of one branch: applied in order, held to the rules of memory, cut into revisions.

A window's proposal is taken whole or left out, as a job's is. What it names must still say what its reviewer saw. Pure.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from curator.admission.apply import capacity_fault
from curator.admission.gates import resolve
from curator.model.digest import digest_of_text
from curator.model.limits import MEMORY_CHARS_MAX, REVISION_CHANGES_MAX
from curator.model.memory import EPOCH, changes_between
from curator.tracks.backfill.records import Target, new_entry_id
from curator.workflow.comparison import targets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curator.model.memory import Branch
    from curator.model.proposal import Operation
    from curator.tracks.backfill.records import Staged

IN_SHADOW: Final = EPOCH
"""When a proposal is applied to be looked at: no time of its own, so that every run shows its reviewer the same."""


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """One revision's worth of proposals."""

    windows: tuple[int, ...]
    """Those that it settles, also where they change nothing."""
    before: Branch
    after: Branch
    left_out: tuple[str, ...]
    """Proposals that do not fit any more, by window and reason."""

    @property
    def changes(self) -> int:
        """How many entries it changes."""
        return len(changes_between(self.before, self.after))


def fold(base: Branch, proposals: Iterable[Staged], now: str) -> tuple[Part, ...]:
    """Apply proposals in order, and cut the result so that each part is one revision within its bounds."""
    parts: list[Part] = []
    windows: list[int] = []
    left_out: list[str] = []
    before = current = base
    for staged in proposals:
        after, fault = _applied(current, staged, now)
        if windows and _is_too_much(before, after):
            parts.append(Part(tuple(windows), before, current, tuple(left_out)))
            windows, left_out, before = [], [], current
        windows.append(staged.window)
        if fault is not None:
            left_out.append(f"window {staged.window}: {fault}")
        current = after
    if windows:
        parts.append(Part(tuple(windows), before, current, tuple(left_out)))
    return tuple(parts)


class Shown:
    """The branch as the reviewer of the next window sees it: with all that is staged, while more is."""

    def __init__(self, proposals: Iterable[Staged]) -> None:
        """Begin with what is staged."""
        self._proposals = list(proposals)
        self._base: Branch | None = None
        self._branch: Branch | None = None
        self._applied = 0

    def add(self, staged: Staged) -> None:
        """Take one more."""
        self._proposals.append(staged)

    def on(self, base: Branch) -> Branch:
        """Return a branch with all of them; only what is new is applied, unless it is another branch."""
        if base != self._base or self._branch is None:
            self._base, self._branch, self._applied = base, base, 0
        for staged in self._proposals[self._applied :]:
            self._branch = _applied(self._branch, staged, IN_SHADOW)[0]
        self._applied = len(self._proposals)
        return self._branch


def targets_of(operations: Iterable[Operation], branch: Branch) -> tuple[Target, ...]:
    """Return the entries that operations name, as they stand."""
    named = {entry_id for operation in operations for entry_id in targets(operation)}
    found = [entry for entry in branch.entries if entry.id in named]
    return tuple(Target(entry_id=each.id, text_digest=digest_of_text(each.text)) for each in found)


def _applied(branch: Branch, staged: Staged, now: str) -> tuple[Branch, str | None]:
    """Return the branch after a proposal, or as it is and why the proposal does not fit."""
    moved = [each.entry_id for each in staged.targets if not _stands(branch, each)]
    if moved:
        return branch, f"changed since it was reviewed: {', '.join(moved)}"
    new_ids = [new_entry_id(staged.plan_id, staged.window, index) for index, _ in enumerate(staged.operations)]
    resolved = resolve(staged.operations, branch, MEMORY_CHARS_MAX, now, new_ids)
    match resolved.status:
        case "applied":
            return resolved.after, None
        case "noop" if not resolved.is_full:
            return branch, None
        case _:
            return branch, " ".join(resolved.messages)


def _is_too_much(before: Branch, after: Branch) -> bool:
    is_many = len(changes_between(before, after)) > REVISION_CHANGES_MAX
    return is_many or capacity_fault(before, after, MEMORY_CHARS_MAX) is not None


def _stands(branch: Branch, target: Target) -> bool:
    entry = branch.entry(target.entry_id)
    return entry is not None and digest_of_text(entry.text) == target.text_digest
