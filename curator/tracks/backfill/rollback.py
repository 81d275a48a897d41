"""Take back what a plan promoted: entry by entry, the last revision first, or byte for byte where nothing came later.

INVARIANT  Where an entry was changed since, nothing is taken back; unrelated later writes stay.
CRASH      A rollback that was cut off goes on when it is asked for again: what is taken back is seen by the history.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from curator.admission.undo import invert
from curator.errors import RefusedError
from curator.model.memory import branch_digest
from curator.model.times import iso
from curator.tracks.backfill.promote import finish_begun, promotions, snapshot_of, standing_branch
from curator.tracks.backfill.records import Rollback
from curator.workflow.undo import Undone, undo, undo_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator.model.memory import Branch, Revision, Undo
    from curator.tracks.backfill.promote import Done
    from curator.tracks.backfill.records import Plan
    from curator.tracks.backfill.shelf import PlanShelf
    from curator.workflow.shop import Shop


@dataclasses.dataclass(frozen=True, slots=True)
class TakenBack:
    """Memory before and after a rollback, and the promotions that it took back, the last one first."""

    before: Branch
    after: Branch
    numbers: tuple[int, ...]


def look_back(plan: Plan, shelf: PlanShelf, shop: Shop) -> TakenBack:
    """Return what a rollback would do. Raises `RefusedError` naming the entries that were changed since."""
    before = after = standing_branch(plan, shop)
    history: tuple[Revision, ...] = shop.memory(plan.project_key, "external").revisions(plan.branch_name)
    holding = _holding(plan, shelf, shop)
    now = iso(shop.clock.now())
    for done in holding:
        review, left = invert(after, history, now, done.promotion.revision_id)
        history = (*history, undo_of(review, len(history) + 1, (after, left), now, shop))
        after = left
    return TakenBack(before, after, tuple(done.promotion.number for done in holding))


def roll_back(plan: Plan, shelf: PlanShelf, shop: Shop) -> TakenBack:
    """Take every promotion of a plan back that holds. Raises as `look_back`, before anything is changed."""
    finish_begun(plan, shelf, shop)
    ahead = look_back(plan, shelf, shop)
    after = ahead.after
    for done in _holding(plan, shelf, shop):
        undone = undo(shop, plan.project_key, plan.branch_name, done.promotion.revision_id)
        after = undone.after
        _keep(done, undone.revision, shelf, shop, is_exact=False)
    return TakenBack(ahead.before, after, ahead.numbers)


def restore(plan: Plan, shelf: PlanShelf, shop: Shop) -> TakenBack:
    """Make the branch's file what it was before the first promotion that holds, byte for byte.

    Raises `RefusedError` where anything came later, or a snapshot is not what its promotion began from.
    """
    finish_begun(plan, shelf, shop)
    before = standing_branch(plan, shop)
    holding = _holding(plan, shelf, shop)
    snapshots = [snapshot_of(done.promotion, plan, shelf) for done in holding]
    _refuse_later(before, holding, snapshots, plan)
    after = before
    for done, (data, branch) in zip(holding, snapshots, strict=True):
        after = _restore(done, data, branch, plan, shelf, shop)
    return TakenBack(before, after, tuple(done.promotion.number for done in holding))


def _refuse_later(
    standing: Branch, holding: Sequence[Done], snapshots: Sequence[tuple[bytes, Branch]], plan: Plan
) -> None:
    """Raise unless the branch is what the last promotion left, and each began where the one before it had led."""
    led = standing
    for done, (_, branch) in zip(holding, snapshots, strict=True):
        # A rollback that a crash cut off has made the branch the snapshot already.
        if branch_digest(led) not in (branch_digest(done.promotion.after), done.promotion.base_digest):
            fact = f"{plan.id}: memory was written after promotion {done.promotion.number}"
            raise RefusedError(fact, remedy="Leave --exact out to take it back entry by entry")
        led = branch


def _restore(done: Done, data: bytes, branch: Branch, plan: Plan, shelf: PlanShelf, shop: Shop) -> Branch:
    promotion = done.promotion
    taken: list[Undone] = []

    def revert(standing: Branch, history: tuple[Revision, ...]) -> tuple[bytes, Undo]:
        if branch_digest(standing) not in (branch_digest(promotion.after), promotion.base_digest):
            fact = f"{plan.id}: memory was written after promotion {promotion.number}"
            raise RefusedError(fact, remedy="Leave --exact out to take it back entry by entry")
        now = iso(shop.clock.now())
        review, _ = invert(standing, history, now, promotion.revision_id)
        revision = undo_of(review, len(history) + 1, (standing, branch), now, shop)
        taken.append(Undone(standing, branch, revision))
        return data, revision

    shop.memory(plan.project_key, "external").restore(plan.branch_name, revert)
    _keep(done, taken[-1].revision, shelf, shop, is_exact=True)
    return branch


def _holding(plan: Plan, shelf: PlanShelf, shop: Shop) -> tuple[Done, ...]:
    """Return the promotions that are part of memory, the last one first."""
    return tuple(done for done in reversed(promotions(plan, shelf, shop)) if done.holds)


def _keep(done: Done, revision: Undo, shelf: PlanShelf, shop: Shop, *, is_exact: bool) -> None:
    if shelf.rollback(done.promotion.number) is None:
        shelf.keep_rollback(
            Rollback(
                plan_id=shelf.id,
                number=done.promotion.number,
                undo_id=revision.id,
                is_exact=is_exact,
                rolled_back_at=iso(shop.clock.now()),
            )
        )
