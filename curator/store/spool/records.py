"""The records of the spool, each held to all its rules and to its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.durable.records import read_record
from curator.errors import InvalidRecordError
from curator.model.ids import JOB_ID_PATTERN
from curator.model.job import Finished, Queued, Running
from curator.model.limits import OUTCOME_RECORD_BYTES_MAX, QUEUED_BYTES_MAX, RUNNING_BYTES_MAX

if TYPE_CHECKING:
    from pathlib import Path

    from curator.model.ids import JobId


def read_queued(path: Path) -> Queued | None:
    """Read a queued record and hold it to its name."""
    record = read_record(path, Queued, QUEUED_BYTES_MAX)
    if record is not None:
        _check_name(path, record.job.id)
    return record


def read_running(path: Path) -> Running | None:
    """Read a running record and hold it to its name."""
    record = read_record(path, Running, RUNNING_BYTES_MAX)
    if record is not None:
        _check_name(path, record.job.id)
    return record


def read_finished(path: Path) -> Finished | None:
    """Read an outcome and hold it to its name."""
    record = read_record(path, Finished, OUTCOME_RECORD_BYTES_MAX)
    if record is not None:
        _check_name(path, record.outcome.job_id)
    return record


def is_job_name(name: str) -> bool:
    """Tell whether a file's name is one that a job could have."""
    return name.endswith(".json") and JOB_ID_PATTERN.fullmatch(name.removesuffix(".json")) is not None


def _check_name(path: Path, job_id: JobId) -> None:
    if path.stem != job_id:
        raise InvalidRecordError(path, "holds another job than its name says")
