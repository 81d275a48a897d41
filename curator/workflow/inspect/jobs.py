"""Jobs as a person asks for them: where they stand and what was tried, by ids, digests, sizes and codes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from curator.durable.read import list_names, stamp_of
from curator.durable.volume import Volume
from curator.errors import CuratorError, NotFoundError, UsageError
from curator.model.ids import JOB_ID_PATTERN, AttemptId, Day, JobId, ProjectKey, SessionKey
from curator.model.job import Finished, Queued, Running
from curator.model.limits import DIRECTORY_NAMES_MAX, SPOOL_NAMES_MAX
from curator.model.outcome import Failed
from curator.model.times import iso, ms_of
from curator.store.finished import FinishedStore
from curator.store.mailbox import Mailbox
from curator.workflow.inspect.books import open_books
from curator.workflow.inspect.letters import read_letters
from curator.workflow.inspect.memory import Authority, open_store
from curator.workflow.inspect.waiting import Reason, find_reasons

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator.durable.layout import Layout
    from curator.model.admission import Receipt
    from curator.model.closing import Closing
    from curator.model.decision import Decision, ProviderResult
    from curator.model.feedback import Pending
    from curator.model.job import Acceptance, Job
    from curator.model.outcome import Failure
    from curator.store.attempts import Seen
    from curator.store.spool import Waiting
    from curator.workflow.inspect.books import Books

JobState: TypeAlias = Literal["queued", "waiting", "running", "held", "over"]
Word: TypeAlias = Literal["hold", "release", "cancel", "retry"]
WORDS: Final[dict[JobState, tuple[Word, ...]]] = {
    "queued": ("hold", "cancel"),
    "waiting": ("retry", "hold", "cancel"),
    "running": (),
    "held": ("release", "cancel"),
    "over": ("retry",),
}
"""What a person may do with a job, by its state; retry needs the evidence of one that is over."""
_PREFIX: Final = "review_"
_FIRST_DAY: Final = Day("0000-00-00")
_NAMES_MAX: Final = SPOOL_NAMES_MAX * 2


@dataclasses.dataclass(frozen=True, slots=True)
class JobLine:
    """One job in one line."""

    id: JobId
    state: JobState
    since: str
    """Queued, claimed or ended at; for a waiting one, when it may be taken."""
    attempt: int
    project_key: ProjectKey | None
    session_key: SessionKey | None
    result: str | None
    """For one that is over: applied, noop, stale, rejected, or the failure's code."""
    waits_for: Reason | None = None
    """For one that is not over."""
    root: str | None = None
    """The project's folder, where its memory says it."""
    words: tuple[Word, ...] = ()
    """What a person may do with it now."""


@dataclasses.dataclass(frozen=True, slots=True)
class JobView:
    """All that may be shown of one job. `job` is there for its ids and sizes; its text is not to be shown."""

    id: JobId
    state: JobState | None
    job: Job | None
    next_attempt: int | None
    available_at: str | None
    running: Running | None
    acceptance: Acceptance | None
    attempts: tuple[Seen, ...]
    codes: Mapping[AttemptId, str]
    """The failure code of each attempt that failed."""
    failure: Failure | None
    """The last one."""
    results: int
    decision: Decision | None
    is_admitting: bool
    receipt: Receipt | None
    outcome: Finished | None
    closing: Closing | None
    pending: Pending | None
    has_card: bool
    waits_for: Reason | None
    root: str | None
    words: tuple[Word, ...]


def list_jobs(books: Books, now: int) -> tuple[JobLine, ...]:
    """Return every readable job: what runs, what waits, what is held, and what is over and not yet forgotten."""
    layout, spool = books.layout, books.spool
    lines = [_running_line(each) for each in spool.running()]
    lines += [_queued_line(each, now) for each in spool.waiting()]
    lines += [_held_line(each) for each in spool.held()]
    lines += [_over_line(finished, closing) for finished, closing in books.over.all()]
    reasons = find_reasons(books, now)
    roots = {key: _root(layout, key) for line in lines if (key := line.project_key) is not None}
    whole = [
        dataclasses.replace(
            line,
            waits_for=reasons.get(line.id),
            root=None if line.project_key is None else roots[line.project_key],
            words=_words(layout, line.id, line.state),
        )
        for line in lines
    ]
    order: dict[JobState, int] = {"running": 0, "queued": 1, "waiting": 2, "held": 3, "over": 4}
    return tuple(sorted(whole, key=lambda line: (order[line.state], line.since, line.id)))


def find_job_id(layout: Layout, prefix: str) -> JobId:
    """Return the one job whose id begins so, with or without `review_`.

    Raises `NotFoundError` where there is none and `UsageError` where there are several.
    """
    digits = prefix.removeprefix(_PREFIX)
    if JOB_ID_PATTERN.fullmatch(_PREFIX + digits):
        return JobId(_PREFIX + digits)
    found = known_job_ids(layout, digits)
    if not digits or not found:
        raise NotFoundError(f"no job begins with {prefix!a}")
    if len(found) > 1:
        fact = f"{len(found)} jobs begin with {prefix!a}"
        raise UsageError(fact, remedy="Give more of the id; see `curator jobs list`")
    return JobId(found.pop())


def show_job(layout: Layout, job_id: JobId, now: int) -> JobView:
    """Return all that may be shown of one job. Raises `NotFoundError` where no trace of it stands."""
    books = open_books(layout)
    spool, decisions = books.spool, books.decisions
    queued, held = spool.queued_one(job_id), spool.held_one(job_id)
    running, outcome = spool.running_one(job_id), spool.outcome(job_id)
    decision, results = decisions.read(job_id), decisions.read_results(job_id)
    closing, acceptance = FinishedStore(Volume(), layout).find(job_id), books.jobs.find(job_id)
    owned = running or queued or held
    job = owned.job if owned is not None else decision.job if decision is not None else None
    job = results[0].job if job is None and results else job
    attempts = books.attempts.of_job(job_id, _FIRST_DAY)
    if job is None and outcome is None and closing is None and not attempts:
        raise _not_found(layout, job_id)
    key = job.project_key if job is not None else None if closing is None else closing.project_key
    authority: Authority = "external" if acceptance is None else acceptance.authority
    memory = None if key is None else open_store(layout, key, authority)
    mailbox = None if key is None else Mailbox(Volume(), layout.project(key))
    waiting = queued or held
    state = _state(queued, held, running, now, is_over=outcome is not None or closing is not None)
    return JobView(
        id=job_id,
        state=state,
        job=job,
        next_attempt=None if waiting is None else waiting.next_attempt,
        available_at=None if queued is None else queued.available_at,
        running=running,
        acceptance=acceptance,
        attempts=attempts,
        codes={each.attempt_id: each.outcome.error.code for each in results if isinstance(each.outcome, Failed)},
        failure=_last_failure(outcome, results),
        results=len(results),
        decision=decision,
        is_admitting=memory is not None and memory.intent(job_id) is not None,
        receipt=None if memory is None else memory.receipt(job_id),
        outcome=outcome,
        closing=closing,
        pending=None if mailbox is None else mailbox.pending(job_id),
        has_card=mailbox is not None and mailbox.ready(job_id) is not None,
        waits_for=None if state == "over" else find_reasons(books, now).get(job_id),
        root=None if key is None else _root(layout, key),
        words=() if state is None else _words(layout, job_id, state),
    )


def _last_failure(outcome: Finished | None, results: tuple[ProviderResult, ...]) -> Failure | None:
    """Return the failure that a job is over with, else that of its last attempt; its message is our own words."""
    if outcome is not None:
        return outcome.outcome.error if isinstance(outcome.outcome, Failed) else None
    failed = [each.outcome for each in results if isinstance(each.outcome, Failed)]
    last = max(failed, key=lambda each: each.completed_at, default=None)
    return None if last is None else last.error


def _root(layout: Layout, key: ProjectKey) -> str | None:
    try:
        project = open_store(layout, key).project()
    except CuratorError:
        return None
    return None if project is None else project.root


def _words(layout: Layout, job_id: JobId, state: JobState) -> tuple[Word, ...]:
    """Return what a person may do with a job; a retry needs its evidence."""
    if state != "over":
        return WORDS[state]
    is_kept = stamp_of(layout.decision(job_id)) is not None or stamp_of(layout.results / job_id) is not None
    return WORDS[state] if is_kept else ()


def _not_found(layout: Layout, job_id: JobId) -> NotFoundError:
    letter = next((each for each in read_letters(layout) if each.name.startswith(job_id)), None)
    if letter is None:
        return NotFoundError(f"{job_id}: there is no such job under {layout.root}")
    fact = f"{job_id}: was set aside as {layout.dead_letter / letter.name} ({letter.reason})"
    return NotFoundError(fact, remedy=f"Mend it there, then run `curator jobs release {letter.short}`")


def _state(
    queued: Queued | None, held: Queued | None, running: Running | None, now: int, *, is_over: bool
) -> JobState | None:
    if is_over:
        return "over"
    if running is not None:
        return "running"
    if held is not None:
        return "held"
    if queued is None:
        return None
    return "waiting" if queued.available_at is not None and ms_of(queued.available_at) > now else "queued"


def _line(job: Job, state: JobState, since: str, attempt: int) -> JobLine:
    return JobLine(job.id, state, since, attempt, job.project_key, job.session_key, None)


def _running_line(running: Running) -> JobLine:
    return _line(running.job, "running", running.claimed_at, running.attempt)


def _queued_line(waiting: Waiting, now: int) -> JobLine:
    seen = waiting.glimpse
    is_later = seen.due_ms > now
    state: JobState = "waiting" if is_later else "queued"
    since = iso(seen.due_ms if is_later else waiting.queued_ms)
    return JobLine(seen.job_id, state, since, seen.next_attempt, seen.project_key, seen.session_key, None)


def _held_line(record: Queued) -> JobLine:
    return _line(record.job, "held", "", record.next_attempt)


def _over_line(finished: Finished, closing: Closing | None) -> JobLine:
    outcome = finished.outcome
    key, session = (None, None) if closing is None else (closing.project_key, closing.session_key)
    done = "completed" if closing is None else closing.status
    result = outcome.error.code if isinstance(outcome, Failed) else done
    return JobLine(outcome.job_id, "over", outcome.completed_at, finished.attempt, key, session, result)


def known_job_ids(layout: Layout, digits: str = "") -> set[str]:
    """Return the ids of jobs that stand somewhere and begin with these digits, from names alone."""
    folders = [layout.queued, layout.running, layout.held, layout.outcomes, layout.decisions]
    shards = [name for name in list_names(layout.finished, DIRECTORY_NAMES_MAX) if name.startswith(digits[:2])]
    folders += [layout.finished / shard for shard in shards]
    names = [name for folder in folders for name in list_names(folder, _NAMES_MAX)]
    stems = {name.removesuffix(".json") for name in names if name.endswith(".json")}
    return {stem for stem in stems if stem.startswith(_PREFIX + digits) and JOB_ID_PATTERN.fullmatch(stem)}
