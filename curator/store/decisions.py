"""What providers said, and the one proposal of each job that counts (interop.md 6).

INVARIANT  A result is durable before it can elect; a decision is elected once and never changes.
CRASH      A result without a decision is elected from its checkpoint later; no second call is paid for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from curator.durable.ages import Aged, ages_in, folders_in, names_in, newest_in
from curator.durable.lock import protocol_domain
from curator.durable.publish import check_directory, ensure_directory, ensure_passing_directory
from curator.durable.read import list_names, prove_free, stamp_of
from curator.durable.records import publish_canonical, read_record
from curator.durable.retire import retire_file, retire_folder
from curator.errors import BusyError, InvalidRecordError
from curator.model.decision import Decision, Evidence, ProviderResult
from curator.model.ids import JOB_ID_PATTERN, AttemptId, JobId
from curator.model.limits import CHECKPOINT_BYTES_MAX, DIRECTORY_NAMES_MAX, JOB_ROOM_BYTES, JOURNAL_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.durable.volume import Volume

_DECISION: Final = re.compile(r"review_[0-9a-f]{40}\.json")
_RESULT: Final = re.compile(r"(review_attempt_[0-9a-f]{40})\.json")


class DecisionShelf:
    """Results and decisions to be looked at: nothing is flushed for a look, so nothing may be built on what it shows."""

    def __init__(self, layout: Layout) -> None:
        """Open the shelf; nothing is read yet."""
        self._layout = layout

    def read(self, job_id: JobId) -> Decision | None:
        """Return the job's decision, if one was elected."""
        path = self._layout.decision(job_id)
        decision = read_record(path, Decision, CHECKPOINT_BYTES_MAX, private=True)
        if decision is not None and decision.job.id != job_id:
            raise InvalidRecordError(path, "holds another job than its name says")
        return decision

    def is_elected(self, job_id: JobId) -> bool:
        """Tell whether a decision stands, without reading it."""
        return stamp_of(self._layout.decision(job_id)) is not None

    def read_result(self, job_id: JobId, attempt_id: AttemptId) -> ProviderResult | None:
        """Return one attempt's checkpoint."""
        path = self._layout.result(job_id, attempt_id)
        result = read_record(path, ProviderResult, CHECKPOINT_BYTES_MAX, private=True)
        if result is not None and (result.job.id, result.attempt_id) != (job_id, attempt_id):
            raise InvalidRecordError(path, "holds another attempt than its name says")
        return result

    def read_results(self, job_id: JobId) -> tuple[ProviderResult, ...]:
        """Return every checkpoint of a job, by attempt id. A name that is not a result's is passed over."""
        names = list_names(self._layout.results / job_id, DIRECTORY_NAMES_MAX)
        ids = [AttemptId(match.group(1)) for name in names if (match := _RESULT.fullmatch(name))]
        return tuple(each for each in (self.read_result(job_id, each) for each in ids) if each is not None)


class DecisionStore(DecisionShelf):
    """Results, decisions and evidence spans of one agent folder."""

    def __init__(self, volume: Volume, layout: Layout) -> None:
        """Open the store; nothing is read yet."""
        super().__init__(layout)
        self._volume = volume
        self._durable: dict[JobId, set[AttemptId]] = {}
        """Results that were published here: nobody need flush them again. Until the job's decision."""

    def prove_room(self, job_id: JobId) -> None:
        """Raise if a result of this job could not be kept: that must be known before it is paid for.

        `InvalidRecordError` where something else has the name of a folder, `StorageError` where the disk is all but full.
        """
        layout = self._layout
        prove_free(layout.root, JOB_ROOM_BYTES)
        for folder in (layout.results / job_id, layout.evidence_shard(job_id), layout.decision_locks):
            check_directory(folder)

    def record_result(self, result: ProviderResult) -> None:
        """Checkpoint what an attempt brought; durable when it returns. Raises `ConflictError` for another result."""
        path = self._layout.result(result.job.id, result.attempt_id)
        ensure_directory(self._volume, path.parent)
        ensure_passing_directory(self._volume, self._layout.decision_locks)
        with protocol_domain("decision", self._layout.decision_lock(result.job.id)).hold():
            publish_canonical(self._volume, path, result)
        self._durable.setdefault(result.job.id, set()).add(result.attempt_id)

    def elect(self, result: ProviderResult) -> Decision:
        """Make a completed result the job's decision, or return the one that was first. Never call it with another."""
        decision = Decision.decode(
            result.encode() | {"kind": "review-proposal-decision"}, f"decision of {result.job.id}"
        )
        ensure_passing_directory(self._volume, self._layout.decision_locks)
        self._durable.pop(result.job.id, None)
        with protocol_domain("decision", self._layout.decision_lock(result.job.id)).hold():
            standing = self.find(result.job.id)
            if standing is not None:
                return standing
            publish_canonical(self._volume, self._layout.decision(result.job.id), decision)
        return decision

    def find(self, job_id: JobId) -> Decision | None:
        """Return the job's decision, if one was elected; it is durable, and may be acted upon."""
        decision = self.read(job_id)
        if decision is not None:
            self._flush(self._layout.decisions)
        return decision

    def result(self, job_id: JobId, attempt_id: AttemptId) -> ProviderResult | None:
        """Return one attempt's checkpoint; it is durable, and may be acted upon."""
        result = self.read_result(job_id, attempt_id)
        if result is not None:
            self._flush(self._layout.results / job_id)
        return result

    def results(self, job_id: JobId) -> tuple[ProviderResult, ...]:
        """Return every checkpoint of a job, by attempt id; they are durable, and may be acted upon."""
        found = self.read_results(job_id)
        if not self._durable.get(job_id, set()).issuperset(each.attempt_id for each in found):
            self._flush(self._layout.results / job_id)
        return found

    def record_evidence(self, evidence: Evidence) -> None:
        """Keep where an attempt's quotes stand, beside its result; published before it."""
        path = self._layout.evidence_of(evidence.job_id, evidence.attempt_id)
        ensure_directory(self._volume, path.parent)
        publish_canonical(self._volume, path, evidence, hidden=False)

    def evidence(self, job_id: JobId, attempt_id: AttemptId) -> Evidence | None:
        """Return where an attempt's quotes stand, while that is kept."""
        path = self._layout.evidence_of(job_id, attempt_id)
        return read_record(path, Evidence, JOURNAL_BYTES_MAX, private=True)

    # Retention.

    def ages(self) -> Mapping[JobId, int]:
        """Return when each decision was written, in UTC milliseconds."""
        aged = ages_in(self._layout.decisions)
        return {
            JobId(each.name.removesuffix(".json")): each.mtime_ms for each in aged if _DECISION.fullmatch(each.name)
        }

    def jobs(self) -> frozenset[JobId]:
        """Return the jobs that have a folder of results, empty or not, or spans."""
        shards = [self._layout.evidence / name for name in folders_in(self._layout.evidence)]
        spans = (_job_of(name) for shard in shards for name in names_in(shard))
        return frozenset(
            JobId(name) for name in (*folders_in(self._layout.results), *spans) if JOB_ID_PATTERN.fullmatch(name)
        )

    def newest(self, job_ids: Iterable[JobId]) -> Mapping[JobId, int]:
        """Return when the newest result or span of each job was written; 0 where none stands."""
        newest = {job_id: newest_in(self._layout.results / job_id) or 0 for job_id in job_ids}
        for job_id, aged in self._spans_of(newest):
            newest[job_id] = max(newest[job_id], aged.mtime_ms)
        return newest

    def stands(self, job_id: JobId) -> bool:
        """Tell whether anything of a job stands here, without reading it."""
        layout = self._layout
        return any(stamp_of(path) is not None for path in (layout.decision(job_id), layout.results / job_id))

    def forget(self, job_ids: Iterable[JobId], before_ms: int) -> Mapping[JobId, BusyError]:
        """Remove what was written of jobs before a moment, and folders of theirs alone; durable when it returns.

        A decision goes before its result, and a result before its spans, each flushed: at no moment does one stand
        without what it is made of. Returns the jobs whose lock somebody holds; they are as good the next time.
        """
        layout, busy, jobs = self._layout, dict[JobId, BusyError](), list(job_ids)
        if not jobs:
            return busy
        ensure_passing_directory(self._volume, layout.decision_locks)
        spans: dict[JobId, list[Path]] = {}
        for job_id, aged in self._spans_of(jobs):
            spans.setdefault(job_id, []).append(layout.evidence_shard(job_id) / aged.name)
        shards = sorted({layout.evidence_shard(job_id) for job_id in jobs})
        steps: tuple[tuple[Sequence[Path], Callable[[JobId], object]], ...] = (
            ([layout.decisions], lambda job_id: retire_file(self._volume, layout.decision(job_id), before_ms)),
            ([layout.results], lambda job_id: retire_folder(self._volume, layout.results / job_id, before_ms)),
            (shards, lambda job_id: [retire_file(self._volume, path, before_ms) for path in spans.get(job_id, ())]),
        )
        for folders, retire in steps:
            for job_id in [each for each in jobs if each not in busy]:
                try:
                    with protocol_domain("decision", layout.decision_lock(job_id)).hold():
                        retire(job_id)
                except BusyError as error:
                    busy[job_id] = error
            # Also where a dead writer removed it: until its going is durable, what it is made of must stay.
            for folder in folders:
                if stamp_of(folder) is not None:
                    self._flush(folder)
        return busy

    def _spans_of(self, job_ids: Iterable[JobId]) -> Iterator[tuple[JobId, Aged]]:
        """Yield what stands of jobs among the spans, staged leftovers too; each shard is looked through once."""
        wanted = frozenset(job_ids)
        for shard in sorted({self._layout.evidence_shard(job_id) for job_id in wanted}):
            for aged in sorted(ages_in(shard), key=lambda each: each.name):
                job_id = JobId(_job_of(aged.name))
                if job_id in wanted:
                    yield job_id, aged

    def _flush(self, folder: Path) -> None:
        """Flush what was just read: its writer may have died between its link and its flush, and more is built on it."""
        self._volume.sync_directory(folder)


def _job_of(name: str) -> str:
    """Return the job that a name among the spans begins with, also that of a staged leftover."""
    return name.partition(".")[0]
