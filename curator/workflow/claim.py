"""Taking the head of a line: its authority is stamped first, its record held to all its rules, its last owner's debts closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.errors import InvalidRecordError
from curator.model.event import Recovered, SetAside
from curator.store.spool.recovery import quarantine, quarantine_seen
from curator.workflow.adoption import close_orphans_of
from curator.workflow.base import accept
from curator.workflow.closing import answer
from curator.workflow.projection import project_days

if TYPE_CHECKING:
    from curator.model.job import Job
    from curator.store.spool import Claim, Waiting
    from curator.workflow.shop import Shop


def take(shop: Shop, waiting: Waiting) -> Claim | None:
    """Claim one head: stamp its authority first, then take it. None if somebody else was quicker.

    A record that cannot be read, or a job whose id belonged to another job, goes to the dead letters before anything is
    spent on it.
    """
    assert shop.service.mode != "embedded"
    spool = shop.stores.spool
    try:
        record = spool.whole(waiting)
    except InvalidRecordError as fault:
        moved = quarantine_seen(spool, fault.path, waiting.stamp, fault.why)
        if moved is not None:
            shop.listener.tell(SetAside(str(moved.path), moved.reason))
        return None
    if record is None:
        return None
    if not accept(record.job, waiting.queued_ms, shop):
        _dead_letter(record.job, waiting, shop)
        return None
    claim = spool.claim(waiting, shop.worker_id)
    if claim is not None and waiting.is_claimed:
        shop.listener.tell(Recovered("expired leases", 1))
        project_days(shop, close_orphans_of(claim.job.id, shop).days)
    return claim


def _dead_letter(job: Job, waiting: Waiting, shop: Shop) -> None:
    folder = shop.layout.running if waiting.is_claimed else shop.layout.queued
    moved = quarantine(shop.stores.spool, folder / f"{job.id}.json", "another job had this id")
    shop.listener.tell(SetAside(str(moved.path), moved.reason))
    if shop.service.mode == "external":
        answer(job, "failed", ("Another review had this id; this one was set aside.",), shop)
