"""Moving a job through the spool (interop.md 4.5).

Staging and its flush happen outside the lock. Inside it the new name is linked, its folder flushed, and only then the
old name removed, because the extension's own recovery removes the old name on sight of the new.

INVARIANT  A job stands under at least one durable name from its enqueueing to its outcome.
CRASH      Between the new name and the removal of the old both stand; recovery removes the old one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
from typing import TYPE_CHECKING

from curator.durable.lock import protocol_domain
from curator.durable.publish import ensure_directory, replace
from curator.durable.read import stamp_of
from curator.durable.records import bytes_of
from curator.errors import (
    BusyError,
    ConflictError,
    InvalidRecordError,
    LeaseLostError,
    NotFoundError,
    RefusedError,
)
from curator.machine.job import JobState
from curator.model.digest import compact
from curator.model.ids import JobId, LeaseToken, WorkerId
from curator.model.job import DeadLetter, Finished, Job, Queued, Running
from curator.model.limits import LEASE_MS, QUEUED_MAX
from curator.model.times import iso, ms_of
from curator.store.spool.shelf import Shelf

if TYPE_CHECKING:
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.durable.read import Stamp
    from curator.durable.volume import Volume
    from curator.model.outcome import Outcome
    from curator.model.ports import Chance, Clock
    from curator.model.record import Record
    from curator.store.spool.glimpse import Waiting


class Enqueued(enum.Enum):
    """How an enqueueing ended."""

    ENQUEUED = "enqueued"
    DUPLICATE = "duplicate"
    QUARANTINED = "quarantined"


@dataclasses.dataclass(frozen=True, slots=True)
class Claim:
    """A job under our lease. Its token fences everything that we write for it."""

    running: Running

    @property
    def job(self) -> Job:
        """The job."""
        return self.running.job

    @property
    def attempt(self) -> int:
        """The number of this claim."""
        return self.running.attempt


class Spool(Shelf):
    """The queue of one agent folder."""

    def __init__(self, volume: Volume, layout: Layout, clock: Clock, chance: Chance) -> None:
        """Open the spool; nothing is read yet."""
        super().__init__(layout)
        self.volume = volume
        self.clock = clock
        self.chance = chance
        self.domain = protocol_domain("spool", layout.spool_lock)

    def prepare(self) -> None:
        """Create the folders that the spool needs."""
        layout = self.layout
        for folder in (layout.queued, layout.running, layout.outcomes, layout.dead_letter, layout.held):
            ensure_directory(self.volume, folder)

    def enqueue(self, job: Job) -> Enqueued:
        """Accept a job: durable when it returns. Raises `BusyError` when the queue is full."""
        self.prepare()
        path = self._path(self.layout.queued, job.id)
        staged = self._stage(path, Queued(job=job, next_attempt=1))
        try:
            with self.domain.hold():
                standing = self._standing_digest(job.id)
                if standing is None:
                    if self.counts()[0] >= QUEUED_MAX:
                        fact = f"the queue holds {QUEUED_MAX} jobs already"
                        raise BusyError(fact, remedy="Let `curator review --once` work some of them off first")
                    self.volume.link(staged, path)
        finally:
            self.volume.unlink(staged)
        self.volume.sync_directory(self.layout.queued)
        if standing is None:
            return Enqueued.ENQUEUED
        if standing == job.digest:
            return Enqueued.DUPLICATE
        self._bury(job, standing)
        return Enqueued.QUARANTINED

    def claim(self, waiting: Waiting, worker_id: WorkerId, lease_ms: int = LEASE_MS) -> Claim | None:
        """Take exactly the record that was seen, under a fresh token; None if it is no longer there.

        A running one whose lease has ended is taken over in place. Raises `InvalidRecordError` where it cannot be read.
        """
        record = self.whole(waiting)
        if record is None:
            return None
        running = self._lease(record.job, waiting.glimpse.next_attempt, worker_id, lease_ms)
        taken = self._take_over(running, waiting) if waiting.is_claimed else self._take(running, waiting)
        return Claim(running) if taken else None

    def renew(self, claim: Claim, lease_ms: int = LEASE_MS) -> Claim:
        """Extend the lease. Raises `LeaseLostError` if it is no longer ours."""
        now = self.clock.now()
        # Never shortened: after a clock was set back the lease would end before it began, and nobody could read it.
        until = max(iso(now + lease_ms), claim.running.lease_until)
        renewed = dataclasses.replace(claim.running, lease_until=until)
        self._replace_running(claim, renewed, "renew")
        return Claim(renewed)

    def reclaim(self, claim: Claim, lease_ms: int = LEASE_MS) -> Claim:
        """Begin a new attempt in place: the next number and a fresh token, for the attempt id comes from both."""
        running = self._lease(claim.job, claim.attempt + 1, claim.running.worker_id, lease_ms)
        self._replace_running(claim, running, "rebase")
        return Claim(running)

    def defer(self, claim: Claim, available_at: int | None) -> None:
        """Give the job back to the queue, to be taken from `available_at` on (UTC milliseconds; None is now)."""
        at = None if available_at is None else iso(available_at)
        record = Queued(job=claim.job, next_attempt=claim.attempt + 1, available_at=at)
        verb = "return" if available_at is None else "defer"
        path = self._path(self.folder_after(JobState.RUNNING, verb), claim.job.id)
        staged = self._stage(path, record)
        try:
            with self.domain.hold():
                self.check_lease(claim)
                self.volume.rename(staged, path)
                self.volume.sync_directory(path.parent)
                self.volume.unlink(self._path(self.layout.running, claim.job.id))
        finally:
            self.volume.unlink(staged)
        self.volume.sync_directory(self.layout.running)

    def put_back(self, job_id: JobId, worker_id: WorkerId, available_at: int) -> None:
        """Give back whatever claim this worker holds on a job, if it can: else the job returns when its lease ends."""
        with contextlib.suppress(LeaseLostError, InvalidRecordError, BusyError):
            running = self.running_one(job_id)
            # A job whose outcome stands keeps its running name: by that the next start closes it.
            is_over = stamp_of(self._path(self.layout.outcomes, job_id)) is not None
            if running is not None and running.worker_id == worker_id and not is_over:
                self.defer(Claim(running), available_at)

    def publish_outcome(self, claim: Claim, outcome: Outcome) -> None:
        """Say that the job is over; durable when it returns. A replay of the same claim and outcome is fine."""
        running = claim.running
        record = Finished(
            attempt=running.attempt, worker_id=running.worker_id, lease_token=running.lease_token, outcome=outcome
        )
        path = self._path(self.folder_after(JobState.RUNNING, "finish"), claim.job.id)
        staged = self._stage(path, record)
        try:
            with self.domain.hold():
                standing = self.outcome(claim.job.id)
                if standing is None:
                    self.check_lease(claim)
                    self.volume.link(staged, path)
                elif standing != record:
                    raise ConflictError(path, "is already another outcome of this job")
                self.volume.sync_directory(path.parent)
        finally:
            self.volume.unlink(staged)

    def retire(self, job_id: JobId) -> None:
        """Remove the running and the queued name of a job whose outcome, or other end, is durable."""
        running, queued = self._path(self.layout.running, job_id), self._path(self.layout.queued, job_id)
        with self.domain.hold():
            # Not flushed: a name that comes back with the power finds the end of its job beside it, and goes again.
            self.volume.unlink(running)
            self.volume.unlink(queued)

    def hold(self, job_id: JobId) -> None:
        """Set a queued job aside, on a person's word."""
        source = self._path(self.layout.queued, job_id)
        target = self._path(self.folder_after(JobState.QUEUED, "hold"), job_id)
        ensure_directory(self.volume, target.parent)
        stamp, record = stamp_of(source), self.queued_one(job_id)
        if stamp is None or record is None or not self._move(target, record, source, stamp):
            fact = f"{job_id} does not wait in the queue"
            raise NotFoundError(fact)

    def release(self, job_id: JobId) -> None:
        """Let a held job go on."""
        held = self.held_one(job_id)
        source = self._path(self.layout.held, job_id)
        target = self._path(self.folder_after(JobState.HELD, "release"), job_id)
        stamp = stamp_of(source)
        if held is None or stamp is None:
            fact = f"{job_id} is not held"
            raise NotFoundError(fact)
        record = dataclasses.replace(held, available_at=None)
        if not self._move(target, record, source, stamp):
            fact = f"{job_id} stands elsewhere in the spool too"
            raise RefusedError(fact, remedy=f"See `curator jobs show {job_id}`")

    def hurry(self, waiting: Waiting) -> None:
        """Let a job that waits for a later time be taken at once, on a person's word."""
        path, record = self._path(self.layout.queued, waiting.job_id), self.queued_one(waiting.job_id)
        if record is None:
            return
        staged = self._stage(path, dataclasses.replace(record, available_at=None))
        self.volume.keep_time(staged, waiting.stamp.mtime_ns)
        try:
            with self.domain.hold():
                if stamp_of(path) == waiting.stamp:
                    self.volume.rename(staged, path)
        finally:
            self.volume.unlink(staged)
        self.volume.sync_directory(self.layout.queued)

    def check_lease(self, claim: Claim) -> None:
        """Raise `LeaseLostError` unless the claim still stands, unexpired.

        Under the lock that holds until the lock is let go. Without it a lost claim is told as well, for it never comes back.
        """
        standing = self.running_one(claim.job.id)
        ours = claim.running
        key = (ours.job.digest, ours.attempt, ours.worker_id, ours.lease_token)
        if standing is None or key != (
            standing.job.digest,
            standing.attempt,
            standing.worker_id,
            standing.lease_token,
        ):
            fact = f"{claim.job.id}: the lease belongs to somebody else"
            raise LeaseLostError(fact)
        if ms_of(standing.lease_until) <= self.clock.now():
            fact = f"{claim.job.id}: the lease ran out"
            raise LeaseLostError(fact)

    def _lease(self, job: Job, attempt: int, worker_id: WorkerId, lease_ms: int) -> Running:
        now = self.clock.now()
        return Running(
            job=job,
            attempt=attempt,
            worker_id=worker_id,
            lease_token=LeaseToken(self.chance.token()),
            claimed_at=iso(now),
            lease_until=iso(now + lease_ms),
        )

    def _take(self, running: Running, waiting: Waiting) -> bool:
        source = self._path(self.layout.queued, waiting.job_id)
        target = self._path(self.folder_after(JobState.QUEUED, "claim"), waiting.job_id)
        return self._move(target, running, source, waiting.stamp)

    def _take_over(self, running: Running, waiting: Waiting) -> bool:
        """Put the next claim in the place of one whose lease has ended, if it is still what was seen."""
        path = self._path(self.folder_after(JobState.RUNNING, "take over"), waiting.job_id)
        staged = self._stage(path, running)
        try:
            with self.domain.hold():
                is_over = waiting.glimpse.due_ms <= self.clock.now()
                if not is_over or stamp_of(path) != waiting.stamp or self._stands_beside(path):
                    return False
                self.volume.rename(staged, path)
        finally:
            self.volume.unlink(staged)
        self.volume.sync_directory(path.parent)
        return True

    def _move(self, target: Path, record: Record, source: Path, seen: Stamp) -> bool:
        """Publish `record` at `target` and remove `source`, if it is still what was seen and the job stands nowhere else.

        The time of the file goes along: a job that no claim has accepted yet waits since then. What a crash left in two
        folders waits for recovery.
        """
        staged = self._stage(target, record)
        self.volume.keep_time(staged, seen.mtime_ns)
        try:
            with self.domain.hold():
                if stamp_of(source) != seen or self._stands_beside(source):
                    return False
                self.volume.link(staged, target)
                self.volume.sync_directory(target.parent)
                self.volume.unlink(source)
        finally:
            self.volume.unlink(staged)
        if target.parent != self.layout.running:
            # A queued name that comes back beside its claim is dropped for it; beside a held one it would win.
            self.volume.sync_directory(source.parent)
        return True

    def _stands_beside(self, path: Path) -> bool:
        """Tell whether the job of a record stands in another folder too, readable or not."""
        layout = self.layout
        folders = (layout.outcomes, layout.running, layout.queued, layout.held)
        return any(stamp_of(folder / path.name) is not None for folder in folders if folder != path.parent)

    def _replace_running(self, claim: Claim, running: Running, verb: str) -> None:
        path = self._path(self.folder_after(JobState.RUNNING, verb), claim.job.id)
        staged = self._stage(path, running)
        try:
            with self.domain.hold():
                self.check_lease(claim)
                self.volume.rename(staged, path)
        finally:
            self.volume.unlink(staged)
        self.volume.sync_directory(path.parent)

    def _standing_digest(self, job_id: JobId) -> str | None:
        over = self.outcome(job_id)
        if over is not None:
            return over.outcome.job_digest
        owned = self.running_one(job_id) or self.queued_one(job_id) or self.held_one(job_id)
        return None if owned is None else owned.job.digest

    def _bury(self, job: Job, standing: str) -> None:
        name = f"{job.id}.{job.digest[:12]}.{self.chance.uuid()}.json"
        path = self.layout.dead_letter / name
        record = DeadLetter.decode(
            {
                "version": 1,
                "reason": "digest-conflict",
                "quarantinedAt": iso(self.clock.now()),
                "existingDigest": standing,
                "job": job.encode(),
            }
        )
        replace(self.volume, path, _bytes_of(record))

    def _stage(self, path: Path, record: Record) -> Path:
        return self.volume.stage(path, _bytes_of(record))

    def _path(self, folder: Path, job_id: JobId) -> Path:
        return folder / f"{job_id}.json"


def _bytes_of(record: Record) -> bytes:
    return bytes_of(record, compact)
