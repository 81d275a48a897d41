"""The stores of one agent folder, opened to be read: whoever looks again with the same ones reads what changed."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from curator.durable.clock import SystemChance, SystemClock
from curator.durable.index import FolderIndex
from curator.durable.volume import Volume
from curator.errors import InvalidRecordError
from curator.model.limits import SPOOL_NAMES_MAX
from curator.store.accounting import AccountingStore
from curator.store.attempts import AttemptStore
from curator.store.decisions import DecisionShelf
from curator.store.finished import FinishedStore
from curator.store.jobs import JobStore
from curator.store.spool import Spool
from curator.store.spool.records import read_finished
from curator.store.standings import StandingStore

if TYPE_CHECKING:
    from curator.durable.layout import Layout
    from curator.model.closing import Closing
    from curator.model.ids import JobId
    from curator.model.job import Finished


class Over:
    """The jobs that are over and not yet forgotten: outcomes, with the closing record of each once it stands."""

    def __init__(self, layout: Layout) -> None:
        """Nothing is read yet."""
        self._outcomes = FolderIndex(layout.outcomes, SPOOL_NAMES_MAX * 2, read_finished)
        self._store = FinishedStore(Volume(), layout)
        self._closings: dict[JobId, Closing] = {}

    def all(self) -> tuple[tuple[Finished, Closing | None], ...]:
        """Return every readable outcome. A closing record never changes, so it is read once."""
        found = [each.record for each in self._outcomes.refresh().values() if each.record is not None]
        closings = {each.outcome.job_id: self._closing(each.outcome.job_id) for each in found}
        self._closings = {job_id: closing for job_id, closing in closings.items() if closing is not None}
        return tuple((each, closings[each.outcome.job_id]) for each in found)

    def _closing(self, job_id: JobId) -> Closing | None:
        try:
            return self._closings.get(job_id) or self._store.find(job_id)
        except InvalidRecordError:
            return None


@dataclasses.dataclass(frozen=True, slots=True)
class Books:
    """What a look at the jobs is read from."""

    layout: Layout
    spool: Spool
    jobs: JobStore
    attempts: AttemptStore
    accounting: AccountingStore
    decisions: DecisionShelf
    over: Over
    standings: StandingStore


def open_spool(layout: Layout) -> Spool:
    """Return the spool to be read."""
    return Spool(Volume(), layout, SystemClock(), SystemChance())


def open_books(layout: Layout) -> Books:
    """Return the stores to be read; nothing is read yet."""
    disk = Volume()
    return Books(
        layout=layout,
        spool=open_spool(layout),
        jobs=JobStore(disk, layout),
        attempts=AttemptStore(disk, layout),
        accounting=AccountingStore(disk, layout),
        decisions=DecisionShelf(layout),
        over=Over(layout),
        standings=StandingStore(disk, layout),
    )
