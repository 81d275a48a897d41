"""Jobs as a person asks for them: where they stand and what was tried, by ids, digests, sizes and codes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from curator.durable.clock import SystemChance, SystemClock
from curator.durable.read import list_names
from curator.durable.volume import Volume
from curator.errors import InvalidRecordError, NotFoundError, UsageError
from curator.model.ids import JOB_ID_PATTERN, Day, JobId
from curator.model.job import Finished, Queued, Running
from curator.model.limits import DIRECTORY_NAMES_MAX, SPOOL_NAMES_MAX
from curator.model.outcome import Failed
from curator.model.times import iso, ms_of
from curator.store.attempts import AttemptStore
from curator.store.decisions import DecisionStore
from curator.store.finished import FinishedStore
from curator.store.jobs import JobStore
from curator.store.mailbox import Mailbox
from curator.store.spool import Spool
from curator.workflow.inspect.memory import Authority, open_store

if TYPE_CHECKING:
    from curator.durable.layout import Layout
    from curator.model.admission import Receipt
    from curator.model.closing import Closing
    from curator.model.decision import Decision
    from curator.model.feedback import Pending
    from curator.model.job import Acceptance, Job
    from curator.store.attempts import Seen

JobState: TypeAlias = Literal["queued", "waiting", "running", "held", "over"]
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
    project_key: str | None
    result: str | None
    """For one that is over: applied, noop, stale, rejected, or the failure's code."""


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
    results: int
    decision: Decision | None
    is_admitting: bool
    receipt: Receipt | None
    outcome: Finished | None
    closing: Closing | None
    pending: Pending | None
    has_card: bool


def open_spool(layout: Layout) -> Spool:
    """Return the spool to be read."""
    return Spool(Volume(), layout, SystemClock(), SystemChance())


def list_jobs(layout: Layout, now: int) -> tuple[JobLine, ...]:
    """Return every readable job: what runs, what waits, what is held, and what is over and not yet forgotten."""
    spool, finished = open_spool(layout), FinishedStore(Volume(), layout)
    lines = [_running_line(each) for each in spool.running()]
    lines += [_queued_line(each.record, iso(each.queued_ms), now) for each in spool.waiting()]
    lines += [_held_line(each) for each in spool.held()]
    lines += [_over_line(each, finished) for each in spool.finished()]
    order: dict[JobState, int] = {"running": 0, "queued": 1, "waiting": 2, "held": 3, "over": 4}
    return tuple(sorted(lines, key=lambda line: (order[line.state], line.since, line.id)))


def set_aside(layout: Layout) -> tuple[str, ...]:
    """Return the names of the dead letters."""
    return tuple(name for name in list_names(layout.dead_letter, _NAMES_MAX) if not name.endswith(".tmp"))


def find_job_id(layout: Layout, prefix: str) -> JobId:
    """Return the one job whose id begins so, with or without `review_`.

    Raises `NotFoundError` where there is none and `UsageError` where there are several.
    """
    digits = prefix.removeprefix(_PREFIX)
    if JOB_ID_PATTERN.fullmatch(_PREFIX + digits):
        return JobId(_PREFIX + digits)
    found = {stem for stem in _known_ids(layout, digits) if stem.startswith(_PREFIX + digits)}
    if not digits or not found:
        raise NotFoundError(f"no job begins with {prefix!a}")
    if len(found) > 1:
        fact = f"{len(found)} jobs begin with {prefix!a}"
        raise UsageError(fact, remedy="Give more of the id; see `curator jobs list`")
    return JobId(found.pop())


def show_job(layout: Layout, job_id: JobId) -> JobView:
    """Return all that may be shown of one job. Raises `NotFoundError` where no trace of it stands."""
    spool, decisions = open_spool(layout), DecisionStore(Volume(), layout)
    queued, held = spool.queued_one(job_id), spool.held_one(job_id)
    running, outcome = spool.running_one(job_id), spool.outcome(job_id)
    decision, results = decisions.find(job_id), decisions.results(job_id)
    closing, acceptance = FinishedStore(Volume(), layout).find(job_id), JobStore(Volume(), layout).find(job_id)
    owned = running or queued or held
    job = owned.job if owned is not None else decision.job if decision is not None else None
    job = results[0].job if job is None and results else job
    attempts = AttemptStore(Volume(), layout).of_job(job_id, _FIRST_DAY)
    if job is None and outcome is None and closing is None and not attempts:
        raise _not_found(layout, job_id)
    key = job.project_key if job is not None else None if closing is None else closing.project_key
    authority: Authority = "external" if acceptance is None else acceptance.authority
    memory = None if key is None else open_store(layout, key, authority)
    mailbox = None if key is None else Mailbox(Volume(), layout.project(key))
    waiting = queued or held
    return JobView(
        id=job_id,
        state=_state(queued, held, running, is_over=outcome is not None or closing is not None),
        job=job,
        next_attempt=None if waiting is None else waiting.next_attempt,
        available_at=None if queued is None else queued.available_at,
        running=running,
        acceptance=acceptance,
        attempts=attempts,
        results=len(results),
        decision=decision,
        is_admitting=memory is not None and memory.intent(job_id) is not None,
        receipt=None if memory is None else memory.receipt(job_id),
        outcome=outcome,
        closing=closing,
        pending=None if mailbox is None else mailbox.pending(job_id),
        has_card=mailbox is not None and mailbox.ready(job_id) is not None,
    )


def _not_found(layout: Layout, job_id: JobId) -> NotFoundError:
    letter = next((name for name in set_aside(layout) if name.startswith(job_id)), None)
    if letter is None:
        return NotFoundError(f"{job_id}: there is no such job under {layout.root}")
    remedy = f"Mend it there, then run `curator jobs release {letter}`"
    return NotFoundError(f"{job_id}: was set aside as {layout.dead_letter / letter}", remedy=remedy)


def _state(queued: Queued | None, held: Queued | None, running: Running | None, *, is_over: bool) -> JobState | None:
    if is_over:
        return "over"
    if running is not None:
        return "running"
    if held is not None:
        return "held"
    if queued is None:
        return None
    return "queued" if queued.available_at is None else "waiting"


def _running_line(running: Running) -> JobLine:
    return JobLine(running.job.id, "running", running.claimed_at, running.attempt, running.job.project_key, None)


def _queued_line(record: Queued, queued_at: str, now: int) -> JobLine:
    job, attempt, at = record.job, record.next_attempt, record.available_at
    if at is not None and ms_of(at) > now:
        return JobLine(job.id, "waiting", at, attempt, job.project_key, None)
    return JobLine(job.id, "queued", queued_at, attempt, job.project_key, None)


def _held_line(record: Queued) -> JobLine:
    return JobLine(record.job.id, "held", "", record.next_attempt, record.job.project_key, None)


def _over_line(finished: Finished, closings: FinishedStore) -> JobLine:
    outcome = finished.outcome
    try:
        closing = closings.find(outcome.job_id)
    except InvalidRecordError:
        closing = None
    key = None if closing is None else closing.project_key
    done = "completed" if closing is None else closing.status
    result = outcome.error.code if isinstance(outcome, Failed) else done
    return JobLine(outcome.job_id, "over", outcome.completed_at, finished.attempt, key, result)


def _known_ids(layout: Layout, digits: str) -> set[str]:
    folders = [layout.queued, layout.running, layout.held, layout.outcomes, layout.decisions]
    shards = [name for name in list_names(layout.finished, DIRECTORY_NAMES_MAX) if name.startswith(digits[:2])]
    folders += [layout.finished / shard for shard in shards]
    names = [name for folder in folders for name in list_names(folder, _NAMES_MAX)]
    stems = {name.removesuffix(".json") for name in names if name.endswith(".json")}
    return {stem for stem in stems if JOB_ID_PATTERN.fullmatch(stem)}
