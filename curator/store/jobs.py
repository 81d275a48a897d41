"""Acceptance: since when a job waits, and under whose authority its first claim put it.

INVARIANT  Published once, before the first claim; a later change of mode does not change it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.durable.publish import ensure_directory, publish
from curator.durable.records import read_record
from curator.errors import ConflictError
from curator.model.digest import compact
from curator.model.job import Acceptance
from curator.model.limits import IDENTITY_BYTES_MAX

if TYPE_CHECKING:
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
        return read_record(self._folder / f"{job_id}.json", Acceptance, IDENTITY_BYTES_MAX)

    def accept(self, acceptance: Acceptance) -> Acceptance:
        """Publish an acceptance, or return the one that stands. Raises `ConflictError` for another job of that id."""
        path = self._folder / f"{acceptance.job_id}.json"
        standing = self.find(acceptance.job_id)
        if standing is None:
            ensure_directory(self._volume, self._folder)
            try:
                publish(self._volume, path, compact(acceptance.encode()).encode())
            except ConflictError:
                standing = self.find(acceptance.job_id)
            else:
                return acceptance
        if standing is None or standing.job_digest != acceptance.job_digest:
            raise ConflictError(path, "is the acceptance of another job")
        return standing
