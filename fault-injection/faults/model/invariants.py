"""What must hold of every state and of every step of the model, said without its guards.

Each is a sentence of the README's promises; a guard that is taken away must break one of them, or the end of a job.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from faults.model.state import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from faults.model.state import Event, State

Invariant: TypeAlias = "Callable[[State], bool]"
StepInvariant: TypeAlias = "Callable[[State, Event, State], bool]"

_COUNTED: Final = frozenset({"dispatched", "settled", "unknown", "corrected", "reconciled"})
_ARROWS: Final = frozenset(
    {
        ("", "reserved"),
        ("reserved", "dispatched"),
        ("reserved", "cancelled"),
        ("dispatched", "settled"),
        ("dispatched", "unknown"),
        ("unknown", "corrected"),
        ("unknown", "reconciled"),
    }
)


def nothing_accepted_is_lost(state: State) -> bool:
    """What was accepted stands under a name, or is over."""
    return all(
        not job.is_accepted or bool(job.queued or job.running or job.held or job.outcome or job.is_closed)
        for job in state.jobs
    )


def no_call_is_uncounted(state: State) -> bool:
    """Every request that left is one attempt that counts, and no attempt is two requests."""
    return all(
        attempt.calls == 0 or (attempt.calls == 1 and attempt.state in _COUNTED)
        for job in state.jobs
        for attempt in job.attempts
    )


def an_attempt_is_proved(state: State) -> bool:
    """An attempt judges a branch, a result was asked for, and a bill is a result's."""
    return all(
        attempt.base is not None
        and (attempt.result == "" or attempt.calls > 0)
        and (attempt.state not in ("settled", "corrected") or attempt.is_billed)
        for job in state.jobs
        for attempt in job.attempts
    )


def a_decision_is_a_proposal(state: State) -> bool:
    """What was elected is a result with a proposal."""
    return all(
        job.decision == 0 or any(each.number == job.decision and each.result == "completed" for each in job.attempts)
        for job in state.jobs
    )


def a_proposal_takes_effect_once(state: State) -> bool:
    """Nothing stands twice in a branch."""
    return all(len(set(branch.value)) == len(branch.value) for branch in state.branches)


def a_change_is_of_what_was_judged(state: State) -> bool:
    """A begun change has a decision, and begins at the branch that its attempt judged."""
    for job in state.jobs:
        if job.intent is not None:
            elected = job.attempt(job.decision)
            if job.decision == 0 or (elected is not None and elected.base != job.intent.base):
                return False
    return True


def memory_tells_its_history(state: State) -> bool:
    """A revision stands only after its change was made, and a whole change has its revision."""
    for index, job in enumerate(state.jobs):
        is_there = f"job {index}" in state.branches[job.branch].value
        if job.has_revision and not is_there:
            return False
        if job.is_complete and job.intent is not None and job.intent.status == "applied" and not job.has_revision:
            return False
    return True


def a_foreground_write_survives(state: State) -> bool:
    """What Pi was told that it has written stands."""
    return all(set(branch.written) <= set(branch.value) for branch in state.branches)


def what_pi_meets_is_in_order(state: State) -> bool:
    """A card tells what is whole; a receipt is of a whole change; a retired intent never stands without its completion."""
    for job in state.jobs:
        is_whole = job.is_complete or job.has_tombstone
        if (job.has_card or job.has_receipt) and job.outcome != "failed" and not is_whole:
            return False
        if job.has_tombstone and (not job.has_receipt or (job.intent is not None and not job.is_complete)):
            return False
    return True


def an_end_is_proved(state: State) -> bool:
    """A completed job has its receipt, a failed one no effect; a closed one its outcome, one without a name its closing."""
    for index, job in enumerate(state.jobs):
        if job.outcome == "completed" and not job.has_receipt:
            return False
        # That it is decided late is possible: its elector had proved its lease, and slept. Then it must be stale.
        if job.outcome == "failed" and f"job {index}" in state.branches[job.branch].value:
            return False
        if job.is_closed and not job.outcome:
            return False
        if job.outcome and not (job.running or job.queued) and not job.is_closed:
            return False
    return True


def what_runs_is_stamped(state: State) -> bool:
    """Under whose authority a job runs is durable before it does; and only what was accepted runs."""
    return all(not job.running or (job.is_stamped and job.is_accepted) for job in state.jobs)


def one_decision(before: State, event: Event, after: State) -> bool:
    """A decision is never another one."""
    return all(
        not job.decision or after.jobs[index].decision == job.decision for index, job in enumerate(before.jobs)
    ) and not (event.kind is Kind.ELECT and before.jobs[event.job].decision)


def memory_changes_by_compare_and_swap(before: State, event: Event, after: State) -> bool:
    """A branch moves by Pi's hand, or from exactly the state from which a durable intent begins to where it leads."""
    if before.branches == after.branches or event.kind is Kind.FOREGROUND:
        return True
    intent = before.jobs[event.job].intent
    return intent is not None and (before.value(event.job), after.value(event.job)) == (intent.base, intent.after)


def a_fenced_worker_writes_nothing(before: State, event: Event, after: State) -> bool:
    """Whoever lost its lease moves no job, ends none and proves no proposal; a live lease is taken from nobody."""
    del after
    job = before.jobs[event.job] if event.kind is not Kind.FOREGROUND else before.jobs[0]
    if event.kind in (Kind.REBASE, Kind.DEFER, Kind.OUTCOME, Kind.PROVE, Kind.RENEW):
        return job.running == event.number and job.is_live
    if event.kind is Kind.ELECT:
        worker = before.worker(event.job, event.number)
        return worker is not None and worker.proved == event.next
    if event.kind in (Kind.EXPIRE, Kind.TAKE_OVER, Kind.CLAIM):
        return not (job.running and job.is_live)
    if event.kind in (Kind.CANCEL, Kind.LOSE) and event.word != "own":
        found = job.attempt(event.number)
        is_silent = found is not None and found.result == "silent"
        return is_silent or not (job.running == event.number and job.is_live)
    return True


def an_attempt_only_goes_on(before: State, event: Event, after: State) -> bool:
    """An attempt takes the arrows of its machine alone, and a result is never lost or replaced."""
    del event
    for old, new in zip(before.jobs, after.jobs, strict=True):
        if old.attempts is new.attempts:
            continue
        if len({each.number for each in new.attempts}) != len(new.attempts):
            return False
        for attempt in new.attempts:
            was = old.attempt(attempt.number)
            stood, result = ("", "") if was is None else (was.state, was.result)
            if stood != attempt.state and (stood, attempt.state) not in _ARROWS:
                return False
            if result not in ("", attempt.result):
                return False
    return True


def one_attempt_a_claim(before: State, event: Event, after: State) -> bool:
    """A claim reserves once, reads a branch at rest, sends once, and writes its result once."""
    del after
    job = before.jobs[event.job] if event.kind is not Kind.FOREGROUND else before.jobs[0]
    found = job.attempt(event.number)
    if event.kind is Kind.RESERVE:
        return found is None
    if event.kind is Kind.BASE:
        return not any(each.branch == job.branch and each.is_pending for each in before.jobs)
    if event.kind is Kind.DISPATCH:
        return found is not None and found.state == "reserved"
    if event.kind is Kind.RESULT:
        return found is not None and found.result == ""
    return True


def what_is_over_stays_over(before: State, event: Event, after: State) -> bool:
    """A job with an outcome gets no other one, no new name and no second change; what stands never goes before its proof."""
    for old, new in zip(before.jobs, after.jobs, strict=True):
        if old is new:
            continue
        if old.outcome and (new.outcome != old.outcome or new.queued > old.queued or new.running > old.running):
            return False
        if (old.has_receipt or old.has_tombstone) and old.intent is None and new.intent is not None:
            return False
        if old.intent is not None and new.intent != old.intent and not (new.intent is None and old.has_tombstone):
            return False
    # An enqueueing of what stands somewhere already is a second name of it.
    return event.kind is not Kind.ENQUEUE or not any(
        (before.jobs[event.job].queued, before.jobs[event.job].running, before.jobs[event.job].outcome)
    )


def an_election_is_of_this_branch(before: State, event: Event, after: State) -> bool:
    """A proposal is elected only if it judged the branch that its elector has read, while another could still be made.

    A job is judged anew twice, and tried three times.
    """
    del after
    if event.kind is not Kind.PROVE:
        return True
    job, worker = before.jobs[event.job], before.worker(event.job, event.number)
    chosen = job.attempt(event.next)
    made = sum(each.result == "completed" for each in job.attempts)
    missed = sum(each.result != "completed" and each.state in _COUNTED for each in job.attempts)
    if made > 2 or missed > 2:
        return True
    return worker is not None and chosen is not None and chosen.base == worker.base


STATES: Final[tuple[Invariant, ...]] = (
    nothing_accepted_is_lost,
    no_call_is_uncounted,
    an_attempt_is_proved,
    a_decision_is_a_proposal,
    a_proposal_takes_effect_once,
    a_change_is_of_what_was_judged,
    memory_tells_its_history,
    a_foreground_write_survives,
    what_pi_meets_is_in_order,
    an_end_is_proved,
    what_runs_is_stamped,
)
STEPS: Final[tuple[StepInvariant, ...]] = (
    one_decision,
    memory_changes_by_compare_and_swap,
    a_fenced_worker_writes_nothing,
    an_attempt_only_goes_on,
    one_attempt_a_claim,
    what_is_over_stays_over,
    an_election_is_of_this_branch,
)


def breach_of_state(state: State) -> str:
    """Return the name of an invariant that a state breaks, or nothing."""
    return next((each.__name__ for each in STATES if not each(state)), "")


def breach_of_step(before: State, event: Event, after: State) -> str:
    """Return the name of an invariant that a step breaks, or nothing."""
    return next((each.__name__ for each in STEPS if not each(before, event, after)), "")
