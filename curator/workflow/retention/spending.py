"""What was spent: days of the journal become one file each, days of the protocol's accounting go.

INVARIANT  What a past day cost is the same before and after; today's and yesterday's stay as they are.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from curator.durable.read import stamp_of
from curator.model.ids import Day
from curator.model.limits import RETIRED_AT_ONCE_MAX
from curator.model.times import DAY_MS, day_of
from curator.workflow.projection import project_days
from curator.workflow.recovery import apart
from curator.workflow.retention.finished import evidence_cutoff

if TYPE_CHECKING:
    from curator.model.ids import JobId
    from curator.workflow.retention.ties import Ties
    from curator.workflow.shop import Shop


def close_days(shop: Shop, ties: Ties) -> None:
    """Close each day of the journal that is older than yesterday and needed by no job any more."""
    for day in shop.stores.attempts.unclosed(before=Day(day_of(ties.now - DAY_MS))):
        apart(f"attempts of {day}", partial(_close_day, day, shop, ties), shop)


def _close_day(day: Day, shop: Shop, ties: Ties) -> None:
    if stamp_of(shop.layout.days / day) is not None:
        # The last chance to say there how its attempts ended: a closed day keeps only what they were charged.
        apart(f"accounting of {day}", partial(project_days, shop, [day]), shop)
    shop.stores.attempts.close_day(day, partial(_is_needed, shop=shop, ties=ties), ties.now)


def _is_needed(job_id: JobId, *, shop: Shop, ties: Ties) -> bool:
    """Tell whether a job's attempts may still decide something: it is under way, or may be again."""
    if ties.moves(job_id):
        return True
    if shop.stores.finished.stands(job_id):
        return False
    return job_id in ties.lettered or shop.stores.decisions.stands(job_id)


def retire_accounting(shop: Shop, ties: Ties) -> None:
    """Let closed days of the protocol's accounting go that are older than evidence, then identities without a day."""
    accounting, today = shop.stores.accounting, Day(day_of(ties.now))
    cutoff = evidence_cutoff(shop, ties.now)
    for day in accounting.days():
        if day < today:
            apart(f"accounting of {day}", partial(accounting.retire_day, day, cutoff), shop)
    apart("identities", partial(accounting.retire_identities, today, RETIRED_AT_ONCE_MAX), shop)
