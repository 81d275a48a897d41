"""One turn: take a head of the queue, carry its job, tell how it ended. Shared by the drain and the pool."""

from __future__ import annotations

import contextlib
import enum
from typing import TYPE_CHECKING, assert_never

from curator.errors import BusyError, ConflictError, CuratorError, InvalidRecordError, StorageError
from curator.model import event
from curator.model.limits import LOCK_STALE_MS, RETRY_CONFIG_BASE_MS
from curator.model.ports import Class
from curator.model.times import iso
from curator.workflow.base import concerns_project_alone
from curator.workflow.claim import take
from curator.workflow.ending import Applied, Ended, Ending, Fenced, Interrupted, OverBudget, Waits
from curator.workflow.retry import SHARED_CODES, wait_ms

if TYPE_CHECKING:
    from curator.model.heartbeat import WorkerState
    from curator.store.spool import Claim, Waiting
    from curator.workflow.shop import Shop


class NotTaken(enum.Enum):
    """Why a head of the queue could not be claimed."""

    GONE = "gone"
    """It is not there any more as it was seen."""
    TROUBLED = "troubled"
    """What stops that one job was told."""


def try_take(waiting: Waiting, shop: Shop) -> Claim | NotTaken:
    """Claim a head of the queue, or say why not.

    Raises `BusyError` and `StorageError`: with a lock held or a disk that refuses, no other job would fare better.
    """
    try:
        return take(shop, waiting) or NotTaken.GONE
    except (BusyError, StorageError):
        raise
    except CuratorError as error:
        shop.listener.tell(event.Stopped(f"job {waiting.job_id}", error.code, error.fact, error.remedy))
        return NotTaken.TROUBLED


def blocks_all(ending: Ending) -> bool:
    """Tell whether every other job would meet the same: they ask the same reviewer under the same limits."""
    return isinstance(ending, OverBudget) or (isinstance(ending, Waits) and ending.code in SHARED_CODES)


def take_turn(claim: Claim, shop: Shop) -> Ending:
    """Review one claimed job and tell how its turn ended; what stops it alone puts it back, later, and is named."""
    job = claim.job
    shop.listener.tell(event.Claimed(job.id, claim.attempt, job.project_key, job.branch.name))
    ending = _review(claim, shop)
    _tell(claim, ending, shop)
    return ending


def rest_state(ending: Ending) -> WorkerState:
    """Return the state in which a worker rests after such an ending, in the heartbeat's words."""
    match ending:
        case Waits():
            return "waiting-retry"
        case OverBudget():
            return "budget-exhausted"
        case Applied() | Ended() | Interrupted() | Fenced():
            return "idle"
        case _:
            assert_never(ending)


def _review(claim: Claim, shop: Shop) -> Ending:
    # The reviewer, its rules and the gates load with the first job: an empty queue needs none of them.
    from curator.workflow.review_job import review_job  # noqa: PLC0415 - see above

    try:
        return review_job(claim, shop)
    except StorageError as error:
        if concerns_project_alone(error, shop):
            return _set_back(claim, error, shop)
        # The run ends here; a claim that can still be given back need not wait for its lease.
        with contextlib.suppress(CuratorError):
            shop.stores.spool.put_back(claim.job.id, shop.worker_id, shop.clock.now() + RETRY_CONFIG_BASE_MS)
        raise
    except CuratorError as error:
        return _set_back(claim, error, shop)


def _set_back(claim: Claim, error: CuratorError, shop: Shop) -> Waits:
    """Name what stops one job, and let it wait for somebody to mend that."""
    shop.listener.tell(event.Stopped(f"job {claim.job.id}", error.code, error.fact, error.remedy))
    # What a dead owner left locked is free when its lock is old enough, however often the job was claimed.
    wait = LOCK_STALE_MS if isinstance(error, BusyError) else wait_ms(Class.CONFIGURATION, claim.attempt)
    at = shop.clock.now() + wait
    shop.stores.spool.put_back(claim.job.id, shop.worker_id, at)
    is_own = isinstance(error, InvalidRecordError | ConflictError) and claim.job.id in str(error.path)
    return Waits(error.code, at, is_own)


def _tell(claim: Claim, ending: Ending, shop: Shop) -> None:
    job_id, attempt = claim.job.id, claim.attempt
    told: event.Event | None
    match ending:
        case Applied(decision, receipt):
            if decision is None:
                return
            told = event.Completed(job_id, attempt, decision.outcome.provenance, receipt)
        case Ended(code, _):
            told = event.Failed(job_id, attempt, code)
        case Waits(code, available_at, _, _):
            told = event.Retrying(job_id, attempt, code, None if available_at is None else iso(available_at))
        case OverBudget(provider, limit, exposure, limits):
            told = event.BudgetExhausted(job_id, attempt, provider, limit, exposure, limits)
        case Interrupted():
            told = event.Retrying(job_id, attempt, "interrupted", None)
        case Fenced():
            told = event.Retrying(job_id, attempt, "lease_lost", None)
        case _:
            assert_never(ending)
    shop.listener.tell(told)
