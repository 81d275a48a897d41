"""Reading a project's memory, and how an admission of it stands. Nothing here changes anything."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Final, TypeVar

from curator.durable.read import list_names, read_bounded
from curator.durable.records import bytes_of, read_as, read_record, read_stored
from curator.errors import ConflictError, InvalidRecordError
from curator.machine.admission import Place, RevisionSeen, Seen, Step
from curator.model.admission import Completion, Intent, Receipt, Tombstone
from curator.model.digest import pretty
from curator.model.ids import BranchName, JobId, RevisionId
from curator.model.limits import DIRECTORY_NAMES_MAX, PROJECT_FILE_BYTES_MAX
from curator.model.memory import Branch, Revision, branch_digest, read_branch
from curator.model.project import Project, read_project
from curator.model.record import Record
from curator.store.memory.history import read_history, read_revision

if TYPE_CHECKING:
    from pathlib import Path

    from curator.durable.layout import ProjectLayout
    from curator.model.digest import Digest

_COMPLETION: Final = re.compile(r"(review_[0-9a-f]{40})\.complete\.json")
_INTENT: Final = re.compile(r"(review_[0-9a-f]{40})\.intent\.json")
_LIMIT: Final = PROJECT_FILE_BYTES_MAX
R = TypeVar("R", bound=Record)


class Archive:
    """One project's memory, to be read without its lock."""

    def __init__(self, layout: ProjectLayout) -> None:
        """Open it; nothing is read yet."""
        self.layout = layout

    def project(self) -> Project | None:
        """Return which folder this memory belongs to."""
        return read_as(self.layout.project_json, read_project, _LIMIT)

    def branch(self, name: BranchName) -> Branch | None:
        """Return a branch as it stands, normalized; None where none does."""
        return read_stored(self.layout.branch(name), Branch, read_branch, _LIMIT, name)

    def receipt(self, job_id: JobId) -> Receipt | None:
        """Return what was done to memory for a job."""
        path = self.layout.receipt(job_id)
        receipt = read_record(path, Receipt, _LIMIT)
        return receipt if receipt is None else _named(path, receipt, receipt.proposal_id, job_id)

    def intent(self, job_id: JobId) -> Intent | None:
        """Return a begun mutation."""
        path = self.layout.intent(job_id)
        intent = read_record(path, Intent, _LIMIT)
        return intent if intent is None else _named(path, intent, intent.transaction_id, job_id)

    def tombstone(self, job_id: JobId) -> Tombstone | None:
        """Return what is left of a mutation that is over."""
        path = self.layout.tombstone(job_id)
        tombstone = read_record(path, Tombstone, _LIMIT)
        return tombstone if tombstone is None else _named(path, tombstone, tombstone.transaction_id, job_id)

    def revisions(self, name: BranchName) -> tuple[Revision, ...]:
        """Return a branch's history, oldest first. Raises `InvalidRecordError` if a sequence is missing or damaged."""
        return read_history(self.layout.revisions(name), name)

    def revision(self, name: BranchName, revision_id: RevisionId) -> Revision | None:
        """Return one revision of a branch by its id, whatever its history is like."""
        return read_revision(self.layout.revisions(name), revision_id)

    def pending(self) -> tuple[JobId, ...]:
        """Return the jobs whose mutation has begun and is not retired."""
        names = list_names(self.layout.admissions, DIRECTORY_NAMES_MAX)
        return tuple(JobId(match.group(1)) for name in names if (match := _INTENT.fullmatch(name)))

    def is_at_rest(self) -> bool:
        """Tell whether no mutation has begun, and none left anything, by the names alone."""
        names = list_names(self.layout.admissions, DIRECTORY_NAMES_MAX)
        return not any(_INTENT.fullmatch(name) or _COMPLETION.fullmatch(name) for name in names)

    def strays(self) -> tuple[JobId, ...]:
        """Return the jobs that are over and whose completion came back: a removal that the power took before its flush."""
        names = list_names(self.layout.admissions, DIRECTORY_NAMES_MAX)
        completed = {JobId(match.group(1)) for name in names if (match := _COMPLETION.fullmatch(name))}
        alone = sorted(completed - set(self.pending()))
        return tuple(each for each in alone if self.tombstone(each) is not None and self.receipt(each) is not None)

    def sight(self, job_id: JobId) -> Seen:
        """Return how a job's admission stands, for whoever asks."""
        return self.look(job_id)[0]

    def look(self, job_id: JobId) -> tuple[Seen, Intent | None]:
        """Return how a job's admission stands, and its intent. Raises `ConflictError` where two records contradict."""
        intent = self.intent(job_id)
        is_whole = self._completion(job_id) is not None if intent is None else self._completes(intent)
        seen = Seen(
            tombstone=self.tombstone(job_id) is not None,
            intent=intent is not None,
            branch=self._place(intent) if intent is not None and not is_whole else Place.ELSEWHERE,
            revision=RevisionSeen.NONE_DUE if intent is None else self._revision_seen(intent),
            completion=is_whole,
            receipt=self.receipt(job_id) is not None,
        )
        return seen, intent

    def look_at_begun(self, seen: Seen, intent: Intent) -> Seen:
        """Return how an admission stands whose intent was published just now, under the lock."""
        return dataclasses.replace(seen, intent=True, branch=self._place(intent), revision=self._revision_seen(intent))

    def look_after(self, step: Step, seen: Seen, intent: Intent) -> Seen:
        """Look again at what a step was to change: the lock keeps everything else as it was seen."""
        job_id = intent.transaction_id
        match step:
            case Step.WRITE_BRANCH:
                return dataclasses.replace(seen, branch=self._place(intent))
            case Step.WRITE_REVISION:
                return dataclasses.replace(seen, revision=self._revision_seen(intent))
            case Step.COMPLETE:
                is_whole = self._completes(intent)
                return dataclasses.replace(
                    seen, completion=is_whole, branch=Place.ELSEWHERE if is_whole else seen.branch
                )
            case Step.RETIRE:
                return dataclasses.replace(seen, tombstone=self.tombstone(job_id) is not None)
            case _:
                return self.look(job_id)[0]

    def _place(self, intent: Intent) -> Place:
        """Say where the branch stands; one that no row looks at is not read, so that its damage stops nothing."""
        if intent.revision is None:
            return Place.ELSEWHERE
        branch = self.branch(intent.branch_name)
        digest: Digest | None = None if branch is None else branch_digest(branch)
        if digest == intent.resulting_branch_digest:
            return Place.RESULT
        return Place.BASE if digest == intent.expected_branch_digest else Place.ELSEWHERE

    def _revision_seen(self, intent: Intent) -> RevisionSeen:
        if intent.revision is None:
            return RevisionSeen.NONE_DUE
        path = self.layout.revisions(intent.branch_name) / intent.revision.filename
        standing = read_bounded(path, _LIMIT)
        if standing is None:
            return RevisionSeen.ABSENT
        if standing != intent.revision.content.encode():
            raise ConflictError(path)
        return RevisionSeen.PRESENT

    def _completes(self, intent: Intent) -> bool:
        completion = self._completion(intent.transaction_id)
        if completion is not None and completion.intent_digest != intent.intent_digest:
            raise ConflictError(self.layout.completion(intent.transaction_id), "completes another intent")
        return completion is not None

    def _completion(self, job_id: JobId) -> Completion | None:
        path = self.layout.completion(job_id)
        completion = read_record(path, Completion, _LIMIT)
        return completion if completion is None else _named(path, completion, completion.transaction_id, job_id)


def branch_bytes(branch: Branch) -> bytes:
    """Return a branch's file."""
    return bytes_of(branch, pretty, kind=(read_branch, branch.name))


def _named(path: Path, record: R, told: JobId, job_id: JobId) -> R:
    if told != job_id:
        raise InvalidRecordError(path, "holds another job than its name says")
    return record
