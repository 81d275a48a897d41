"""The questions that the shadow answers, each as rows: what happened, what it cost, and when memory changed."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, TypeAlias

from sqlalchemy import text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

    from curator.audit.facts import Value
    from curator.model.ids import Day, ProjectKey


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """Columns and rows."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Value | float]]
    is_cut: bool = False
    """Whether there would be more."""


@dataclasses.dataclass(frozen=True, slots=True)
class Scope:
    """What a question is about: the days from one on, and one project, or all."""

    since: Day | None = None
    project_key: ProjectKey | None = None

    @property
    def values(self) -> dict[str, str | None]:
        """Return them as the statements name them."""
        return {"since": self.since, "project": self.project_key}


ScopedQuestion: TypeAlias = "Callable[[Connection, Scope], Answer]"

OF_JOBS: Final = """
(:project IS NULL OR jobs.project_key = :project)
AND (:since IS NULL OR jobs.finished_at IS NULL OR jobs.finished_at >= :since)
"""
OF_ATTEMPTS: Final = """
(:project IS NULL OR jobs.project_key = :project) AND (:since IS NULL OR attempts.day >= :since)
"""
"""What a scope leaves of a table, for statements that name it so."""
_TOKENS: Final = "attempts.actual_tokens + attempts.held_tokens + attempts.unknown_tokens"
_COST: Final = "attempts.actual_cost_nanousd + attempts.held_cost_nanousd + attempts.unknown_cost_nanousd"
_SUMS: Final = ", ".join(
    f"CAST(SUM({certainty}_{unit}) AS BIGINT) AS {certainty}_{unit}"
    for certainty in ("actual", "held", "unknown")
    for unit in ("calls", "tokens", "cost_nanousd")
)

_SPENT_SO: Final = """
SELECT 'calls', '{so}', CAST(SUM({so}_calls) AS BIGINT), CAST(SUM({so}_tokens) AS BIGINT),
       CAST(SUM({so}_cost_nanousd) AS BIGINT)
FROM spent HAVING COUNT(*) > 0
"""
_SPENT: Final = "UNION ALL".join(_SPENT_SO.format(so=certainty) for certainty in ("actual", "held", "unknown"))
_SUMMARY: Final = f"""
WITH spent AS ({{spent}})
SELECT 'jobs' AS what, COALESCE(jobs.status, jobs.state) AS name, COUNT(*) AS number,
       NULL AS tokens, NULL AS cost_nanousd
FROM jobs WHERE {OF_JOBS} GROUP BY 2
UNION ALL
SELECT 'failures', jobs.failure_code, COUNT(*), NULL, NULL
FROM jobs WHERE jobs.failure_code IS NOT NULL AND {OF_JOBS} GROUP BY 2
UNION ALL
SELECT 'models', jobs.model, COUNT(*), NULL, NULL FROM jobs WHERE jobs.model IS NOT NULL AND {OF_JOBS} GROUP BY 2
UNION ALL
{_SPENT}
UNION ALL
SELECT 'memory, entries', branches.branch_name, branches.entries, NULL, NULL
FROM branches WHERE branches.authority = 'external' AND branches.project_key = :project
UNION ALL
SELECT 'memory, characters', branches.branch_name, branches.chars, NULL, NULL
FROM branches WHERE branches.authority = 'external' AND branches.project_key = :project
UNION ALL
SELECT 'memory, entries', 'all projects', CAST(SUM(entries) AS BIGINT), NULL, NULL
FROM branches WHERE authority = 'external' AND :project IS NULL HAVING COUNT(*) > 0
UNION ALL
SELECT 'memory, characters', 'all projects', CAST(SUM(chars) AS BIGINT), NULL, NULL
FROM branches WHERE authority = 'external' AND :project IS NULL HAVING COUNT(*) > 0
UNION ALL
SELECT 'changes', revisions.kind, COUNT(*), NULL, NULL
FROM revisions WHERE (:project IS NULL OR revisions.project_key = :project)
                 AND (:since IS NULL OR revisions.committed_at >= :since) GROUP BY 2
UNION ALL
SELECT 'set aside', place, COUNT(*), NULL, NULL FROM quarantine WHERE :project IS NULL GROUP BY 2
UNION ALL
SELECT 'unreadable', folder, COUNT(*), NULL, NULL FROM sources
WHERE fault IS NOT NULL AND :project IS NULL GROUP BY 2
UNION ALL
SELECT 'workers', state, COUNT(*), NULL, NULL FROM runs WHERE :project IS NULL GROUP BY 2
"""  # noqa: S608 - the parts are this module's own
_JOBS: Final = f"""
SELECT jobs.job_id, jobs.state, jobs.status, jobs.failure_code, jobs.authority, jobs.project_key, jobs.branch_name,
       jobs.accepted_at, jobs.finished_at, jobs.claims, jobs.provider, jobs.model, jobs.entries, generations.generation,
       closings.attempts, closings.tokens, closings.cost_nanousd
FROM jobs LEFT JOIN closings ON closings.job_id = jobs.job_id
          LEFT JOIN generations ON generations.job_id = jobs.job_id
WHERE {OF_JOBS}
ORDER BY COALESCE(jobs.finished_at, '9'), jobs.accepted_at, jobs.job_id
"""  # noqa: S608 - as above
_ATTEMPTS: Final = f"""
SELECT attempts.attempt_id, attempts.day, attempts.provider, COALESCE(attempts.model, jobs.model) AS model,
       attempts.state, attempts.corrected_by, attempts.is_estimated, attempts.job_id, attempts.reserved_at,
       attempts.dispatched_at, attempts.ended_at, attempts.duration_ms, {_TOKENS} AS tokens, {_COST} AS cost_nanousd
FROM attempts LEFT JOIN jobs ON jobs.job_id = attempts.job_id
WHERE {OF_ATTEMPTS}
ORDER BY attempts.day, attempts.reserved_at, attempts.attempt_id
"""  # noqa: S608 - as above
_SPEND: Final = f"""
SELECT day, provider, {_SUMS} FROM budgets WHERE (:since IS NULL OR day >= :since) GROUP BY day, provider
"""  # noqa: S608 - as above
_SPEND_OF_PROJECT: Final = f"""
SELECT attempts.day, attempts.provider, {_SUMS}
FROM attempts JOIN jobs ON jobs.job_id = attempts.job_id WHERE {OF_ATTEMPTS}
GROUP BY attempts.day, attempts.provider
"""  # noqa: S608 - as above
_TIMELINE: Final = """
SELECT at, what, branch_name, job_id, revision_id, entries, model FROM (
    SELECT revisions.committed_at AS at, revisions.kind AS what, revisions.branch_name,
           COALESCE(receipts.job_id, closings.job_id) AS job_id, revisions.revision_id,
           revisions.changes AS entries, closings.model
    FROM revisions LEFT JOIN receipts ON receipts.revision_id = revisions.revision_id
                   LEFT JOIN closings ON closings.revision_id = revisions.revision_id
    WHERE revisions.project_key = :project AND revisions.authority = 'external'
    UNION ALL
    SELECT finished_at, COALESCE(failure_code, status), branch_name, job_id, NULL, entries, model
    FROM jobs WHERE project_key = :project AND state = 'finished' AND COALESCE(status, '') <> 'applied'
    UNION ALL
    SELECT accepted_at, state, branch_name, job_id, NULL, NULL, NULL
    FROM jobs WHERE project_key = :project AND state <> 'finished'
) AS told WHERE :since IS NULL OR at IS NULL OR at >= :since ORDER BY at IS NULL, at, job_id
"""


def summary(connection: Connection, scope: Scope) -> Answer:
    """Tell how many jobs, calls and changes there were, of which kind, and what they came to."""
    spent = _SPEND if scope.project_key is None else _SPEND_OF_PROJECT
    return _answer(connection, _SUMMARY.format(spent=spent), scope)


def jobs(connection: Connection, scope: Scope) -> Answer:
    """Tell of every job that is known, the last to finish last."""
    return _answer(connection, _JOBS, scope)


def attempts(connection: Connection, scope: Scope) -> Answer:
    """Tell of every provider attempt."""
    return _answer(connection, _ATTEMPTS, scope)


def spend(connection: Connection, scope: Scope) -> Answer:
    """Tell what each day cost with each provider; what is certain apart from what is not."""
    asked = _SPEND if scope.project_key is None else _SPEND_OF_PROJECT
    return _answer(connection, f"{asked} ORDER BY 1, 2", scope)


def timeline(connection: Connection, scope: Scope) -> Answer:
    """Tell when a project's memory changed, and which of its reviews changed nothing."""
    return _answer(connection, _TIMELINE, scope)


def _answer(connection: Connection, statement: str, scope: Scope) -> Answer:
    found = connection.execute(text(statement), scope.values)
    return Answer(tuple(found.keys()), [tuple(row) for row in found])
