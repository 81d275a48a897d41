"""Take a review back, entry by entry (interop.md 8.6): what was changed since refuses, the rest returns."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from curator.errors import RefusedError
from curator.model.memory import Added, Branch, Entry, Removed, Review, Undo, Updated, check_for_store, entry_digest
from curator.model.record import Violation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator.model.ids import RevisionId
    from curator.model.memory import Change, Revision


def invert(
    branch: Branch, history: Sequence[Revision], now: str, review_id: RevisionId | None = None
) -> tuple[Review, Branch]:
    """Return a review that is not undone, and the branch without it; unrelated later writes stay.

    It is the one of that id, by default the latest. An undo that a crash cut off between its branch and its revision is recognized: then the branch comes back as it is.
    Raises `RefusedError` where there is nothing to undo, or naming the entries that were changed since.
    """
    undone = {revision.review_revision_id for revision in history if isinstance(revision, Undo)}
    reviews = [
        revision
        for revision in history
        if isinstance(revision, Review) and revision.id not in undone and review_id in (None, revision.id)
    ]
    if not reviews:
        raise RefusedError("there is no review to undo", remedy="See `curator memory log`")
    review = reviews[-1]
    if all(_is_inverted(branch, change) for change in review.changes):
        return review, branch
    changed = [change.entry_id for change in review.changes if not _is_untouched(branch, change)]
    if changed:
        fact = f"changed since revision {review.sequence}: entries {', '.join(changed)}"
        raise RefusedError(fact, remedy="Nothing was changed; change those entries by hand in Pi instead")
    after = dataclasses.replace(branch, updated_at=now, entries=_without(branch, review.changes))
    try:
        check_for_store(after)
    except Violation as violation:
        fact = f"without revision {review.sequence} memory {violation.rule}"
        raise RefusedError(fact) from violation
    return review, after


def _is_untouched(branch: Branch, change: Change) -> bool:
    entry = branch.entry(change.entry_id)
    if isinstance(change, Removed):
        return entry is None
    return entry is not None and entry_digest(entry) == change.after_digest


def _is_inverted(branch: Branch, change: Change) -> bool:
    entry = branch.entry(change.entry_id)
    if isinstance(change, Added):
        return entry is None
    return entry == change.before


def _without(branch: Branch, changes: Sequence[Change]) -> tuple[Entry, ...]:
    added = {change.entry_id for change in changes if isinstance(change, Added)}
    before = {change.entry_id: change.before for change in changes if isinstance(change, Updated)}
    entries = [before.get(entry.id, entry) for entry in branch.entries if entry.id not in added]
    for change in sorted((each for each in changes if isinstance(each, Removed)), key=lambda each: each.before_index):
        entries.insert(min(change.before_index, len(entries)), change.before)
    return tuple(entries)
