"""What a crash left in the spool, put right one record at a time (interop.md 4.5, RECOVER).

INVARIANT  A bad record costs one record: it is moved to the dead letters with its reason, and the rest goes on. A job
           with a live lease is left alone.
CRASH      Every step is one link or rename followed by one removal; recovering again finishes it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
from typing import TYPE_CHECKING, TypeVar

from curator.durable.publish import ensure_directory, replace
from curator.durable.read import is_own_file, other_name, stamp_of
from curator.durable.records import read_as
from curator.durable.volume import FILE_MODE
from curator.errors import InvalidRecordError, NotFoundError
from curator.machine.job import JOB, JobState
from curator.model.digest import compact
from curator.model.job import Queued, Running
from curator.model.limits import RUNNING_BYTES_MAX
from curator.model.times import ms_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curator.durable.read import Stamp
    from curator.model.digest import Digest, Json
    from curator.model.ids import JobId
    from curator.model.job import Job
    from curator.store.spool.glimpse import Waiting
    from curator.store.spool.moves import Spool

T = TypeVar("T")
_NOT_SAFE = re.compile(r"[^A-Za-z0-9._-]")
_NAME_CHARS_MAX = 160


@dataclasses.dataclass(frozen=True, slots=True)
class SetAside:
    """A record that was moved to the dead letters, and why."""

    path: Path
    """Where it lies now."""
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class Recovery:
    """What recovery found and did."""

    expired: int
    over: tuple[Running, ...]
    """Jobs whose outcome stands beside their running record: close them, then `Spool.retire`."""
    set_aside: tuple[SetAside, ...]


def recover(spool: Spool, *, leave_expired: bool = False) -> Recovery:
    """Put queued, running and held right; durable when it returns.

    A claim whose lease has ended goes back to the queue, or is left to be taken over in place.
    """
    ensure_directory(spool.volume, spool.layout.dead_letter)
    found = _Found(spool.clock.now(), leave_expired=leave_expired)
    for each in spool.unclear():
        assert each.fault is not None
        moved = quarantine_seen(spool, each.path, each.stamp, each.fault.why)
        found.set_aside += [] if moved is None else [moved]
    for job_id in _suspects(spool, found):
        with spool.domain.hold():
            _put_right(spool, job_id, found)
    return Recovery(found.expired, tuple(found.over), tuple(found.set_aside))


def quarantine(spool: Spool, path: Path, reason: str) -> SetAside:
    """Move a file to the dead letters; its clock starts anew there. It is never lost on the way."""
    ensure_directory(spool.volume, spool.layout.dead_letter)
    with spool.domain.hold():
        return _move_aside(spool, path, reason)


def quarantine_seen(spool: Spool, path: Path, seen: Stamp, reason: str) -> SetAside | None:
    """Move a record to the dead letters, unless it was replaced since it was seen unreadable."""
    ensure_directory(spool.volume, spool.layout.dead_letter)
    with spool.domain.hold():
        return _move_aside(spool, path, reason) if stamp_of(path) == seen else None


@dataclasses.dataclass(slots=True)
class _Found:
    """What recovery has found so far."""

    now: int
    leave_expired: bool
    expired: int = 0
    over: list[Running] = dataclasses.field(default_factory=list)
    set_aside: list[SetAside] = dataclasses.field(default_factory=list)


def _suspects(spool: Spool, found: _Found) -> list[JobId]:
    """Return the jobs that may need putting right, without the lock: what stands in two folders, and what runs.

    A claim that is left to be taken over is held to all its rules then.
    """
    outcomes = f"{spool.layout.outcomes}{os.sep}"
    running = {each.job_id: each for each in spool.claimed()}
    queued = {each.job_id for each in spool.waiting()}
    held = {each.job.id for each in spool.held()}
    over = {each for each in {*running, *queued, *held} if stamp_of(f"{outcomes}{each}.json") is not None}
    looked_at = {job_id for job_id, each in running.items() if not (found.leave_expired and _is_over(each, found))}
    return sorted(over | looked_at | (running.keys() & queued) | (running.keys() & held) | (queued & held))


def _is_over(claimed: Waiting, found: _Found) -> bool:
    return claimed.glimpse.due_ms <= found.now


def _put_right(spool: Spool, job_id: JobId, found: _Found) -> None:
    """Leave a job under one name, by what stands now: outcome, then running, then queued, then held. Under the lock."""
    over = _read(spool, spool.outcome, job_id, found)
    running = _read(spool, spool.running_one, job_id, found)
    if over is not None:
        owner = over.outcome.job_digest
        spool.volume.sync_directory(spool.layout.outcomes)
        if running is not None and _is_of(spool, owner, running.job, spool.layout.running, found):
            found.over.append(running)
    elif running is not None:
        owner = running.job.digest
    else:
        owner = None
    queued = _read(spool, spool.queued_one, job_id, found)
    if queued is not None and (owner is None or _is_of(spool, owner, queued.job, spool.layout.queued, found)):
        owner = queued.job.digest
        if over is not None:
            _drop(spool, spool.layout.queued, job_id)
    else:
        queued = None
    if over is None and running is not None:
        _settle_running(spool, running, queued, found)
    held = _read(spool, spool.held_one, job_id, found)
    if held is not None and owner is not None and _is_of(spool, owner, held.job, spool.layout.held, found):
        # A crash cut off `hold` or `release`: neither had said that it was done, nor perhaps flushed the name that stays.
        if over is None:
            spool.volume.sync_directory(spool.layout.queued if running is None else spool.layout.running)
        _drop(spool, spool.layout.held, job_id)


def _settle_running(spool: Spool, running: Running, queued: Queued | None, found: _Found) -> None:
    """Choose between a job's running and queued name, or give it back to the queue."""
    layout, job = spool.layout, running.job
    if queued is not None and queued.next_attempt > running.attempt:
        # A defer had committed its new name.
        spool.volume.sync_directory(layout.queued)
        _drop(spool, layout.running, job.id)
    elif not found.leave_expired and ms_of(running.lease_until) <= found.now:
        record = Queued(job=job, next_attempt=running.attempt + 1)
        home = spool.folder_after(JobState.RUNNING, JOB.orphaned[JobState.RUNNING])
        replace(spool.volume, home / f"{job.id}.json", compact(record.encode()).encode())
        _drop(spool, layout.running, job.id)
        found.expired += 1
    elif queued is not None:
        # Its claim had not got as far as removing it.
        spool.volume.sync_directory(layout.running)
        _drop(spool, layout.queued, job.id)


def _read(spool: Spool, read: Callable[[JobId], T | None], job_id: JobId, found: _Found) -> T | None:
    """Read one record of a job; one that cannot be read goes to the dead letters, and its job goes on."""
    try:
        return read(job_id)
    except InvalidRecordError as fault:
        found.set_aside.append(_move_aside(spool, fault.path, fault.why))
        return None


def _is_of(spool: Spool, owner: Digest, job: Job, folder: Path, found: _Found) -> bool:
    """Tell whether a record is of the job that owns the id; another job's goes to the dead letters."""
    if job.digest == owner:
        return True
    found.set_aside.append(_move_aside(spool, folder / f"{job.id}.json", "another job has this id"))
    return False


def _drop(spool: Spool, folder: Path, job_id: JobId) -> None:
    spool.volume.unlink(folder / f"{job_id}.json")
    spool.volume.sync_directory(folder)


def _move_aside(spool: Spool, path: Path, reason: str) -> SetAside:
    """Give a file its name among the dead letters and take its old one; call it under the lock."""
    cut = _NOT_SAFE.sub("_", path.name)[:_NAME_CHARS_MAX]
    layout = spool.layout
    source = {layout.running: JobState.RUNNING, layout.held: JobState.HELD}.get(path.parent, JobState.QUEUED)
    home = spool.folder_after(source, "quarantine")
    target = home / f"{cut}.{spool.clock.now()}.{spool.chance.uuid()}.bad"
    volume = spool.volume
    if is_own_file(path):
        # A crash after the link leaves both names: the next move goes on with the first one.
        begun = other_name(path, home)
        if begun is None:
            volume.link(path, target)
        target = begun or target
        volume.restrict(target, FILE_MODE)
        volume.touch(target)
        volume.sync_directory(target.parent)
        volume.unlink(path)
    else:
        # A folder, a symlink or another user's file cannot be linked, so it is moved as it is.
        with contextlib.suppress(FileNotFoundError):
            volume.rename(path, target)
        volume.sync_directory(target.parent)
    volume.sync_directory(path.parent)
    return SetAside(target, reason)


def readmit(spool: Spool, name: str) -> JobId:
    """Bring a mended dead letter back to the queue. Raises `InvalidRecordError` while it cannot be read."""
    path = spool.layout.dead_letter / name
    if path.name != name:
        fact = f"{name} is not the name of a record that was set aside"
        raise NotFoundError(fact)
    record = _mended(path)
    target = spool.folder_after(JobState.QUARANTINED, "release") / f"{record.job.id}.json"
    staged = spool.volume.stage(target, compact(record.encode()).encode())
    try:
        with spool.domain.hold():
            elsewhere = (
                spool.outcome(record.job.id) or spool.running_one(record.job.id) or spool.held_one(record.job.id)
            )
            if elsewhere is not None or stamp_of(target) is not None:
                raise InvalidRecordError(path, "holds a job that stands elsewhere in the spool")
            spool.volume.link(staged, target)
            spool.volume.sync_directory(target.parent)
            spool.volume.unlink(path)
    finally:
        spool.volume.unlink(staged)
    spool.volume.sync_directory(path.parent)
    return record.job.id


def _mended(path: Path) -> Queued:
    record = read_as(path, _either, RUNNING_BYTES_MAX)
    if record is None:
        raise InvalidRecordError(path, "is not there")
    if isinstance(record, Running):
        return Queued(job=record.job, next_attempt=record.attempt + 1)
    return record


def _either(value: Json) -> Queued | Running:
    """Decode a record that may come from queued or from running."""
    is_running = isinstance(value, dict) and "leaseToken" in value
    return Running.decode(value) if is_running else Queued.decode(value)
