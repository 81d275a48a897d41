"""Base records: the branch state that an attempt judged, where that is not the job's own (design: rebase in place).

INVARIANT  Published before the reservation that names it, and kept until the outcome stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.durable.ages import folders_in, newest_in
from curator.durable.publish import ensure_directory
from curator.durable.records import publish_canonical, read_record
from curator.durable.retire import retire_folder
from curator.errors import InvalidRecordError
from curator.model.ids import JOB_ID_PATTERN, JobId
from curator.model.job import Base
from curator.model.limits import PUBLISHED_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curator.durable.layout import Layout
    from curator.durable.volume import Volume
    from curator.model.digest import Digest


class BaseStore:
    """The base records of one agent folder."""

    def __init__(self, volume: Volume, layout: Layout) -> None:
        """Open the store; nothing is read yet."""
        self._volume = volume
        self._layout = layout

    def publish(self, base: Base) -> None:
        """Publish a base; durable when it returns. A replay has equal bytes."""
        path = self._layout.base(base.job_id, base.base_branch_digest)
        ensure_directory(self._volume, path.parent)
        publish_canonical(self._volume, path, base, hidden=False)

    def find(self, job_id: JobId, digest: Digest) -> Base | None:
        """Return a base of a job, or None where none stands."""
        path = self._layout.base(job_id, digest)
        base = read_record(path, Base, PUBLISHED_BYTES_MAX, private=True)
        if base is not None and (base.job_id, base.base_branch_digest) != (job_id, digest):
            raise InvalidRecordError(path, "holds another base than its name says")
        return base

    # Retention.

    def jobs(self) -> frozenset[JobId]:
        """Return the jobs that have a folder of bases, empty or not."""
        return frozenset(JobId(name) for name in folders_in(self._layout.bases) if JOB_ID_PATTERN.fullmatch(name))

    def newest(self, job_id: JobId) -> int:
        """Return when a job's newest base was written; 0 where none stands."""
        return newest_in(self._layout.bases / job_id) or 0

    def forget(self, job_ids: Iterable[JobId], before_ms: int) -> None:
        """Remove what was written of jobs before a moment, and their folders; durable when it returns."""
        gone = [retire_folder(self._volume, self._layout.bases / job_id, before_ms) for job_id in job_ids]
        if any(gone):
            self._volume.sync_directory(self._layout.bases)
