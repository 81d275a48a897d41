"""What a crash left in the spool, put right one record at a time (interop.md 4.5, RECOVER).

INVARIANT  A bad record costs one record: it is moved to the dead letters with its reason, and the rest goes on. A job
           with a live lease is left alone.
CRASH      Every step is one link or rename followed by one removal; recovering again finishes it.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from curator.durable.publish import ensure_directory
from curator.durable.read import stamp_of
from curator.durable.records import read_as
from curator.errors import InvalidRecordError
from curator.model.digest import compact
from curator.model.job import Finished, Queued, Running
from curator.model.limits import RUNNING_BYTES_MAX
from curator.model.times import ms_of

if TYPE_CHECKING:
    from pathlib import Path

    from curator.model.digest import Json
    from curator.model.ids import JobId
    from curator.store.spool.moves import Spool

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


def recover(spool: Spool) -> Recovery:
    """Put queued and running right; durable when it returns."""
    set_aside = [*_unreadable(spool)]
    over: list[Running] = []
    expired = 0
    now = spool.clock.now()
    for running in spool.running():
        outcome = _outcome(spool, running.job.id, set_aside)
        if outcome is not None:
            if outcome.outcome.job_digest == running.job.digest:
                over.append(running)
            else:
                set_aside.append(_conflict(spool, spool.layout.running, running.job.id))
        elif ms_of(running.lease_until) <= now:
            expired += _expire(spool, running, set_aside)
        else:
            set_aside.extend(_drop_shadowed(spool, running))
    set_aside.extend(_finished_but_queued(spool))
    set_aside.extend(_held_twice(spool))
    return Recovery(expired, tuple(over), tuple(set_aside))


def quarantine(spool: Spool, path: Path, reason: str) -> SetAside:
    """Move a file to the dead letters; its clock starts anew there. It is never lost on the way."""
    ensure_directory(spool.volume, spool.layout.dead_letter)
    cut = _NOT_SAFE.sub("_", path.name)[:_NAME_CHARS_MAX]
    target = spool.layout.dead_letter / f"{cut}.{spool.clock.now()}.{spool.chance.uuid()}.bad"
    with spool.domain.hold():
        if path.is_file() and not path.is_symlink():
            spool.volume.link(path, target)
            spool.volume.restrict(target, 0o600)
            spool.volume.touch(target)
            spool.volume.sync_directory(target.parent)
            spool.volume.unlink(path)
        elif stamp_of(path) is not None:
            # A folder or a symlink has one name; moving it is all that can be done.
            spool.volume.rename(path, target)
            spool.volume.sync_directory(target.parent)
    spool.volume.sync_directory(path.parent)
    return SetAside(target, reason)


def _outcome(spool: Spool, job_id: JobId, moved: list[SetAside]) -> Finished | None:
    """Return a job's outcome; one that cannot be read goes to the dead letters, and its job goes on."""
    try:
        return spool.outcome(job_id)
    except InvalidRecordError as fault:
        moved.append(quarantine(spool, fault.path, fault.why))
        return None


def _unreadable(spool: Spool) -> list[SetAside]:
    return [
        quarantine(spool, each.path, "unreadable" if each.fault is None else each.fault.why) for each in spool.faults()
    ]


def _expire(spool: Spool, running: Running, set_aside: list[SetAside]) -> int:
    """Give an expired job back to the queue; 1 if that was to be done."""
    job, layout = running.job, spool.layout
    queued = spool.queued_one(job.id)
    if queued is not None and queued.job.digest != job.digest:
        set_aside.append(_conflict(spool, layout.queued, job.id))
        queued = None
    if queued is not None and queued.next_attempt > running.attempt:
        # A defer had committed its new name: only the old one is left to remove.
        with spool.domain.hold():
            if spool.running_one(job.id) == running:
                spool.volume.sync_directory(layout.queued)
                spool.volume.unlink(layout.running / f"{job.id}.json")
        spool.volume.sync_directory(layout.running)
        return 0
    record = Queued(job=job, next_attempt=running.attempt + 1)
    path = layout.queued / f"{job.id}.json"
    staged = spool.volume.stage(path, compact(record.encode()).encode())
    try:
        with spool.domain.hold():
            if spool.running_one(job.id) != running:
                return 0
            spool.volume.rename(staged, path)
            spool.volume.sync_directory(layout.queued)
            spool.volume.unlink(layout.running / f"{job.id}.json")
    finally:
        spool.volume.unlink(staged)
    spool.volume.sync_directory(layout.running)
    return 1


def _drop_shadowed(spool: Spool, running: Running) -> list[SetAside]:
    """Remove the queued name of a job that runs: its claim had not got that far."""
    job = running.job
    queued = spool.queued_one(job.id)
    if queued is None:
        return []
    if queued.job.digest != job.digest:
        return [_conflict(spool, spool.layout.queued, job.id)]
    if queued.next_attempt > running.attempt:
        running_path = spool.layout.running / f"{job.id}.json"
        with spool.domain.hold():
            if spool.running_one(job.id) == running:
                spool.volume.sync_directory(spool.layout.queued)
                spool.volume.unlink(running_path)
        spool.volume.sync_directory(running_path.parent)
        return []
    with spool.domain.hold():
        if spool.running_one(job.id) == running:
            spool.volume.sync_directory(spool.layout.running)
            spool.volume.unlink(spool.layout.queued / f"{job.id}.json")
    spool.volume.sync_directory(spool.layout.queued)
    return []


def _finished_but_queued(spool: Spool) -> list[SetAside]:
    moved: list[SetAside] = []
    for waiting in spool.waiting():
        job = waiting.record.job
        outcome = _outcome(spool, job.id, moved)
        if outcome is None:
            continue
        if outcome.outcome.job_digest != job.digest:
            moved.append(_conflict(spool, spool.layout.queued, job.id))
            continue
        with spool.domain.hold():
            if stamp_of(spool.layout.queued / f"{job.id}.json") == waiting.stamp:
                spool.volume.sync_directory(spool.layout.outcomes)
                spool.volume.unlink(spool.layout.queued / f"{job.id}.json")
        spool.volume.sync_directory(spool.layout.queued)
    return moved


def _held_twice(spool: Spool) -> list[SetAside]:
    """Let a job go on that a crash left both held and elsewhere: neither `hold` nor `release` had said it was done."""
    moved: list[SetAside] = []
    for held in spool.held():
        job = held.job
        over = _outcome(spool, job.id, moved)
        owned = spool.running_one(job.id) or spool.queued_one(job.id)
        elsewhere = over.outcome.job_digest if over is not None else None if owned is None else owned.job.digest
        if elsewhere is None:
            continue
        if elsewhere != job.digest:
            moved.append(_conflict(spool, spool.layout.held, job.id))
            continue
        with spool.domain.hold():
            for folder in (spool.layout.outcomes, spool.layout.running, spool.layout.queued):
                spool.volume.sync_directory(folder)
            spool.volume.unlink(spool.layout.held / f"{job.id}.json")
        spool.volume.sync_directory(spool.layout.held)
    return moved


def _conflict(spool: Spool, folder: Path, job_id: JobId) -> SetAside:
    return quarantine(spool, folder / f"{job_id}.json", "another job has this id")


def readmit(spool: Spool, name: str) -> JobId:
    """Bring a mended dead letter back to the queue. Raises `InvalidRecordError` while it cannot be read."""
    path = spool.layout.dead_letter / name
    record = _mended(path)
    target = spool.layout.queued / f"{record.job.id}.json"
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
