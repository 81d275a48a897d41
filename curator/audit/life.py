"""The life of one memory entry: what it rests on, who put it there, and what became of it.

Ids and digests come from the shadow. Words, the entry's own and the quote that it rests on, are read from the files when
they are shown, and shown only while those are kept.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from sqlalchemy import text

from curator.durable.records import read_record
from curator.errors import CuratorError, NotFoundError, UsageError
from curator.model.decision import Evidence
from curator.model.digest import digest_of_text
from curator.model.ids import AttemptId, BranchName, EntryId, JobId, ProjectKey, RevisionId
from curator.model.limits import JOURNAL_BYTES_MAX
from curator.model.memory import Review, entry_digest
from curator.store.decisions import DecisionShelf
from curator.workflow.inspect.memory import Authority, open_store
from curator.workflow.support import supported_by

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from curator.durable.layout import Layout
    from curator.model.decision import Decision, Span
    from curator.model.memory import Entry

_CHANGES: Final = """
SELECT changes.kind AS change, changes.after_digest, revisions.authority, revisions.project_key, revisions.branch_name,
       revisions.revision_id, revisions.sequence, revisions.committed_at, undone.committed_at AS undone_at,
       COALESCE(receipts.job_id, closings.job_id) AS job_id
FROM changes JOIN revisions ON revisions.revision_id = changes.revision_id
LEFT JOIN revisions AS undone ON undone.undone_id = revisions.revision_id
LEFT JOIN receipts ON receipts.revision_id = revisions.revision_id
LEFT JOIN closings ON closings.revision_id = revisions.revision_id
WHERE changes.entry_id = :entry ORDER BY revisions.committed_at, revisions.sequence
"""
_JOB: Final = """
SELECT COALESCE(closings.session_key, decisions.session_key) AS session_key,
       COALESCE(closings.through_entry_id, decisions.through_entry_id) AS through_entry_id,
       COALESCE(closings.elected, decisions.attempt_id) AS attempt_id,
       COALESCE(decisions.provider, closings.provider) AS provider,
       COALESCE(decisions.model, closings.model) AS model,
       decisions.proposal_digest, closed_entries.span_digest
FROM (SELECT :job AS job_id) AS asked
LEFT JOIN closings ON closings.job_id = asked.job_id
LEFT JOIN decisions ON decisions.job_id = asked.job_id
LEFT JOIN closed_entries ON closed_entries.job_id = asked.job_id AND closed_entries.entry_id = :entry
"""
_SHOWN_MAX: Final = 5


@dataclasses.dataclass(frozen=True, slots=True)
class Origin:
    """The review behind a change, as far as it is still known."""

    job_id: JobId
    session_key: str | None
    through_entry_id: str | None
    """The last turn that the job had before it."""
    attempt_id: AttemptId | None
    provider: str | None
    model: str | None
    proposal_digest: str | None
    """The decision's, while it is kept."""
    span_digest: str | None
    quote: str | None
    """The words that it rests on, while the evidence is kept."""


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """One revision that touched the entry."""

    change: str
    revision_id: RevisionId
    sequence: int
    committed_at: str
    undone_at: str | None
    origin: Origin | None


@dataclasses.dataclass(frozen=True, slots=True)
class Life:
    """One entry, from its first review to now."""

    entry_id: EntryId
    authority: Authority
    project_key: ProjectKey
    branch_name: BranchName
    entry: Entry | None
    """As memory holds it; None where it holds it no more."""
    is_changed_since: bool
    """Whether somebody wrote it anew after the last review of it."""
    changes: tuple[Change, ...]


def life_of(connection: Connection, layout: Layout, given: str) -> Life:
    """Return the life of the entry whose id is, or begins with, `given`."""
    entry_id = _find(connection, given)
    rows = connection.execute(text(_CHANGES), {"entry": entry_id}).mappings().all()
    last = rows[-1]
    authority: Authority = "shadow" if last["authority"] == "shadow" else "external"
    key, branch = ProjectKey(last["project_key"]), BranchName(last["branch_name"])
    entry = _standing(layout, authority, key, branch, entry_id)
    changes = tuple(
        Change(
            change=row["change"],
            revision_id=RevisionId(row["revision_id"]),
            sequence=row["sequence"],
            committed_at=row["committed_at"],
            undone_at=row["undone_at"],
            origin=None if row["job_id"] is None else _origin(connection, layout, JobId(row["job_id"]), entry_id),
        )
        for row in rows
    )
    is_changed = entry is not None and last["undone_at"] is None and entry_digest(entry) != last["after_digest"]
    return Life(entry_id, authority, key, branch, entry, is_changed, changes)


def _find(connection: Connection, given: str) -> EntryId:
    like = "".join(f"\\{char}" if char in "%_\\" else char for char in given) + "%"
    found = connection.execute(
        text("SELECT DISTINCT entry_id FROM changes WHERE entry_id LIKE :like ESCAPE '\\' ORDER BY entry_id"),
        {"like": like},
    ).scalars()
    ids = [str(each) for each in found]
    if given in ids:
        return EntryId(given)
    if not ids:
        fact = f"no review is known to have touched an entry {given!a}"
        raise NotFoundError(fact, remedy="See `curator memory show --json` for ids; what Pi wrote itself has no review")
    if len(ids) > 1:
        raise UsageError(f"{len(ids)} entries begin with {given!a}: {', '.join(ids[:_SHOWN_MAX])}")
    return EntryId(ids[0])


def _origin(connection: Connection, layout: Layout, job_id: JobId, entry_id: EntryId) -> Origin:
    row = connection.execute(text(_JOB), {"job": job_id, "entry": entry_id}).mappings().one()
    span, quote = _evidence(layout, job_id, entry_id)
    attempt = row["attempt_id"]
    return Origin(
        job_id=job_id,
        session_key=row["session_key"],
        through_entry_id=row["through_entry_id"],
        attempt_id=None if attempt is None else AttemptId(attempt),
        provider=row["provider"],
        model=row["model"],
        proposal_digest=row["proposal_digest"],
        span_digest=row["span_digest"] if span is None else span.digest,
        quote=quote,
    )


def _evidence(layout: Layout, job_id: JobId, entry_id: EntryId) -> tuple[Span | None, str | None]:
    """Return the span of an entry and its words, from the files; neither where they are gone, or cannot be read."""
    try:
        decision = DecisionShelf(layout).read(job_id)
        span = None if decision is None else _span(layout, decision, entry_id)
    except CuratorError:
        return None, None
    if decision is None or span is None:
        return None, None
    units = decision.job.transcript.encode("utf-16-le", "surrogatepass")
    words = units[span.start * 2 : span.end * 2].decode("utf-16-le", "replace")
    return span, words if digest_of_text(words) == span.digest else None


def _span(layout: Layout, decision: Decision, entry_id: EntryId) -> Span | None:
    job = decision.job
    path = layout.evidence_of(job.id, decision.attempt_id)
    evidence = read_record(path, Evidence, JOURNAL_BYTES_MAX, private=True)
    for authority in ("external", "shadow"):
        store = open_store(layout, job.project_key, "shadow" if authority == "shadow" else "external")
        receipt = store.receipt(job.id)
        if evidence is None or receipt is None or receipt.revision_id is None:
            continue
        review = store.revision(receipt.branch_name, receipt.revision_id)
        if isinstance(review, Review):
            found = supported_by(review, decision.outcome.operations, evidence)
            return next((each.span for each in found if each.entry_id == entry_id), None)
    return None


def _standing(
    layout: Layout, authority: Authority, key: ProjectKey, name: BranchName, entry_id: EntryId
) -> Entry | None:
    try:
        branch = open_store(layout, key, authority).branch(name)
    except CuratorError:
        return None
    return None if branch is None else branch.entry(entry_id)
