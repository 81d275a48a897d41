"""One provider attempt: reserve, make ready, dispatch, ask, checkpoint, settle. The only place that spends.

INVARIANT  Reserved and dispatched are durable before a byte leaves; the result is durable before it is settled. No lock
           is held while the provider is asked.
CRASH      Before the dispatch: cancelled, nothing was sent. After it: settled from the checkpoint if that stands, else
           unknown. Never again new.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, TypeAlias

from curator.durable.baton import laid_down
from curator.errors import ConfigError, LeaseLostError
from curator.model.attempt import (
    Cancelled,
    Dispatched,
    Reserved,
    cancelled_from,
    dispatched_from,
    settled_from,
    unknown_from,
)
from curator.model.decision import Evidence, ProviderResult
from curator.model.event import Asking, Stopped
from curator.model.ids import AttemptId, Day, attempt_id
from curator.model.limits import FAILURE_MESSAGE_CHARS_MAX
from curator.model.outcome import Failed, Failure, Outcome, proposal_digest
from curator.model.ports import Answer, Brief, CallFailure, Class, Prepared, Unready
from curator.model.text import sanitize
from curator.model.times import day_of, iso
from curator.store.attempts import Refused
from curator.workflow.adoption import adopt
from curator.workflow.judging import Lacking, Missed, judge
from curator.workflow.lease import Lease
from curator.workflow.projection import project

if TYPE_CHECKING:
    from curator.admission.gates import Screened
    from curator.model.budget import Exposure, Limits
    from curator.model.outcome import Provenance
    from curator.model.ports import Hold
    from curator.store.spool import Claim
    from curator.workflow.base import Judged
    from curator.workflow.retry import Tally
    from curator.workflow.shop import Shop


@dataclasses.dataclass(frozen=True, slots=True)
class Proposal:
    """A whole answer that became a proposal; it may be elected."""

    result: ProviderResult


@dataclasses.dataclass(frozen=True, slots=True)
class Spent:
    """A limit of the day forbids the attempt; nothing was sent."""

    provider: str
    limit: str
    exposure: Exposure
    limits: Limits
    hold: Hold


@dataclasses.dataclass(frozen=True, slots=True)
class NotSent:
    """The reservation was closed before the dispatch: by a wish to stop, or by somebody else's recovery."""


Attempted: TypeAlias = Proposal | Missed | Spent | NotSent


def attempt(claim: Claim, base: Judged, tally: Tally, shop: Shop) -> Attempted:
    """Make one provider attempt for a claim against a base.

    Raises `ReviewerSetupError`, or `InvalidRecordError` where a result could not be kept, before anything is reserved.
    Without a key, or a host that can be reached, the reservation is cancelled before the dispatch. So it is where the lease
    is lost by then, which raises `LeaseLostError`.
    """
    brief = Brief(
        job=claim.job,
        base=base.branch,
        attempt=tally.failures + 1,
        is_final=tally.is_final,
        last_failure_code=tally.last_failure_code,
    )
    prepared = shop.reviewer.prepare(brief)
    shop.stores.decisions.prove_room(claim.job.id)
    adopt(shop)
    reserved = _reserve(claim, base, prepared, shop)
    if not isinstance(reserved, Reserved):
        return reserved
    with laid_down():
        ready = prepared.make_ready(shop.stop)
    if shop.stop.is_set() or isinstance(ready, Unready):
        closed = shop.stores.attempts.advance(cancelled_from(reserved, iso(shop.clock.now())))
        if shop.stop.is_set() or not isinstance(ready, Unready) or not isinstance(closed, Cancelled):
            return NotSent()
        shop.listener.tell(Stopped("reviewer", ready.code, ready.fact, ready.remedy))
        return Missed(ready.code, Class.CONFIGURATION)
    try:
        # Whoever slept since its claim may find the job done by another worker: nothing is paid for a second time.
        shop.stores.spool.check_lease(claim)
    except LeaseLostError:
        shop.stores.attempts.advance(cancelled_from(reserved, iso(shop.clock.now())))
        raise
    sent = shop.stores.attempts.advance(_dispatch_of(reserved, ready, shop))
    if not isinstance(sent, Dispatched):
        return NotSent()
    shop.listener.tell(Asking(claim.job.id, claim.attempt, ready.provider, ready.model))
    with laid_down(), Lease(shop.stores.spool, claim):
        answer = shop.reviewer.ask(ready, shop.abort or shop.stop)
    return _settle(claim, sent, brief, answer, shop)


def hold_budget(draft: Reserved, prepared: Prepared, shop: Shop) -> Reserved | Spent:
    """Reserve a call within the day's limits, or say which of them forbids it.

    Raises `ConfigError` for a call that no day's limits would allow.
    """
    profile = shop.service.reviewer
    assert profile is not None
    limits = profile.limits
    never = limits.can_never_hold(prepared.hold)
    if never is not None:
        fact = f"one call alone holds more than the day's limit of {never}"
        raise ConfigError(fact, remedy="Raise that limit of the reviewer in service.json")
    reserved = shop.stores.attempts.reserve(draft, limits, shop.settings.budget.counts_from(draft.day))
    if isinstance(reserved, Refused):
        return Spent(prepared.provider, reserved.limit, reserved.exposure, limits, prepared.hold)
    return reserved


def _reserve(claim: Claim, base: Judged, prepared: Prepared, shop: Shop) -> Reserved | Spent:
    now = shop.clock.now()
    draft = Reserved(
        id=attempt_id(claim.job.digest, claim.attempt, claim.running.lease_token),
        day=Day(day_of(now)),
        provider=prepared.provider,
        job_id=claim.job.id,
        job_digest=claim.job.digest,
        claim_attempt=claim.attempt,
        lease_token=claim.running.lease_token,
        reserved_at=iso(now),
        hold_tokens=max(1, prepared.hold.tokens),
        hold_cost_nanousd=prepared.hold.cost_nanousd,
        base_branch_digest=base.digest,
        origin="curator",
    )
    return hold_budget(draft, prepared, shop)


def _dispatch_of(reserved: Reserved, prepared: Prepared, shop: Shop) -> Dispatched:
    request = (prepared.request_digest, prepared.model, prepared.api)
    return dispatched_from(reserved, iso(shop.clock.now()), request)


def _settle(
    claim: Claim, sent: Dispatched, brief: Brief, answer: Answer | CallFailure, shop: Shop
) -> Proposal | Missed:
    """Checkpoint what came back, then say what it cost."""
    outcome, missed = _judge(claim, sent, brief, answer, shop)
    if missed is None:
        # Whoever is next may ask. Of a failure all others learn first: it may stop them too.
        shop.place.leave()
    result = ProviderResult(
        attempt_id=sent.id, proposal_digest=proposal_digest(outcome), job=claim.job, outcome=outcome
    )
    shop.stores.decisions.record_result(result)
    now = iso(shop.clock.now())
    if answer.provenance is None:
        shop.stores.attempts.advance(unknown_from(sent, now))
    else:
        settled = settled_from(sent, now, answer.provenance, is_estimated=answer.is_estimated)
        shop.stores.attempts.advance(settled)
    project(shop, force=False)
    return Proposal(result) if missed is None else missed


def _judge(
    claim: Claim, sent: Dispatched, brief: Brief, answer: Answer | CallFailure, shop: Shop
) -> tuple[Outcome, Missed | None]:
    """Turn an answer into an outcome, and keep where its quotes stand."""
    judged = judge(answer, brief, require_evidence=shop.settings.evidence == "require")
    if isinstance(judged, Lacking):
        return _failed(claim, judged.missed, judged.message, answer.provenance, shop), judged.missed
    _keep_evidence(claim, sent.id, judged.screened, shop)
    return judged.outcome, None


def _keep_evidence(claim: Claim, of: AttemptId, screened: Screened, shop: Shop) -> None:
    job = claim.job
    shop.stores.decisions.record_evidence(
        Evidence(job_id=job.id, job_digest=job.digest, attempt_id=of, spans=screened.spans, dropped=screened.messages)
    )


def _failed(claim: Claim, missed: Missed, message: str, provenance: Provenance | None, shop: Shop) -> Failed:
    at = iso(shop.clock.now()) if provenance is None else provenance.completed_at
    text = sanitize(message)[:FAILURE_MESSAGE_CHARS_MAX] or "The attempt brought no proposal"
    return Failed(
        job_id=claim.job.id,
        job_digest=claim.job.digest,
        completed_at=at,
        error=Failure(
            code=missed.code, message=text, retryable=missed.kind in (Class.RETRY, Class.LATER, Class.CONFIGURATION)
        ),
        provenance=provenance,
    )
