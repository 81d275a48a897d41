"""What goes from the spool by its age: outcomes, and what was set aside.

INVARIANT  Under the spool's lock, in small batches with one flush each, made after it: nobody waits long. What was written
           anew meanwhile stays.
CRASH      A name that comes back with the power is as old as before, and goes the next time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from curator.durable.ages import Aged, ages_in
from curator.durable.read import list_names, stamp_of
from curator.durable.retire import retire_file
from curator.model.ids import JobId
from curator.model.limits import SPOOL_NAMES_MAX
from curator.store.spool.records import is_job_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from curator.store.spool.moves import Spool

_BATCH: Final = 32
_MOVED: Final = re.compile(r".+\.(\d{1,15})\.[0-9a-f]{8}-[0-9a-f-]{27}\.bad")
"""The name of a dead letter says when it came there; the time of a file that another worker moved does not (W28)."""


def live_jobs(spool: Spool) -> frozenset[JobId]:
    """Return the jobs that wait, run or are held, readable or not: all of one moment, so that none slips between."""
    folders = (spool.layout.queued, spool.layout.running, spool.layout.held)
    with spool.domain.hold():
        names = [name for folder in folders for name in list_names(folder, SPOOL_NAMES_MAX * 2)]
    return frozenset(JobId(name.removesuffix(".json")) for name in names if is_job_name(name))


def is_live(spool: Spool, job_id: JobId) -> bool:
    """Tell whether a job waits, runs or is held now."""
    folders = (spool.layout.queued, spool.layout.running, spool.layout.held)
    return any(stamp_of(folder / f"{job_id}.json") is not None for folder in folders)


def outcome_ages(spool: Spool) -> list[tuple[JobId, int]]:
    """Return the jobs that are over and when each was, in UTC milliseconds, the oldest first."""
    aged = [each for each in ages_in(spool.layout.outcomes) if is_job_name(each.name)]
    ordered = sorted(aged, key=lambda each: (each.mtime_ms, each.name))
    return [(JobId(each.name.removesuffix(".json")), each.mtime_ms) for each in ordered]


def forget_outcomes(spool: Spool, job_ids: Sequence[JobId], before_ms: int) -> None:
    """Remove outcomes that were written before a moment, but for a job that came back; durable when it returns."""
    names = [f"{job_id}.json" for job_id in job_ids if not is_live(spool, job_id)]
    _forget(spool, spool.layout.outcomes, names, before_ms)


def letter_names(spool: Spool) -> tuple[str, ...]:
    """Return what was set aside, whatever it is."""
    return tuple(aged.name for aged in ages_in(spool.layout.dead_letter))


def forget_letters(spool: Spool, before_ms: int, now: int, most: int) -> int:
    """Remove what was set aside before a moment, at most so many; return how many. Folders stay: they were nobody's record."""
    old = [each for each in ages_in(spool.layout.dead_letter) if _moved_ms(each, now) < before_ms]
    names = [each.name for each in sorted(old, key=lambda each: (each.mtime_ms, each.name))][:most]
    _forget(spool, spool.layout.dead_letter, names, before_ms)
    return len(names)


def _moved_ms(letter: Aged, now: int) -> int:
    """Return when a letter came there: as its name or its time says, whichever is later and has been."""
    match = _MOVED.fullmatch(letter.name)
    told = 0 if match is None else int(match.group(1))
    return max(letter.mtime_ms, told if told <= now else 0)


def _forget(spool: Spool, folder: Path, names: Sequence[str], before_ms: int) -> None:
    for first in range(0, len(names), _BATCH):
        with spool.domain.hold():
            gone = [retire_file(spool.volume, folder / name, before_ms) for name in names[first : first + _BATCH]]
        if any(gone):
            spool.volume.sync_directory(folder)
