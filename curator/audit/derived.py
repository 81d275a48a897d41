"""What is made of facts: jobs, their generations, and the budgets of days; all of it, or that of some jobs and days.

The same statements make all and some, so that both ways end with the same rows.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from sqlalchemy import bindparam, delete, text

from curator.audit.schema import BUDGETS, COLUMNS, GENERATIONS, JOBS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from curator.audit.schema import Relation

_AT_ONCE: Final = 500
_ALL_FROM: Final = 5_000
"""So many jobs or days at once cost more one by one than all together."""

_SUMS: Final = ", ".join(f"CAST(SUM({name}) AS BIGINT)" for name in COLUMNS)
_NAMES: Final = ", ".join(COLUMNS)

_JOBS: Final = """
INSERT INTO jobs (job_id, job_digest, project_key, session_key, branch_name, authority, state, status, failure_code,
                  accepted_at, available_at, finished_at, claims, worker_id, provider, model, entries)
SELECT known.job_id,
       COALESCE(closing.job_digest, running.job_digest, held.job_digest, queued.job_digest, outcome.job_digest,
                accepted.job_digest),
       COALESCE(closing.project_key, running.project_key, held.project_key, queued.project_key, decided.project_key),
       COALESCE(closing.session_key, running.session_key, held.session_key, queued.session_key, decided.session_key),
       COALESCE(closing.branch_name, running.branch_name, held.branch_name, queued.branch_name, decided.branch_name),
       COALESCE(closing.authority, accepted.authority),
       CASE WHEN outcome.job_id IS NOT NULL OR closing.job_id IS NOT NULL THEN 'finished'
            WHEN running.job_id IS NOT NULL THEN 'running'
            WHEN held.job_id IS NOT NULL THEN 'held'
            WHEN queued.job_id IS NOT NULL THEN 'queued'
            ELSE 'quarantined' END,
       COALESCE(closing.status, outcome.status),
       COALESCE(closing.failure_code, outcome.failure_code),
       accepted.accepted_at,
       queued.at,
       COALESCE(closing.finished_at, outcome.at),
       COALESCE(outcome.claims, running.claims, held.claims, queued.claims),
       COALESCE(outcome.worker_id, running.worker_id),
       COALESCE(outcome.provider, closing.provider),
       COALESCE(outcome.model, closing.model),
       closing.entries
FROM (SELECT job_id FROM spool {some} UNION SELECT job_id FROM closings {some}) AS known
LEFT JOIN spool AS queued ON queued.job_id = known.job_id AND queued.place = 'queued'
LEFT JOIN spool AS running ON running.job_id = known.job_id AND running.place = 'running'
LEFT JOIN spool AS held ON held.job_id = known.job_id AND held.place = 'held'
LEFT JOIN spool AS outcome ON outcome.job_id = known.job_id AND outcome.place = 'outcomes'
LEFT JOIN closings AS closing ON closing.job_id = known.job_id
LEFT JOIN acceptances AS accepted ON accepted.job_id = known.job_id
LEFT JOIN decisions AS decided ON decided.job_id = known.job_id
"""
_GENERATIONS: Final = """
INSERT INTO generations (job_id, project_key, session_key, branch_name, through_entry_id, generation)
SELECT job_id, MIN(project_key), MIN(session_key), MIN(branch_name), MIN(through_entry_id), MIN(generation)
FROM (SELECT job_id, project_key, session_key, branch_name, through_entry_id, generation FROM spool {some}
      UNION ALL
      SELECT job_id, project_key, session_key, branch_name, through_entry_id, generation FROM decisions {some}
      UNION ALL
      SELECT job_id, project_key, session_key, branch_name, through_entry_id, generation FROM closings {some}) AS known
WHERE through_entry_id IS NOT NULL
GROUP BY job_id
"""
_BUDGETS: Final = f"""
INSERT INTO budgets (day, provider, {_NAMES})
SELECT day, provider, {_SUMS}
FROM (SELECT day, provider, {_NAMES} FROM attempts {{some}}
      UNION ALL
      SELECT day, provider, {_NAMES} FROM carries {{some}}) AS spent
GROUP BY day, provider
"""  # noqa: S608 - the names are the schema's own


@dataclasses.dataclass(slots=True)
class Touched:
    """The jobs and days of which a fact came or went."""

    jobs: set[str] = dataclasses.field(default_factory=set)
    days: set[str] = dataclasses.field(default_factory=set)


def derive(connection: Connection, touched: Touched | None) -> None:
    """Make the rows of the touched jobs and days anew; all where nothing is named, or too much."""
    jobs = None if touched is None or len(touched.jobs) > _ALL_FROM else sorted(touched.jobs)
    days = None if touched is None or len(touched.days) > _ALL_FROM else sorted(touched.days)
    _make(connection, JOBS, "job_id", _JOBS, jobs)
    _make(connection, GENERATIONS, "job_id", _GENERATIONS, jobs)
    _make(connection, BUDGETS, "day", _BUDGETS, days)


def _make(connection: Connection, table: Relation, key: str, statement: str, some: list[str] | None) -> None:
    if some is None:
        connection.execute(delete(table))
        connection.execute(text(statement.format(some="")))
        return
    making = text(statement.format(some=f"WHERE {key} IN :some")).bindparams(bindparam("some", expanding=True))
    for part in _parts(some):
        connection.execute(delete(table).where(table.c[key].in_(part)))
        connection.execute(making, {"some": part})


def _parts(some: Iterable[str]) -> Iterable[list[str]]:
    listed = list(some)
    return (listed[first : first + _AT_ONCE] for first in range(0, len(listed), _AT_ONCE))
