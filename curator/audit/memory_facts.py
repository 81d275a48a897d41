"""From a record of a project's memory to rows: which entries changed when, by ids, digests and sizes; no word of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, assert_never

from curator.audit import schema
from curator.audit.facts import Row, Value
from curator.durable.records import read_as, read_record
from curator.errors import InvalidRecordError
from curator.model.admission import Completion, Intent, Receipt, Tombstone
from curator.model.feedback import Pending, Ready
from curator.model.ids import BranchName, ProjectKey
from curator.model.limits import PENDING_BYTES_MAX, PROJECT_FILE_BYTES_MAX, READY_BYTES_MAX
from curator.model.memory import (
    Added,
    Removed,
    Undo,
    Updated,
    branch_digest,
    decode_revision,
    entry_digest,
    read_branch,
    revision_filename,
)
from curator.model.record import u16_len

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.model.memory import Change

_PART: Final = re.compile(r"(review_[0-9a-f]{40})\.(intent|complete)\.json")


class Store(NamedTuple):
    """Whose memory it is: the real one of a project, or the one of shadow mode."""

    authority: str
    project_key: ProjectKey

    @property
    def columns(self) -> dict[str, Value]:
        """Return the columns that say so."""
        return {"authority": self.authority, "project_key": self.project_key}


def branch(store: Store, path: Path) -> Iterator[Row]:
    """Read how large a branch is."""
    name = BranchName(path.stem)
    record = read_as(path, lambda value: read_branch(value, name), PROJECT_FILE_BYTES_MAX)
    if record is not None:
        values: dict[str, Value] = {"branch_name": name, "digest": branch_digest(record)}
        sizes: dict[str, Value] = {"entries": len(record.entries), "chars": record.chars}
        yield Row(schema.BRANCHES, store.columns | values | sizes | {"updated_at": record.updated_at})


def revision(store: Store, path: Path) -> Iterator[Row]:
    """Read what changed a branch."""
    record = read_as(path, decode_revision, PROJECT_FILE_BYTES_MAX)
    if record is None:
        return
    if (path.name, path.parent.name) != (revision_filename(record.sequence, record.id), record.branch_name):
        raise InvalidRecordError(path, "holds another revision than its name says")
    is_undo = isinstance(record, Undo)
    changes = () if isinstance(record, Undo) else record.changes
    values: dict[str, Value] = {
        "branch_name": record.branch_name,
        "sequence": record.sequence,
        "revision_id": record.id,
        "kind": "undo" if is_undo else "review",
        "committed_at": record.committed_at,
        "before_digest": record.before_digest,
        "after_digest": record.after_digest,
        "undone_id": record.review_revision_id if isinstance(record, Undo) else None,
        "changes": len(changes),
    }
    yield Row(schema.REVISIONS, store.columns | values)
    for change in changes:
        whose: dict[str, Value] = {"revision_id": record.id, "entry_id": change.entry_id}
        yield Row(schema.CHANGES, whose | _change(change))


def _change(change: Change) -> dict[str, Value]:
    match change:
        case Added(after_digest=after):
            return {"kind": "add", "before_digest": None, "after_digest": after, "before_chars": None}
        case Updated(before=before, after_digest=after):
            known: dict[str, Value] = {"kind": "update", "before_digest": entry_digest(before), "after_digest": after}
            return known | {"before_chars": u16_len(before.text)}
        case Removed(before=before):
            gone: dict[str, Value] = {"kind": "remove", "before_digest": entry_digest(before), "after_digest": None}
            return gone | {"before_chars": u16_len(before.text)}
        case _:
            assert_never(change)


def admission(store: Store, path: Path) -> Iterator[Row]:
    """Read a begun mutation, or that it is whole."""
    match = _PART.fullmatch(path.name)
    if match is None:
        return
    if match.group(2) == "complete":
        whole = read_record(path, Completion, PROJECT_FILE_BYTES_MAX)
        if whole is not None:
            _prove(path, whole.transaction_id, match.group(1))
            yield _part(store, "completion", whole.transaction_id, {"intent_digest": whole.intent_digest})
        return
    begun = read_record(path, Intent, PROJECT_FILE_BYTES_MAX)
    if begun is not None:
        _prove(path, begun.transaction_id, match.group(1))
        revision_id = None if begun.revision is None else begun.revision.record.id
        yield _part(
            store,
            "intent",
            begun.transaction_id,
            _end(begun) | {"revision_id": revision_id, "intent_digest": begun.intent_digest},
        )


def tombstone(store: Store, path: Path) -> Iterator[Row]:
    """Read what is left of a mutation that is over."""
    record = read_record(path, Tombstone, PROJECT_FILE_BYTES_MAX)
    if record is not None:
        _prove(path, record.transaction_id, path.stem)
        more: dict[str, Value] = {"revision_id": record.revision_id, "intent_digest": record.original_intent_digest}
        yield _part(store, "tombstone", record.transaction_id, _end(record) | more)


def receipt(store: Store, path: Path) -> Iterator[Row]:
    """Read what was done to memory for a job."""
    record = read_record(path, Receipt, PROJECT_FILE_BYTES_MAX)
    if record is None:
        return
    _prove(path, record.proposal_id, path.stem)
    values: dict[str, Value] = {
        "job_id": record.proposal_id,
        "job_digest": record.job_digest,
        "branch_name": record.branch_name,
        "base_digest": record.base_branch_digest,
        "resulting_digest": record.resulting_branch_digest,
        "status": record.status,
        "committed_at": record.committed_at,
        "revision_id": record.revision_id,
    }
    yield Row(schema.RECEIPTS, store.columns | values)


def pending(project: ProjectKey, path: Path) -> Iterator[Row]:
    """Read that somebody in Pi waits."""
    record = read_record(path, Pending, PENDING_BYTES_MAX, private=True)
    if record is not None:
        values: dict[str, Value] = {"job_id": record.job_id, "job_digest": record.job_digest, "kind": "pending"}
        asked: dict[str, Value] = {"requested_by": record.requested_by, "queued_at": record.queued_at}
        yield Row(schema.FEEDBACK, {"project_key": project, **values, **asked})


def ready(project: ProjectKey, path: Path) -> Iterator[Row]:
    """Read that a card stands."""
    record = read_record(path, Ready, READY_BYTES_MAX, private=True)
    if record is not None:
        values: dict[str, Value] = {"job_id": record.job_id, "job_digest": record.job_digest, "kind": "ready"}
        told: dict[str, Value] = {"status": record.status, "requested_by": record.requested_by}
        yield Row(schema.FEEDBACK, {"project_key": project, **values, **told, "changes": len(record.changes)})


def _part(store: Store, part: str, job_id: str, values: dict[str, Value]) -> Row:
    return Row(schema.ADMISSIONS, {**store.columns, "part": part, "job_id": job_id, **values})


def _end(record: Intent | Tombstone) -> dict[str, Value]:
    return {
        "branch_name": record.branch_name,
        "status": record.status,
        "committed_at": record.committed_at,
        "expected_digest": record.expected_branch_digest,
        "resulting_digest": record.resulting_branch_digest,
    }


def _prove(path: Path, told: str, named: str) -> None:
    if told != named:
        raise InvalidRecordError(path, "holds another job than its name says")
