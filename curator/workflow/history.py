"""What a job's earlier attempts were, as the journal tells; light enough to be asked when nothing is to be reviewed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.model.ids import Day

if TYPE_CHECKING:
    from curator.model.digest import Digest
    from curator.model.job import Job
    from curator.store.attempts import Seen
    from curator.workflow.shop import Shop


def attempts_of(job: Job, shop: Shop) -> tuple[Seen, ...]:
    """Return all attempts of a job, of every day: a clock that jumped must not hide a call that was paid for."""
    return shop.stores.attempts.of_job(job.id, Day("0000-00-00"))


def base_digest_of(job: Job, result_attempts: tuple[Seen, ...], attempt_id: str) -> Digest:
    """Return the branch state that an attempt judged; one without our reservation judged the job's own."""
    seen = next((each for each in result_attempts if each.id == attempt_id), None)
    return job.base_branch_digest if seen is None else seen.latest.base_branch_digest or job.base_branch_digest
