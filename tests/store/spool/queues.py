"""A spool in a folder, and how tests put jobs into it."""

from pathlib import Path
from typing import Final

from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.model.digest import compact
from curator.model.ids import JobId, WorkerId
from curator.model.job import Job, Queued
from curator.model.record import Record
from curator.store.spool import Claim, Spool, Waiting
from tests.made_up import Counted, StillClock, job

WORKER: Final = WorkerId("curator:host:1")


class Queue:
    """A spool, with the clock and the layout that it was opened with."""

    def __init__(self, root: Path, volume: Volume | None = None, clock: StillClock | None = None) -> None:
        self.layout = Layout(root)
        self.clock = clock or StillClock()
        self.chance = Counted()
        self.spool = Spool(volume or Volume(), self.layout, self.clock, self.chance)

    def reopened(self, volume: Volume | None = None) -> "Queue":
        """Open the same spool as another process would."""
        return Queue(self.layout.agent, volume, self.clock)

    def waiting(self, of: Job | None = None) -> Waiting:
        return next(each for each in self.spool.waiting() if each.job_id == (of or job()).id)

    def record(self, of: Job | None = None) -> Queued:
        """Return what stands of a job in the queue."""
        return next(each for each in self.spool.queued() if each.job == (of or job()))

    def claimed(self, of: Job | None = None) -> Claim:
        """Enqueue and claim a job."""
        self.spool.enqueue(of or job())
        claim = self.spool.claim(self.waiting(of), WORKER)
        assert claim is not None
        return claim

    def file(self, folder: str, job_id: JobId | None = None) -> Path:
        parent = self.layout.held if folder == "held" else self.layout.spool / folder
        return parent / f"{job_id or job().id}.json"

    def put(self, folder: str, record: Record, job_id: JobId | None = None) -> Path:
        """Write a record as somebody else would have left it."""
        path = self.file(folder, job_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(compact(record.encode()), "utf-8")
        return path

    def stands(self, of: Job | None = None) -> list[str]:
        """Return where a job stands."""
        folders = ("queued", "running", "outcomes", "held")
        return [folder for folder in folders if self.file(folder, (of or job()).id).exists()]

    def letters(self) -> list[Path]:
        return sorted(self.layout.dead_letter.iterdir())
