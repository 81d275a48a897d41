"""Acceptance: since when a job waits, and under whose authority its first claim put it.

INVARIANT  Published once, before the first claim; a later change of mode does not change it.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from curator.durable.ages import ages_in
from curator.durable.publish import ensure_directory
from curator.durable.records import publish_first, read_record
from curator.durable.retire import retire_file
from curator.errors import ConflictError, InvalidRecordError
from curator.model.ids import JOB_ID_PATTERN, JobId
from curator.model.job import Acceptance
from curator.model.limits import CONCURRENCY_MAX, IDENTITY_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.durable.volume import Volume


class JobStore:
    """The acceptance records of one agent folder."""

    def __init__(self, volume: Volume, layout: Layout) -> None:
        """Open the store; nothing is read yet."""
        self._volume = volume
        self._folder = layout.jobs
        self._accepted: OrderedDict[JobId, Acceptance] = OrderedDict()
        """The latest that were accepted here: what never changes need not be read again while its job is under way."""

    def find(self, job_id: JobId) -> Acceptance | None:
        """Return a job's acceptance, if it was ever claimed."""
        known = self._accepted.get(job_id)
        return self._read(job_id) if known is None else known

    def _read(self, job_id: JobId) -> Acceptance | None:
        path = self._path(job_id)
        acceptance = read_record(path, Acceptance, IDENTITY_BYTES_MAX, private=True)
        if acceptance is not None and acceptance.job_id != job_id:
            raise InvalidRecordError(path, "holds another job than its name says")
        return acceptance

    def accept(self, acceptance: Acceptance) -> Acceptance:
        """Publish an acceptance, or return the one that stands. Raises `ConflictError` for another job of that id."""
        ensure_directory(self._volume, self._folder)
        path = self._path(acceptance.job_id)
        standing = publish_first(self._volume, path, acceptance, lambda: self._read(acceptance.job_id))
        if standing.job_digest != acceptance.job_digest:
            raise ConflictError(path, "is the acceptance of another job")
        self._accepted[standing.job_id] = standing
        if len(self._accepted) > CONCURRENCY_MAX:
            self._accepted.popitem(last=False)
        return standing

    def aged(self, before_ms: int) -> tuple[JobId, ...]:
        """Return the jobs whose acceptance was written before a moment."""
        names = (aged.name for aged in ages_in(self._folder) if aged.mtime_ms < before_ms)
        stems = (name.removesuffix(".json") for name in names if name.endswith(".json"))
        return tuple(sorted(JobId(stem) for stem in stems if JOB_ID_PATTERN.fullmatch(stem)))

    def forget(self, job_ids: Iterable[JobId], before_ms: int) -> None:
        """Remove acceptances that were written before a moment; durable when it returns."""
        gone = [retire_file(self._volume, self._path(job_id), before_ms) for job_id in job_ids]
        if any(gone):
            self._volume.sync_directory(self._folder)

    def _path(self, job_id: JobId) -> Path:
        return self._folder / f"{job_id}.json"
