"""The spine: carry one claimed job as far as the files do not already show.

Resume is re-entry: each step looks first whether its artifact is there, so the live path and the recovery path are one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.errors import LeaseLostError
from curator.model.decision import Decision
from curator.workflow.admission import roll_forward
from curator.workflow.base import authority_of, open_memory
from curator.workflow.closing import answer_over, close_decided, close_failed
from curator.workflow.election import decide
from curator.workflow.ending import Applied, Ended, Ending, Fenced, Interrupted, OverBudget, Waits

if TYPE_CHECKING:
    from curator.store.spool import Claim
    from curator.workflow.shop import Shop


def review_job(claim: Claim, shop: Shop) -> Ending:
    """Carry one claimed job to its end or to its next wait, and say which it was.

    Whatever stops this one job is raised as a `CuratorError`; the claim is then still ours, or lost.
    """
    try:
        return _review(claim, shop)
    except LeaseLostError:
        return Fenced()


def _review(claim: Claim, shop: Shop) -> Ending:
    if answer_over(claim.job, shop):
        # An old queue entry came back. Nothing is asked, nothing gets a second outcome.
        return Applied(None, None)
    memory = open_memory(claim.job, shop)
    decided, claim = decide(claim, memory, shop)
    if isinstance(decided, Decision):
        receipt = roll_forward(decided, memory, authority_of(claim.job, shop), shop, claim)
        close_decided(claim, decided, receipt, memory, shop)
        return Applied(decided, receipt)
    match decided:
        case Ended(code):
            close_failed(claim, code, shop)
        case Waits(_, available_at) | OverBudget(available_at=available_at):
            shop.stores.spool.defer(claim, available_at)
        case Interrupted():
            shop.stores.spool.defer(claim, None)
    return decided
