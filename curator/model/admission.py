"""How one decision reaches memory: intent, completion, tombstone, receipt, and what binds them (interop.md 9)."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal, Self, TypeAlias

from curator.model.digest import Digest, digest_of, pretty
from curator.model.ids import ABranchName, ADigest, AJobId, AnIso, AProjectKey, ARevisionId
from curator.model.job import Job
from curator.model.limits import MESSAGE_CHARS_MAX, MESSAGES_MAX
from curator.model.memory import Branch, Review, branch_digest, revision_filename
from curator.model.outcome import Completed, outcome_digest
from curator.model.record import Items, Record, Text, Violation

Status: TypeAlias = Literal["applied", "noop", "stale", "rejected"]
Messages = Annotated[tuple[Annotated[str, Text(0, MESSAGE_CHARS_MAX)], ...], Items(0, MESSAGES_MAX)]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class IntendedRevision(Record):
    """The revision that an intent will write: its name, its exact text, its record."""

    filename: Annotated[str, Text(1, 80)]
    content: str
    record: Review

    def check(self, where: str = "") -> None:
        """The text and the name are the record's."""
        if self.content != pretty(self.record.encode()):
            raise Violation(where, "has content that is not its record's")
        if self.filename != revision_filename(self.record.sequence, self.record.id):
            raise Violation(where, "has a filename that is not its record's")

    @classmethod
    def of(cls, record: Review) -> Self:
        """Return the intended revision of a record."""
        name = revision_filename(record.sequence, record.id)
        return cls(filename=name, content=pretty(record.encode()), record=record)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Intent(Record):
    """A begun mutation: once it is durable it rolls forward to its frozen result, whoever comes."""

    version: Literal[1] = 1
    kind: Literal["review-admission"] = "review-admission"
    transaction_id: AJobId
    request_digest: ADigest
    binding_digest: ADigest | None = None
    branch_name: ABranchName
    expected_branch_digest: ADigest
    status: Status
    committed_at: AnIso
    resulting_branch_digest: ADigest
    messages: Messages
    after_branch: Branch
    revision: IntendedRevision | None = None
    intent_digest: ADigest

    def check(self, where: str = "") -> None:
        """The digests are those of the content; an applied intent, and no other, brings its revision."""
        if branch_digest(self.after_branch) != self.resulting_branch_digest:
            raise Violation(where, "has a resulting digest that is not its branch's")
        if digest_of({key: item for key, item in self.encode().items() if key != "intentDigest"}) != self.intent_digest:
            raise Violation(where, "has an intent digest that is not its content's")
        if (self.revision is not None) != (self.status == "applied"):
            raise Violation(where, "is applied without a revision, or has one without being applied")
        if self.revision is not None:
            record = self.revision.record
            bound = (record.before_digest, record.after_digest, record.committed_at)
            if bound != (self.expected_branch_digest, self.resulting_branch_digest, self.committed_at):
                raise Violation(where, "has a revision of another change")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Completion(Record):
    """Branch and revision of the intent stand."""

    version: Literal[1] = 1
    kind: Literal["review-admission-complete"] = "review-admission-complete"
    transaction_id: AJobId
    intent_digest: ADigest


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone(Record):
    """What is left of an intent: digests only, enough to rebuild its receipt."""

    version: Literal[1] = 1
    kind: Literal["review-admission-retired"] = "review-admission-retired"
    transaction_id: AJobId
    request_digest: ADigest
    binding_digest: ADigest | None = None
    branch_name: ABranchName
    expected_branch_digest: ADigest
    status: Status
    committed_at: AnIso
    resulting_branch_digest: ADigest
    messages: Messages
    revision_id: ARevisionId | None = None
    original_intent_digest: ADigest
    retired_at: AnIso
    tombstone_digest: ADigest

    def check(self, where: str = "") -> None:
        """The digest is the content's."""
        content = {key: item for key, item in self.encode().items() if key != "tombstoneDigest"}
        if digest_of(content) != self.tombstone_digest:
            raise Violation(where, "has a digest that is not its content's")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Receipt(Record):
    """The job's lasting proof of what was done to memory."""

    version: Literal[1] = 1
    proposal_id: AJobId
    job_digest: ADigest
    project_key: AProjectKey
    branch_name: ABranchName
    base_branch_digest: ADigest
    status: Status
    committed_at: AnIso
    resulting_branch_digest: ADigest
    messages: Messages
    transaction_version: Literal[1] = 1
    transaction_id: AJobId
    outcome_digest: ADigest
    binding_digest: ADigest
    revision_id: ARevisionId | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Admitted:
    """What admission resolved under the project's lock, before it is frozen into an intent."""

    status: Status
    messages: tuple[str, ...]
    after: Branch
    committed_at: str
    revision: Review | None


def binding_digest(job: Job, outcome: Completed) -> Digest:
    """Return the digest that binds a mutation to its job and outcome; always by the job's own fields."""
    return digest_of(
        {
            "transactionVersion": 1,
            "transactionId": job.id,
            "jobDigest": job.digest,
            "projectKey": job.project_key,
            "branchName": job.branch.name,
            "baseBranchDigest": job.base_branch_digest,
            "outcomeDigest": outcome_digest(outcome),
        }
    )


def request_digest(job: Job, outcome: Completed) -> Digest:
    """Return the digest by which another worker recognizes the same admission; by the job's own base."""
    return digest_of(
        {
            "transactionId": job.id,
            "branchName": job.branch.name,
            "expectedBranchDigest": job.base_branch_digest,
            "bindingDigest": binding_digest(job, outcome),
            "operations": outcome.encode()["operations"],
        }
    )


def make_intent(job: Job, outcome: Completed, base: Digest, admitted: Admitted) -> Intent:
    """Freeze what was admitted. `base` is the branch state that the elected attempt judged."""
    draft = Intent(
        transaction_id=job.id,
        request_digest=request_digest(job, outcome),
        binding_digest=binding_digest(job, outcome),
        branch_name=job.branch.name,
        expected_branch_digest=base,
        status=admitted.status,
        committed_at=admitted.committed_at,
        resulting_branch_digest=branch_digest(admitted.after),
        messages=admitted.messages,
        after_branch=admitted.after,
        revision=None if admitted.revision is None else IntendedRevision.of(admitted.revision),
        intent_digest=Digest("0" * 64),
    )
    content = {key: item for key, item in draft.encode().items() if key != "intentDigest"}
    intent = dataclasses.replace(draft, intent_digest=digest_of(content))
    intent.check("intent")
    return intent


def completion_of(intent: Intent) -> Completion:
    """Return the completion of an intent."""
    return Completion(transaction_id=intent.transaction_id, intent_digest=intent.intent_digest)


def tombstone_of(intent: Intent, retired_at: str) -> Tombstone:
    """Compact an intent to its digests."""
    draft = Tombstone(
        transaction_id=intent.transaction_id,
        request_digest=intent.request_digest,
        binding_digest=intent.binding_digest,
        branch_name=intent.branch_name,
        expected_branch_digest=intent.expected_branch_digest,
        status=intent.status,
        committed_at=intent.committed_at,
        resulting_branch_digest=intent.resulting_branch_digest,
        messages=intent.messages,
        revision_id=None if intent.revision is None else intent.revision.record.id,
        original_intent_digest=intent.intent_digest,
        retired_at=retired_at,
        tombstone_digest=Digest("0" * 64),
    )
    content = {key: item for key, item in draft.encode().items() if key != "tombstoneDigest"}
    return dataclasses.replace(draft, tombstone_digest=digest_of(content))


def receipt_of(job: Job, outcome: Completed, done: Intent | Tombstone) -> Receipt:
    """Return the receipt of an admission, from its intent or from what is left of it."""
    if isinstance(done, Intent):
        revision_id = None if done.revision is None else done.revision.record.id
    else:
        revision_id = done.revision_id
    return Receipt(
        proposal_id=job.id,
        job_digest=job.digest,
        project_key=job.project_key,
        branch_name=job.branch.name,
        base_branch_digest=job.base_branch_digest,
        status=done.status,
        committed_at=done.committed_at,
        resulting_branch_digest=done.resulting_branch_digest,
        messages=done.messages,
        transaction_id=job.id,
        outcome_digest=outcome_digest(outcome),
        binding_digest=binding_digest(job, outcome),
        revision_id=revision_id,
    )
