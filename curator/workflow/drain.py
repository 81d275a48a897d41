"""Work the queue off, one job after another, until nothing is runnable.

A job that cannot go on is put back and named; the rest goes on. Only a failing disk or a wish to stop ends the drain.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, Protocol, assert_never

from curator.errors import CuratorError, StorageError
from curator.model import event
from curator.model.ports import Class
from curator.model.times import iso
from curator.workflow.claim import line_up, take
from curator.workflow.ending import Applied, Ended, Ending, Fenced, Interrupted, OverBudget, Waits
from curator.workflow.retry import CONFIGURATION_CODES, wait_ms

if TYPE_CHECKING:
    from curator.model.heartbeat import WorkerState
    from curator.model.ids import JobId
    from curator.store.spool import Claim, Waiting
    from curator.workflow.shop import Shop

WAIT_MS_MAX: Final = 120_000
"""The longest back-off that `--wait` sits through."""


class Sleeper(Protocol):
    """Somebody who waits, and wakes early when asked to stop."""

    def sleep(self, ms: int) -> None:
        """Wait for so many milliseconds, or less."""


class Pulse(Protocol):
    """Somebody who tells Pi what the worker does."""

    def note(self, state: WorkerState, job_id: JobId | None = None, attempt: int | None = None) -> None:
        """Say what is being done now."""


@dataclasses.dataclass(slots=True)
class _Count:
    completed: int = 0
    failed: int = 0
    retried: int = 0
    budget_exhausted: int = 0
    interrupted: int = 0

    def of(self, ending: Ending) -> None:
        match ending:
            case Applied():
                self.completed += 1
            case Ended():
                self.failed += 1
            case Waits() | Fenced():
                self.retried += 1
            case OverBudget():
                self.budget_exhausted += 1
            case Interrupted():
                self.interrupted += 1
            case _:
                assert_never(ending)


def drain(shop: Shop, *, limit: int | None, sleeper: Sleeper | None, pulse: Pulse) -> event.Drained:
    """Review what can be reviewed now, at most `limit` jobs; with a sleeper, sit through short back-offs too.

    Raises `StorageError` when the disk fails; then nothing accepted is lost, and the claim returns by its lease.
    """
    count, turns, is_blocked = _Count(), 0, False
    passed: set[JobId] = set()
    while not shop.stop.is_set() and (limit is None or turns < limit):
        line = line_up(shop, passed)
        # While nobody can be asked, a job that needs nobody can still be finished.
        decided = shop.stores.decisions.is_elected
        waiting = next((each for each in line.ready if not is_blocked or decided(each.record.job.id)), None)
        if waiting is None:
            now = shop.clock.now()
            if sleeper is None or line.next_at is None or line.next_at - now > WAIT_MS_MAX or line.ready:
                break
            sleeper.sleep(max(1, line.next_at - now))
            is_blocked = False
            continue
        claim = _take(waiting, shop)
        if claim is None:
            passed.add(waiting.record.job.id)
            continue
        turns += 1
        pulse.note("working", claim.job.id, claim.attempt)
        shop.listener.tell(event.Claimed(claim.job.id, claim.attempt, claim.job.project_key, claim.job.branch.name))
        ending = _turn(claim, shop)
        count.of(ending)
        _tell(claim, ending, shop, pulse)
        is_blocked = is_blocked or _blocks_all(ending)
    queued, _ = shop.stores.spool.counts()
    drained = event.Drained(**dataclasses.asdict(count), left=queued)
    shop.listener.tell(drained)
    return drained


def _take(waiting: Waiting, shop: Shop) -> Claim | None:
    try:
        return take(shop, waiting)
    except StorageError:
        raise
    except CuratorError as error:
        shop.listener.tell(event.Stopped(f"job {waiting.record.job.id}", error.code, error.fact, error.remedy))
        return None


def _blocks_all(ending: Ending) -> bool:
    """Tell whether every other job would meet the same: they ask the same reviewer under the same limits."""
    return isinstance(ending, OverBudget) or (isinstance(ending, Waits) and ending.code in CONFIGURATION_CODES)


def _turn(claim: Claim, shop: Shop) -> Ending:
    """Review one job; what stops it alone puts it back, later, and is named."""
    # The reviewer, its rules and the gates load with the first job: an empty queue needs none of them.
    from curator.workflow.review_job import review_job  # noqa: PLC0415 - see above

    try:
        return review_job(claim, shop)
    except StorageError:
        raise
    except CuratorError as error:
        shop.listener.tell(event.Stopped(f"job {claim.job.id}", error.code, error.fact, error.remedy))
        at = shop.clock.now() + wait_ms(Class.CONFIGURATION, claim.attempt)
        shop.stores.spool.put_back(claim.job.id, shop.worker_id, at)
        return Waits(error.code, at)


def _tell(claim: Claim, ending: Ending, shop: Shop, pulse: Pulse) -> None:
    job_id, attempt = claim.job.id, claim.attempt
    match ending:
        case Applied(decision, receipt):
            if decision is not None:
                shop.listener.tell(event.Completed(job_id, attempt, decision.outcome.provenance, receipt))
            pulse.note("idle")
        case Ended(code):
            shop.listener.tell(event.Failed(job_id, attempt, code))
            pulse.note("idle")
        case Waits(code, available_at):
            at = None if available_at is None else iso(available_at)
            shop.listener.tell(event.Retrying(job_id, attempt, code, at))
            pulse.note("waiting-retry", job_id, attempt)
        case OverBudget(provider, limit, exposure, limits):
            shop.listener.tell(event.BudgetExhausted(job_id, attempt, provider, limit, exposure, limits))
            pulse.note("budget-exhausted")
        case Interrupted():
            shop.listener.tell(event.Retrying(job_id, attempt, "interrupted", None))
            pulse.note("idle")
        case Fenced():
            shop.listener.tell(event.Retrying(job_id, attempt, "lease_lost", None))
            pulse.note("idle")
        case _:
            assert_never(ending)
