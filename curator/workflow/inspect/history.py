"""How a branch came to be, told backwards from how it stands.

Revisions keep what was taken away or changed, and only a digest of what was brought. So a text is shown where the disk
still proves it, and said to be gone where it does not.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal, TypeAlias, assert_never

from curator.model.memory import Added, Branch, Change, Entry, Removed, Review, Revision, Undo, Updated, entry_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator.model.digest import Digest
    from curator.model.ids import EntryId

Kind: TypeAlias = Literal["add", "replace", "assess", "remove"]


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """One entry's change. A side is None where it never was, or where nothing proves it any more."""

    kind: Kind
    entry_id: EntryId
    before: Entry | None
    after: Entry | None


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """One revision, and what it changed."""

    revision: Revision
    lines: tuple[Line, ...]

    @property
    def is_undone(self) -> bool:
        """Whether it is itself the taking back of another."""
        return isinstance(self.revision, Undo)


def history_of(branch: Branch, revisions: Sequence[Revision]) -> tuple[Step, ...]:
    """Return every revision with its changes, oldest first."""
    reviews = {revision.id: revision for revision in revisions if isinstance(revision, Review)}
    standing: dict[EntryId, Entry] = {entry.id: entry for entry in branch.entries}
    steps: list[Step] = []
    for revision in reversed(revisions):
        if isinstance(revision, Review):
            lines = tuple(_take_back(change, standing) for change in revision.changes)
        else:
            undone = reviews.get(revision.review_revision_id)
            lines = () if undone is None else tuple(_bring_back(change, standing) for change in undone.changes)
        steps.append(Step(revision, lines))
    return tuple(reversed(steps))


def lines_between(before: Branch, after: Branch) -> tuple[Line, ...]:
    """Return the change from one branch state to another, both known: removals and updates, then additions."""
    lines: list[Line] = []
    for entry in before.entries:
        now = after.entry(entry.id)
        if now is None:
            lines.append(Line("remove", entry.id, entry, None))
        elif entry_digest(now) != entry_digest(entry):
            lines.append(_changed(entry.id, entry, now))
    added = [entry for entry in after.entries if before.entry(entry.id) is None]
    return (*lines, *(Line("add", entry.id, None, entry) for entry in added))


def _take_back(change: Change, standing: dict[EntryId, Entry]) -> Line:
    """Describe a review's change, and step the state back before it."""
    match change:
        case Added(entry_id=entry_id, after_digest=digest):
            return Line("add", entry_id, None, _proved(standing.pop(entry_id, None), digest))
        case Updated(entry_id=entry_id, before=before, after_digest=digest):
            after = _proved(standing.get(entry_id), digest)
            standing[entry_id] = before
            return _changed(entry_id, before, after)
        case Removed(entry_id=entry_id, before=before):
            standing[entry_id] = before
            return Line("remove", entry_id, before, None)
        case _:
            assert_never(change)


def _bring_back(change: Change, standing: dict[EntryId, Entry]) -> Line:
    """Describe the undoing of a review's change, and step the state back before it: what it brought is not kept."""
    match change:
        case Added(entry_id=entry_id):
            standing.pop(entry_id, None)
            return Line("remove", entry_id, None, None)
        case Updated(entry_id=entry_id, before=before):
            standing.pop(entry_id, None)
            return Line("replace", entry_id, None, before)
        case Removed(entry_id=entry_id, before=before):
            standing.pop(entry_id, None)
            return Line("add", entry_id, None, before)
        case _:
            assert_never(change)


def _changed(entry_id: EntryId, before: Entry, after: Entry | None) -> Line:
    is_assessed = after is not None and after.text == before.text
    return Line("assess" if is_assessed else "replace", entry_id, before, after)


def _proved(entry: Entry | None, digest: Digest) -> Entry | None:
    return entry if entry is not None and entry_digest(entry) == digest else None
