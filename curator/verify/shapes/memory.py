"""Branches, revisions, admissions and the mailbox (interop.md 8, 9 and 10)."""

from __future__ import annotations

import re
from typing import Final

from curator.model.digest import Json, digest_of, pretty
from curator.model.ids import BRANCH_NAME_PATTERN, PROJECT_KEY_PATTERN
from curator.model.limits import (
    BRANCH_ENTRIES_MAX,
    ENTRY_CHARS_MAX,
    ENTRY_CHARS_READ_MAX,
    JOB_ENTRIES_MAX,
    MEMORY_CHARS_MAX,
    MESSAGE_CHARS_MAX,
    MESSAGES_MAX,
    REVISION_CHANGES_MAX,
)
from curator.verify.shape import (
    Fields,
    Rule,
    Shape,
    and_then,
    fields_of,
    listing,
    matching,
    moment,
    number_of,
    objects_of,
    one,
    tagged,
    text,
    text_of,
    units,
    whole,
    without,
)
from curator.verify.shapes.common import (
    BRANCH_NAME,
    DIGEST,
    ENTRY_ID,
    IMPORTANCE,
    JOB_ID,
    MESSAGES,
    ONE,
    PROJECT_KEY,
    REVISION_ID,
    STATUS,
)

_WRITERS: Final = ("assistant_tool", "background_review")
_WRITER: Final = one(*_WRITERS)
_EPOCH: Final = "1970-01-01T00:00:00.000Z"

PROJECT: Final = Shape(
    {"projectRoot": matching(re.compile(r"/.*", re.DOTALL), "an absolute path")}
    | {"projectKey": matching(PROJECT_KEY_PATTERN, "a project key")},
    is_open=True,
)

# A branch as it stands in its file: read loosely, then normalized, then hashed.

_LOOSE_ENTRY: Final = Shape(
    {"id": ENTRY_ID, "text": text(0, ENTRY_CHARS_MAX)}, {"importance": IMPORTANCE}, is_open=True
)


def _branch_is_bound(branch: Fields) -> str | None:
    entries = objects_of(branch, "entries")
    if len({text_of(entry, "id") for entry in entries}) != len(entries):
        return "has two entries of one id"
    is_small = sum(units(text_of(entry, "text")) for entry in entries) <= MEMORY_CHARS_MAX
    return None if is_small else f"holds more than {MEMORY_CHARS_MAX} characters"


BRANCH_FILE: Final = and_then(
    Shape(
        {"version": ONE, "entries": listing(_LOOSE_ENTRY, 0, BRANCH_ENTRIES_MAX)}, {"name": BRANCH_NAME}, is_open=True
    ),
    _branch_is_bound,
)


def branch_digest(branch: Fields, name: str) -> str:
    """Return the digest of a branch file's content, normalized as every reader does it (interop.md 8.3)."""
    created = branch["createdAt"] if isinstance(branch.get("createdAt"), str) else _EPOCH
    normal: Fields = {"version": 1, "name": name, "createdAt": created}
    if isinstance(branch.get("parent"), str):
        normal["parent"] = branch["parent"]
    normal["updatedAt"] = branch["updatedAt"] if isinstance(branch.get("updatedAt"), str) else created
    normal["entries"] = [_normal_entry(entry) for entry in objects_of(branch, "entries")]
    return digest_of(normal)


def _normal_entry(entry: Fields) -> Json:
    created = entry["createdAt"] if isinstance(entry.get("createdAt"), str) else _EPOCH
    normal: Fields = {"id": entry["id"], "text": entry["text"], "createdAt": created}
    normal["updatedAt"] = entry["updatedAt"] if isinstance(entry.get("updatedAt"), str) else created
    normal |= {key: entry[key] for key in ("sourceSessionId",) if isinstance(entry.get(key), str)}
    normal |= {key: entry[key] for key in ("createdBy", "updatedBy") if entry.get(key) in _WRITERS}
    normal["importance"] = entry.get("importance", "normal")
    if entry.get("importanceAssessedAt") is not None:
        normal["importanceAssessedAt"] = entry["importanceAssessedAt"]
    return normal


# A branch inside a record: written normalized.

ENTRY: Final = Shape(
    {"id": text(1, 256), "text": text(0, ENTRY_CHARS_READ_MAX), "createdAt": text(), "updatedAt": text()}
    | {"importance": IMPORTANCE},
    {"sourceSessionId": text(), "createdBy": _WRITER, "updatedBy": _WRITER, "importanceAssessedAt": text()},
)
BRANCH: Final = Shape(
    {"version": ONE, "name": BRANCH_NAME, "createdAt": text(), "updatedAt": text()}
    | {"entries": listing(ENTRY, 0, JOB_ENTRIES_MAX)},
    {"parent": text()},
)


def _base_names_no_session(base: Fields) -> str | None:
    entries = objects_of(fields_of(base, "branch"), "entries")
    return "names a session" if any("sourceSessionId" in entry for entry in entries) else None


BASE: Final = and_then(
    Shape(
        {"version": ONE, "kind": one("curator-base"), "jobId": JOB_ID, "jobDigest": DIGEST, "baseBranchDigest": DIGEST}
        | {"branch": BRANCH}
    ),
    _base_names_no_session,
)

# Revisions (interop.md 8.5).

_CHANGE: Final = tagged(
    "kind",
    {
        "remove": Shape({"kind": text(), "entryId": ENTRY_ID, "before": ENTRY, "beforeIndex": whole()}),
        "update": Shape({"kind": text(), "entryId": ENTRY_ID, "before": ENTRY, "afterDigest": DIGEST}),
        "add": Shape({"kind": text(), "entryId": ENTRY_ID, "afterDigest": DIGEST}),
    },
)
_REVISION: Final[dict[str, Rule]] = {
    "version": ONE,
    "kind": text(),
    "sequence": whole(1),
    "id": REVISION_ID,
    "branchName": BRANCH_NAME,
    "committedAt": moment,
    "beforeDigest": DIGEST,
    "afterDigest": DIGEST,
}


def _changes_are_apart(review: Fields) -> str | None:
    changes = objects_of(review, "changes")
    if len({text_of(change, "entryId") for change in changes}) != len(changes):
        return "changes an entry twice"
    of_another = any(
        "before" in change and fields_of(change, "before")["id"] != change["entryId"] for change in changes
    )
    return "holds the former state of another entry" if of_another else None


REVIEW: Final = and_then(Shape(_REVISION | {"changes": listing(_CHANGE, 1, REVISION_CHANGES_MAX)}), _changes_are_apart)
REVISION: Final = tagged("kind", {"review": REVIEW, "undo": Shape(_REVISION | {"reviewRevisionId": REVISION_ID})})


def revision_name(revision: Fields) -> str:
    """Return the name under which a revision stands."""
    return f"{number_of(revision, 'sequence'):012d}-{text_of(revision, 'id')}.json"


# Admissions (interop.md 9).


def _intent_is_bound(intent: Fields) -> str | None:
    branch, revision = fields_of(intent, "afterBranch"), fields_of(intent, "revision")
    if branch["name"] != intent["branchName"]:
        return "has a branch of another name"
    if branch_digest(branch, text_of(branch, "name")) != intent["resultingBranchDigest"]:
        return "has a resulting digest that is not its branch's"
    if digest_of(without(intent, "intentDigest")) != intent["intentDigest"]:
        return "has an intent digest that is not its content's"
    if bool(revision) != (intent["status"] == "applied"):
        return "is applied without a revision, or has one without being applied"
    return _intended_is_bound(intent, revision) if revision else None


def _intended_is_bound(intent: Fields, revision: Fields) -> str | None:
    record = fields_of(revision, "record")
    if revision["content"] != pretty(record) or revision["filename"] != revision_name(record):
        return "has a revision whose name or text is not its record's"
    wanted = (intent["expectedBranchDigest"], intent["resultingBranchDigest"], intent["committedAt"])
    if (record["beforeDigest"], record["afterDigest"], record["committedAt"]) != wanted:
        return "has a revision of another change"
    return None if record["branchName"] == intent["branchName"] else "has a revision of another branch"


_ADMISSION: Final[dict[str, Rule]] = {
    "version": ONE,
    "kind": text(),
    "transactionId": JOB_ID,
    "requestDigest": DIGEST,
    "branchName": BRANCH_NAME,
    "expectedBranchDigest": DIGEST,
    "status": STATUS,
    "committedAt": moment,
    "resultingBranchDigest": DIGEST,
    "messages": MESSAGES,
}
INTENT: Final = and_then(
    Shape(
        _ADMISSION | {"kind": one("review-admission"), "afterBranch": BRANCH, "intentDigest": DIGEST},
        {"bindingDigest": DIGEST, "revision": Shape({"filename": text(1, 80), "content": text(), "record": REVIEW})},
    ),
    _intent_is_bound,
)
COMPLETION: Final = Shape(
    {"version": ONE, "kind": one("review-admission-complete"), "transactionId": JOB_ID, "intentDigest": DIGEST}
)


def _tombstone_is_bound(tombstone: Fields) -> str | None:
    if digest_of(without(tombstone, "tombstoneDigest")) != tombstone["tombstoneDigest"]:
        return "has a digest that is not its content's"
    has_revision = "revisionId" in tombstone
    return None if has_revision == (tombstone["status"] == "applied") else "names a revision without being applied"


TOMBSTONE: Final = and_then(
    Shape(
        _ADMISSION
        | {"kind": one("review-admission-retired"), "originalIntentDigest": DIGEST, "retiredAt": moment}
        | {"tombstoneDigest": DIGEST},
        {"bindingDigest": DIGEST, "revisionId": REVISION_ID},
    ),
    _tombstone_is_bound,
)


def binding_digest(receipt: Fields) -> str:
    """Return the digest that binds a mutation to its job and outcome, from a receipt's own fields."""
    keys = ("transactionId", "jobDigest", "projectKey", "branchName", "baseBranchDigest", "outcomeDigest")
    return digest_of({"transactionVersion": 1} | {key: receipt[key] for key in keys})


def _receipt_is_bound(receipt: Fields) -> str | None:
    if receipt["transactionId"] != receipt["proposalId"]:
        return "is of another transaction than its proposal"
    if binding_digest(receipt) != receipt["bindingDigest"]:
        return "has a binding digest that is not its content's"
    has_revision = "revisionId" in receipt
    return None if has_revision == (receipt["status"] == "applied") else "names a revision without being applied"


RECEIPT: Final = and_then(
    Shape(
        {"version": ONE, "proposalId": JOB_ID, "jobDigest": DIGEST, "projectKey": PROJECT_KEY}
        | {"branchName": BRANCH_NAME, "baseBranchDigest": DIGEST, "status": STATUS, "committedAt": moment}
        | {"resultingBranchDigest": DIGEST, "messages": MESSAGES, "transactionVersion": ONE, "transactionId": JOB_ID}
        | {"outcomeDigest": DIGEST, "bindingDigest": DIGEST},
        {"revisionId": REVISION_ID},
    ),
    _receipt_is_bound,
)

# The mailbox (interop.md 10).

_REQUESTED: Final = one("automatic", "manual")
_SHOWN: Final = text(1, MESSAGE_CHARS_MAX)
_PLAIN: Final = Shape({"kind": text(), "text": _SHOWN})
_LINE: Final = tagged(
    "kind",
    {
        "add": _PLAIN,
        "remove": _PLAIN,
        "assess": _PLAIN,
        "replace": Shape({"kind": text(), "text": _SHOWN, "oldText": _SHOWN}),
    },
)
PENDING: Final = Shape(
    {"version": ONE, "jobId": JOB_ID, "jobDigest": DIGEST},
    {"branchName": matching(BRANCH_NAME_PATTERN, "a branch name"), "requestedBy": _REQUESTED, "queuedAt": moment},
)
READY: Final = and_then(
    Shape(
        {"version": ONE, "jobId": JOB_ID, "jobDigest": DIGEST, "branchName": BRANCH_NAME}
        | {"status": one("applied", "noop", "stale", "rejected", "failed")}
        | {"messages": listing(_SHOWN, 0, MESSAGES_MAX), "changes": listing(_LINE, 0, MESSAGES_MAX)},
        {"requestedBy": _REQUESTED},
    ),
    lambda card: None if card["status"] == "applied" or not card["changes"] else "shows changes that it says were none",
)
