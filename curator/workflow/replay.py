"""Review a finished job's evidence again, as a new generation (interop.md 4.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.errors import NotFoundError, RefusedError
from curator.model.feedback import Pending
from curator.model.job import Job, make_job
from curator.model.limits import GENERATION_MAX, MEMORY_CHARS_MAX
from curator.model.memory import branch_digest
from curator.model.times import iso
from curator.store.spool import Enqueued
from curator.workflow.base import open_memory

if TYPE_CHECKING:
    from curator.model.ids import JobId
    from curator.workflow.shop import Shop


def replay_job(shop: Shop, job_id: JobId) -> Job:
    """Queue the next generation of a job against the branch as it stands, and return it.

    Raises `NotFoundError` when its evidence is gone, `RefusedError` when that generation is queued or over already.
    """
    source = _evidence_of(shop, job_id)
    generation = (source.generation or 0) + 1
    if generation > GENERATION_MAX:
        fact = f"{job_id} was tried {GENERATION_MAX} times"
        raise RefusedError(fact)
    branch = open_memory(source, shop).current(source.branch.name)
    if branch is None:
        fact = f"{source.branch.name}: the branch is gone"
        raise NotFoundError(fact)
    job = make_job(
        project_key=source.project_key,
        session_key=source.session_key,
        through_entry_id=source.through_entry_id,
        transcript=source.transcript,
        branch=branch.sanitized(),
        base_branch_digest=branch_digest(branch),
        max_chars=MEMORY_CHARS_MAX,
        generation=generation,
    )
    mailbox = shop.mailbox(job.project_key)
    mailbox.register(
        Pending(
            job_id=job.id,
            job_digest=job.digest,
            branch_name=job.branch.name,
            requested_by="manual",
            queued_at=iso(shop.clock.now()),
        )
    )
    if shop.stores.spool.enqueue(job) is not Enqueued.ENQUEUED:
        fact = f"generation {generation} of {job_id} is queued or over already"
        raise RefusedError(fact, remedy=f"See `curator jobs show {job.id}`")
    return job


def _evidence_of(shop: Shop, job_id: JobId) -> Job:
    decision = shop.stores.decisions.find(job_id)
    if decision is not None:
        return decision.job
    jobs = {result.job.digest: result.job for result in shop.stores.decisions.results(job_id)}
    if len(jobs) != 1:
        fact = f"{job_id}: its evidence is {'not kept any more' if not jobs else 'not one and the same'}"
        raise NotFoundError(fact)
    return next(iter(jobs.values()))
