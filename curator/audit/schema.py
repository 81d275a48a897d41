"""The tables of the shadow. No column holds evidence, memory or a reason somebody typed: ids, digests, sizes, states, figures.

Each row of a fact belongs to one source, one file for the most part, and comes and goes with it. `jobs`, `generations` and
`budgets` are made of facts, by the statements in `curator.audit.derived`. Closed lists of values are those of the machines
and the records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
)

from curator.machine.attempt import ATTEMPT
from curator.machine.job import JOB
from curator.model.attempt import AttemptState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.sql.base import ReadOnlyColumnCollection
    from sqlalchemy.sql.schema import SchemaItem

    from curator.machine.job import JobState
    from curator.machine.table import Machine

Relation: TypeAlias = "Table[ReadOnlyColumnCollection[str, Column[object]]]"
"""A table; the library's own name stands for one of columns of no known type."""

SCHEMA: Final = 1
"""Another number in a database: it is deleted and rebuilt. There are no migrations of what can be made anew."""

METADATA: Final = MetaData()
AUTHORITIES: Final = ("external", "shadow")
STATUSES: Final = ("applied", "noop", "stale", "rejected")
PLACES: Final = ("queued", "running", "held", "outcomes", "dead-letter")
COLUMNS: Final = tuple(
    f"{certainty}_{unit}" for certainty in ("actual", "held", "unknown") for unit in ("calls", "tokens", "cost_nanousd")
)


def states_of(machine: Machine[JobState] | Machine[AttemptState]) -> tuple[str, ...]:
    """Return every state that a machine can be in."""
    return tuple(dict.fromkeys([machine.initial.value, *(each.target.value for each in machine.transitions)]))


def _text(name: str) -> Column[str]:
    return Column(name, Text, nullable=False)


def _maybe(name: str) -> Column[str | None]:
    return Column(name, Text, nullable=True)


def _count(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False)


def _some(name: str) -> Column[int | None]:
    return Column(name, BigInteger, nullable=True)


def _one_of(name: str, values: Iterable[str]) -> CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{name} IN ({listed})", name=f"{name}_is_known")


def _fact(name: str, *columns: SchemaItem, index: Iterable[str] = (), many: str | None = None) -> Relation:
    """Declare a table whose rows come and go with a source: one row of each, or `many`, told apart by that column."""
    source = Column("source_id", Integer, ForeignKey("sources.id"), nullable=False)
    key = PrimaryKeyConstraint("source_id", *([] if many is None else [many]))
    indices = [Index(f"{name}_by_{column}", column) for column in index]
    return Table(name, METADATA, source, *columns, key, *indices)


# What was read, and how it stood.

FOLDERS: Final = Table("folders", METADATA, Column("folder", Text, primary_key=True), _text("stamp"))
SOURCES: Final = Table(
    "sources",
    METADATA,
    Column("id", Integer, primary_key=True),
    _text("folder"),
    _text("name"),
    _text("stamp"),
    _maybe("fault"),
    Index("sources_by_name", "folder", "name", unique=True),
)
_FAULTY: Final = SOURCES.c.fault.is_not(None)
Index("sources_at_fault", SOURCES.c.folder, sqlite_where=_FAULTY, postgresql_where=_FAULTY)

# Facts.

SPOOL: Final = _fact(
    "spool",
    _text("place"),
    _text("job_id"),
    _maybe("job_digest"),
    _maybe("project_key"),
    _maybe("session_key"),
    _maybe("branch_name"),
    _maybe("through_entry_id"),
    _some("generation"),
    _some("transcript_chars"),
    _some("claims"),
    _maybe("worker_id"),
    _maybe("at"),
    _maybe("until"),
    _maybe("status"),
    _maybe("failure_code"),
    _maybe("provider"),
    _maybe("model"),
    _one_of("place", PLACES),
    index=["job_id"],
)
ACCEPTANCES: Final = _fact(
    "acceptances",
    _text("job_id"),
    _text("job_digest"),
    _text("authority"),
    _text("accepted_at"),
    _one_of("authority", AUTHORITIES),
    index=["job_id"],
)
CLOSINGS: Final = _fact(
    "closings",
    _text("job_id"),
    _text("job_digest"),
    _text("project_key"),
    _text("session_key"),
    _text("branch_name"),
    _maybe("through_entry_id"),
    _some("generation"),
    _text("authority"),
    _text("status"),
    _maybe("failure_code"),
    _text("finished_at"),
    _maybe("provider"),
    _maybe("model"),
    _maybe("elected"),
    _maybe("revision_id"),
    _count("attempts"),
    _count("tokens"),
    _count("cost_nanousd"),
    _count("entries"),
    _one_of("authority", AUTHORITIES),
    _one_of("status", (*STATUSES, "failed")),
    index=["job_id", "revision_id"],
)
CLOSED_ENTRIES: Final = _fact(
    "closed_entries", _text("job_id"), _text("entry_id"), _maybe("span_digest"), index=["entry_id"], many="entry_id"
)
ATTEMPTS: Final = _fact(
    "attempts",
    _text("attempt_id"),
    _text("day"),
    _text("provider"),
    _maybe("job_id"),
    _maybe("job_digest"),
    _some("claim"),
    _maybe("origin"),
    _maybe("base_branch_digest"),
    _text("state"),
    _count("is_corrected"),
    _maybe("corrected_by"),
    _count("is_estimated"),
    _maybe("model"),
    _maybe("api"),
    _maybe("reserved_at"),
    _maybe("dispatched_at"),
    _maybe("ended_at"),
    _some("duration_ms"),
    _some("hold_tokens"),
    _some("hold_cost_nanousd"),
    *(_count(name) for name in COLUMNS),
    _one_of("state", states_of(ATTEMPT)),
    index=["attempt_id", "job_id", "day"],
    many="attempt_id",
)
CARRIES: Final = _fact("carries", _text("day"), _text("provider"), *(_count(name) for name in COLUMNS), many="provider")
BASES: Final = _fact(
    "bases", _text("job_id"), _text("job_digest"), _text("branch_digest"), _count("entries"), _count("chars")
)
DECISIONS: Final = _fact(
    "decisions",
    _text("job_id"),
    _text("job_digest"),
    _text("project_key"),
    _text("session_key"),
    _text("branch_name"),
    _text("through_entry_id"),
    _some("generation"),
    _text("attempt_id"),
    _text("proposal_digest"),
    _count("operations"),
    _text("completed_at"),
    _text("provider"),
    _text("model"),
    _count("duration_ms"),
    index=["job_id"],
)
SPANS: Final = _fact(
    "spans",
    _text("job_id"),
    _text("attempt_id"),
    _count("operation"),
    _count("start_at"),
    _count("end_at"),
    _text("digest"),
    many="operation",
)
ADMISSIONS: Final = _fact(
    "admissions",
    _text("authority"),
    _text("project_key"),
    _text("job_id"),
    _text("part"),
    _maybe("branch_name"),
    _maybe("status"),
    _maybe("committed_at"),
    _maybe("expected_digest"),
    _maybe("resulting_digest"),
    _maybe("revision_id"),
    _text("intent_digest"),
    _one_of("authority", AUTHORITIES),
    _one_of("part", ("intent", "completion", "tombstone")),
    _one_of("status", STATUSES),
    index=["job_id"],
)
RECEIPTS: Final = _fact(
    "receipts",
    _text("authority"),
    _text("project_key"),
    _text("job_id"),
    _text("job_digest"),
    _text("branch_name"),
    _text("base_digest"),
    _text("resulting_digest"),
    _text("status"),
    _text("committed_at"),
    _maybe("revision_id"),
    _one_of("authority", AUTHORITIES),
    _one_of("status", STATUSES),
    index=["job_id", "revision_id"],
)
REVISIONS: Final = _fact(
    "revisions",
    _text("authority"),
    _text("project_key"),
    _text("branch_name"),
    _count("sequence"),
    _text("revision_id"),
    _text("kind"),
    _text("committed_at"),
    _text("before_digest"),
    _text("after_digest"),
    _maybe("undone_id"),
    _count("changes"),
    _one_of("authority", AUTHORITIES),
    _one_of("kind", ("review", "undo")),
    index=["revision_id"],
)
Index("revisions_by_project", REVISIONS.c.project_key, REVISIONS.c.kind, REVISIONS.c.committed_at)
CHANGES: Final = _fact(
    "changes",
    _text("revision_id"),
    _text("entry_id"),
    _text("kind"),
    _maybe("before_digest"),
    _maybe("after_digest"),
    _some("before_chars"),
    _one_of("kind", ("add", "update", "remove")),
    index=["entry_id"],
    many="entry_id",
)
BRANCHES: Final = _fact(
    "branches",
    _text("authority"),
    _text("project_key"),
    _text("branch_name"),
    _text("digest"),
    _count("entries"),
    _count("chars"),
    _text("updated_at"),
    _one_of("authority", AUTHORITIES),
)
FEEDBACK: Final = _fact(
    "feedback",
    _text("project_key"),
    _text("job_id"),
    _text("job_digest"),
    _text("kind"),
    _maybe("status"),
    _maybe("requested_by"),
    _maybe("queued_at"),
    _some("changes"),
    _one_of("kind", ("pending", "ready")),
    _one_of("status", (*STATUSES, "failed")),
)
QUARANTINE: Final = _fact("quarantine", _text("place"), _maybe("job_id"), _some("moved_ms"), _count("bytes"))
RUNS: Final = _fact(
    "runs",
    _text("worker_id"),
    _count("pid"),
    _text("started_at"),
    _text("updated_at"),
    _text("state"),
    _maybe("job_id"),
)

FACTS: Final = (
    SPOOL,
    ACCEPTANCES,
    CLOSINGS,
    CLOSED_ENTRIES,
    ATTEMPTS,
    CARRIES,
    BASES,
    DECISIONS,
    SPANS,
    ADMISSIONS,
    RECEIPTS,
    REVISIONS,
    CHANGES,
    BRANCHES,
    FEEDBACK,
    QUARANTINE,
    RUNS,
)

# Made of facts.

JOBS: Final = Table(
    "jobs",
    METADATA,
    Column("job_id", Text, primary_key=True),
    _maybe("job_digest"),
    _maybe("project_key"),
    _maybe("session_key"),
    _maybe("branch_name"),
    _maybe("authority"),
    _text("state"),
    _maybe("status"),
    _maybe("failure_code"),
    _maybe("accepted_at"),
    _maybe("available_at"),
    _maybe("finished_at"),
    _some("claims"),
    _maybe("worker_id"),
    _maybe("provider"),
    _maybe("model"),
    _some("entries"),
    _one_of("authority", AUTHORITIES),
    _one_of("state", states_of(JOB)),
    _one_of("status", (*STATUSES, "completed", "failed")),
    # All that the summary asks of jobs, so that it need not read them.
    Index("jobs_by_end", "status", "state", "failure_code", "model", "finished_at", "project_key"),
)
GENERATIONS: Final = Table(
    "generations",
    METADATA,
    Column("job_id", Text, primary_key=True),
    _text("project_key"),
    _text("session_key"),
    _text("branch_name"),
    _text("through_entry_id"),
    _some("generation"),
)
BUDGETS: Final = Table(
    "budgets",
    METADATA,
    Column("day", Text, primary_key=True),
    Column("provider", Text, primary_key=True),
    *(_count(name) for name in COLUMNS),
)
DERIVED: Final = (JOBS, GENERATIONS, BUDGETS)
