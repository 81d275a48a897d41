"""A review job, and the records by which the spool says who owns it (interop.md 4.1 and 4.4)."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal, Self

from curator.model.digest import Digest, Json, canonical, digest_of, digest_of_text
from curator.model.ids import (
    ADigest,
    AJobId,
    ALeaseToken,
    AnIso,
    AProjectKey,
    ASafeId,
    ASessionKey,
    AWorkerId,
    JobId,
    ProjectKey,
    SessionKey,
    job_id,
)
from curator.model.limits import (
    EVIDENCE_CHARS_MAX,
    GENERATION_MAX,
    JOB_BYTES_MAX,
    JOB_CHARS_MAX,
)
from curator.model.memory import Branch, check_for_job
from curator.model.outcome import Outcome
from curator.model.record import Integer, Record, Text, Violation
from curator.model.text import sanitized_fault


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Job(Record):
    """Bounded, sanitized evidence of what was said, and the branch as it stood then. Its id and digest bind it."""

    version: Literal[1] = 1
    kind: Literal["memory-review"] = "memory-review"
    project_key: AProjectKey
    session_key: ASessionKey
    through_entry_id: ASafeId
    transcript: Annotated[str, Text(1, EVIDENCE_CHARS_MAX, sanitized_fault)]
    branch: Branch
    base_branch_digest: ADigest
    max_chars: Annotated[int, Integer(1, JOB_CHARS_MAX)]
    generation: Annotated[int, Integer(1, GENERATION_MAX)] | None = None
    id: AJobId
    digest: ADigest

    def check(self, where: str = "") -> None:
        """The id and the digest are those of the content, and the branch is one that a job may carry."""
        check_for_job(self.branch, f"{where}.branch" if where else "branch")
        core = self.encode()
        binding = {"id": core.pop("id"), "digest": core.pop("digest")}
        text = canonical(core)
        if digest_of_text(text) != self.digest:
            raise Violation(where, "has a digest that is not its content's")
        if identity_of(self) != self.id:
            raise Violation(where, "has an id that is not its content's")
        # Two keys more make one comma and no braces more; all of both is ASCII.
        if len(text.encode()) + len(canonical(binding)) - 1 > JOB_BYTES_MAX:
            raise Violation(where, f"is larger than {JOB_BYTES_MAX} bytes")


def identity_of(job: Job) -> JobId:
    """Return the id of a job: its frontier's, whatever the evidence."""
    return job_identity(job.project_key, job.session_key, job.branch.name, job.through_entry_id, job.generation)


def job_identity(
    project_key: ProjectKey, session_key: SessionKey, branch: str, through_entry_id: str, generation: int | None
) -> JobId:
    """Return the id that a job of this frontier has."""
    identity: dict[str, Json] = {
        "version": 1,
        "kind": "memory-review",
        "projectKey": project_key,
        "sessionKey": session_key,
        "branchName": branch,
        "throughEntryId": through_entry_id,
    }
    if generation is not None:
        identity["generation"] = generation
    return job_id(identity)


def make_job(  # noqa: PLR0913 - a job has these parts
    *,
    project_key: ProjectKey,
    session_key: SessionKey,
    through_entry_id: str,
    transcript: str,
    branch: Branch,
    base_branch_digest: Digest,
    max_chars: int,
    generation: int | None = None,
) -> Job:
    """Bind evidence to a frontier. Raises `Violation` if the result would not be a job."""
    draft = Job(
        id=job_identity(project_key, session_key, branch.name, through_entry_id, generation),
        digest=Digest("0" * 64),
        project_key=project_key,
        session_key=session_key,
        through_entry_id=through_entry_id,
        transcript=transcript,
        branch=branch,
        base_branch_digest=base_branch_digest,
        max_chars=max_chars,
        generation=generation,
    )
    core = draft.encode()
    del core["id"], core["digest"]
    # Decoding checks every bound once more: what is produced here is read by others.
    return Job.decode(draft.encode() | {"digest": digest_of(core)}, "job")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Queued(Record):
    """A job that waits, and the number that its next claim gets."""

    version: Literal[1] = 1
    job: Job
    next_attempt: Annotated[int, Integer(1)]
    available_at: AnIso | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Running(Record):
    """A job under a lease. The token fences everything that its owner writes."""

    version: Literal[1] = 1
    job: Job
    attempt: Annotated[int, Integer(1)]
    worker_id: AWorkerId
    lease_token: ALeaseToken
    claimed_at: AnIso
    lease_until: AnIso

    def check(self, where: str = "") -> None:
        """A lease ends after it begins."""
        if self.lease_until <= self.claimed_at:
            raise Violation(where, "has a lease that ends before it begins")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Finished(Record):
    """The outcome of a job, as the spool keeps it for Pi."""

    version: Literal[1] = 1
    attempt: Annotated[int, Integer(1)]
    worker_id: AWorkerId
    lease_token: ALeaseToken
    outcome: Outcome


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter(Record):
    """A job that came under an id that another job has."""

    version: Literal[1] = 1
    reason: Literal["digest-conflict"] = "digest-conflict"
    quarantined_at: AnIso
    existing_digest: ADigest
    job: Job


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance(Record):
    """Ours, published at the first claim: under whose authority a job runs, and since when it waits."""

    version: Literal[1] = 1
    kind: Literal["curator-job"] = "curator-job"
    job_id: AJobId
    job_digest: ADigest
    authority: Literal["shadow", "external"]
    accepted_at: AnIso


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Base(Record):
    """Ours: the branch that an attempt judges when it is not the job's own. No time, so that a replay is equal."""

    version: Literal[1] = 1
    kind: Literal["curator-base"] = "curator-base"
    job_id: AJobId
    job_digest: ADigest
    base_branch_digest: ADigest
    branch: Branch

    @classmethod
    def of(cls, job: Job, branch: Branch, digest: Digest) -> Self:
        """Return the base record of a job against `branch`, whose unsanitized digest is `digest`."""
        return cls(job_id=job.id, job_digest=job.digest, base_branch_digest=digest, branch=branch.sanitized())
