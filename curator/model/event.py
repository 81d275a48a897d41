"""What happened, for whoever listens. No event has a field that could carry evidence or a credential (interop.md 13)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from curator.model.admission import Receipt
    from curator.model.budget import Exposure, Limits
    from curator.model.ids import BranchName, JobId, ProjectKey, WorkerId
    from curator.model.outcome import Provenance
    from curator.model.settings import Mode


@dataclasses.dataclass(frozen=True, slots=True)
class Claimed:
    """A job is ours for a while."""

    job_id: JobId
    attempt: int
    project_key: ProjectKey
    branch_name: BranchName


@dataclasses.dataclass(frozen=True, slots=True)
class Asking:
    """The reviewer has been sent one request."""

    job_id: JobId
    attempt: int
    provider: str
    model: str


@dataclasses.dataclass(frozen=True, slots=True)
class Rebased:
    """The branch moved: the job is judged anew against it, in place."""

    job_id: JobId
    attempt: int
    superseded: int


@dataclasses.dataclass(frozen=True, slots=True)
class Completed:
    """A job ended with a decision."""

    job_id: JobId
    attempt: int
    provenance: Provenance
    receipt: Receipt | None


@dataclasses.dataclass(frozen=True, slots=True)
class Retrying:
    """A job waits for another try."""

    job_id: JobId
    attempt: int
    code: str
    available_at: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class Failed:
    """A job ended without a decision."""

    job_id: JobId
    attempt: int
    code: str


@dataclasses.dataclass(frozen=True, slots=True)
class BudgetExhausted:
    """The day's budget is spent; the job waits for the next day."""

    job_id: JobId
    attempt: int
    provider: str
    limit: str
    exposure: Exposure
    limits: Limits


@dataclasses.dataclass(frozen=True, slots=True)
class Recovered:
    """Recovery closed what a crash left open."""

    what: str
    count: int


@dataclasses.dataclass(frozen=True, slots=True)
class SetAside:
    """A record that cannot be read was moved to the dead letters."""

    name: str
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class Stopped:
    """One job or one project stands still until somebody looks; the rest goes on."""

    subject: str
    code: str
    fact: str
    remedy: str


@dataclasses.dataclass(frozen=True, slots=True)
class Degraded:
    """A promise is weaker here than elsewhere."""

    fact: str
    remedy: str


@dataclasses.dataclass(frozen=True, slots=True)
class Drained:
    """`--once` is done."""

    completed: int
    failed: int
    retried: int
    budget_exhausted: int
    interrupted: int
    left: int
    blocked_by: str | None = None
    """The failure code for which the reviewer could not be asked at all; None where it could."""


@dataclasses.dataclass(frozen=True, slots=True)
class Serving:
    """The service is up, or goes on with another configuration."""

    worker_id: WorkerId
    mode: Mode
    concurrency: int


@dataclasses.dataclass(frozen=True, slots=True)
class Leaving:
    """The service was told to stop: what is under way may end, nothing new begins."""

    busy: int
    """How many jobs are under way."""


@dataclasses.dataclass(frozen=True, slots=True)
class Idle:
    """Nothing is runnable."""


Event: TypeAlias = (
    Claimed
    | Asking
    | Rebased
    | Completed
    | Retrying
    | Failed
    | BudgetExhausted
    | Recovered
    | SetAside
    | Stopped
    | Degraded
    | Drained
    | Serving
    | Leaving
    | Idle
)
