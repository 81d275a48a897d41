"""What a job's earlier attempts were, as the journal tells; light enough to be asked when nothing is to be reviewed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curator.model.ids import Day

if TYPE_CHECKING:
    from curator.model.decision import Decision
    from curator.model.digest import Digest
    from curator.model.job import Job
    from curator.store.attempts import Seen
    from curator.store.spool import Claim
    from curator.workflow.shop import Shop

_FIRST_DAY: Final = Day("0000-00-00")


def attempts_of(job: Job, shop: Shop, claim: Claim | None = None) -> tuple[Seen, ...]:
    """Return all attempts of a job, of every day: a clock that jumped must not hide a call that was paid for.

    Under its first claim nobody can have made one before it: a claim is durable before its attempt, and its number
    never comes again. Then the journal need not be looked through.
    """
    return shop.stores.attempts.of_job(job.id, _FIRST_DAY, look=claim is None or claim.attempt > 1)


def judged_by(decision: Decision, shop: Shop) -> Digest:
    """Return the branch state that a decision's attempt judged."""
    known = shop.stores.attempts.of_job(decision.job.id, _FIRST_DAY, look=False)
    is_known = any(seen.id == decision.attempt_id for seen in known)
    return base_digest_of(decision.job, known if is_known else attempts_of(decision.job, shop), decision.attempt_id)


def base_digest_of(job: Job, result_attempts: tuple[Seen, ...], attempt_id: str) -> Digest:
    """Return the branch state that an attempt judged; one without our reservation judged the job's own."""
    seen = next((each for each in result_attempts if each.id == attempt_id), None)
    return job.base_branch_digest if seen is None else seen.latest.base_branch_digest or job.base_branch_digest
