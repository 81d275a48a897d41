"""Carry a decision into memory: intent, branch, revision, completion, feedback, receipt, tombstone.

The admission table says what comes next, whoever did what came before: this process, another worker, or Pi.

INVARIANT  Status is decided once, under the project's lock, against the branch as it is, and frozen into the intent; in
           the same hold of the lock the claim is proved, so that whoever slept beyond its lease begins nothing.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal

from curator.admission.gates import recheck
from curator.errors import ConflictError, InvalidRecordError, UnmatchedStateError
from curator.machine.admission import Step
from curator.model.admission import Admitted, Intent, binding_digest, make_intent, receipt_of, request_digest
from curator.model.event import Stopped
from curator.model.feedback import Ready, Shown, ShownReplace, shown_changes
from curator.model.ids import RevisionId
from curator.model.limits import MESSAGES_MAX
from curator.model.memory import Branch, Review, branch_digest, changes_between
from curator.model.times import iso
from curator.workflow.base import find_base
from curator.workflow.history import judged_by
from curator.workflow.stuck import was_given_up

if TYPE_CHECKING:
    from collections.abc import Callable

    from curator.model.admission import Receipt, Tombstone
    from curator.model.decision import Decision
    from curator.model.digest import Digest
    from curator.store.memory import ProjectStore
    from curator.store.spool import Claim
    from curator.workflow.shop import Shop


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    """A change that was put together before, by a track, out of more than one answer."""

    admit: Callable[[Branch, int], Admitted]
    """Say what becomes of it by the branch as it stands, and the number that its revision would have."""


def roll_forward(
    decision: Decision,
    memory: ProjectStore,
    authority: Literal["shadow", "external"],
    shop: Shop,
    claim: Claim | Frozen | None,
) -> Receipt:
    """Finish the admission of a decision, from wherever it stands, and return its receipt.

    What has begun goes on whoever comes; to begin it needs a claim that stands, or a change that was frozen elsewhere.
    None: recovery, which finds it begun.
    Raises `LeaseLostError` where a change may not be begun under this claim any more, `UnmatchedStateError` where the table fails closed, `ConflictError` where another admission has the job's id.
    """
    job, outcome = decision.job, decision.outcome
    base = judged_by(decision, shop)

    def freeze(branch: Branch, sequence: int) -> Intent:
        if isinstance(claim, Frozen):
            return make_intent(job, outcome, base, claim.admit(branch, sequence))
        if claim is not None:
            # Read, not locked: who cancels claims the job first and then waits for the lock that is held here.
            shop.stores.spool.check_lease(claim)
        return _freeze(decision, base, branch, sequence, shop)

    step = memory.admit(job.id, job.branch.name, freeze)
    while step is not Step.DONE:
        done: Intent | Tombstone | None
        done = memory.intent(job.id) if step is Step.RECEIPT else memory.tombstone(job.id)
        if done is None or done.request_digest != request_digest(job, outcome):
            raise ConflictError(memory.layout.intent(job.id), "belongs to another admission of this job")
        if authority == "external":
            _answer(decision, done, base, shop)
        told, step = step, memory.finish(receipt_of(job, outcome, done))
        if step is told:
            fact = f"{memory.layout.receipt(job.id)}: {step} was done, and is due again: the disk does not keep it"
            raise UnmatchedStateError(fact, remedy="Run `curator doctor`")
    receipt = memory.receipt(job.id)
    if receipt is None:
        fact = f"{job.id}: its admission is over and its receipt is gone"
        raise UnmatchedStateError(fact)
    if receipt.binding_digest != binding_digest(job, outcome):
        raise ConflictError(memory.layout.receipt(job.id), "is the receipt of another admission")
    return receipt


def _freeze(decision: Decision, base: Digest, branch: Branch, sequence: int, shop: Shop) -> Intent:
    job, outcome = decision.job, decision.outcome
    now = iso(shop.clock.now())
    evidence = shop.stores.decisions.evidence(job.id, decision.attempt_id)
    resolved = recheck(
        job=job,
        operations=outcome.operations,
        branch=branch,
        # One that was begun once and given up is never begun anew: its revision may be history already.
        is_at_base=branch_digest(branch) == base and not was_given_up(job.id, shop),
        evidence=evidence,
        require_evidence=shop.settings.evidence == "require",
        now=now,
        new_ids=tuple(shop.chance.uuid()[:12] for _ in outcome.operations),
    )
    revision = None
    if resolved.status == "applied":
        revision = Review(
            sequence=sequence,
            id=RevisionId(shop.chance.uuid()),
            branch_name=branch.name,
            committed_at=now,
            before_digest=branch_digest(branch),
            after_digest=branch_digest(resolved.after),
            changes=changes_between(branch, resolved.after),
        )
    dropped = () if evidence is None else evidence.dropped
    messages = (*resolved.messages, *dropped)[:MESSAGES_MAX]
    admitted = Admitted(resolved.status, messages, resolved.after, now, revision)
    return make_intent(job, outcome, base, admitted)


def _answer(decision: Decision, done: Intent | Tombstone, base: Digest, shop: Shop) -> None:
    """Publish the card, if somebody waits; memory has changed whatever becomes of it."""
    try:
        _publish_card(decision, done, base, shop)
    except (ConflictError, InvalidRecordError) as error:
        # Once that record is mended, the next start answers from the receipt.
        key = decision.job.project_key
        shop.listener.tell(Stopped(f"mailbox of {key}", error.code, error.fact, error.remedy))


def _publish_card(decision: Decision, done: Intent | Tombstone, base: Digest, shop: Shop) -> None:
    """Publish the card. The first one stands: another worker may have told it already."""
    job = decision.job
    mailbox = shop.mailbox(job.project_key)
    pending = mailbox.pending(job.id)
    if pending is None or not mailbox.lacks_card(job.id, job.digest):
        return
    changes: tuple[Shown | ShownReplace, ...] = ()
    if isinstance(done, Intent) and done.status == "applied":
        changes = shown_changes(find_base(job, base, shop).branch, done.after_branch)
    mailbox.answer(
        Ready(
            job_id=job.id,
            job_digest=job.digest,
            branch_name=done.branch_name,
            status=done.status,
            messages=done.messages,
            changes=changes,
            requested_by=pending.requested_by,
        )
    )
