"""What another reviewer makes of a job's evidence, beside what was made of it: asked in shadow, compared, and thrown away.

Memory, the job and its decision stay as they are: the call is a trial of its own in the journal.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from curator.errors import InvalidRecordError, NotFoundError
from curator.model.ids import JobId
from curator.model.outcome import Completed
from curator.model.ports import Brief
from curator.model.proposal import Add, Merge, Operation
from curator.reviewer.rules.likeness import gist_of, is_same
from curator.workflow.base import find_base
from curator.workflow.history import attempts_of, base_digest_of
from curator.workflow.trial import Purse, try_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator.model.decision import Decision, ProviderResult
    from curator.model.job import Job
    from curator.model.memory import Branch
    from curator.workflow.shop import Shop
    from curator.workflow.trial import Trial


@dataclasses.dataclass(frozen=True, slots=True)
class Kept:
    """What is still kept of a job: its evidence, the memory it was judged against, and what was proposed, if anything."""

    job: Job
    base: Branch
    outcome: Completed | None
    is_own_base: bool
    """False where the memory that was judged is not kept any more, so that the job's own stands for it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Difference:
    """How a second proposal differs from the first."""

    same: tuple[Operation, ...]
    changed: tuple[tuple[Operation, Operation], ...]
    """What both do to the same entries, or say alike: before, after."""
    missing: tuple[Operation, ...]
    added: tuple[Operation, ...]


def find_kept(job_id: JobId, shop: Shop) -> Kept:
    """Return what is kept of a job that waits, runs, is held or is over. Raises `NotFoundError` once its evidence is gone."""
    spool, decisions = shop.stores.spool, shop.stores.decisions
    decision, results = decisions.read(job_id), decisions.read_results(job_id)
    proposed = [each for each in results if isinstance(each.outcome, Completed)]
    chosen = decision or max(proposed, key=lambda each: each.outcome.completed_at, default=None)
    if chosen is not None:
        return _judged(chosen, shop)
    owned = spool.running_one(job_id) or spool.queued_one(job_id) or spool.held_one(job_id)
    job = owned.job if owned is not None else results[0].job if results else None
    if job is None:
        fact = f"{job_id}: its evidence is not kept any more"
        raise NotFoundError(
            fact, remedy="Evidence is kept for evidenceTtlHours of service.json; see `curator jobs list`"
        )
    return Kept(job, job.branch, None, is_own_base=True)


def review_again(kept: Kept, shop: Shop, purse: Purse) -> Trial:
    """Ask the shop's reviewer about a job's evidence, once. Raises as `try_out`."""
    return try_out(Brief(job=kept.job, base=kept.base, attempt=1, is_final=False), shop, purse)


def compare(before: Sequence[Operation], after: Sequence[Operation]) -> Difference:
    """Tell what a second proposal has in common with the first; the order of operations says nothing."""
    left, right = [each for each in before if each not in after], [each for each in after if each not in before]
    changed: list[tuple[Operation, Operation]] = []
    for one in list(left):
        other = next((each for each in right if _is_alike(one, each)), None)
        if other is not None:
            changed.append((one, other))
            left.remove(one)
            right.remove(other)
    same = tuple(each for each in before if each in after)
    return Difference(same, tuple(changed), tuple(left), tuple(right))


def _judged(chosen: Decision | ProviderResult, shop: Shop) -> Kept:
    job, outcome = chosen.job, chosen.outcome
    assert isinstance(outcome, Completed)
    digest = base_digest_of(job, attempts_of(job, shop), chosen.attempt_id)
    try:
        return Kept(job, find_base(job, digest, shop).branch, outcome, is_own_base=True)
    except InvalidRecordError:
        # Its base record goes with the job's end; what Pi captured is the nearest that is left.
        return Kept(job, job.branch, outcome, is_own_base=False)


def _is_alike(one: Operation, other: Operation) -> bool:
    if isinstance(one, Add) and isinstance(other, Add):
        return is_same(gist_of(one.content), gist_of(other.content))
    return bool(targets(one) & targets(other))


def targets(operation: Operation) -> frozenset[str]:
    """Return the entries that an operation is about."""
    if isinstance(operation, Add):
        return frozenset()
    return frozenset(operation.entry_ids if isinstance(operation, Merge) else (operation.entry_id,))
