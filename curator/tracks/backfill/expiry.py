"""What was staged and nobody promoted goes when its time is over; so does a plan with its project.

INVARIANT  That the time is over is put down before the first proposal goes, so that none is paid for again.
CRASH      Whatever is left is as old as before, and goes the next time.
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING

from curator.durable.ages import ages_in
from curator.durable.sweep import sweep
from curator.errors import BusyError, CuratorError
from curator.model.times import iso
from curator.tracks.backfill.errors import NoPlanError
from curator.tracks.backfill.importing import give_back
from curator.tracks.backfill.planning import open_ledger
from curator.tracks.backfill.records import Wish
from curator.tracks.backfill.shelf import PlanShelf, plan_ids
from curator.workflow.recovery import apart

if TYPE_CHECKING:
    from curator.model.ids import ProjectKey
    from curator.tracks.backfill.records import Plan, Will
    from curator.workflow.shop import Shop


def let_expired_go(shop: Shop) -> None:
    """Remove the proposals of each plan of which one is older than they are kept. A plan that runs just then waits.

    What dead writers staged and never named goes as well.
    """
    for plan_id in plan_ids(shop.layout):
        shelf = PlanShelf(shop.volume, shop.layout, plan_id)
        apart(f"backfill {plan_id}", partial(_expire, shelf, shop), shop)
        for folder in (shelf.layout.root, *shelf.layout.folders):
            sweep(shop.volume, folder, shop.clock.now())


def end(plan: Plan, shelf: PlanShelf, will: Will, shop: Shop) -> int:
    """End a plan for good, and remove its proposals and answers; return how many files went."""
    shelf.want(Wish(plan_id=plan.id, will=will, changed_at=iso(shop.clock.now())))
    with contextlib.closing(open_ledger(plan.project_key, shop)) as ledger:
        give_back(plan, shelf, ledger, shop)
    return shelf.forget_proposals()


def forget_project(key: ProjectKey, shop: Shop) -> int:
    """Remove every plan of a project, with all that was made of it; return how many there were.

    Raises, when all others are gone, why one of them could not be read or runs just then.
    """
    gone, faults = 0, list[CuratorError]()
    for plan_id in plan_ids(shop.layout):
        shelf = PlanShelf(shop.volume, shop.layout, plan_id)
        try:
            if shelf.plan().project_key == key:
                with shelf.alone():
                    shelf.erase()
                gone += 1
        except NoPlanError:
            # A folder whose plan went is what a forgetting that was cut short had left.
            shelf.erase()
        except CuratorError as fault:
            faults.append(fault)
    if faults:
        raise faults[0]
    return gone


def expires_ms(plan: Plan, shelf: PlanShelf) -> int | None:
    """Return when the first of a plan's proposals or answers has been kept long enough; None where none stands."""
    oldest = _oldest_ms(shelf)
    return None if oldest is None else oldest + plan.keep_ms


def _oldest_ms(shelf: PlanShelf) -> int | None:
    folders = (shelf.layout.staged, shelf.layout.answers)
    return min((aged.mtime_ms for folder in folders for aged in ages_in(folder)), default=None)


def _expire(shelf: PlanShelf, shop: Shop) -> None:
    if _oldest_ms(shelf) is None:
        # Most plans are over, and a plan may be large.
        return
    plan = shelf.plan()
    due = expires_ms(plan, shelf)
    if due is None or due > shop.clock.now():
        return
    with contextlib.suppress(BusyError), shelf.alone():
        end(plan, shelf, "expire", shop)
