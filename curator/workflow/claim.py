"""Which job is next, and taking it (design: order).

Strict per branch: the oldest accepted job is the branch's head, and while it waits or runs its branch waits, so that old
evidence never overwrites newer memory. Across branches the oldest head goes first.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, TypeAlias

from curator.errors import InvalidRecordError
from curator.model.event import SetAside
from curator.model.job import Acceptance
from curator.model.limits import MEMORY_CHARS_MAX
from curator.model.times import ms_of
from curator.store.spool.recovery import quarantine
from curator.workflow.base import accept
from curator.workflow.closing import answer

if TYPE_CHECKING:
    from collections.abc import Collection

    from curator.model.ids import BranchName, JobId, ProjectKey
    from curator.model.job import Job
    from curator.store.spool import Claim, Waiting
    from curator.workflow.shop import Shop

_Branch: TypeAlias = "tuple[ProjectKey, BranchName]"


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """What waits: the heads that may be taken now, in order, and when the first of the others may be."""

    ready: tuple[Waiting, ...]
    next_at: int | None


def line_up(shop: Shop, passed: Collection[JobId] = (), aside: Collection[JobId] = ()) -> Line:
    """Return the queue as it stands.

    Jobs in `passed` have had their turn and block their branch no longer; those in `aside` do not block it while they
    wait, for what stops them is nobody else's.

    Those of projects that a person paused, excluded, or is linking or purging are passed over.
    """
    now = shop.clock.now()
    busy = {(each.job.project_key, each.job.branch.name) for each in shop.stores.spool.running()}
    resting = shop.stores.standings.resting()
    heads: dict[_Branch, tuple[tuple[int, JobId], Waiting]] = {}
    later: list[int] = []
    for waiting in shop.stores.spool.waiting():
        job = waiting.record.job
        if job.id in passed or job.project_key in resting or not _may_run(shop, waiting):
            continue
        due = 0 if waiting.record.available_at is None else ms_of(waiting.record.available_at)
        if due > now:
            later.append(due)
            if job.id in aside or _steps_aside(job):
                continue
        key = (job.project_key, job.branch.name)
        rank = (accepted_ms(shop, waiting), job.id)
        if key not in heads or rank < heads[key][0]:
            heads[key] = (rank, waiting)
    ordered = sorted(heads.items(), key=lambda item: item[1][0])
    ready = [waiting for key, (_, waiting) in ordered if key not in busy and _is_due(waiting, now)]
    return Line(tuple(ready), min(later, default=None))


def take(shop: Shop, waiting: Waiting) -> Claim | None:
    """Claim one head: stamp its authority first, then take it. None if somebody else was quicker.

    A job whose id belonged to another job goes to the dead letters before anything is spent on it.
    """
    job = waiting.record.job
    assert shop.service.mode != "embedded"
    if not accept(job, waiting.queued_ms, shop):
        _dead_letter(job, shop)
        return None
    return shop.stores.spool.claim(waiting, shop.worker_id)


def _dead_letter(job: Job, shop: Shop) -> None:
    moved = quarantine(shop.stores.spool, shop.layout.queued / f"{job.id}.json", "another job had this id")
    shop.listener.tell(SetAside(str(moved.path), moved.reason))
    if shop.service.mode == "external":
        answer(job, "failed", ("Another review had this id; this one was set aside.",), shop)


def accepted_ms(shop: Shop, waiting: Waiting) -> int:
    """Return since when a job waits: what its first claim recorded wins over any later writing of its file."""
    acceptance = _acceptance(waiting, shop)
    return waiting.queued_ms if acceptance is None else ms_of(acceptance.accepted_at)


def _acceptance(waiting: Waiting, shop: Shop) -> Acceptance | None:
    """Return what a job's first claim recorded; only a later claim can find anything, so only then it is looked for."""
    if waiting.record.next_attempt == 1:
        return None
    try:
        return shop.stores.jobs.find(waiting.record.job.id)
    except InvalidRecordError:
        # Its turn will name the damage; the queue's order does not depend on one record.
        return None


def _may_run(shop: Shop, waiting: Waiting) -> bool:
    """Tell whether the mode in force may take a job: one that was begun for the real memory waits out shadow mode."""
    if shop.service.mode != "shadow":
        return True
    acceptance = _acceptance(waiting, shop)
    return acceptance is None or acceptance.authority == "shadow"


def _steps_aside(job: Job) -> bool:
    """Tell whether a deferred job waits for something of its own, which no other job of the branch waits for."""
    return job.max_chars > MEMORY_CHARS_MAX


def _is_due(waiting: Waiting, now: int) -> bool:
    return waiting.record.available_at is None or ms_of(waiting.record.available_at) <= now
