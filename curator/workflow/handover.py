"""Leave an agent folder so that another worker of the protocol may take over, at any moment, in mid-queue.

What only curator knows is brought to where the other one looks: begun changes are rolled forward, decided jobs closed
without asking anybody again, leases of our dead workers given back, attempts projected into their days, heartbeats of
the dead said to be over.

INVARIANT  No call is made. While this runs, no service of ours can start.
CRASH      Each part is one that recovery does anyway; releasing again finishes it.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from curator.durable.lock import is_alive
from curator.durable.read import list_names
from curator.errors import BusyError, CuratorError, InvalidRecordError, LeaseLostError, RefusedError, StorageError
from curator.model.event import Stopped
from curator.model.ids import JOB_ID_PATTERN, Day, JobId
from curator.model.limits import DIRECTORY_NAMES_MAX
from curator.model.outcome import Completed
from curator.model.times import day_of, ms_of
from curator.pi.runtimes import read_runtimes
from curator.store.heartbeats import HeartbeatStore
from curator.store.spool import Claim
from curator.workflow.beats import OURS, foreign_live_worker
from curator.workflow.claim import take
from curator.workflow.ending import Applied, Ended
from curator.workflow.history import attempts_of
from curator.workflow.instance import no_other_service
from curator.workflow.projection import project_days
from curator.workflow.recovery import recover

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curator.model.heartbeat import WorkerBeat
    from curator.model.job import Running
    from curator.model.ports import Answer, Brief, CallFailure, Prepared, Stop
    from curator.store.spool import Waiting
    from curator.workflow.shop import Shop


@dataclasses.dataclass(frozen=True, slots=True)
class HandedOver:
    """What a release did, and what stands now."""

    let_go: tuple[JobId, ...]
    """Jobs whose lease a dead worker of ours held."""
    closed: tuple[JobId, ...]
    """Decided jobs that were carried to their end."""
    days: tuple[Day, ...]
    """Days of the protocol's accounting that say now what the journal says."""
    stopped: int
    """Heartbeats of dead workers."""
    waiting: int
    leased: tuple[Running, ...]
    """Jobs that somebody may still hold: they return by themselves when their lease ends."""


class _NoCallError(RefusedError):
    """The job needs an answer that nobody has given yet; it waits for whoever takes over."""

    code = "needs_a_call"
    remedy = "The next worker reviews it"


def hand_over(shop: Shop) -> HandedOver:
    """Let another worker take over. Raises `BusyError` while any worker runs, naming its process and how to stop it."""
    with no_other_service(shop):
        _refuse_workers(shop)
        let_go = tuple(_let_go(shop))
        recover(shop)
        closed = tuple(_close_decided(shop))
        days = _days(shop)
        project_days(shop, days)
        stopped = _say_stopped(shop)
        waiting, _ = shop.stores.spool.counts()
        return HandedOver(let_go, closed, tuple(sorted(days)), stopped, waiting, shop.stores.spool.running())


def _refuse_workers(shop: Shop) -> None:
    foreign = foreign_live_worker(shop)
    now = shop.clock.now()
    ours = [
        (beat.worker_id, beat.pid)
        for beat in HeartbeatStore(shop.volume, shop.layout).workers()
        if beat.worker_id.startswith(OURS) and beat.is_fresh(now) and is_alive(beat.pid, ms_of(beat.updated_at))
    ]
    for worker_id, pid in ([] if foreign is None else [foreign]) + ours:
        fact = f"a review worker is running: {worker_id}, process {pid}"
        raise BusyError(fact, remedy=f"Let it end, or stop it (its service unit, or: kill {pid}), then run again")


def _let_go(shop: Shop) -> Iterator[JobId]:
    """Give the claims of our dead workers back, and yield their jobs; one that is over is left to recovery."""
    spool = shop.stores.spool
    beats = {beat.worker_id: beat for beat in HeartbeatStore(shop.volume, shop.layout).workers()}
    for running in spool.running():
        if not _is_of_the_dead(running, beats):
            continue
        try:
            if spool.outcome(running.job.id) is None:
                spool.defer(Claim(running), None)
                yield running.job.id
        except (LeaseLostError, InvalidRecordError) as error:
            # It ran out meanwhile, or its outcome cannot be read: recovery knows what to do with both.
            shop.listener.tell(Stopped(f"job {running.job.id}", error.code, error.fact, error.remedy))


def _is_of_the_dead(running: Running, beats: Mapping[str, WorkerBeat]) -> bool:
    """Tell whether a claim is of a worker of ours that certainly is no more; without any proof it is not."""
    if not running.worker_id.startswith(OURS):
        return False
    beat = beats.get(running.worker_id)
    if beat is not None:
        return beat.state == "stopped" or not is_alive(beat.pid, ms_of(beat.updated_at))
    pid = running.worker_id.rpartition(":")[2]
    return pid.isdigit() and not is_alive(int(pid), ms_of(running.claimed_at))


def _close_decided(shop: Shop) -> Iterator[JobId]:
    """Carry every job that needs no call to its end, and yield it."""
    if shop.service.mode == "embedded":
        return
    quiet = dataclasses.replace(shop, reviewer=_Nobody())
    for waiting in shop.stores.spool.waiting():
        if not _may_close(waiting, shop):
            continue
        claim = take(shop, waiting)
        if claim is not None and _is_closed(claim, waiting, quiet):
            yield claim.job.id


def _may_close(waiting: Waiting, shop: Shop) -> bool:
    """Tell whether a job's proposal is paid for, and the mode in force may carry it on."""
    job_id, stores = waiting.job_id, shop.stores
    try:
        standing, acceptance = stores.standings.find(waiting.glimpse.project_key), stores.jobs.find(job_id)
        if standing is not None and standing.begun is not None:
            return False
        if shop.service.mode == "shadow" and acceptance is not None and acceptance.authority == "external":
            return False
        return stores.decisions.is_elected(job_id) or any(
            isinstance(each.outcome, Completed) for each in stores.decisions.results(job_id)
        )
    except InvalidRecordError as error:
        shop.listener.tell(Stopped(f"job {job_id}", error.code, error.fact, error.remedy))
        return False


def _is_closed(claim: Claim, waiting: Waiting, quiet: Shop) -> bool:
    """Carry a claimed job to its end; one that cannot come to it waits again as it did before."""
    from curator.workflow.review_job import review_job  # noqa: PLC0415 - gates and rules load where they are needed

    try:
        ending = review_job(claim, quiet)
    except StorageError:
        raise
    except CuratorError as error:
        at = waiting.glimpse.due_ms or quiet.clock.now()
        quiet.stores.spool.put_back(claim.job.id, quiet.worker_id, at)
        if not isinstance(error, _NoCallError):
            quiet.listener.tell(Stopped(f"job {claim.job.id}", error.code, error.fact, error.remedy))
        return False
    return isinstance(ending, Applied | Ended)


class _Nobody:
    """A reviewer that is not asked."""

    def prepare(self, brief: Brief) -> Prepared:
        raise _NoCallError(f"{brief.job.id}: its memory has moved on, and it needs another answer")

    def ask(self, prepared: Prepared, stop: Stop) -> Answer | CallFailure:
        raise AssertionError(prepared.request_digest, stop)


def _days(shop: Shop) -> frozenset[Day]:
    """Return today, and the days of every decision that still stands: the other worker looks its attempt up there."""
    days = {Day(day_of(shop.clock.now()))} | {seen.latest.day for seen in shop.stores.attempts.open_attempts()}
    for name in list_names(shop.layout.decisions, DIRECTORY_NAMES_MAX):
        job_id = JobId(name.removesuffix(".json"))
        if not JOB_ID_PATTERN.fullmatch(job_id):
            continue
        try:
            decision = shop.stores.decisions.find(job_id)
        except InvalidRecordError as error:
            shop.listener.tell(Stopped(f"job {job_id}", error.code, error.fact, error.remedy))
            continue
        if decision is not None:
            days |= {seen.latest.day for seen in attempts_of(decision.job, shop) if seen.id == decision.attempt_id}
    return frozenset(days)


def _say_stopped(shop: Shop) -> int:
    """Say of each dead worker of ours that it has stopped; of what time it beat last nothing changes."""
    store, stopped = HeartbeatStore(shop.volume, shop.layout), 0
    for beat in store.workers():
        is_dead = not is_alive(beat.pid, ms_of(beat.updated_at))
        if beat.worker_id.startswith(OURS) and beat.state != "stopped" and is_dead:
            store.write(dataclasses.replace(beat, state="stopped", job_id=None, attempt=None), is_lasting=True)
            stopped += 1
    for runtime in read_runtimes(shop.layout.runtimes):
        is_dead = not is_alive(runtime.pid, ms_of(runtime.updated_at))
        if runtime.kind == "worker" and runtime.state != "stopped" and is_dead:
            store.write(dataclasses.replace(runtime, state="stopped"), is_lasting=True)
    return stopped
