"""Where everything stands: the directory tree is the API (interop.md 1; design: authority).

Every path that curator reads or writes is made here and nowhere else.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING

from curator.durable.plan_layout import PlanLayout
from curator.durable.trajectory_layout import InboxLayout, TrajectoryLayout
from curator.model.ids import file_key

if TYPE_CHECKING:
    from pathlib import Path

    from curator.model.digest import Digest
    from curator.model.ids import AttemptId, BranchName, JobId, ProjectKey


@dataclasses.dataclass(frozen=True)  # without slots: what is asked for again and again is made once
class Layout:
    """The tree under one agent folder."""

    agent: Path

    @cached_property
    def root(self) -> Path:
        """Everything that the extension and curator share."""
        return self.agent / "no-forgetti"

    @cached_property
    def service_json(self) -> Path:
        """The shared configuration."""
        return self.root / "service.json"

    @cached_property
    def legacy_budget(self) -> Path:
        """An aggregate older than the journal."""
        return self.root / "review-budget.json"

    @cached_property
    def workers(self) -> Path:
        """Heartbeats of workers."""
        return self.root / "review-workers"

    @cached_property
    def runtimes(self) -> Path:
        """Heartbeats of everything that uses memory."""
        return self.root / "runtimes"

    def worker_beat(self, worker_id: str) -> Path:
        """One worker's heartbeat."""
        return self.workers / f"{file_key(worker_id)}.json"

    def runtime_beat(self, identity: str) -> Path:
        """One runtime's heartbeat."""
        return self.runtimes / f"{file_key(identity)}.json"

    # The spool.

    @cached_property
    def spool(self) -> Path:
        """The queue and what belongs to it."""
        return self.root / "review-spool"

    @cached_property
    def spool_lock(self) -> Path:
        """Guards queued, running and outcomes; shared with the extension."""
        return self.spool / ".spool.lock"

    @cached_property
    def queued(self) -> Path:
        """Jobs that wait."""
        return self.spool / "queued"

    @cached_property
    def running(self) -> Path:
        """Jobs under a lease."""
        return self.spool / "running"

    @cached_property
    def outcomes(self) -> Path:
        """Jobs that are over."""
        return self.spool / "outcomes"

    @cached_property
    def dead_letter(self) -> Path:
        """Conflicts, and records that cannot be read."""
        return self.spool / "dead-letter"

    @cached_property
    def results(self) -> Path:
        """Checkpoints of provider attempts, a folder a job."""
        return self.spool / "provider-results"

    def result(self, job_id: JobId, attempt_id: AttemptId) -> Path:
        """One attempt's checkpoint."""
        return self.results / job_id / f"{attempt_id}.json"

    @cached_property
    def decisions(self) -> Path:
        """Elected proposals."""
        return self.spool / "proposal-decisions"

    def decision(self, job_id: JobId) -> Path:
        """One job's elected proposal."""
        return self.decisions / f"{job_id}.json"

    @cached_property
    def decision_locks(self) -> Path:
        """Where the locks of decisions stand."""
        return self.decisions / ".locks"

    def decision_lock(self, job_id: JobId) -> Path:
        """Guards one job's results and decision."""
        return self.decision_locks / f"{job_id}.lock"

    # The protocol's accounting: a projection of our journal.

    @cached_property
    def accounting(self) -> Path:
        """The protocol's attempts."""
        return self.spool / "accounting"

    @cached_property
    def accounting_lock(self) -> Path:
        """Guards days and identities; shared with the extension."""
        return self.accounting / ".lock"

    @cached_property
    def days(self) -> Path:
        """One file a UTC day, without an extension."""
        return self.accounting / "days"

    @cached_property
    def identities(self) -> Path:
        """One immutable file a reservation, without an extension."""
        return self.accounting / "identities"

    # What the protocol does not name.

    @cached_property
    def own(self) -> Path:
        """Everything of ours alone; nothing of the extension lists it."""
        return self.root / "curator"

    @cached_property
    def curator_toml(self) -> Path:
        """Our own configuration."""
        return self.own / "curator.toml"

    @cached_property
    def instance_guard(self) -> Path:
        """Held by the one service of this agent folder, for as long as it lives."""
        return self.own / "service.guard"

    @cached_property
    def instance_pid(self) -> Path:
        """Which process that is: for messages, never for deciding."""
        return self.own / "service.pid"

    @cached_property
    def attempts(self) -> Path:
        """The attempt journal: `<day>/<2 hex>/<attempt>.<n>.json`."""
        return self.own / "attempts"

    @cached_property
    def attempts_lock(self) -> Path:
        """Guards limits; names need no lock. Held by the kernel, so the file stays, and no sweep takes it for a leftover."""
        return self.own / "attempts.guard"

    @cached_property
    def jobs(self) -> Path:
        """Acceptance records."""
        return self.own / "jobs"

    @cached_property
    def bases(self) -> Path:
        """Branch states that attempts judged, a folder a job."""
        return self.own / "bases"

    def base(self, job_id: JobId, digest: Digest) -> Path:
        """One branch state that an attempt of the job judged."""
        return self.bases / job_id / f"{digest}.json"

    @cached_property
    def held(self) -> Path:
        """Jobs that a person set aside."""
        return self.own / "held"

    @cached_property
    def evidence(self) -> Path:
        """Where the quotes of a result stand in its transcript, by the first two hex digits of the job."""
        return self.own / "evidence"

    def evidence_shard(self, job_id: JobId) -> Path:
        """The folder that a job's evidence shares with one job in 256, so that it need not be made for each."""
        return self.evidence / job_id.removeprefix("review_")[:2]

    def evidence_of(self, job_id: JobId, attempt_id: AttemptId) -> Path:
        """Where the quotes of one attempt's result stand."""
        return self.evidence_shard(job_id) / f"{job_id}.{attempt_id}.json"

    @cached_property
    def finished(self) -> Path:
        """Closing records, by the first two hex digits of the job."""
        return self.own / "finished"

    @cached_property
    def shadow(self) -> Path:
        """Project stores of shadow mode."""
        return self.own / "shadow"

    @cached_property
    def audit(self) -> Path:
        """The audit's database, for questions; nothing is decided by it."""
        return self.own / "shadow.sqlite"

    @cached_property
    def audit_guard(self) -> Path:
        """Held by whoever folds into it."""
        return self.own / "shadow.guard"

    @cached_property
    def report(self) -> Path:
        """The page of `curator report`, where no other place is named. It holds words of memory, and may be deleted."""
        return self.own / "report" / "report.html"

    @cached_property
    def standings(self) -> Path:
        """What a person decided about projects, a file a project."""
        return self.own / "projects"

    @cached_property
    def standings_lock(self) -> Path:
        """Guards changes of those; held by the kernel."""
        return self.own / "projects.guard"

    @cached_property
    def quarantine(self) -> Path:
        """Begun changes that were set aside because memory stood neither where they began nor where they led."""
        return self.own / "quarantine"

    @cached_property
    def switches(self) -> Path:
        """Who was to change memory, and why: a record each time that a person changed it."""
        return self.own / "authority"

    # Tracks.

    @cached_property
    def trajectories(self) -> Path:
        """What was said in each project, a folder a project."""
        return self.own / "trajectory"

    def trajectory(self, key: ProjectKey) -> TrajectoryLayout:
        """What was said in one project."""
        return TrajectoryLayout(self.trajectories / key)

    @cached_property
    def trajectory_inbox(self) -> InboxLayout:
        """Where Pi hands over what was just said."""
        return InboxLayout(self.own / "trajectory-inbox")

    @cached_property
    def plans(self) -> Path:
        """Plans of old sessions, a folder a plan."""
        return self.own / "backfill"

    def plan(self, plan_id: str) -> PlanLayout:
        """One plan."""
        return PlanLayout(self.plans / plan_id)

    # Projects.

    def project(self, key: ProjectKey) -> ProjectLayout:
        """The real store of a project."""
        return ProjectLayout(self.root / key)

    def shadow_project(self, key: ProjectKey) -> ProjectLayout:
        """The store that shadow mode writes instead."""
        return ProjectLayout(self.shadow / key)


@dataclasses.dataclass(frozen=True)  # without slots: what is asked for again and again is made once
class ProjectLayout:
    """The tree of one project's memory."""

    root: Path

    @cached_property
    def lock(self) -> Path:
        """Guards the project's memory; shared with the extension."""
        return self.root / ".lock"

    @cached_property
    def project_json(self) -> Path:
        """Which folder this memory belongs to."""
        return self.root / "project.json"

    @cached_property
    def branches(self) -> Path:
        """Current memory."""
        return self.root / "branches"

    def branch(self, name: BranchName) -> Path:
        """One branch."""
        return self.branches / f"{name}.json"

    @cached_property
    def reviews(self) -> Path:
        """The extension's cadence state: created if missing, never updated by us."""
        return self.root / "reviews"

    @cached_property
    def histories(self) -> Path:
        """How the branches came to be."""
        return self.root / "revisions"

    def revisions(self, name: BranchName) -> Path:
        """How a branch came to be."""
        return self.histories / name

    @cached_property
    def admissions(self) -> Path:
        """Intents and completions."""
        return self.root / "review-admissions"

    def intent(self, job_id: JobId) -> Path:
        """A begun mutation."""
        return self.admissions / f"{job_id}.intent.json"

    def completion(self, job_id: JobId) -> Path:
        """A mutation that is whole."""
        return self.admissions / f"{job_id}.complete.json"

    @cached_property
    def retired(self) -> Path:
        """Tombstones."""
        return self.admissions / "retired"

    def tombstone(self, job_id: JobId) -> Path:
        """What is left of an intent."""
        return self.retired / f"{job_id}.json"

    @cached_property
    def receipts(self) -> Path:
        """Lasting proofs."""
        return self.root / "service" / "commit-receipts"

    def receipt(self, job_id: JobId) -> Path:
        """One job's proof."""
        return self.receipts / f"{job_id}.json"

    @cached_property
    def mailbox(self) -> Path:
        """Feedback for Pi."""
        return self.root / "service" / "review-feedback"

    @cached_property
    def pending(self) -> Path:
        """Jobs that somebody in Pi waits for."""
        return self.mailbox / "pending"

    @cached_property
    def ready(self) -> Path:
        """Cards to be shown."""
        return self.mailbox / "ready"
