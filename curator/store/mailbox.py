"""The mailbox of one project: who waits in Pi, and the cards for them (interop.md 10).

INVARIANT  A card is published once per job and never changed; Pi removes both records when it has shown it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.durable.publish import Published, ensure_directory, remove
from curator.durable.read import list_names
from curator.durable.records import publish_canonical, read_record
from curator.errors import BusyError, ConflictError
from curator.model.feedback import Pending, Ready
from curator.model.ids import JOB_ID_PATTERN, JobId
from curator.model.limits import DIRECTORY_NAMES_MAX, PENDING_BYTES_MAX, PENDING_MAX, READY_BYTES_MAX

if TYPE_CHECKING:
    from pathlib import Path

    from curator.durable.layout import ProjectLayout
    from curator.durable.volume import Volume
    from curator.model.digest import Digest


class Mailbox:
    """The feedback of one project."""

    def __init__(self, volume: Volume, layout: ProjectLayout) -> None:
        """Open the mailbox; nothing is read yet."""
        self._volume = volume
        self._layout = layout

    def pending(self, job_id: JobId) -> Pending | None:
        """Return who waits for a job, if anybody does."""
        return read_record(self._layout.pending / f"{job_id}.json", Pending, PENDING_BYTES_MAX, private=True)

    def pending_ids(self) -> tuple[JobId, ...]:
        """Return the jobs that somebody waits for."""
        return self._ids(self._layout.pending)

    def ready(self, job_id: JobId) -> Ready | None:
        """Return a job's card, until Pi has taken it."""
        return read_record(self._layout.ready / f"{job_id}.json", Ready, READY_BYTES_MAX, private=True)

    def register(self, pending: Pending) -> bool:
        """Say that somebody waits for a job; tell whether nobody had said so. Raises `BusyError` when too many wait."""
        ensure_directory(self._volume, self._layout.pending)
        path = self._layout.pending / f"{pending.job_id}.json"
        if self._is_waited_for(pending):
            # Its writer may have died between its link and its flush, and a job is enqueued next.
            self._volume.sync_directory(path.parent)
            return False
        if len(self.pending_ids()) >= PENDING_MAX:
            fact = f"{PENDING_MAX} jobs of this project are waited for already"
            raise BusyError(fact, remedy="Open Pi in that project once, so that it shows what is ready")
        try:
            return publish_canonical(self._volume, path, pending) is Published.CREATED
        except ConflictError:
            # Another producer of the same job was quicker; only the moment differs.
            if not self._is_waited_for(pending):
                raise
            self._volume.sync_directory(path.parent)
            return False

    def discard(self, job_id: JobId) -> None:
        """Take back a registration whose job was not accepted."""
        remove(self._volume, self._layout.pending / f"{job_id}.json")

    def answer(self, card: Ready) -> bool:
        """Publish a card if somebody waits for it; tell whether anybody did.

        Raises `ConflictError` if what waits is another job of that id, or another card stands.
        """
        pending = self.pending(card.job_id)
        if pending is None:
            return False
        if pending.job_digest != card.job_digest:
            raise ConflictError(self._layout.pending / f"{card.job_id}.json", "waits for another job of that id")
        ensure_directory(self._volume, self._layout.ready)
        publish_canonical(self._volume, self._layout.ready / f"{card.job_id}.json", card)
        return True

    def lacks_card(self, job_id: JobId, digest: Digest) -> bool:
        """Tell whether somebody waits for exactly this job and has no card yet. A card that stands is made sure of."""
        pending = self.pending(job_id)
        if pending is None or pending.job_digest != digest:
            return False
        if self.ready(job_id) is None:
            return True
        # Its writer may have died between the link and the flush; whoever goes on from here relies on it.
        self._volume.sync_directory(self._layout.ready)
        return False

    def _is_waited_for(self, wanted: Pending) -> bool:
        standing = self.pending(wanted.job_id)
        return standing is not None and standing.job_digest == wanted.job_digest

    def _ids(self, folder: Path) -> tuple[JobId, ...]:
        names = list_names(folder, DIRECTORY_NAMES_MAX)
        stems = [name.removesuffix(".json") for name in names if name.endswith(".json")]
        return tuple(JobId(stem) for stem in stems if JOB_ID_PATTERN.fullmatch(stem))
