"""Which event it is that a record appears under a name, or that a name goes: one reader for each kind of name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

from faults.model.beginning import RefusedError, frozen_of, kind_of_result, meet
from faults.model.state import Attempt, Event, Held, Kind
from faults.recording import Verb
from faults.view import fields_of, number_of, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from faults.model.trace import Trace
    from faults.recording import Asked
    from faults.view import Fields

SPOOL: Final = "no-forgetti/review-spool"
OWN: Final = "no-forgetti/curator"
_JOB: Final = r"(review_[0-9a-f]{40})"
_ATTEMPT: Final = r"(review_attempt_[0-9a-f]{40})"
_PROJECT: Final = r"no-forgetti/(?:curator/shadow/)?[0-9a-f]{24}"
SILENT: Final = re.compile(
    r"no-forgetti/(?:review-workers|runtimes)/[^/]+"
    r"|no-forgetti/(?:service\.json|review-budget\.json)"
    rf"|{SPOOL}/accounting/.+"
    rf"|{SPOOL}/dead-letter/.+"
    rf"|{OWN}/(?:bases|evidence|projects|authority|trajectory|trajectory-inbox|backfill)/.+"
    rf"|{OWN}/(?:probe|lock-probe)\..+"
    rf"|{OWN}/(?:curator\.toml|service\.pid|shadow\.sqlite)"
    rf"|{OWN}/attempts/[^/]+"
    rf"|{OWN}/attempts/[0-9-]{{10}}/legacy.*"
    rf"|{_PROJECT}/(?:project\.json|reviews/.+|service/review-feedback/pending/.+)"
)
"""What the model says nothing about; every other path it must know."""

Reader: TypeAlias = "Callable[[Trace, Asked, tuple[str, ...], Fields], None]"


def _queued(trace: Trace, asked: Asked, names: tuple[str, ...], record: Fields) -> None:
    del asked
    (name,) = names
    index, number = trace.job(name), number_of(record, "nextAttempt")
    job = trace.state.jobs[index]
    meet(trace.names, name, fields_of(record.get("job")))
    if job.branch == 0 and not job.is_stamped:
        trace.belong(name, is_shadow=False)
    if job.held == Held.HELD:
        trace.happen(Event(Kind.RELEASE, index, next=number))
    elif job.running and not job.outcome:
        kind = Kind.DEFER if job.is_live else Kind.EXPIRE
        trace.happen(Event(kind, index, job.running if job.is_live else 0, next=number))
    elif job.queued == number and not job.running:
        trace.happen(Event(Kind.HURRY, index))
    else:
        trace.happen(Event(Kind.ENQUEUE, index, next=number))


def _running(trace: Trace, asked: Asked, names: tuple[str, ...], record: Fields) -> None:
    (name,) = names
    index, number = trace.job(name), number_of(record, "attempt")
    job = trace.state.jobs[index]
    trace.own_base(name)
    if asked.verb is Verb.LINK:
        trace.happen(Event(Kind.CLAIM, index, next=number))
    elif number == job.running and text_of(record, "leaseToken") == trace.tokens.get((name, number)):
        trace.happen(Event(Kind.RENEW, index, number))
    elif job.is_live:
        trace.happen(Event(Kind.REBASE, index, job.running, next=number))
    else:
        trace.happen(Event(Kind.TAKE_OVER, index, next=number))
    trace.leases[name] = text_of(record, "leaseUntil")
    trace.tokens[name, number] = text_of(record, "leaseToken")


def _step(trace: Trace, asked: Asked, names: tuple[str, ...], record: Fields) -> None:
    attempt, (name, number) = names[0], (text_of(record, "jobId"), number_of(record, "claimAttempt"))
    index, stands = trace.job(name), text_of(record, "state")
    if stands not in _BY_STATE:
        raise RefusedError("a step of an attempt that says no state")
    if text_of(record, "origin") == "adopted":
        trace.names.attempts[attempt] = (name, number)
        trace.learn(name, Attempt(number, trace.names.value(trace.own_base(name)), stands))
        return
    if stands == "reserved":
        if trace.tokens.get((name, number)) != text_of(record, "leaseToken"):
            raise RefusedError("reserve: its token is not its claim's")
        trace.names.attempts[attempt] = (name, number)
        trace.look_at(name, number, text_of(record, "baseBranchDigest"))
    elif stands == "dispatched":
        trace.sends(text_of(record, "requestDigest"), attempt)
    is_own = stands == "cancelled" and not any("close_orphans" in call.function for call in asked.stack)
    word = "operator" if text_of(record, "source") == "operator" else "own" if is_own else ""
    trace.happen(Event(_BY_STATE[stands], index, number, word))


_BY_STATE: Final = {
    "reserved": Kind.RESERVE,
    "dispatched": Kind.DISPATCH,
    "cancelled": Kind.CANCEL,
    "settled": Kind.SETTLE,
    "unknown": Kind.LOSE,
    "corrected": Kind.CORRECT,
}


def _result(trace: Trace, asked: Asked, names: tuple[str, ...], record: Fields) -> None:
    del asked
    name, attempt = names
    meet(trace.names, name, fields_of(record.get("job")))
    if attempt in trace.names.attempts:
        of, number = trace.names.attempts[attempt]
        trace.happen(Event(Kind.RESULT, trace.job(of), number, kind_of_result(record)))
    elif kind_of_result(record) == "completed":
        raise RefusedError("result: a proposal of no attempt")


def _decision(trace: Trace, asked: Asked, names: tuple[str, ...], record: Fields) -> None:
    del asked
    _, number = trace.names.attempts.get(text_of(record, "attemptId"), ("", 0))
    trace.elect(names[0], number)


def _intent(trace: Trace, asked: Asked, names: tuple[str, ...], record: Fields) -> None:
    del asked
    (name,) = names
    index, frozen = trace.job(name), frozen_of(record, trace.names)
    trace.happen(Event(Kind.INTENT, index, word=frozen.status, value=frozen.after, base=frozen.base))
    trace.freeze(index, frozen)


def _branch(trace: Trace, asked: Asked, names: tuple[str, ...], record: Fields) -> None:
    del names
    index, value = trace.branch(asked.path), trace.names.learn(record)
    callers = {call.function for call in asked.stack}
    if asked.verb is Verb.LINK:
        trace.happen(Event(Kind.SEED, index, value=value))
    elif any("ProjectStore.restore" in each for each in callers):
        trace.happen(Event(Kind.UNDO, index, value=value))
    elif not any(each.startswith("store/memory") for each in callers):
        before = trace.state.branches[index].value
        told = next((each for each in value[1:] if each not in before[1:]), "")
        trace.happen(Event(Kind.FOREGROUND, index, word=told, value=value))
    else:
        leading = [
            job
            for job, each in enumerate(trace.state.jobs)
            if each.branch == index and each.intent is not None and each.intent.after == value
        ]
        if not leading:
            raise RefusedError("memory changes, and no begun change leads there")
        trace.happen(Event(Kind.WRITE, leading[0]))


def _revision(trace: Trace, asked: Asked, names: tuple[str, ...], record: Fields) -> None:
    del asked, names
    if text_of(record, "kind") == "undo":
        return
    known = text_of(record, "id")
    named = [
        job for job, each in enumerate(trace.state.jobs) if each.intent is not None and each.intent.revision == known
    ]
    if not named:
        raise RefusedError("a revision is written, and no begun change names it")
    trace.happen(Event(Kind.REVISION, named[0]))


def _stamp(trace: Trace, asked: Asked, names: tuple[str, ...], record: Fields) -> None:
    del asked
    (name,) = names
    trace.belong(name, is_shadow=text_of(record, "authority") == "shadow")
    trace.happen(Event(Kind.STAMP, trace.job(name)))


def _outcome(trace: Trace, asked: Asked, names: tuple[str, ...], record: Fields) -> None:
    del asked
    (name,) = names
    status = text_of(fields_of(record.get("outcome")), "status")
    trace.happen(Event(Kind.OUTCOME, trace.job(name), number_of(record, "attempt"), status))


def _card(trace: Trace, asked: Asked, names: tuple[str, ...], record: Fields) -> None:
    del asked
    trace.happen(Event(Kind.CARD, trace.job(names[0]), word=text_of(record, "status")))


def _aside(trace: Trace, asked: Asked, names: tuple[str, ...], record: Fields) -> None:
    del names, record
    found = re.fullmatch(rf"(?:{SPOOL}/(?:queued|running)|{OWN}/held)/{_JOB}\.json", asked.source)
    if found:
        trace.happen(Event(Kind.SET_ASIDE, trace.job(found[1])))


def _plain(kind: Kind, word: str = "") -> Reader:
    def reader(trace: Trace, asked: Asked, names: tuple[str, ...], record: Fields) -> None:
        del asked, record
        trace.happen(Event(kind, trace.job(names[0]), word=word))

    return reader


def _silent(trace: Trace, asked: Asked, names: tuple[str, ...], record: Fields) -> None:
    """Take note of nothing: what goes was judged when it came, or Pi's to take."""


def _readers() -> Iterator[tuple[re.Pattern[str], str, Reader]]:
    admissions = rf"{_PROJECT}/review-admissions"
    service = rf"{_PROJECT}/service"
    table: tuple[tuple[str, Reader, Reader], ...] = (
        (rf"{SPOOL}/queued/{_JOB}\.json", _queued, _plain(Kind.DROP_QUEUED)),
        (rf"{SPOOL}/running/{_JOB}\.json", _running, _plain(Kind.DROP_RUNNING)),
        (rf"{OWN}/held/{_JOB}\.json", _plain(Kind.HOLD), _plain(Kind.DROP_HELD)),
        (rf"{SPOOL}/outcomes/{_JOB}\.json", _outcome, _plain(Kind.AGE, "outcome")),
        (rf"{SPOOL}/dead-letter/.+\.bad", _aside, _silent),
        (rf"{OWN}/jobs/{_JOB}\.json", _stamp, _silent),
        (rf"{OWN}/attempts/[0-9-]{{10}}/[0-9a-f]{{2}}/{_ATTEMPT}\.[0-3]\.json", _step, _silent),
        (rf"{OWN}/finished/[0-9a-f]{{2}}/{_JOB}\.json", _plain(Kind.CLOSE), _silent),
        (rf"{SPOOL}/provider-results/{_JOB}/{_ATTEMPT}\.json", _result, _silent),
        (rf"{SPOOL}/proposal-decisions/{_JOB}\.json", _decision, _plain(Kind.AGE, "decision")),
        (rf"{admissions}/{_JOB}\.intent\.json", _intent, _plain(Kind.DROP_INTENT)),
        (rf"{admissions}/{_JOB}\.complete\.json", _plain(Kind.COMPLETE), _plain(Kind.DROP_COMPLETION)),
        (rf"{admissions}/retired/{_JOB}\.json", _plain(Kind.TOMBSTONE), _plain(Kind.AGE, "tombstone")),
        (rf"{_PROJECT}/branches/[^/]+\.json", _branch, _silent),
        (rf"{_PROJECT}/revisions/[^/]+/[^/]+\.json", _revision, _silent),
        (rf"{service}/commit-receipts/{_JOB}\.json", _plain(Kind.RECEIPT), _plain(Kind.AGE, "receipt")),
        (rf"{service}/review-feedback/ready/{_JOB}\.json", _card, _silent),
    )
    for pattern, came, went in table:
        yield re.compile(pattern), "publish", came
        yield re.compile(pattern), "unlink", went


READERS: Final = tuple(_readers())
