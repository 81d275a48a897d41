"""The transition relation: what must be seen before a thing may happen, and what it changes.

Each guard has a name, so that it can be taken away: `take` with the guard's name in `off` is the model with that bug. A
guard says what the files must show; in which order a healthy process goes about it is in `faults.model.program`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from faults.model.effects import EFFECTS
from faults.model.state import Attempt, Kind, State

if TYPE_CHECKING:
    from collections.abc import Callable

    from faults.model.state import Event

SUPERSEDED_MAX: Final = 2
"""So many proposals of a job may be overtaken by a moved branch; after that the last one is elected as it is."""
FAILURES_MAX: Final = 3
"""So many attempts without a proposal end a job."""

_NONE: Final = Attempt(0, None, "")
"""What stands where no attempt was made."""


class Guard(NamedTuple):
    """What must be seen before a thing may happen."""

    name: str
    why: str
    holds: Callable[[State, Event], bool]


Verdict: TypeAlias = "State | str"
"""The state after an event, or the name of what forbids it."""

ACTOR: Final = "nobody holds that claim"
"""What forbids an event that only the holder of a claim could bring about."""

BY_WORKER: Final = frozenset(
    {
        Kind.REBASE,
        Kind.DEFER,
        Kind.RENEW,
        Kind.BASE,
        Kind.RESERVE,
        Kind.DISPATCH,
        Kind.CALL,
        Kind.RESULT,
        Kind.PROVE,
        Kind.ELECT,
        Kind.OUTCOME,
        Kind.LEAVE,
        Kind.CRASH,
    }
)
"""What only a process does that holds a claim, or believes so; everything else may be anybody's recovery."""


def take(state: State, event: Event, off: frozenset[str] = frozenset()) -> Verdict:
    """Return the state after an event, or what forbids it; the guards in `off` are not asked."""
    if event.kind in BY_WORKER and state.worker(event.job, event.number) is None:
        return ACTOR
    for guard in GUARDS.get(event.kind, ()):
        if guard.name not in off and not guard.holds(state, event):
            return guard.name
    return EFFECTS[event.kind](state, event)


def _attempt(state: State, event: Event) -> Attempt | None:
    return state.jobs[event.job].attempt(event.number)


def _state(state: State, event: Event) -> str:
    found = _attempt(state, event)
    return "" if found is None else found.state


def _fits(state: State, event: Event) -> bool:
    """Tell whether an attempt judged the branch as its elector read it, or patience ran out."""
    job, worker = state.jobs[event.job], state.worker(event.job, event.number)
    chosen = job.attempt(event.next)
    assert worker is not None
    if chosen is None or worker.base is None:
        return False
    made = [each for each in job.attempts if each.result == "completed"]
    failed = [each for each in job.attempts if each.state in _PAID and each.result != "completed"]
    return chosen.base == worker.base or len(made) > SUPERSEDED_MAX or len(failed) >= FAILURES_MAX


_PAID: Final = frozenset({"dispatched", "settled", "unknown", "reconciled"})


def _orphan(state: State, event: Event) -> bool:
    """Tell whether an attempt is nobody's; `own` is the word of the claim's holder itself."""
    return event.word == "own" or not state.owns(event.job, event.number)


def _lost(state: State, event: Event) -> bool:
    found = _attempt(state, event)
    return not state.owns(event.job, event.number) or (found is not None and found.result == "silent")


def _judged(state: State, event: Event) -> bool:
    job = state.jobs[event.job]
    elected = job.attempt(job.decision)
    return elected is None or event.base == elected.base


def _due(state: State, event: Event) -> bool:
    """Tell whether the status of an intent is what the branch says; only `applied` and `stale` depend on it."""
    is_at_base = state.value(event.job) == event.base
    return is_at_base if event.word == "applied" else not (is_at_base and event.word == "stale")


def _write_row(state: State, event: Event) -> bool:
    job = state.jobs[event.job]
    if job.intent is None or job.intent.status != "applied":
        return False
    is_begun = job.has_revision or job.is_complete or job.has_tombstone or job.has_receipt
    return state.value(event.job) == job.intent.base and not is_begun


def _revision_row(state: State, event: Event) -> bool:
    job = state.jobs[event.job]
    if job.intent is None or job.intent.status != "applied":
        return False
    return state.value(event.job) == job.intent.after and not (job.has_revision or job.is_complete or job.has_receipt)


def _complete_row(state: State, event: Event) -> bool:
    job = state.jobs[event.job]
    is_due = job.intent is not None and (job.intent.status != "applied" or job.has_revision)
    return is_due and not (job.has_tombstone or job.has_receipt)


def _is_whole(state: State, event: Event) -> bool:
    job = state.jobs[event.job]
    if event.word == "failed":
        return job.outcome == "failed" or job.held == "aside" or job.is_closed
    return job.is_complete or job.has_receipt or job.has_tombstone or job.is_closed


def _is_covered(state: State, event: Event) -> bool:
    job = state.jobs[event.job]
    return job.running >= job.queued > 0 or bool(job.outcome or job.held) or job.is_closed


def _has_another_name(state: State, event: Event) -> bool:
    job = state.jobs[event.job]
    return job.queued > job.running or bool(job.outcome or job.held) or job.is_closed


def _has_answer(state: State, event: Event) -> bool:
    worker = state.worker(event.job, event.number)
    return worker is not None and worker.has_answer


def _is_based(state: State, event: Event) -> bool:
    worker = state.worker(event.job, event.number)
    return worker is not None and worker.base is not None


def _has_proved(state: State, event: Event) -> bool:
    worker = state.worker(event.job, event.number)
    return worker is not None and worker.proved == event.next > 0


def _owns(state: State, event: Event) -> bool:
    return state.owns(event.job, event.number)


def _is_open(state: State, event: Event) -> bool:
    return not state.jobs[event.job].outcome


def _has_lapsed(state: State, event: Event) -> bool:
    job = state.jobs[event.job]
    return job.running > 0 and not job.is_live


def _is_unknown_here(state: State, event: Event) -> bool:
    job = state.jobs[event.job]
    return not (job.queued or job.running or job.outcome or job.held == "held")


def _is_billed(state: State, event: Event) -> bool:
    found = _attempt(state, event)
    return found is not None and found.is_billed


def _result_of(state: State, event: Event) -> str:
    found = state.jobs[event.job].attempt(event.next)
    return "" if found is None else found.result


def _has_begun(state: State, event: Event) -> bool:
    job = state.jobs[event.job]
    return job.intent is not None or job.is_complete or job.has_receipt or job.has_tombstone


def _is_unbegun(state: State, event: Event) -> bool:
    job = state.jobs[event.job]
    is_applied = job.has_revision or (job.intent is not None and job.intent.status == "applied")
    return event.word == "completed" or not is_applied


def _is_proved(state: State, event: Event) -> bool:
    return event.word == "failed" or state.jobs[event.job].has_receipt


GUARDS: Final[dict[Kind, tuple[Guard, ...]]] = {
    Kind.ENQUEUE: (Guard("enqueue.new", "the job stands nowhere in the spool", _is_unknown_here),),
    Kind.CLAIM: (
        Guard(
            "claim.waits", "its queued name stands, with this number", lambda s, e: s.jobs[e.job].queued == e.next > 0
        ),
        Guard("claim.alone", "no claim of it runs", lambda s, e: s.jobs[e.job].running == 0),
        Guard("claim.open", "no outcome of it stands", _is_open),
        Guard("claim.stamped", "under whose authority it runs is durable", lambda s, e: s.jobs[e.job].is_stamped),
    ),
    Kind.DROP_QUEUED: (Guard("drop queued.covered", "another name of the job stands", _is_covered),),
    Kind.DROP_RUNNING: (
        Guard("drop running.covered", "another name of the job stands", _has_another_name),
        Guard(
            "drop running.closed",
            "a job with an outcome has its closing record",
            lambda s, e: not s.jobs[e.job].outcome or s.jobs[e.job].is_closed,
        ),
    ),
    Kind.DROP_HELD: (
        Guard(
            "drop held.covered", "it stands in the queue", lambda s, e: s.jobs[e.job].queued > 0 or not _is_open(s, e)
        ),
    ),
    Kind.HOLD: (Guard("hold.waits", "it waits in the queue", lambda s, e: s.jobs[e.job].queued > 0),),
    Kind.RELEASE: (Guard("release.held", "it is held", lambda s, e: s.jobs[e.job].held == "held"),),
    Kind.RENEW: (Guard("renew.lease", "the lease is its own", _owns),),
    Kind.REBASE: (Guard("rebase.lease", "the lease is its own", _owns),),
    Kind.DEFER: (
        Guard("defer.lease", "the lease is its own", _owns),
        Guard("defer.open", "no outcome of it stands", _is_open),
    ),
    Kind.EXPIRE: (
        Guard("expire.lapsed", "the lease ran out", _has_lapsed),
        Guard("expire.open", "no outcome of it stands", _is_open),
    ),
    Kind.TAKE_OVER: (
        Guard("take over.lapsed", "the lease ran out", _has_lapsed),
        Guard("take over.open", "no outcome of it stands", _is_open),
    ),
    Kind.BASE: (
        Guard(
            "base.rolled",
            "no begun change is about to move the branch",
            lambda s, e: s.is_at_rest(s.jobs[e.job].branch),
        ),
    ),
    Kind.RESERVE: (
        Guard("reserve.based", "the branch was read, and its base is durable", _is_based),
        Guard("reserve.once", "this claim has made no attempt", lambda s, e: _attempt(s, e) is None),
    ),
    Kind.CANCEL: (
        Guard("cancel.reserved", "it was reserved and not sent", lambda s, e: _state(s, e) == "reserved"),
        Guard("cancel.orphan", "its claim lives no more, or its holder does it", _orphan),
    ),
    Kind.DISPATCH: (
        Guard("dispatch.reserved", "it is reserved, and nobody closed it", lambda s, e: _state(s, e) == "reserved"),
    ),
    Kind.CALL: (
        Guard("call.dispatched", "its dispatch is durable", lambda s, e: _state(s, e) in ("dispatched", "unknown")),
        Guard("call.once", "nothing left for it yet", lambda s, e: (_attempt(s, e) or _NONE).calls == 0),
    ),
    Kind.RESULT: (
        Guard("result.answered", "the provider answered this process", _has_answer),
        Guard("result.once", "no result of it stands", lambda s, e: (_attempt(s, e) or _NONE).result == ""),
    ),
    Kind.SETTLE: (
        Guard("settle.dispatched", "it was dispatched, and not given up", lambda s, e: _state(s, e) == "dispatched"),
        Guard("settle.result", "its result stands, with its bill", _is_billed),
    ),
    Kind.LOSE: (
        Guard("lose.dispatched", "it was dispatched", lambda s, e: _state(s, e) == "dispatched"),
        Guard("lose.orphan", "its claim lives no more, or its result tells no bill", _lost),
    ),
    Kind.CORRECT: (
        Guard("correct.unknown", "it was given up", lambda s, e: _state(s, e) == "unknown"),
        Guard(
            "correct.result",
            "its result stands, with its bill, or a person knows the bill",
            lambda s, e: e.word == "operator" or _is_billed(s, e),
        ),
    ),
    Kind.PROVE: (
        Guard("prove.lease", "the lease is its own", _owns),
        Guard("prove.completed", "its result is a proposal", lambda s, e: _result_of(s, e) == "completed"),
        Guard("prove.fits", "the proposal judged the branch as it was just read, or patience ran out", _fits),
    ),
    Kind.ELECT: (
        Guard("elect.proved", "the lease was proved for this proposal", _has_proved),
        Guard("elect.first", "no decision stands", lambda s, e: s.jobs[e.job].decision == 0),
    ),
    Kind.INTENT: (
        Guard("intent.decided", "a decision stands", lambda s, e: s.jobs[e.job].decision > 0),
        Guard("intent.first", "no change of this job was ever begun", lambda s, e: not _has_begun(s, e)),
        Guard(
            "intent.rolled",
            "no other begun change is about to move the branch",
            lambda s, e: s.is_at_rest(s.jobs[e.job].branch),
        ),
        Guard("intent.base", "it changes the branch that its proposal judged", _judged),
        Guard("intent.status", "its status is what the branch says", _due),
    ),
    Kind.WRITE: (Guard("write.row", "the branch is at the intent's base, and was not written for it", _write_row),),
    Kind.REVISION: (Guard("revision.row", "the branch is at the intent's result", _revision_row),),
    Kind.COMPLETE: (Guard("complete.row", "the revision stands, or none is due", _complete_row),),
    Kind.CARD: (Guard("card.whole", "what it tells is done", _is_whole),),
    Kind.RECEIPT: (
        Guard(
            "receipt.row",
            "the change is whole",
            lambda s, e: s.jobs[e.job].is_complete or s.jobs[e.job].has_tombstone,
        ),
    ),
    Kind.TOMBSTONE: (
        Guard(
            "tombstone.row",
            "the receipt stands",
            lambda s, e: s.jobs[e.job].has_receipt and s.jobs[e.job].intent is not None,
        ),
    ),
    Kind.DROP_INTENT: (Guard("drop intent.row", "the tombstone stands", lambda s, e: s.jobs[e.job].has_tombstone),),
    Kind.DROP_COMPLETION: (
        Guard(
            "drop completion.row",
            "the tombstone stands, and the intent is gone",
            lambda s, e: s.jobs[e.job].has_tombstone and s.jobs[e.job].intent is None,
        ),
    ),
    Kind.OUTCOME: (
        Guard("outcome.lease", "the lease is its own", _owns),
        Guard("outcome.receipt", "a completed job has its receipt", _is_proved),
        Guard("outcome.unbegun", "a job that fails has begun no change", _is_unbegun),
    ),
    Kind.CLOSE: (Guard("close.outcome", "the outcome stands", lambda s, e: bool(s.jobs[e.job].outcome)),),
    Kind.FOREGROUND: (
        Guard("foreground.rolled", "no begun change is about to move the branch", lambda s, e: s.is_at_rest(e.job)),
    ),
    Kind.UNDO: (Guard("undo.rolled", "no begun change is about to move the branch", lambda s, e: s.is_at_rest(e.job)),),
    Kind.SEED: (Guard("seed.new", "no such branch stands", lambda s, e: s.branches[e.job].value == ()),),
    Kind.AGE: (Guard("age.closed", "its job is over", lambda s, e: s.jobs[e.job].is_closed),),
}
"""In the order in which they are asked; the first that does not hold is the one that is told."""
