"""The proofs of a project's mutations, receipts and tombstones, once nobody needs them any more.

Their lock domain is the project's, as that of its memory; what they prove and how they come to be stands there.

INVARIANT  A tombstone goes before its receipt, and its going is durable first: from a tombstone alone nobody can go on,
           and a receipt alone says that all is done.
CRASH      Between the two the receipt stands, and goes the next time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from curator.durable.ages import ages_in, names_in
from curator.durable.lock import protocol_domain
from curator.durable.read import stamp_of
from curator.durable.retire import retire_file
from curator.model.ids import JobId

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from curator.durable.layout import ProjectLayout
    from curator.durable.volume import Volume

_NAME: Final = re.compile(r"review_[0-9a-f]{40}\.json")
_BATCH: Final = 64


class ProofStore:
    """The receipts and tombstones of one project; the real one, or the one of shadow mode."""

    def __init__(self, volume: Volume, layout: ProjectLayout) -> None:
        """Open the store; nothing is read yet."""
        self._volume = volume
        self._layout = layout
        self._domain = protocol_domain("project", layout.lock)

    def aged(self, before_ms: int) -> tuple[JobId, ...]:
        """Return the jobs whose tombstone and receipt, as far as they stand, were all written before a moment.

        A tombstone comes after its receipt, so only those of old receipts are looked at, and those that stand alone.
        """
        receipts = {aged.name: aged.mtime_ms for aged in ages_in(self._layout.receipts)}
        alone = [name for name in names_in(self._layout.retired) if name not in receipts]
        old = [name for name, mtime_ms in receipts.items() if mtime_ms < before_ms]
        jobs = [JobId(name.removesuffix(".json")) for name in (*old, *alone) if _NAME.fullmatch(name)]
        return tuple(sorted(job_id for job_id in jobs if self._is_old(self._layout.tombstone(job_id), before_ms)))

    def forget(self, job_ids: Sequence[JobId], before_ms: int) -> None:
        """Remove both of these jobs, in their order; durable when it returns. A job that has begun again keeps them."""
        layout = self._layout
        for first in range(0, len(job_ids), _BATCH):
            batch = job_ids[first : first + _BATCH]
            for folder, path_of in ((layout.retired, layout.tombstone), (layout.receipts, layout.receipt)):
                with self._domain.hold():
                    for job_id in batch:
                        self._forget_one(job_id, path_of(job_id), before_ms)
                # Also where a dead writer removed it: until its going is durable, what follows must stay.
                if stamp_of(folder) is not None:
                    self._volume.sync_directory(folder)

    def _is_old(self, path: Path, before_ms: int) -> bool:
        stamp = stamp_of(path)
        return stamp is None or stamp.mtime_ns // 1_000_000 < before_ms

    def _forget_one(self, job_id: JobId, path: Path, before_ms: int) -> None:
        begun = (self._layout.intent(job_id), self._layout.completion(job_id))
        if all(stamp_of(each) is None for each in begun):
            retire_file(self._volume, path, before_ms)
