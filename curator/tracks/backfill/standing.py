"""How a plan stands: what of it is done, what it cost, what is in memory, and until when the rest is kept. Reads alone."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING, Literal, TypeAlias

from curator.model.times import iso
from curator.tracks.backfill.expiry import expires_ms
from curator.tracks.backfill.promote import promotions
from curator.tracks.backfill.review import spent_on

if TYPE_CHECKING:
    from curator.model.budget import Amount
    from curator.tracks.backfill.records import Plan
    from curator.tracks.backfill.shelf import PlanShelf
    from curator.workflow.shop import Shop

Word: TypeAlias = Literal["planned", "running", "paused", "begun", "done", "cancelled", "expired"]


@dataclasses.dataclass(frozen=True, slots=True)
class Standing:
    """One plan, in figures."""

    plan: Plan
    word: Word
    runner: int | None
    """The process that works on it now."""
    windows: int | None
    """None while its files are not indexed."""
    staged: int
    """Windows that have come to something."""
    proposals: int
    """Those with something to change."""
    failed: int
    """Those without an answer that could be used."""
    spent: Amount
    promoted: int
    rolled_back: int
    expires_at: str | None


def standing_of(plan: Plan, shelf: PlanShelf, shop: Shop) -> Standing:
    """Return how a plan stands."""
    windows, staged = shelf.windows(), shelf.proposals()
    done = promotions(plan, shelf, shop)
    kinds = Counter("failed" if each.code else "proposal" if each.operations else "nothing" for each in staged)
    due = expires_ms(plan, shelf)
    is_running = shelf.is_running()
    return Standing(
        plan=plan,
        word="running" if is_running else _word(shelf, None if windows is None else len(windows.windows), len(staged)),
        runner=shelf.runner() if is_running else None,
        windows=None if windows is None else len(windows.windows),
        staged=len(staged),
        proposals=kinds["proposal"],
        failed=kinds["failed"],
        spent=spent_on(plan, shelf, shop),
        promoted=sum(each.holds for each in done),
        rolled_back=sum(each.is_undone for each in done),
        expires_at=None if due is None else iso(due),
    )


def _word(shelf: PlanShelf, windows: int | None, staged: int) -> Word:
    wish = shelf.wish()
    match None if wish is None else wish.will:
        case "cancel":
            return "cancelled"
        case "expire":
            return "expired"
        case "pause":
            return "paused"
        case _:
            pass
    if windows is None:
        return "planned"
    return "done" if staged >= windows else "begun"
