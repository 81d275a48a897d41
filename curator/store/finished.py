"""Closing records: that a job is over, after its evidence is gone.

INVARIANT  Published after the outcome and before the running name goes; found by id at the cost of one look.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.durable.publish import ensure_directory
from curator.durable.read import stamp_of
from curator.durable.records import publish_first, read_record
from curator.errors import ConflictError, InvalidRecordError
from curator.model.closing import Closing
from curator.model.limits import CLOSING_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.durable.volume import Volume
    from curator.model.ids import JobId


class FinishedStore:
    """The closing records of one agent folder."""

    def __init__(self, volume: Volume, layout: Layout) -> None:
        """Open the store; nothing is read yet."""
        self._volume = volume
        self._folder = layout.finished

    def find(self, job_id: JobId) -> Closing | None:
        """Return a job's closing record, if it is over."""
        path = self._path(job_id)
        closing = read_record(path, Closing, CLOSING_BYTES_MAX, private=True)
        if closing is not None and closing.job_id != job_id:
            raise InvalidRecordError(path, "holds another job than its name says")
        return closing

    def close(self, closing: Closing) -> Closing:
        """Publish a closing record, or return the one that stands: who closed first has closed.

        Raises `ConflictError` for another job of that id.
        """
        path = self._path(closing.job_id)
        ensure_directory(self._volume, path.parent)
        standing = publish_first(self._volume, path, closing, lambda: self.find(closing.job_id))
        if standing.job_digest != closing.job_digest:
            raise ConflictError(path, "is the closing record of another job")
        return standing

    def stands(self, job_id: JobId) -> bool:
        """Tell whether a job's closing record stands, without reading it."""
        return stamp_of(self._path(job_id)) is not None

    def make_sure(self, job_ids: Iterable[JobId]) -> frozenset[JobId]:
        """Return those of the jobs whose closing record stands, durable: what it stands for may go now."""
        standing = frozenset(job_id for job_id in job_ids if self.stands(job_id))
        for folder in sorted({self._path(job_id).parent for job_id in standing}):
            # Its writer may have died between its link and its flush.
            self._volume.sync_directory(folder)
        return standing

    def _path(self, job_id: JobId) -> Path:
        shard = job_id.removeprefix("review_")[:2]
        return self._folder / shard / f"{job_id}.json"
