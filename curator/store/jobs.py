"""Acceptance: since when a job waits, and under whose authority its first claim put it.

INVARIANT  Published once, before the first claim; a later change of mode does not change it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.durable.publish import ensure_directory
from curator.durable.records import publish_first, read_record
from curator.errors import ConflictError, InvalidRecordError
from curator.model.job import Acceptance
from curator.model.limits import IDENTITY_BYTES_MAX

if TYPE_CHECKING:
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.durable.volume import Volume
    from curator.model.ids import JobId


class JobStore:
    """The acceptance records of one agent folder."""

    def __init__(self, volume: Volume, layout: Layout) -> None:
        """Open the store; nothing is read yet."""
        self._volume = volume
        self._folder = layout.jobs

    def find(self, job_id: JobId) -> Acceptance | None:
        """Return a job's acceptance, if it was ever claimed."""
        path = self._path(job_id)
        acceptance = read_record(path, Acceptance, IDENTITY_BYTES_MAX, private=True)
        if acceptance is not None and acceptance.job_id != job_id:
            raise InvalidRecordError(path, "holds another job than its name says")
        return acceptance

    def accept(self, acceptance: Acceptance) -> Acceptance:
        """Publish an acceptance, or return the one that stands. Raises `ConflictError` for another job of that id."""
        ensure_directory(self._volume, self._folder)
        path = self._path(acceptance.job_id)
        standing = publish_first(self._volume, path, acceptance, lambda: self.find(acceptance.job_id))
        if standing.job_digest != acceptance.job_digest:
            raise ConflictError(path, "is the acceptance of another job")
        return standing

    def _path(self, job_id: JobId) -> Path:
        return self._folder / f"{job_id}.json"
