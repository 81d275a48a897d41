"""One project and its jobs, with time that passes by hand: for what happens long after a job is over."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

from curator.app import App
from curator.durable.volume import Volume
from curator.model.event import Stopped
from curator.model.feedback import Pending
from curator.model.ids import BranchName, ProjectKey
from curator.model.job import Job
from curator.model.ports import CallFailure, Class
from tests.durable.volumes import Stamped
from tests.kit import ScriptedReviewer, World, adding

HOUR: Final = 3_600_000
DAY: Final = 24 * HOUR
MAIN: Final = BranchName("main")
ENDS: Final = CallFailure("invalid_request", Class.TERMINAL, "The provider refuses this.")
BUSY: Final = CallFailure("provider_error", Class.RETRY, "Busy.")


class Life:
    """One project, its jobs reviewed or to be reviewed, and time that passes by hand."""

    def __init__(self, tmp_path: Path, *script: str | CallFailure) -> None:
        self.world = World(tmp_path / "agent")
        self.world.configure()
        self.volume: Volume = Stamped(self.world.clock)
        self.reviewer = ScriptedReviewer(*(script or (adding("Reviewed."),)), clock=self.world.clock)
        self.app: App = self.world.open(self.reviewer, volume=self.volume)
        self.key: ProjectKey = self.world.project(self.app, tmp_path / "code")
        self.layout = self.app.layout
        self.project = self.layout.project(self.key)

    def enqueue(self, frontier: str = "entry-1", *, is_awaited: bool = True) -> Job:
        job = self.world.job(self.app, self.key, frontier)
        self.put(job, is_awaited=is_awaited)
        return job

    def put(self, job: Job, *, is_awaited: bool = True) -> None:
        if is_awaited:
            self.app.shop.mailbox(self.key).register(Pending(job_id=job.id, job_digest=job.digest, branch_name=MAIN))
        self.app.shop.stores.spool.enqueue(job)

    def review(self, frontier: str = "entry-1", *, is_consumed: bool = True) -> Job:
        """Carry one job to its end, and let Pi take its card."""
        job = self.enqueue(frontier)
        self.app.review_once()
        if is_consumed:
            self.consume(job)
        return job

    def consume(self, job: Job) -> None:
        for folder in (self.project.pending, self.project.ready):
            (folder / f"{job.id}.json").unlink(missing_ok=True)

    def pass_by(self, ms: int) -> None:
        """Let time pass, then maintain as a process that was just started does."""
        self.world.clock.ms += ms
        self.reopen()
        self.app.maintain()

    def reopen(self) -> None:
        self.app = self.world.open(self.reviewer, volume=self.volume)

    def evidence_of(self, job: Job) -> list[str]:
        layout = self.layout
        spans = list(layout.evidence_shard(job.id).glob(f"{job.id}.*"))
        found = {
            layout.decisions: layout.decision(job.id).exists(),
            layout.results: (layout.results / job.id).exists(),
            layout.evidence: bool(spans),
            layout.bases: (layout.bases / job.id).exists(),
        }
        return [folder.name for folder, stands in found.items() if stands]

    def has(self, job: Job) -> dict[str, bool]:
        return {
            "outcome": (self.layout.outcomes / f"{job.id}.json").exists(),
            "evidence": bool(self.evidence_of(job)),
            "tombstone": self.project.tombstone(job.id).exists(),
            "receipt": self.project.receipt(job.id).exists(),
            "acceptance": (self.layout.jobs / f"{job.id}.json").exists(),
            "closing": self.app.shop.stores.finished.stands(job.id),
        }

    def tree(self) -> dict[str, bytes]:
        beats = {"review-workers", "runtimes"}
        files = [path for path in sorted(self.layout.root.rglob("*")) if path.is_file()]
        return {
            str(path.relative_to(self.layout.root)): path.read_bytes() for path in files if not beats & set(path.parts)
        }

    @property
    def stopped(self) -> list[Stopped]:
        return [event for event in self.world.heard.events if isinstance(event, Stopped)]


ALL: Final = ("outcome", "evidence", "tombstone", "receipt", "acceptance", "closing")


def left(life: Life, job: Job) -> tuple[str, ...]:
    return tuple(name for name, stands in life.has(job).items() if stands)


def live_long(life: Life) -> None:
    """Keep evidence for a year."""
    path = life.layout.service_json
    value = json.loads(path.read_text("utf-8")) | {"evidenceTtlHours": 8760}
    path.write_text(json.dumps(value), "utf-8")
    life.reopen()


def multiply_outcomes(life: Life, job: Job, total: int) -> None:
    """Put outcomes beside a job's, all older, of other jobs whose closing record stands."""
    raw = (life.layout.outcomes / f"{job.id}.json").read_text("utf-8")
    closing = next(life.layout.finished.rglob(f"{job.id}.json")).read_text("utf-8")
    for number in range(1, total):
        name = f"review_{number:040x}"
        path = life.layout.outcomes / f"{name}.json"
        path.write_text(raw.replace(job.id, name), "utf-8")
        at = (life.world.clock.ms - DAY // 2 - number) / 1000
        os.utime(path, (at, at))
        record = life.layout.finished / name[7:9] / f"{name}.json"
        record.parent.mkdir(exist_ok=True)
        record.write_text(closing.replace(job.id, name), "utf-8")
        record.chmod(0o600)
