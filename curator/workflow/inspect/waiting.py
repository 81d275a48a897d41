"""Why a job is not reviewed now, and when it will be: told from the files, whoever laid them there.

The same rules decide as in `workflow.claim`: strict order within a branch, a job's own time, the mode in force, and what
a person decided about its project.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from curator.durable.lock import is_alive
from curator.durable.records import read_record
from curator.errors import ConfigError, CuratorError, InvalidRecordError, ReviewerSetupError
from curator.model.attempt import AttemptState
from curator.model.heartbeat import WorkerBeat
from curator.model.ids import Day
from curator.model.limits import MEMORY_CHARS_MAX, WORKER_BYTES_MAX
from curator.model.outcome import Failed
from curator.model.settings import CuratorSettings
from curator.model.times import DAY_MS, day_of, iso, ms_of
from curator.pi.credentials import key_kind
from curator.pi.models import find_model
from curator.workflow.inspect.budget import settings_of
from curator.workflow.retry import CONFIGURATION_CODES
from curator.workflow.settings_files import OFFLINE_PROVIDER, find_service, read_curator, refuse_unspoken

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator.durable.layout import Layout
    from curator.model.budget import Amount, Limits
    from curator.model.ids import JobId
    from curator.model.job import Acceptance, Running
    from curator.model.project import Standing
    from curator.model.settings import ReviewerProfile, ServiceSettings
    from curator.store.spool import Waiting
    from curator.workflow.inspect.books import Books

Cause: TypeAlias = Literal[
    "turn", "retry", "budget", "configuration", "unasked", "policy", "branch", "mode", "project", "held", "lease"
]
LimitName: TypeAlias = Literal["calls", "tokens", "cost"]
_FIRST_DAY: Final = Day("0000-00-00")


@dataclasses.dataclass(frozen=True, slots=True)
class Reason:
    """What one job waits for."""

    cause: Cause
    """turn: the next review. unasked: the reviewer could not be asked, and no file says why. Others as they read."""
    until: str | None = None
    """When it may be taken by itself; for a lease, when that ends."""
    code: str | None = None
    word: str | None = None
    """The mode in force, what was decided about the project, or the limit of the day that is used up."""
    behind: JobId | None = None
    """The older job of the branch."""
    worker_id: str | None = None
    is_gone: bool = False
    """Whether that worker's process is gone."""


def find_reasons(books: Books, now: int) -> Mapping[JobId, Reason]:
    """Return what each job of the spool waits for. Changes nothing."""
    look, spool = _Look(books, now), books.spool
    running, waiting = spool.running(), spool.waiting()
    reasons: dict[JobId, Reason] = {each.job.id: Reason("held") for each in spool.held()}
    heads = _heads(waiting, look)
    busy = {(each.job.project_key, each.job.branch.name): each.job.id for each in running}
    for each in waiting:
        reason = look.rest(each) or look.wait(each)
        older = busy.get(each.branch, heads.get(each.branch, each.job_id))
        if reason is None:
            reason = Reason("turn") if older == each.job_id else Reason("branch", behind=older)
        reasons[each.job_id] = reason
    return reasons | {each.job.id: _lease(books.layout, each) for each in running}


def spent_limit(limits: Limits, total: Amount) -> LimitName:
    """Return the limit that a day has come closest to: nobody writes down which one refused a call."""
    parts: dict[LimitName, float] = {
        "calls": total.calls / limits.calls,
        "tokens": total.tokens / limits.tokens,
        "cost": total.cost_nanousd / limits.cost_nanousd,
    }
    return max(parts, key=lambda name: parts[name])


def _heads(waiting: tuple[Waiting, ...], look: _Look) -> dict[tuple[str, str], JobId]:
    """Return the job of each branch that all others of it wait for."""
    heads: dict[tuple[str, str], tuple[int, JobId]] = {}
    for each in waiting:
        steps_aside = each.glimpse.max_chars > MEMORY_CHARS_MAX and look.is_later(each)
        if look.rest(each) is not None or steps_aside:
            continue
        rank = (look.accepted_ms(each), each.job_id)
        heads[each.branch] = min(heads.get(each.branch, rank), rank)
    return {key: job_id for key, (_, job_id) in heads.items()}


def _lease(layout: Layout, running: Running) -> Reason:
    try:
        beat = read_record(layout.worker_beat(running.worker_id), WorkerBeat, WORKER_BYTES_MAX)
    except CuratorError:
        beat = None
    is_gone = beat is not None and (beat.state == "stopped" or not is_alive(beat.pid, ms_of(beat.started_at)))
    return Reason("lease", until=running.lease_until, worker_id=running.worker_id, is_gone=is_gone)


class _Look:
    """One look at what the reasons come from; each thing is read once."""

    def __init__(self, books: Books, now: int) -> None:
        self._layout = books.layout
        self._now = now
        self._service: ServiceSettings | None = None
        with contextlib.suppress(ConfigError):
            self._service = find_service(books.layout)
        self._standings: dict[str, Standing] = {each.project_key: each for each in books.standings.all()}
        self._resting = books.standings.resting()
        self._jobs = books.jobs
        self._attempts = books.attempts
        self._decisions = books.decisions

    def rest(self, waiting: Waiting) -> Reason | None:
        """Return why a job may not be taken at all as things stand, if it may not."""
        key = waiting.glimpse.project_key
        if key in self._resting:
            return Reason("project", word=_word(self._standings.get(key)))
        if self._service is None:
            return Reason("configuration", code="config")
        if self._service.mode == "embedded":
            return Reason("mode", word="embedded")
        acceptance = self._acceptance(waiting)
        if self._service.mode == "shadow" and acceptance is not None and acceptance.authority == "external":
            return Reason("mode", word="shadow")
        return None

    def wait(self, waiting: Waiting) -> Reason | None:
        """Return what a job waits for by its own time, if that is not yet."""
        if not self.is_later(waiting):
            return None
        glimpse, until = waiting.glimpse, iso(waiting.glimpse.due_ms)
        if glimpse.max_chars > MEMORY_CHARS_MAX:
            return Reason("policy", until, "incompatible_policy")
        was_asked, code = self._last_attempt(glimpse.job_id, glimpse.next_attempt - 1)
        if was_asked:
            return Reason("configuration" if code in CONFIGURATION_CODES else "retry", until, code)
        if glimpse.due_ms % DAY_MS == 0:
            return Reason("budget", until, "attempt_budget_exhausted", word=self._spent())
        code = self._setup_code()
        return Reason("unasked", until) if code is None else Reason("configuration", until, code)

    def is_later(self, waiting: Waiting) -> bool:
        """Tell whether a job's own time has not come."""
        return waiting.glimpse.due_ms > self._now

    def accepted_ms(self, waiting: Waiting) -> int:
        """Return since when a job waits."""
        acceptance = self._acceptance(waiting)
        return waiting.queued_ms if acceptance is None else ms_of(acceptance.accepted_at)

    def _acceptance(self, waiting: Waiting) -> Acceptance | None:
        if waiting.glimpse.next_attempt == 1:
            return None
        try:
            return self._jobs.find(waiting.job_id)
        except InvalidRecordError:
            return None

    def _last_attempt(self, job_id: JobId, claim: int) -> tuple[bool, str | None]:
        """Tell whether the last claim asked the reviewer, and with which code that failed, if a file says it."""
        attempts = self._attempts.of_job(job_id, _FIRST_DAY)
        sent = [seen for seen in attempts if seen.state is not AttemptState.CANCELLED]
        mine = [seen.id for seen in sent if seen.latest.claim_attempt == claim]
        try:
            failed = [each for each in self._decisions.read_results(job_id) if isinstance(each.outcome, Failed)]
        except InvalidRecordError:
            return bool(mine), None
        # Another worker's attempts are in our journal only once they were adopted; its results stand at once.
        codes = [_code(each.outcome) for each in failed if each.attempt_id in mine or not attempts]
        return bool(mine or codes), codes[-1] if codes else None

    def _spent(self) -> LimitName | None:
        reviewer, today = self._reviewer, Day(day_of(self._now))
        if reviewer is None:
            return None
        since = settings_of(self._layout).budget.counts_from(today)
        return spent_limit(reviewer.limits, self._attempts.counted(reviewer.provider, today, since).total)

    def _setup_code(self) -> str | None:
        """Return why the reviewer cannot be asked, as far as the files show it; no key is resolved, and Pi not asked."""
        reviewer, agent = self._reviewer, self._layout.agent
        if reviewer is None:
            return "model_not_found"
        if reviewer.provider == OFFLINE_PROVIDER:
            return None
        settings = CuratorSettings()
        with contextlib.suppress(ConfigError):
            settings = read_curator(self._layout)
        if settings.via == "pi":
            return None
        try:
            model = find_model(agent, reviewer.provider, reviewer.model)
            refuse_unspoken(reviewer, model)
            code = None if key_kind(agent, reviewer.provider, model.api_key_source) == "key" else "auth_unavailable"
        except ReviewerSetupError as error:
            code = error.setup_code
        # What these files do not have, Pi may know: a model of its own, a login.
        knows_more = settings.via == "auto" and code != "model_registry_invalid"
        return None if knows_more and shutil.which(settings.pi) is not None else code

    @property
    def _reviewer(self) -> ReviewerProfile | None:
        return None if self._service is None else self._service.reviewer


def _code(outcome: object) -> str | None:
    return outcome.error.code if isinstance(outcome, Failed) else None


def _word(standing: Standing | None) -> str:
    if standing is None:
        return "unreadable"
    return standing.begun or ("linked" if standing.linked_to is not None else standing.wish)
