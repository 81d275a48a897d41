"""Take a review back, entry by entry: what nobody changed since returns, and unrelated later writes stay."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from curator.admission.undo import invert
from curator.model.ids import RevisionId
from curator.model.memory import Undo, branch_digest
from curator.model.times import iso

if TYPE_CHECKING:
    from curator.model.ids import BranchName, ProjectKey
    from curator.model.memory import Branch, Review, Revision
    from curator.workflow.shop import Shop


@dataclasses.dataclass(frozen=True, slots=True)
class Undone:
    """A branch before and after its last review was taken back."""

    before: Branch
    after: Branch
    revision: Undo


def undo(shop: Shop, key: ProjectKey, name: BranchName, review_id: RevisionId | None = None) -> Undone:
    """Undo a review of a branch that is not undone yet: the one of that id, by default the latest.

    Raises `RefusedError` where there is none, or where an entry was changed since, naming the entries.
    """
    taken: list[Undone] = []

    def inverse(branch: Branch, history: tuple[Revision, ...]) -> tuple[Branch, Undo]:
        now = iso(shop.clock.now())
        review, after = invert(branch, history, now, review_id)
        revision = undo_of(review, len(history) + 1, (branch, after), now, shop)
        taken.append(Undone(branch, after, revision))
        return after, revision

    shop.memory(key, "external").undo(name, inverse)
    return taken[-1]


def undo_of(review: Review, sequence: int, sides: tuple[Branch, Branch], now: str, shop: Shop) -> Undo:
    """Return the revision that tells of a review taken back; `sides` are the branch before and after."""
    before, after = sides
    return Undo(
        sequence=sequence,
        id=RevisionId(shop.chance.uuid()),
        branch_name=review.branch_name,
        committed_at=now,
        review_revision_id=review.id,
        before_digest=branch_digest(before),
        after_digest=branch_digest(after),
    )
