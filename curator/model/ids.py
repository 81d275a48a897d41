"""Who is who: the shape of every id, and how it is derived (interop.md 1 and 2.2)."""

from __future__ import annotations

import re
from typing import Annotated, Final, NewType

from curator.model.digest import Digest, Json, digest_of, digest_of_text
from curator.model.record import Pattern, Text
from curator.model.times import is_iso

JobId = NewType("JobId", str)
AttemptId = NewType("AttemptId", str)
ProjectKey = NewType("ProjectKey", str)
SessionKey = NewType("SessionKey", str)
LeaseToken = NewType("LeaseToken", str)
WorkerId = NewType("WorkerId", str)
BranchName = NewType("BranchName", str)
EntryId = NewType("EntryId", str)
RevisionId = NewType("RevisionId", str)
Day = NewType("Day", str)
"""A UTC day, `YYYY-MM-DD`."""

_JOB: Final = r"review_[0-9a-f]{40}"
_ATTEMPT: Final = r"review_attempt_[0-9a-f]{40}"
_WORKER: Final = r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}"
_SAFE: Final = r"[A-Za-z0-9][A-Za-z0-9._:-]{0,255}"
_ENTRY: Final = r"[A-Za-z0-9_-]{1,128}"
_BRANCH: Final = r"[a-z][a-z0-9_-]{0,63}"
_DAY: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"


def _iso_fault(text: str) -> str | None:
    return None if is_iso(text) else "is not a time like 2026-01-01T00:00:00.000Z"


AJobId = Annotated[JobId, Pattern(_JOB, "a job id")]
AnAttemptId = Annotated[AttemptId, Pattern(_ATTEMPT, "an attempt id")]
AProjectKey = Annotated[ProjectKey, Pattern(r"[0-9a-f]{16,64}", "a project key")]
ASessionKey = Annotated[SessionKey, Pattern(r"[0-9a-f]{32}", "a session key")]
ALeaseToken = Annotated[LeaseToken, Pattern(r"[0-9a-f]{32}", "a lease token")]
AWorkerId = Annotated[WorkerId, Pattern(_WORKER, "a worker id")]
AProvider = Annotated[str, Pattern(_WORKER, "a provider's name")]
ABranchName = Annotated[BranchName, Pattern(_BRANCH, "a branch name")]
ASafeId = Annotated[str, Pattern(_SAFE, "a safe id")]
AnEntryId = Annotated[EntryId, Pattern(_ENTRY, "an entry id")]
AJobEntryId = Annotated[EntryId, Pattern(_SAFE, "a safe id")]
"""An entry's id inside a job: the wire is wider than the store at the front and narrower at the back (W18)."""
ARevisionId = Annotated[RevisionId, Pattern(r"[a-f0-9-]{36}", "a revision id")]
ADigest = Annotated[Digest, Pattern(r"[0-9a-f]{64}", "a digest")]
ADay = Annotated[Day, Pattern(_DAY, "a day")]
AnIso = Annotated[str, Text(24, 24, _iso_fault)]

JOB_ID_PATTERN: Final = re.compile(_JOB)
ATTEMPT_ID_PATTERN: Final = re.compile(_ATTEMPT)
WORKER_ID_PATTERN: Final = re.compile(_WORKER)
SAFE_ID_PATTERN: Final = re.compile(_SAFE)
ENTRY_ID_PATTERN: Final = re.compile(_ENTRY)
BRANCH_NAME_PATTERN: Final = re.compile(_BRANCH)
PROJECT_KEY_PATTERN: Final = re.compile(r"[0-9a-f]{24}")
DAY_PATTERN: Final = re.compile(_DAY)


def project_key(root: str) -> ProjectKey:
    """Return the key of a canonical project root, an absolute path without a trailing slash."""
    return ProjectKey(digest_of_text(root)[:24])


def session_key(session_id: str) -> SessionKey:
    """Return the key under which a job names its session without telling its id."""
    return SessionKey(digest_of_text(session_id)[:32])


def file_key(identity: str) -> str:
    """Return the stem of a heartbeat's file: of a worker id, or of a runtime's identity."""
    return digest_of_text(identity)[:24]


def attempt_id(job_digest: Digest, claim_attempt: int, lease_token: LeaseToken) -> AttemptId:
    """Return the id that one claim gives its one provider attempt."""
    text = f"{job_digest}\n{claim_attempt}\n{lease_token}"
    return AttemptId(f"review_attempt_{digest_of_text(text)[:40]}")


def job_id(identity: Json) -> JobId:
    """Return the id of a job from its identity object (interop.md 2.2)."""
    return JobId(f"review_{digest_of(identity)[:40]}")
