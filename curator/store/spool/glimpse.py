"""A record of the spool as the order of the queue needs it: whose it is and since when, not what it says.

Thousands wait, and one is taken. So a record is held to all its rules when it is taken, and looked at before; one whose
look is unclear is held to them at once, for what is wrong with it has to be told exactly.
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Final

from curator.durable.read import read_bounded
from curator.model.ids import BRANCH_NAME_PATTERN, JOB_ID_PATTERN, BranchName, JobId, LeaseToken, ProjectKey, SessionKey
from curator.model.limits import QUEUED_BYTES_MAX, RUNNING_BYTES_MAX
from curator.model.times import ms_of
from curator.store.spool.records import read_queued, read_running

if TYPE_CHECKING:
    from pathlib import Path

    from curator.durable.read import Stamp
    from curator.model.job import Job

_LOAD: Final = json.JSONDecoder().decode


@dataclasses.dataclass(frozen=True, slots=True)
class Glimpse:
    """What one look at a queued or a running record tells."""

    job_id: JobId
    project_key: ProjectKey
    session_key: SessionKey
    branch_name: BranchName
    max_chars: int
    next_attempt: int
    """The number that its next claim gets."""
    due_ms: int
    """From when it may be taken, in UTC milliseconds: a queued job's own time, or 0; a running one's end of lease."""
    lease_token: LeaseToken | None
    """The claim that it is under; None for one that waits."""


@dataclasses.dataclass(frozen=True, slots=True)
class Waiting:
    """A job that may be taken some time, as it was seen: a claim takes exactly this record, or none."""

    glimpse: Glimpse
    stamp: Stamp

    @property
    def job_id(self) -> JobId:
        """The job."""
        return self.glimpse.job_id

    @property
    def branch(self) -> tuple[ProjectKey, BranchName]:
        """Whose memory it is about."""
        return self.glimpse.project_key, self.glimpse.branch_name

    @property
    def is_claimed(self) -> bool:
        """Whether a worker has it, or had it: it may be taken when that lease has ended."""
        return self.glimpse.lease_token is not None

    @property
    def queued_ms(self) -> int:
        """When the file was written: the acceptance time, until a first claim has recorded it."""
        return self.stamp.mtime_ns // 1_000_000


def glimpse_queued(path: Path) -> Glimpse | None:
    """Look at a queued record; None where nothing stands. Raises `InvalidRecordError`."""
    raw = read_bounded(path, QUEUED_BYTES_MAX)
    if raw is None:
        return None
    try:
        record = _LOAD(raw.decode())
        due_ms = ms_of(record["availableAt"]) if "availableAt" in record else 0
        return _glimpse(path, record["job"], _number(record["nextAttempt"]), due_ms, None)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        whole = read_queued(path)
    if whole is None:
        return None
    due_ms = 0 if whole.available_at is None else ms_of(whole.available_at)
    return _of_job(whole.job, whole.next_attempt, due_ms, None)


def glimpse_running(path: Path) -> Glimpse | None:
    """Look at a running record; None where nothing stands. Raises `InvalidRecordError`."""
    raw = read_bounded(path, RUNNING_BYTES_MAX)
    if raw is None:
        return None
    try:
        record = _LOAD(raw.decode())
        number, token = _number(record["attempt"]) + 1, LeaseToken(_text(record["leaseToken"]))
        return _glimpse(path, record["job"], number, ms_of(record["leaseUntil"]), token)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        whole = read_running(path)
    if whole is None:
        return None
    return _of_job(whole.job, whole.attempt + 1, ms_of(whole.lease_until), whole.lease_token)


def _of_job(job: Job, number: int, due_ms: int, token: LeaseToken | None) -> Glimpse:
    return Glimpse(job.id, job.project_key, job.session_key, job.branch.name, job.max_chars, number, due_ms, token)


def _glimpse(path: Path, job: dict[str, object], number: int, due_ms: int, token: LeaseToken | None) -> Glimpse:
    """Pick what is needed from a record's job. Raises what a careless look at any JSON may raise."""
    branch = job["branch"]
    job_id, name = _text(job["id"]), _text(branch["name"]) if isinstance(branch, dict) else ""
    if path.stem != job_id or not JOB_ID_PATTERN.fullmatch(job_id) or not BRANCH_NAME_PATTERN.fullmatch(name):
        raise ValueError
    return Glimpse(
        job_id=JobId(job_id),
        project_key=ProjectKey(_text(job["projectKey"])),
        session_key=SessionKey(_text(job["sessionKey"])),
        branch_name=BranchName(name),
        max_chars=_number(job["maxChars"]),
        next_attempt=number,
        due_ms=due_ms,
        lease_token=token,
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise TypeError
    return value
