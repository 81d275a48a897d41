"""Reading the spool: what waits, what runs, what is over. Nothing here changes anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from curator.durable.index import FolderIndex, Indexed
from curator.machine.job import JOB, JobState
from curator.model.limits import SPOOL_NAMES_MAX
from curator.store.spool.glimpse import Glimpse, Waiting, glimpse_queued, glimpse_running
from curator.store.spool.records import read_finished, read_queued, read_running

if TYPE_CHECKING:
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.model.ids import JobId
    from curator.model.job import Finished, Queued, Running

T = TypeVar("T")
_NAMES_MAX = SPOOL_NAMES_MAX * 2
"""Staged leftovers may stand beside the records."""


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
        self._queued = FolderIndex(layout.queued, _NAMES_MAX, glimpse_queued)
        self._running = FolderIndex(layout.running, _NAMES_MAX, glimpse_running)
        # Filled for people who ask, never on the way of a claim.
        self._whole_queued = FolderIndex(layout.queued, _NAMES_MAX, read_queued)
        self._whole_running = FolderIndex(layout.running, _NAMES_MAX, read_running)
        self._held = FolderIndex(layout.held, _NAMES_MAX, read_queued)

    def folder_after(self, state: JobState, verb: str) -> Path:
        """Return the folder into which an arrow of the job's table leads."""
        return self._folders[JOB.step(state, verb)]

    def waiting(self) -> tuple[Waiting, ...]:
        """Return every queued job, as one look at its record tells."""
        return _waiting(self._queued)

    def claimed(self) -> tuple[Waiting, ...]:
        """Return every job under a claim, whether or not its lease still runs."""
        return _waiting(self._running)

    def whole(self, waiting: Waiting) -> Queued | Running | None:
        """Return the record of a job as it stands now. Raises `InvalidRecordError`."""
        return self.running_one(waiting.job_id) if waiting.is_claimed else self.queued_one(waiting.job_id)

    def queued(self) -> tuple[Queued, ...]:
        """Return every readable queued record, whole: for a person who asks."""
        return _records(self._whole_queued)

    def running(self) -> tuple[Running, ...]:
        """Return every readable running record, whole: for a person who asks."""
        return _records(self._whole_running)

    def held(self) -> tuple[Queued, ...]:
        """Return every job that a person set aside."""
        return _records(self._held)

    def finished(self) -> tuple[Finished, ...]:
        """Return every readable outcome, unindexed: for a person who asks, never on the way of a claim."""
        return _records(FolderIndex(self.layout.outcomes, _NAMES_MAX, read_finished))

    def faults(self) -> tuple[Indexed[Queued] | Indexed[Running], ...]:
        """Return the records of queued and running that cannot be read, each of them read whole: for a person who asks."""
        return (*_faults(self._whole_queued), *_faults(self._whole_running))

    def unclear(self) -> tuple[Indexed[Glimpse], ...]:
        """Return those that cannot even be looked at; what else is wrong with a record shows when it is taken."""
        return (*_faults(self._queued), *_faults(self._running))

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


def _records(index: FolderIndex[T]) -> tuple[T, ...]:
    return tuple(each.record for each in index.refresh().values() if each.record is not None)


def _faults(index: FolderIndex[T]) -> tuple[Indexed[T], ...]:
    return tuple(each for each in index.refresh().values() if each.fault is not None)


def _waiting(index: FolderIndex[Glimpse]) -> tuple[Waiting, ...]:
    found = index.refresh().values()
    return tuple(Waiting(each.record, each.stamp) for each in found if each.record is not None)
