"""Close a job: outcome, card, closing record, and only then its name in the spool.

CRASH  Each step finds the one before it durable and is repeated without harm: the running record is there until the end.
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING, assert_never

from curator.errors import ConflictError, CuratorError, InvalidRecordError, NotFoundError, RefusedError, StorageError
from curator.model.closing import ClosedAttempt, ClosedSpan, Closing
from curator.model.decision import ProviderResult
from curator.model.event import Stopped
from curator.model.feedback import Ready
from curator.model.ids import AttemptId, attempt_id
from curator.model.limits import REVISION_CHANGES_MAX
from curator.model.memory import Review
from curator.model.outcome import Completed, Failed, Failure
from curator.model.times import iso
from curator.workflow.base import accept, authority_of
from curator.workflow.history import attempts_of
from curator.workflow.support import supported_by

if TYPE_CHECKING:
    from curator.machine.admission import Seen as Standing
    from curator.model.admission import Receipt
    from curator.model.decision import Decision
    from curator.model.feedback import FeedbackStatus
    from curator.model.ids import JobId
    from curator.model.job import Job
    from curator.model.outcome import Outcome
    from curator.store.attempts import Seen
    from curator.store.memory import ProjectStore
    from curator.store.spool import Claim, Waiting
    from curator.workflow.shop import Shop


def close_decided(claim: Claim, decision: Decision, receipt: Receipt, memory: ProjectStore, shop: Shop) -> None:
    """Close a job whose decision was admitted."""
    shop.stores.spool.publish_outcome(claim, decision.outcome)
    record = _closing(claim.job, decision.outcome, shop, claim)
    shop.stores.finished.close(_with_change(record, receipt, memory, shop))
    shop.stores.spool.retire(claim.job.id)


def close_failed(claim: Claim, code: str, shop: Shop) -> None:
    """Close a job that is over without a decision. Its evidence stays for Pi's retry."""
    outcome = _final_failure(claim, code, shop)
    _keep_evidence_for_retry(claim, outcome, shop)
    shop.stores.spool.publish_outcome(claim, outcome)
    shop.stores.finished.close(_closing(claim.job, outcome, shop, claim))
    answer_failed(claim.job, outcome, shop)
    shop.stores.spool.retire(claim.job.id)


def close_over(job: Job, outcome: Outcome, shop: Shop) -> None:
    """Finish the closing of a job whose outcome stands: what a crash left between outcome and retirement."""
    authority = authority_of(job, shop)
    memory = shop.memory(job.project_key, authority)
    receipt = memory.receipt(job.id)
    shop.stores.finished.close(_with_change(_closing(job, outcome, shop), receipt, memory, shop))
    if isinstance(outcome, Failed):
        answer_failed(job, outcome, shop)
    shop.stores.spool.retire(job.id)


def answer_over(job: Job, shop: Shop) -> bool:
    """Answer whoever waits for a job that was over before it was queued again, and let its name go.

    Tells whether it was over: a closing record says so, or a receipt of another worker whose decision is gone.
    """
    closing = shop.stores.finished.find(job.id)
    authority = authority_of(job, shop) if closing is None else closing.authority
    receipt = shop.memory(job.project_key, authority).receipt(job.id)
    is_over = closing is not None or (receipt is not None and shop.stores.decisions.find(job.id) is None)
    if not is_over or (receipt is not None and receipt.job_digest != job.digest):
        return False
    if authority == "external":
        if receipt is not None:
            answer(job, receipt.status, receipt.messages, shop)
        elif closing is not None:
            answer(job, closing.status, (closing.failure_code or "This was reviewed before.",), shop)
    shop.stores.spool.retire(job.id)
    return True


def answer_failed(job: Job, outcome: Failed, shop: Shop) -> None:
    """Tell whoever waits that the job failed. A card that stands was first, and wins."""
    if authority_of(job, shop) == "external":
        answer(job, "failed", (outcome.error.message,), shop)


def answer(job: Job, status: FeedbackStatus, messages: tuple[str, ...], shop: Shop) -> None:
    """Publish a card without changes, if somebody waits for exactly this job and has none yet."""
    mailbox = shop.mailbox(job.project_key)
    try:
        pending = mailbox.pending(job.id)
        if pending is None or not mailbox.lacks_card(job.id, job.digest):
            return
        card = Ready(
            job_id=job.id,
            job_digest=job.digest,
            branch_name=job.branch.name,
            status=status,
            messages=messages,
            changes=(),
            requested_by=pending.requested_by,
        )
        mailbox.answer(card)
    except (ConflictError, InvalidRecordError, StorageError) as error:
        # The job is over whatever becomes of its card; the mailbox is repaired at the next start.
        shop.listener.tell(Stopped(f"mailbox of {job.project_key}", error.code, error.fact, error.remedy))


def cancel_job(shop: Shop, job_id: JobId) -> None:
    """End a waiting or held job, on a person's word: closed as failed, kept for a retry.

    Raises `RefusedError` where its change of memory has begun: that rolls forward whatever becomes of the job. A worker
    that slept beyond its lease may be about to begin it. So the job is claimed first, which fences that worker, and then
    looked at under the lock in which the worker would have to prove its claim.
    """
    spool = shop.stores.spool
    held, queued = spool.held_one(job_id), spool.queued_one(job_id)
    standing = held or queued
    if standing is not None:
        _refuse_begun(standing.job, _memory_of(standing.job, shop).sight(job_id))
    if held is not None:
        spool.release(job_id)
    waiting = next((each for each in spool.waiting() if each.job_id == job_id), None)
    record = None if waiting is None else spool.whole(waiting)
    claim = None
    if waiting is not None and record is not None and accept(record.job, waiting.queued_ms, shop):
        claim = spool.claim(waiting, shop.worker_id)
    if waiting is None or claim is None:
        fact = f"{job_id} does not wait in the queue"
        raise NotFoundError(fact)
    try:
        _refuse_begun(claim.job, _memory_of(claim.job, shop).sight_at_rest(job_id))
    except CuratorError:
        _give_back(claim, waiting, shop, was_held=held is not None)
        raise
    close_failed(claim, "cancelled", shop)


def _give_back(claim: Claim, waiting: Waiting, shop: Shop, *, was_held: bool) -> None:
    """Let a job that was not cancelled wait as it did before."""
    spool, job_id = shop.stores.spool, claim.job.id
    spool.put_back(job_id, shop.worker_id, waiting.glimpse.due_ms or shop.clock.now())
    if was_held:
        # Another claim may be quicker: then the job goes on, as it does when its change has begun.
        with contextlib.suppress(NotFoundError):
            spool.hold(job_id)


def _memory_of(job: Job, shop: Shop) -> ProjectStore:
    return shop.memory(job.project_key, authority_of(job, shop))


def _refuse_begun(job: Job, seen: Standing) -> None:
    if seen.intent or seen.completion or seen.receipt or seen.tombstone:
        fact = f"{job.id}: its change of memory has begun"
        raise RefusedError(fact, remedy="Run `curator review --once` to finish it; `curator memory undo` takes it back")


def _final_failure(claim: Claim, code: str, shop: Shop) -> Failed:
    """Return the outcome of a job that failed: the last attempt's own, said to be final, or ours."""
    results = shop.stores.decisions.results(claim.job.id)
    last = max(
        (result.outcome for result in results if isinstance(result.outcome, Failed)),
        key=lambda outcome: outcome.completed_at,
        default=None,
    )
    message = f"The review ended: {code}" if last is None or last.error.code != code else last.error.message
    provenance = None if last is None or last.error.code != code else last.provenance
    return Failed(
        job_id=claim.job.id,
        job_digest=claim.job.digest,
        completed_at=iso(shop.clock.now()),
        error=Failure(code=code, message=message, retryable=False),
        provenance=provenance,
    )


def _keep_evidence_for_retry(claim: Claim, outcome: Failed, shop: Shop) -> None:
    """Checkpoint the job where no attempt did: Pi's retry reads it from there."""
    if shop.stores.decisions.results(claim.job.id):
        return
    of = attempt_id(claim.job.digest, claim.attempt, claim.running.lease_token)
    result = ProviderResult(attempt_id=of, proposal_digest=None, job=claim.job, outcome=outcome)
    shop.stores.decisions.record_result(result)


def _closing(job: Job, outcome: Outcome, shop: Shop, claim: Claim | None = None) -> Closing:
    """Return the closing record of a job that changed nothing."""
    match outcome:
        case Completed():
            status: FeedbackStatus = "noop"
            code = None
        case Failed():
            status, code = "failed", outcome.error.code
        case _:
            assert_never(outcome)
    provenance = outcome.provenance
    return Closing(
        job_id=job.id,
        job_digest=job.digest,
        project_key=job.project_key,
        session_key=job.session_key,
        branch_name=job.branch.name,
        authority=authority_of(job, shop),
        status=status,
        failure_code=code,
        finished_at=outcome.completed_at,
        attempts=tuple(_closed(seen) for seen in attempts_of(job, shop, claim)),
        provider=None if provenance is None else provenance.provider,
        model=None if provenance is None else provenance.model,
        entry_ids=(),
        through_entry_id=job.through_entry_id,
        generation=job.generation,
    )


def _with_change(closing: Closing, receipt: Receipt | None, memory: ProjectStore, shop: Shop) -> Closing:
    """Add what the receipt proves, and of the evidence what is to outlive it: which quote each entry rests on."""
    if receipt is None or closing.status == "failed":
        return closing
    decision = shop.stores.decisions.read(closing.job_id)
    elected = None if decision is None else decision.attempt_id
    closing = dataclasses.replace(closing, status=receipt.status, elected=elected, revision_id=receipt.revision_id)
    found = None if receipt.revision_id is None else memory.revision(receipt.branch_name, receipt.revision_id)
    if not isinstance(found, Review):
        return closing
    entry_ids = tuple(change.entry_id for change in found.changes)
    return dataclasses.replace(closing, entry_ids=entry_ids, spans=_spans(found, decision, shop))


def _spans(review: Review, decision: Decision | None, shop: Shop) -> tuple[ClosedSpan, ...]:
    if decision is None:
        return ()
    try:
        evidence = shop.stores.decisions.evidence(decision.job.id, decision.attempt_id)
    except InvalidRecordError:
        # A damaged sidecar costs its quotes, not the job that is over.
        return ()
    supported = () if evidence is None else supported_by(review, decision.outcome.operations, evidence)
    return tuple(ClosedSpan(entry_id=each.entry_id, digest=each.span.digest) for each in supported)[
        :REVISION_CHANGES_MAX
    ]


def _closed(seen: Seen) -> ClosedAttempt:
    total = seen.exposure.total
    return ClosedAttempt(
        id=AttemptId(seen.id), state=seen.state.value, tokens=total.tokens, cost_nanousd=total.cost_nanousd
    )
