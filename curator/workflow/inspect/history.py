"""How a branch came to be, told backwards from how it stands.

Revisions keep what was taken away or changed, and only a digest of what was brought. So a text is shown where the disk
still proves it, in memory or in the decision of its review, and said to be gone where it does not.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias, assert_never

from curator.admission.apply import InapplicableError, apply
from curator.model.ids import EntryId
from curator.model.memory import (
    Added,
    Branch,
    Change,
    Entry,
    Removed,
    Review,
    Revision,
    Undo,
    Updated,
    empty_branch,
    entry_digest,
)
from curator.model.proposal import Add

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator.model.digest import Digest
    from curator.model.proposal import Operation

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


Said: TypeAlias = Callable[[Review], Mapping[EntryId, Entry]]
"""What a review brought, by its decision; each entry proved by the revision's digest. Empty where that is gone."""


def history_of(branch: Branch, revisions: Sequence[Revision], said: Said = lambda _: {}) -> tuple[Step, ...]:
    """Return every revision with its changes, oldest first."""
    reviews = {revision.id: revision for revision in revisions if isinstance(revision, Review)}
    standing: dict[EntryId, Entry] = {entry.id: entry for entry in branch.entries}
    steps: list[Step] = []
    for revision in reversed(revisions):
        if isinstance(revision, Review):
            lines = tuple(_take_back(change, standing) for change in revision.changes)
            steps.append(Step(revision, _told(revision, lines, said)))
            continue
        undone = reviews.get(revision.review_revision_id)
        if undone is None:
            steps.append(Step(revision, ()))
            continue
        brought = {line.entry_id: line for line in _told(undone, _unknown(undone), said)}
        steps.append(Step(revision, tuple(_bring_back(change, standing, brought) for change in undone.changes)))
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


def brought_by(review: Review, operations: Sequence[Operation]) -> dict[EntryId, Entry]:
    """Return the entries that the operations of a review's decision made, as far as its digests prove them."""
    adds = [operation for operation in operations if isinstance(operation, Add)]
    others = [operation for operation in operations if not isinstance(operation, Add)]
    before = tuple(change.before for change in review.changes if not isinstance(change, Added))
    at, empty = review.committed_at, empty_branch(review.branch_name, review.committed_at)
    candidates: dict[EntryId, list[Entry]] = {}
    for change in review.changes:
        if isinstance(change, Added):
            made = [apply(empty, [add], at, [change.entry_id]).branch.entries for add in adds]
            candidates[change.entry_id] = [entry for entries in made for entry in entries]
    # Updates are made of what the revision keeps, so the same rules make them again.
    with contextlib.suppress(InapplicableError):
        after = apply(dataclasses.replace(empty, entries=before), others, at, [""] * len(others)).branch
        candidates |= {entry.id: [entry] for entry in after.entries}
    digests = {change.entry_id: change.after_digest for change in review.changes if not isinstance(change, Removed)}
    proved = {key: [each for each in candidates.get(key, ()) if entry_digest(each) == digests[key]] for key in digests}
    return {key: entries[0] for key, entries in proved.items() if entries}


def _told(review: Review, lines: tuple[Line, ...], said: Said) -> tuple[Line, ...]:
    """Return a review's lines with the texts that only its decision still knows."""
    if all(line.after is not None or line.kind == "remove" for line in lines):
        return lines
    known = said(review)
    return tuple(
        _changed(line.entry_id, line.before, known[line.entry_id])
        if line.after is None and line.kind != "remove" and line.entry_id in known
        else line
        for line in lines
    )


def _unknown(review: Review) -> tuple[Line, ...]:
    """Return what a review brought or changed, before anything proves how."""
    return tuple(
        Line("add", change.entry_id, None, None) for change in review.changes if not isinstance(change, Removed)
    )


def _bring_back(change: Change, standing: dict[EntryId, Entry], brought: Mapping[EntryId, Line]) -> Line:
    """Describe the undoing of a review's change, and step the state back before it."""
    line = brought.get(change.entry_id)
    taken = None if line is None else line.after
    match change:
        case Added(entry_id=entry_id):
            standing.pop(entry_id, None)
            return Line("remove", entry_id, taken, None)
        case Updated(entry_id=entry_id, before=before):
            standing.pop(entry_id, None)
            return Line("replace", entry_id, taken, before)
        case Removed(entry_id=entry_id, before=before):
            standing.pop(entry_id, None)
            return Line("add", entry_id, None, before)
        case _:
            assert_never(change)


def _changed(entry_id: EntryId, before: Entry | None, after: Entry | None) -> Line:
    if before is None:
        return Line("add", entry_id, None, after)
    is_assessed = after is not None and after.text == before.text
    return Line("assess" if is_assessed else "replace", entry_id, before, after)


def _proved(entry: Entry | None, digest: Digest) -> Entry | None:
    return entry if entry is not None and entry_digest(entry) == digest else None
