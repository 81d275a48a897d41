"""Jobs, outcomes, the spool's records and the checkpoints (interop.md 4 and 6), and ours beside them."""

from __future__ import annotations

from typing import Final

from curator.model.digest import Json, canonical, digest_of
from curator.model.limits import (
    ENTRY_CHARS_READ_MAX,
    EVIDENCE_CHARS_MAX,
    FAILURE_MESSAGE_CHARS_MAX,
    GENERATION_MAX,
    JOB_BYTES_MAX,
    JOB_CHARS_MAX,
    JOB_ENTRIES_MAX,
    MERGE_IDS_MIN,
    MERGE_IDS_WIRE_MAX,
    OPERATIONS_MAX,
    OUTCOME_BYTES_MAX,
)
from curator.verify.shape import (
    Fields,
    Rule,
    Shape,
    amount,
    and_then,
    fields_of,
    items_of,
    listing,
    matching,
    moment,
    objects_of,
    one,
    tagged,
    text,
    text_of,
    truth,
    units,
    whole,
    without,
)
from curator.verify.shapes.common import (
    ATTEMPT_ID,
    BRANCH_NAME,
    DIGEST,
    ENTRY_ID,
    IMPORTANCE,
    JOB_ID,
    LEASE_TOKEN,
    ONE,
    PROJECT_KEY,
    REVISION_ID,
    SAFE_ID,
    SESSION_KEY,
    WORKER_ID,
)

_WRITER: Final = one("assistant_tool", "background_review")

# Jobs (interop.md 4.1).

_JOB_ENTRY: Final = Shape(
    {"id": SAFE_ID, "text": text(1, ENTRY_CHARS_READ_MAX), "createdAt": moment, "updatedAt": moment}
    | {"importance": IMPORTANCE},
    {"createdBy": _WRITER, "updatedBy": _WRITER, "importanceAssessedAt": moment},
)
_JOB_BRANCH: Final = Shape(
    {"version": ONE, "name": BRANCH_NAME, "createdAt": moment, "updatedAt": moment}
    | {"entries": listing(_JOB_ENTRY, 0, JOB_ENTRIES_MAX)},
    {"parent": BRANCH_NAME},
)


def _job_is_bound(job: Fields) -> str | None:
    entries = objects_of(fields_of(job, "branch"), "entries")
    if len({text_of(entry, "id") for entry in entries}) != len(entries):
        return "branch: has two entries of one id"
    if sum(units(text_of(entry, "text")) for entry in entries) > JOB_CHARS_MAX:
        return f"branch: holds more than {JOB_CHARS_MAX} characters"
    if digest_of(without(job, "id", "digest")) != job["digest"]:
        return "has a digest that is not its content's"
    identity: Fields = {key: job[key] for key in ("version", "kind", "projectKey", "sessionKey", "throughEntryId")}
    identity["branchName"] = fields_of(job, "branch")["name"]
    if "generation" in job:
        identity["generation"] = job["generation"]
    if f"review_{digest_of(identity)[:40]}" != job["id"]:
        return "has an id that is not its content's"
    return None if len(canonical(job).encode("utf-8", "surrogatepass")) <= JOB_BYTES_MAX else "is too large"


JOB: Final = and_then(
    Shape(
        {"version": ONE, "kind": one("memory-review"), "id": JOB_ID, "digest": DIGEST, "projectKey": PROJECT_KEY}
        | {"sessionKey": SESSION_KEY, "throughEntryId": SAFE_ID, "transcript": text(1, EVIDENCE_CHARS_MAX)}
        | {"branch": _JOB_BRANCH, "baseBranchDigest": DIGEST, "maxChars": whole(1, JOB_CHARS_MAX)},
        {"generation": whole(1, GENERATION_MAX)},
    ),
    _job_is_bound,
)

# Outcomes (interop.md 4.4).

_CONTENT: Final = text(1, ENTRY_CHARS_READ_MAX)
USAGE: Final = Shape(
    dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "totalTokens"), whole())
    | {"cost": Shape(dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "total"), amount))},
    {"reasoning": whole()},
)


def _ends_after_it_starts(provenance: Fields) -> str | None:
    is_late = text_of(provenance, "completedAt") >= text_of(provenance, "startedAt")
    return None if is_late else "completedAt is before startedAt"


PROVENANCE: Final = and_then(
    Shape(
        {"provider": text(1, 128), "model": text(1, 256), "api": text(1, 128), "startedAt": moment}
        | {"completedAt": moment, "durationMs": whole(), "usage": USAGE},
        {"responseModel": text(1, 256), "responseId": SAFE_ID},
    ),
    _ends_after_it_starts,
)
_OPERATION: Final = tagged(
    "action",
    {
        "add": Shape({"action": text(), "content": _CONTENT, "importance": IMPORTANCE}),
        "replace": Shape({"action": text(), "entryId": SAFE_ID, "content": _CONTENT, "importance": IMPORTANCE}),
        "remove": Shape({"action": text(), "entryId": SAFE_ID}),
        "merge": Shape(
            {"action": text(), "entryIds": listing(SAFE_ID, MERGE_IDS_MIN, MERGE_IDS_WIRE_MAX)}
            | {"content": _CONTENT, "importance": IMPORTANCE}
        ),
        "assess": Shape({"action": text(), "entryId": SAFE_ID, "importance": IMPORTANCE}),
    },
)
_FAILURE: Final = Shape(
    {"code": matching(r"[a-z][a-z0-9_-]{0,63}", "a failure code"), "message": text(1, FAILURE_MESSAGE_CHARS_MAX)}
    | {"retryable": truth}
)
_OUTCOME_FACTS: Final = {"version": ONE, "jobId": JOB_ID, "jobDigest": DIGEST, "status": text(), "completedAt": moment}


def _outcome_is_bound(outcome: Fields) -> str | None:
    if outcome["status"] == "completed" and outcome["completedAt"] != fields_of(outcome, "provenance")["completedAt"]:
        return "completedAt is not its provenance's"
    merged = [items_of(operation, "entryIds") for operation in objects_of(outcome, "operations")]
    if any(len(set(map(str, ids))) != len(ids) for ids in merged):
        return "merges an entry with itself"
    is_small = len(canonical(outcome).encode("utf-8", "surrogatepass")) <= OUTCOME_BYTES_MAX
    return None if is_small else "is too large"


_COMPLETED: Final = and_then(
    Shape(_OUTCOME_FACTS | {"operations": listing(_OPERATION, 0, OPERATIONS_MAX), "provenance": PROVENANCE}),
    _outcome_is_bound,
)
_FAILED: Final = and_then(Shape(_OUTCOME_FACTS | {"error": _FAILURE}, {"provenance": PROVENANCE}), _outcome_is_bound)
OUTCOME: Final = tagged("status", {"completed": _COMPLETED, "failed": _FAILED})

# The spool (interop.md 4.4).

QUEUED: Final = Shape({"version": ONE, "job": JOB, "nextAttempt": whole(1)}, {"availableAt": moment})
RUNNING: Final = and_then(
    Shape(
        {"version": ONE, "job": JOB, "attempt": whole(1), "workerId": WORKER_ID, "leaseToken": LEASE_TOKEN}
        | {"claimedAt": moment, "leaseUntil": moment}
    ),
    lambda running: (
        None
        if text_of(running, "leaseUntil") > text_of(running, "claimedAt")
        else "has a lease that ends before it begins"
    ),
)
FINISHED: Final = Shape(
    {"version": ONE, "attempt": whole(1), "workerId": WORKER_ID, "leaseToken": LEASE_TOKEN, "outcome": OUTCOME}
)
DEAD_LETTER: Final = Shape(
    {"version": ONE, "reason": one("digest-conflict"), "quarantinedAt": moment, "existingDigest": DIGEST, "job": JOB}
)

# Checkpoints (interop.md 6), and what stands beside them.


def proposal_digest(outcome: Fields) -> str | None:
    """Return the digest of what was proposed, or None where nothing was."""
    if outcome["status"] != "completed":
        return None
    keys = ("jobId", "jobDigest", "operations")
    return digest_of({"version": 1} | {key: outcome[key] for key in keys})


def _checkpoint_is_bound(result: Fields) -> str | None:
    job, outcome = fields_of(result, "job"), fields_of(result, "outcome")
    if (outcome["jobId"], outcome["jobDigest"]) != (job["id"], job["digest"]):
        return "has an outcome of another job"
    if result["proposalDigest"] != proposal_digest(outcome):
        return "has a proposal digest that is not its outcome's"
    return None


def _digest_or_null(value: Json) -> str | None:
    return None if value is None else DIGEST(value)


def _checkpoint(kind: str, outcome: Rule) -> Rule:
    return and_then(
        Shape(
            {"version": ONE, "kind": one(kind), "attemptId": WORKER_ID, "proposalDigest": _digest_or_null}
            | {"job": JOB, "outcome": outcome}
        ),
        _checkpoint_is_bound,
    )


RESULT: Final = _checkpoint("review-provider-result", OUTCOME)
DECISION: Final = _checkpoint("review-proposal-decision", tagged("status", {"completed": _COMPLETED}))

_SPAN: Final = Shape({"operation": whole(0, OPERATIONS_MAX - 1), "start": whole(), "end": whole(), "digest": DIGEST})
EVIDENCE: Final = Shape(
    {"version": ONE, "kind": one("curator-evidence"), "jobId": JOB_ID, "jobDigest": DIGEST, "attemptId": ATTEMPT_ID}
    | {"spans": listing(_SPAN, 0, OPERATIONS_MAX)},
    {"dropped": listing(text(1, 300), 0, OPERATIONS_MAX + 1)},
)
ACCEPTANCE: Final = Shape(
    {"version": ONE, "kind": one("curator-job"), "jobId": JOB_ID, "jobDigest": DIGEST}
    | {"authority": one("shadow", "external"), "acceptedAt": moment}
)
CLOSED_ATTEMPT: Final = Shape(
    {"id": ATTEMPT_ID, "state": one("reserved", "dispatched", "settled", "unknown", "cancelled")}
    | {"tokens": whole(), "costNanousd": whole()}
)
CLOSED_SPAN: Final = Shape({"entryId": ENTRY_ID, "digest": DIGEST})
CLOSING: Final = Shape(
    {"version": ONE, "kind": one("curator-closing"), "jobId": JOB_ID, "jobDigest": DIGEST, "projectKey": PROJECT_KEY}
    | {"sessionKey": SESSION_KEY, "branchName": BRANCH_NAME, "authority": one("shadow", "external")}
    | {"status": one("applied", "noop", "stale", "rejected", "failed"), "finishedAt": moment}
    | {"attempts": listing(CLOSED_ATTEMPT, 0, 10_000), "entryIds": listing(ENTRY_ID, 0, 32)},
    {"failureCode": text(1, 64), "provider": text(1, 128), "model": text(1, 256)}
    | {"throughEntryId": SAFE_ID, "generation": whole(1, GENERATION_MAX), "elected": ATTEMPT_ID}
    | {"revisionId": REVISION_ID, "spans": listing(CLOSED_SPAN, 0, 32)},
)
