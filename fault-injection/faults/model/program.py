"""What the processes, Pi and the world may try from a state, within bounds.

It is generous: a process tries what its place allows and leaves the judgement to the guards, so that a guard that is
taken away is really missed. Nothing here keeps a promise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faults.model.state import RESTING, Event, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faults.model.state import Job, State, Worker


class Bounds(NamedTuple):
    """How much there is, and how much may go wrong."""

    jobs: int = 2
    workers: int = 2
    crashes: int = 2
    writes: int = 1
    sleeps: int = 1
    """How often a lease may run out under a process that lives: it slept, and will wake."""
    failures: int = 1
    """How often a provider answers without a proposal."""
    reclaims_in_place: bool = True
    """Whether an expired claim may be taken over by one rename, beside the way back through the queue."""
    is_reduced: bool = False
    """Whether a step that nothing else can hinder or notice is taken before all others: see `certain`."""

    def __str__(self) -> str:
        """Return the bounds as a table's head."""
        return (
            f"{self.workers} workers, {self.jobs} jobs, {self.crashes} crashes, {self.writes} foreground writes, "
            f"{self.sleeps} sleeps, {self.failures} failures" + (", reduced" if self.is_reduced else "")
        )


def tried(state: State, bounds: Bounds) -> Iterator[Event]:
    """Yield everything that may be tried, allowed or not."""
    for index, job in enumerate(state.jobs):
        yield from _by_anybody(state, index, job, bounds)
    for worker in state.workers:
        yield from _by(state, worker, bounds)
    if state.spent.writes < bounds.writes:
        yield Event(Kind.FOREGROUND, 0, word=f"write {state.spent.writes}")


def certain(state: State) -> Iterator[Event]:
    """Yield steps that commute with every other one, so that one order of them stands for all.

    Each may be taken by anybody, crash or no crash; none can be hindered once it may be taken, and none hinders another;
    while a change is begun nobody reads or moves its branch. Every crash between them is visited where nothing is reduced;
    here a process that could have died in such a step lives on, and may still die later.
    """
    for index, job in enumerate(state.jobs):
        if not job.is_accepted:
            yield Event(Kind.ENQUEUE, index)
        elif not job.is_stamped:
            yield Event(Kind.STAMP, index)
        if job.is_live and state.worker(index, job.running) is None:
            yield Event(Kind.LAPSE, index)
        for attempt in job.attempts:
            if attempt.is_billed and attempt.state in ("dispatched", "unknown"):
                yield Event(Kind.SETTLE if attempt.state == "dispatched" else Kind.CORRECT, index, attempt.number)
            elif attempt.state in ("reserved", "dispatched") and state.worker(index, attempt.number) is None:
                yield Event(Kind.CANCEL if attempt.state == "reserved" else Kind.LOSE, index, attempt.number)
        yield from _about_the_change(index, job)
        if job.outcome:
            yield Event(Kind.CLOSE if not job.is_closed else Kind.DROP_RUNNING, index)
        elif job.queued > job.running > 0:
            yield Event(Kind.DROP_RUNNING, index)


def is_fair(state: State, event: Event) -> bool:
    """Tell whether an event happens by itself where nothing goes wrong any more."""
    if event.kind in (Kind.CRASH, Kind.FOREGROUND):
        return False
    if event.kind is Kind.LAPSE:
        return state.worker(event.job, state.jobs[event.job].running) is None
    return event.kind is not Kind.RESULT or event.word == "completed"


def _by_anybody(state: State, index: int, job: Job, bounds: Bounds) -> Iterator[Event]:
    """Yield what Pi, a process without a claim, or time may do about one job."""
    if not job.is_accepted:
        yield Event(Kind.ENQUEUE, index)
        return
    if job.is_over:
        # Pi hands over what it was never told of, and a late process looks for something to do.
        yield Event(Kind.ENQUEUE, index)
    if not job.is_stamped:
        yield Event(Kind.STAMP, index)
    if len(state.workers) < bounds.workers:
        if _may_be_next(state, index):
            yield Event(Kind.CLAIM, index, next=job.queued or job.running + 1)
        if bounds.reclaims_in_place and job.running:
            yield Event(Kind.TAKE_OVER, index, next=job.running + 1)
    if job.running:
        yield from _about_the_claim(state, index, job, bounds)
    if job.queued:
        yield Event(Kind.DROP_QUEUED, index)
    if not job.is_closed:
        yield Event(Kind.CLOSE, index)
    yield from _about_the_attempts(index, job)
    yield from _about_the_change(index, job)


def _may_be_next(state: State, index: int) -> bool:
    """Tell whether a job may be claimed first of all: they are alike, so that one is said to be the first one."""
    return index == 0 or state.jobs[index - 1].queued != 1 or state.jobs[index - 1].running > 0


def _about_the_claim(state: State, index: int, job: Job, bounds: Bounds) -> Iterator[Event]:
    if job.queued <= job.running:
        yield Event(Kind.EXPIRE, index, next=job.running + 1)
    yield Event(Kind.DROP_RUNNING, index)
    if job.is_live and (state.worker(index, job.running) is None or state.spent.sleeps < bounds.sleeps):
        yield Event(Kind.LAPSE, index)


def _about_the_attempts(index: int, job: Job) -> Iterator[Event]:
    """Yield how recovery may close an attempt: it looks for a result first, which may come a moment later."""
    for attempt in job.attempts:
        if attempt.state != "cancelled":
            yield Event(Kind.CANCEL, index, attempt.number)
        if attempt.state != "settled":
            yield Event(Kind.SETTLE, index, attempt.number)
        if attempt.state != "unknown" and not attempt.is_billed:
            yield Event(Kind.LOSE, index, attempt.number)
        if attempt.state != "corrected":
            yield Event(Kind.CORRECT, index, attempt.number)


def _about_the_change(index: int, job: Job) -> Iterator[Event]:
    """Yield the steps of a begun admission: whoever comes by takes the next one."""
    if job.intent is not None:
        yield Event(Kind.WRITE, index)
        if not job.has_revision:
            yield Event(Kind.REVISION, index)
        if not job.is_complete:
            yield Event(Kind.COMPLETE, index)
        if not job.has_tombstone:
            yield Event(Kind.TOMBSTONE, index)
        yield Event(Kind.DROP_INTENT, index)
    if job.decision and not job.has_receipt:
        yield Event(Kind.RECEIPT if job.has_card else Kind.CARD, index)
        yield Event(Kind.RECEIPT, index) if not job.is_complete else Event(Kind.CARD, index)
    if job.is_complete:
        yield Event(Kind.DROP_COMPLETION, index)


def _by(state: State, worker: Worker, bounds: Bounds) -> Iterator[Event]:
    """Yield what the holder of a claim may do: it may have slept, and believe what is no longer so."""
    index, number = worker.job, worker.number
    job, is_owner = state.jobs[index], state.owns(index, number)
    if state.spent.crashes < bounds.crashes:
        yield Event(Kind.CRASH, index, number)
    if is_owner and job.queued >= number:
        # Claiming and giving back are two names under one lock: nothing comes between them but a crash.
        return
    if worker.has_answer:
        yield Event(Kind.RESULT, index, number, "completed")
        if state.spent.failures < bounds.failures:
            yield Event(Kind.RESULT, index, number, "failed")
            yield Event(Kind.RESULT, index, number, "silent")
        return
    if not is_owner:
        yield Event(Kind.LEAVE, index, number)
    if job.outcome and is_owner:
        yield Event(Kind.DEFER, index, number, next=number + 1)
        return
    if job.is_closed:
        return
    if worker.proved and not job.decision:
        yield Event(Kind.ELECT, index, number, next=worker.proved)
        return
    yield from _ask(state, worker, bounds)
    yield from _choose(state, worker)
    yield from _admit(state, index, number)


def _ask(state: State, worker: Worker, bounds: Bounds) -> Iterator[Event]:
    """Yield the steps of an attempt, in whatever state its own stands."""
    index, number = worker.job, worker.number
    job = state.jobs[index]
    own = job.attempt(number)
    is_done = own is not None and own.state in RESTING
    if not job.decision and (worker.base is None or (is_done and worker.base != state.value(index))):
        yield Event(Kind.BASE, index, number)
    if own is not None and own.state == "reserved" and state.spent.failures < bounds.failures:
        yield Event(Kind.CANCEL, index, number, "own")
    # Whoever finds a proposal about the branch as it reads it asks for no other one.
    if not job.decision and not any(each.result == "completed" and each.base == worker.base for each in job.attempts):
        yield Event(Kind.RESERVE, index, number)
    yield Event(Kind.DISPATCH, index, number)
    yield Event(Kind.CALL, index, number)
    yield Event(Kind.RESULT, index, number, "completed")


def _choose(state: State, worker: Worker) -> Iterator[Event]:
    """Yield what may follow an attempt: electing it or another one, judging anew, another try, the end."""
    index, number = worker.job, worker.number
    job = state.jobs[index]
    own = job.attempt(number)
    if own is not None and own.state not in RESTING:
        return
    # Whose own attempt brought nothing is done: it fails the job or gives it back, and looks at no other result.
    has_missed = own is not None and own.result != "completed"
    for each in () if has_missed else job.attempts:
        if each.result:
            yield Event(Kind.ELECT, index, number, next=each.number)
            if not job.decision:
                yield Event(Kind.PROVE, index, number, next=each.number)
    if has_missed:
        yield Event(Kind.DEFER, index, number, next=number + 1)
    if own is not None and not job.decision and worker.base not in (None, own.base):
        yield Event(Kind.REBASE, index, number, next=number + 1)
    if own is not None and own.result in ("failed", "silent"):
        yield Event(Kind.OUTCOME, index, number, "failed")


def _admit(state: State, index: int, number: int) -> Iterator[Event]:
    """Yield what may follow a decision."""
    job, stands = state.jobs[index], state.value(index)
    chosen = job.attempt(job.decision) or next(iter(job.attempts), None)
    if job.intent is None and chosen is not None and chosen.base is not None:
        after = tuple(sorted((*stands, f"job {index}")))
        for base in {chosen.base: 0, stands: 0}:
            yield Event(Kind.INTENT, index, word="applied", value=after, base=base)
            yield Event(Kind.INTENT, index, word="stale", value=stands, base=base)
    if not job.has_receipt or (job.intent is None and not job.is_complete):
        yield Event(Kind.OUTCOME, index, number, "completed")
