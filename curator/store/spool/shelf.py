"""Reading the spool: what waits, what runs, what is over. Nothing here changes anything."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from curator.durable.index import FolderIndex, Indexed
from curator.durable.records import read_record
from curator.errors import InvalidRecordError
from curator.machine.job import JOB, JobState
from curator.model.ids import JOB_ID_PATTERN, JobId
from curator.model.job import Finished, Queued, Running
from curator.model.limits import (
    OUTCOME_RECORD_BYTES_MAX,
    QUEUED_BYTES_MAX,
    RUNNING_BYTES_MAX,
    SPOOL_NAMES_MAX,
)

if TYPE_CHECKING:
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.durable.read import Stamp

_NAMES_MAX = SPOOL_NAMES_MAX * 2
"""Staged leftovers may stand beside the records."""


@dataclasses.dataclass(frozen=True, slots=True)
class Waiting:
    """A queued record as it was seen: a claim takes exactly this one, or none."""

    record: Queued
    stamp: Stamp

    @property
    def queued_ms(self) -> int:
        """When the file was written: the acceptance time, until a first claim has recorded it."""
        return self.stamp.mtime_ns // 1_000_000


class Shelf:
    """The spool's folders, read with an index each."""

    def __init__(self, layout: Layout) -> None:
        """Look at the spool of an agent folder."""
        self.layout = layout
        self._folders = {
            JobState.QUEUED: layout.queued,
            JobState.RUNNING: layout.running,
            JobState.FINISHED: layout.outcomes,
            JobState.HELD: layout.held,
            JobState.QUARANTINED: layout.dead_letter,
        }
        self._queued = FolderIndex(layout.queued, _NAMES_MAX, read_queued)
        self._running = FolderIndex(layout.running, _NAMES_MAX, read_running)
        self._held = FolderIndex(layout.held, _NAMES_MAX, read_queued)

    def folder_after(self, state: JobState, verb: str) -> Path:
        """Return the folder into which an arrow of the job's table leads."""
        return self._folders[JOB.step(state, verb)]

    def waiting(self) -> tuple[Waiting, ...]:
        """Return every readable queued record."""
        found = self._queued.refresh().values()
        return tuple(Waiting(each.record, each.stamp) for each in found if each.record is not None)

    def running(self) -> tuple[Running, ...]:
        """Return every readable running record."""
        return tuple(each.record for each in self._running.refresh().values() if each.record is not None)

    def held(self) -> tuple[Queued, ...]:
        """Return every job that a person set aside."""
        return tuple(each.record for each in self._held.refresh().values() if each.record is not None)

    def finished(self) -> tuple[Finished, ...]:
        """Return every readable outcome, unindexed: for a person who asks, never on the way of a claim."""
        index = FolderIndex(self.layout.outcomes, _NAMES_MAX, read_finished)
        return tuple(each.record for each in index.refresh().values() if each.record is not None)

    def faults(self) -> tuple[Indexed[Queued] | Indexed[Running], ...]:
        """Return the records of queued and running that cannot be read."""
        queued = [each for each in self._queued.refresh().values() if each.fault is not None]
        running = [each for each in self._running.refresh().values() if each.fault is not None]
        return (*queued, *running)

    def queued_one(self, job_id: JobId) -> Queued | None:
        """Return one queued record, read anew."""
        return read_queued(self.layout.queued / f"{job_id}.json")

    def running_one(self, job_id: JobId) -> Running | None:
        """Return one running record, read anew."""
        return read_running(self.layout.running / f"{job_id}.json")

    def held_one(self, job_id: JobId) -> Queued | None:
        """Return one held record, read anew."""
        return read_queued(self.layout.held / f"{job_id}.json")

    def outcome(self, job_id: JobId) -> Finished | None:
        """Return one outcome, read anew."""
        return read_finished(self.layout.outcomes / f"{job_id}.json")

    def counts(self) -> tuple[int, int]:
        """Return how many records queued and running hold, readable or not."""
        return len(self._queued.refresh()), len(self._running.refresh())


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
