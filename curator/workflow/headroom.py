"""Room in the day's budget, and the jobs that wait for it: they go on when there is some again, not at midnight alone.

A job that met a limit waits for the first millisecond of the next UTC day. A limit that was raised, or a call that was
settled for less, makes room before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curator.model.ids import Day
from curator.model.ports import Hold
from curator.model.times import DAY_MS, day_of

if TYPE_CHECKING:
    from curator.store.spool import Waiting
    from curator.workflow.shop import Shop

LEAST: Final = Hold(tokens=1, cost_nanousd=0)
"""No call holds less."""


def has_room(shop: Shop, hold: Hold = LEAST) -> bool:
    """Tell whether the limits in force allow one more call with this hold now."""
    profile = shop.service.reviewer
    if profile is None:
        return False
    today = Day(day_of(shop.clock.now()))
    spent = shop.stores.attempts.counted(profile.provider, today, shop.settings.budget.counts_from(today))
    return profile.limits.refusal(spent, hold) is None


def let_go_on(shop: Shop) -> int:
    """Let the jobs that wait for the budget be taken at once, if there is room; return how many.

    Whichever of them finds that the room is too small for it waits for midnight again, and no try of it is gone.
    """
    waiting = [each for each in shop.stores.spool.waiting() if _waits_for_budget(each, shop.clock.now())]
    if not waiting or not has_room(shop):
        return 0
    for each in waiting:
        shop.stores.spool.hurry(each)
    return len(waiting)


def _waits_for_budget(waiting: Waiting, now: int) -> bool:
    """Tell whether a job's time is a midnight to come: nothing else waits for exactly that."""
    return waiting.glimpse.due_ms > now and waiting.glimpse.due_ms % DAY_MS == 0
