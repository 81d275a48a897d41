"""Cards for whoever waits for a job of which only its closing record is left (design: section 7).

A duplicate that Pi enqueued of a finished job leaves somebody who waits; so does a crash. While evidence stands, recovery
answers; after it, the receipt or the closing record does.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from curator.model.feedback import Ready
from curator.model.outcome import Failed
from curator.store.spool.retention import is_live
from curator.workflow.recovery import apart

if TYPE_CHECKING:
    from curator.model.closing import Closing
    from curator.model.feedback import FeedbackStatus
    from curator.model.ids import JobId
    from curator.workflow.retention.ties import Ties
    from curator.workflow.shop import Shop


def answer_closed(shop: Shop, ties: Ties) -> None:
    """Answer everybody who waits for a job that is over."""
    for job_id in sorted(ties.awaited - ties.carded):
        apart(f"feedback of {job_id}", partial(answer_waiting, job_id, shop, ties), shop)


def answer_waiting(job_id: JobId, shop: Shop, ties: Ties) -> bool:
    """Answer whoever waits for a job, if its closing record stands; tell whether nobody waits in vain any more."""
    closing = shop.stores.finished.find(job_id)
    for key, layout in ties.projects:
        if layout != shop.layout.project(key):
            continue
        mailbox = shop.mailbox(key)
        pending = mailbox.pending(job_id)
        if pending is None or not mailbox.lacks_card(job_id, pending.job_digest):
            continue
        if closing is None or is_live(shop.stores.spool, job_id):
            return False
        is_of_it = pending.job_digest == closing.job_digest and closing.project_key == key
        if is_of_it and closing.authority == "external":
            status, messages = _told(closing, shop)
            mailbox.answer(
                Ready(
                    job_id=job_id,
                    job_digest=closing.job_digest,
                    branch_name=closing.branch_name,
                    status=status,
                    messages=messages,
                    changes=(),
                    requested_by=pending.requested_by,
                )
            )
    return True


def lacks_card(job_id: JobId, shop: Shop, ties: Ties) -> bool:
    """Tell whether somebody who waits for a job has no card of it yet."""
    for key, layout in ties.projects:
        if layout != shop.layout.project(key):
            continue
        mailbox = shop.mailbox(key)
        pending = mailbox.pending(job_id)
        if pending is not None and mailbox.lacks_card(job_id, pending.job_digest):
            return True
    return False


def _told(closing: Closing, shop: Shop) -> tuple[FeedbackStatus, tuple[str, ...]]:
    """Return what is left to be told of a job."""
    receipt = shop.memory(closing.project_key, closing.authority).receipt(closing.job_id)
    if receipt is not None and receipt.job_digest == closing.job_digest:
        return receipt.status, receipt.messages
    over = shop.stores.spool.outcome(closing.job_id)
    if over is not None and isinstance(over.outcome, Failed) and over.outcome.job_digest == closing.job_digest:
        return closing.status, (over.outcome.error.message,)
    return closing.status, (closing.failure_code or "This was reviewed before.",)
