"""What each event changes, whether or not it was allowed: the guards are asked before, in `faults.model.rules`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from faults.model.state import Attempt, Frozen, Held, Job, Kind, State, Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from faults.model.state import Event


def _with(state: State, index: int, job: Job) -> State:
    jobs = state.jobs
    return state._replace(jobs=(*jobs[:index], job, *jobs[index + 1 :]))


def _enqueue(state: State, event: Event) -> State:
    job = state.jobs[event.job]
    return _with(state, event.job, job._replace(queued=event.next or 1, is_accepted=True, held=Held.NO))


def _stamp(state: State, event: Event) -> State:
    return _with(state, event.job, state.jobs[event.job]._replace(is_stamped=True))


def _claim(state: State, event: Event) -> State:
    job = state.jobs[event.job]._replace(running=event.next, is_live=True)
    return _begin(_with(state, event.job, job), event.job, event.next)


def _begin(state: State, job: int, number: int) -> State:
    return state._replace(workers=tuple(sorted((*state.workers, Worker(job, number)), key=_rank)))


def _rank(worker: Worker) -> tuple[int, int]:
    return worker.job, worker.number


def _rebase(state: State, event: Event) -> State:
    job, worker = state.jobs[event.job]._replace(running=event.next, is_live=True), _worker(state, event)
    return _as(_without(_with(state, event.job, job), event), event, worker._replace(number=event.next))


def _without(state: State, event: Event) -> State:
    """Let whoever holds a claim forget it."""
    kept = tuple(each for each in state.workers if (each.job, each.number) != (event.job, event.number))
    return state._replace(workers=kept)


def _as(state: State, event: Event, worker: Worker) -> State:
    kept = [each for each in state.workers if (each.job, each.number) != (event.job, event.number)]
    return state._replace(workers=tuple(sorted((*kept, worker), key=_rank)))


def _worker(state: State, event: Event) -> Worker:
    found = state.worker(event.job, event.number)
    assert found is not None, "only the holder of a claim does this"
    return found


def _drop_queued(state: State, event: Event) -> State:
    return _with(state, event.job, state.jobs[event.job]._replace(queued=0))


def _drop_running(state: State, event: Event) -> State:
    job = state.jobs[event.job]
    after = _with(state, event.job, job._replace(running=0, is_live=False))
    # The last thing that its holder does: then it is free for another job. One that sleeps while it expires knows nothing.
    is_done = job.is_closed or (job.is_live and job.queued > job.running)
    return _without(after, event._replace(number=job.running)) if is_done else after


def _defer(state: State, event: Event) -> State:
    return _with(state, event.job, state.jobs[event.job]._replace(queued=event.next))


def _expire(state: State, event: Event) -> State:
    return _with(state, event.job, state.jobs[event.job]._replace(queued=event.next))


def _base(state: State, event: Event) -> State:
    value = state.value(event.job) if event.value is None else event.value
    return _as(state, event, _worker(state, event)._replace(base=value))


def _attempt(state: State, event: Event) -> Attempt:
    return state.jobs[event.job].attempt(event.number) or Attempt(event.number, None, "")


def _note(state: State, event: Event, attempt: Attempt) -> State:
    job = state.jobs[event.job]
    others = [each for each in job.attempts if each.number != attempt.number]
    return _with(state, event.job, job._replace(attempts=tuple(sorted((*others, attempt), key=_number))))


def _number(attempt: Attempt) -> int:
    return attempt.number


def _reserve(state: State, event: Event) -> State:
    return _note(state, event, Attempt(event.number, _worker(state, event).base, "reserved"))


def _to(name: str) -> Callable[[State, Event], State]:
    def effect(state: State, event: Event) -> State:
        return _note(state, event, _attempt(state, event)._replace(state=name))

    return effect


def _correct(state: State, event: Event) -> State:
    return _to("reconciled" if event.word == "operator" else "corrected")(state, event)


def _cancel(state: State, event: Event) -> State:
    after = _note(state, event, _attempt(state, event)._replace(state="cancelled"))
    if event.word != "own":
        return after
    return after._replace(spent=after.spent._replace(failures=after.spent.failures + 1))


def _call(state: State, event: Event) -> State:
    attempt = _attempt(state, event)
    after = _note(state, event, attempt._replace(calls=attempt.calls + 1))
    return _as(after, event, _worker(after, event)._replace(has_answer=True))


def _result(state: State, event: Event) -> State:
    after = _note(state, event, _attempt(state, event)._replace(result=event.word))
    if event.word != "completed":
        after = after._replace(spent=after.spent._replace(failures=after.spent.failures + 1))
    return _as(after, event, _worker(after, event)._replace(has_answer=False))


def _prove(state: State, event: Event) -> State:
    return _as(state, event, _worker(state, event)._replace(proved=event.next))


def _elect(state: State, event: Event) -> State:
    after = _with(state, event.job, state.jobs[event.job]._replace(decision=event.next))
    return _as(after, event, _worker(after, event)._replace(base=None, proved=0))


def _intent(state: State, event: Event) -> State:
    assert event.base is not None, "a change begins somewhere"
    assert event.value is not None, "a change leads somewhere"
    frozen = Frozen(event.word, event.base, event.value)
    return _with(state, event.job, state.jobs[event.job]._replace(intent=frozen))


def _write(state: State, event: Event) -> State:
    intent = state.jobs[event.job].intent
    return state if intent is None else _lead(state, state.jobs[event.job].branch, intent.after)


def _lead(state: State, index: int, value: tuple[str, ...], written: str = "") -> State:
    branch, branches = state.branches[index], state.branches
    told = (*branch.written, written) if written else branch.written
    return state._replace(
        branches=(*branches[:index], branch._replace(value=value, written=told), *branches[index + 1 :])
    )


def _revision(state: State, event: Event) -> State:
    return _with(state, event.job, state.jobs[event.job]._replace(has_revision=True))


def _complete(state: State, event: Event) -> State:
    return _with(state, event.job, state.jobs[event.job]._replace(is_complete=True))


def _card(state: State, event: Event) -> State:
    return _with(state, event.job, state.jobs[event.job]._replace(has_card=True))


def _receipt(state: State, event: Event) -> State:
    return _with(state, event.job, state.jobs[event.job]._replace(has_receipt=True))


def _tombstone(state: State, event: Event) -> State:
    return _with(state, event.job, state.jobs[event.job]._replace(has_tombstone=True))


def _drop_intent(state: State, event: Event) -> State:
    return _with(state, event.job, state.jobs[event.job]._replace(intent=None))


def _drop_completion(state: State, event: Event) -> State:
    return _with(state, event.job, state.jobs[event.job]._replace(is_complete=False))


def _outcome(state: State, event: Event) -> State:
    return _with(state, event.job, state.jobs[event.job]._replace(outcome=event.word))


def _close(state: State, event: Event) -> State:
    return _with(state, event.job, state.jobs[event.job]._replace(is_closed=True))


def _foreground(state: State, event: Event) -> State:
    # In what order things were written makes no difference to the model, so it makes no other state.
    stands = state.branches[event.job].value
    value = tuple(sorted((*stands, event.word))) if event.value is None else event.value
    after = _lead(state, event.job, value, event.word)
    return after._replace(spent=after.spent._replace(writes=after.spent.writes + 1))


def _lapse(state: State, event: Event) -> State:
    job = state.jobs[event.job]
    after = _with(state, event.job, job._replace(is_live=False))
    if state.worker(event.job, job.running) is None:
        return after
    return after._replace(spent=after.spent._replace(sleeps=after.spent.sleeps + 1))


def _crash(state: State, event: Event) -> State:
    after = _without(state, event)
    return after._replace(spent=after.spent._replace(crashes=after.spent.crashes + 1))


def _hold(state: State, event: Event) -> State:
    return _with(state, event.job, state.jobs[event.job]._replace(held=Held.HELD))


def _set_aside(state: State, event: Event) -> State:
    job = state.jobs[event.job]
    # A person may hold the job of which another record is set aside.
    return _with(state, event.job, job._replace(held=job.held or Held.ASIDE))


def _release(state: State, event: Event) -> State:
    return _with(state, event.job, state.jobs[event.job]._replace(queued=event.next))


def _drop_held(state: State, event: Event) -> State:
    return _with(state, event.job, state.jobs[event.job]._replace(held=Held.NO))


def _undo(state: State, event: Event) -> State:
    assert event.value is not None, "it leads somewhere"
    return _lead(state, event.job, event.value)


def _age(state: State, event: Event) -> State:
    """Let what a job left go by its age; a decision and its result may be asked for no more."""
    job = state.jobs[event.job]
    gone = {
        "outcome": job._replace(outcome=""),
        "receipt": job._replace(has_receipt=False),
        "tombstone": job._replace(has_tombstone=False),
        "decision": job._replace(decision=0),
    }
    return _with(state, event.job, gone.get(event.word, job))


def _nothing(state: State, event: Event) -> State:
    del event
    return state


EFFECTS: Final[dict[Kind, Callable[[State, Event], State]]] = {
    Kind.ENQUEUE: _enqueue,
    Kind.STAMP: _stamp,
    Kind.CLAIM: _claim,
    Kind.DROP_QUEUED: _drop_queued,
    Kind.RENEW: _nothing,
    Kind.REBASE: _rebase,
    Kind.DEFER: _defer,
    Kind.EXPIRE: _expire,
    Kind.TAKE_OVER: _claim,
    Kind.DROP_RUNNING: _drop_running,
    Kind.BASE: _base,
    Kind.RESERVE: _reserve,
    Kind.CANCEL: _cancel,
    Kind.DISPATCH: _to("dispatched"),
    Kind.CALL: _call,
    Kind.RESULT: _result,
    Kind.SETTLE: _to("settled"),
    Kind.LOSE: _to("unknown"),
    Kind.CORRECT: _correct,
    Kind.PROVE: _prove,
    Kind.ELECT: _elect,
    Kind.INTENT: _intent,
    Kind.WRITE: _write,
    Kind.REVISION: _revision,
    Kind.COMPLETE: _complete,
    Kind.CARD: _card,
    Kind.RECEIPT: _receipt,
    Kind.TOMBSTONE: _tombstone,
    Kind.DROP_INTENT: _drop_intent,
    Kind.DROP_COMPLETION: _drop_completion,
    Kind.OUTCOME: _outcome,
    Kind.CLOSE: _close,
    Kind.LEAVE: _without,
    Kind.FOREGROUND: _foreground,
    Kind.LAPSE: _lapse,
    Kind.CRASH: _crash,
    Kind.HOLD: _hold,
    Kind.SET_ASIDE: _set_aside,
    Kind.RELEASE: _release,
    Kind.DROP_HELD: _drop_held,
    Kind.HURRY: _nothing,
    Kind.UNDO: _undo,
    Kind.SEED: _undo,
    Kind.AGE: _age,
}
