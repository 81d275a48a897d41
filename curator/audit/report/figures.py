"""What the page shows in figures, asked of the shadow; bounded, and what is left out is counted."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from sqlalchemy import text

from curator.audit.questions import OF_ATTEMPTS, OF_JOBS, spend
from curator.model.limits import REPORT_CALLS_MAX, REPORT_DAYS_MAX, REPORT_ROWS_MAX
from curator.model.times import ms_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from curator.audit.facts import Value
    from curator.audit.questions import Scope

CERTAINTIES: Final = ("actual", "held", "unknown")
STATUSES: Final = ("applied", "noop", "stale", "rejected", "failed", "completed")

_CALLS: Final = f"""
SELECT attempts.provider, COALESCE(attempts.model, jobs.model, ''), attempts.state, COUNT(*)
FROM attempts LEFT JOIN jobs ON jobs.job_id = attempts.job_id WHERE {OF_ATTEMPTS} GROUP BY 1, 2, 3
"""  # noqa: S608 - the parts are the room's own
_DURATIONS: Final = f"""
SELECT attempts.provider, COALESCE(attempts.model, jobs.model, ''), attempts.duration_ms
FROM attempts LEFT JOIN jobs ON jobs.job_id = attempts.job_id
WHERE attempts.duration_ms IS NOT NULL AND {OF_ATTEMPTS} ORDER BY attempts.reserved_at DESC LIMIT :most
"""  # noqa: S608 - as above
_OUTCOMES: Final = f"""
SELECT SUBSTR(jobs.finished_at, 1, 10), jobs.status, COUNT(*) FROM jobs
WHERE jobs.finished_at IS NOT NULL AND jobs.status IS NOT NULL AND {OF_JOBS} GROUP BY 1, 2 ORDER BY 1
"""  # noqa: S608 - as above
_FAILURES: Final = f"""
SELECT jobs.failure_code, COUNT(*) FROM jobs WHERE jobs.failure_code IS NOT NULL AND {OF_JOBS}
GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT :most
"""  # noqa: S608 - as above
_WAITING: Final = """
SELECT spool.place, sources.stamp, acceptances.accepted_at FROM spool JOIN sources ON sources.id = spool.source_id
LEFT JOIN acceptances ON acceptances.job_id = spool.job_id
WHERE spool.place IN ('queued', 'running', 'held') AND (:project IS NULL OR spool.project_key = :project)
"""
_TURNS: Final = f"""
SELECT jobs.accepted_at, jobs.finished_at FROM jobs
WHERE jobs.accepted_at IS NOT NULL AND jobs.finished_at IS NOT NULL AND {OF_JOBS}
ORDER BY jobs.finished_at DESC LIMIT :most
"""  # noqa: S608 - as above
_MEMORIES: Final = """
SELECT project_key, branch_name, entries, chars, updated_at, COUNT(*) OVER () AS of FROM branches
WHERE authority = 'external' AND (:project IS NULL OR project_key = :project)
ORDER BY chars DESC, project_key, branch_name LIMIT :most
"""
_ASIDE: Final = """
SELECT quarantine.place, sources.name, quarantine.job_id, quarantine.moved_ms, quarantine.bytes, COUNT(*) OVER () AS of
FROM quarantine JOIN sources ON sources.id = quarantine.source_id WHERE :project IS NULL
ORDER BY quarantine.moved_ms IS NULL, quarantine.moved_ms DESC, sources.name LIMIT :most
"""
_UNREADABLE: Final = """
SELECT folder, name, fault, COUNT(*) OVER () AS of FROM sources
WHERE fault IS NOT NULL AND :project IS NULL ORDER BY folder, name LIMIT :most
"""
_WORKER: Final = "SELECT state, updated_at FROM runs ORDER BY updated_at DESC LIMIT 1"


@dataclasses.dataclass(frozen=True, slots=True)
class Amounts:
    """Calls, tokens and nano-dollars."""

    calls: int = 0
    tokens: int = 0
    cost_nanousd: int = 0

    def plus(self, other: Amounts) -> Amounts:
        """Return the sum."""
        cost = self.cost_nanousd + other.cost_nanousd
        return Amounts(self.calls + other.calls, self.tokens + other.tokens, cost)


@dataclasses.dataclass(frozen=True, slots=True)
class Spent:
    """What is certain, under way and without an end, apart."""

    actual: Amounts = Amounts()
    held: Amounts = Amounts()
    unknown: Amounts = Amounts()

    def of(self, certainty: str) -> Amounts:
        """Return one of the three."""
        return {"actual": self.actual, "held": self.held, "unknown": self.unknown}[certainty]

    def plus(self, other: Spent) -> Spent:
        """Return the sum, each apart."""
        return Spent(self.actual.plus(other.actual), self.held.plus(other.held), self.unknown.plus(other.unknown))


@dataclasses.dataclass(frozen=True, slots=True)
class ModelCalls:
    """The calls of one model by how they stand, and how long those took of which that is still kept."""

    provider: str
    model: str
    states: dict[str, int]
    durations_ms: tuple[int, ...]
    """Sorted."""

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"{self.provider}/{self.model}" if self.model else f"{self.provider} (model not kept)"

    @property
    def calls(self) -> int:
        """How many there were."""
        return sum(self.states.values())


@dataclasses.dataclass(frozen=True, slots=True)
class Waiting:
    """A job that is not over."""

    place: str
    since_ms: int


@dataclasses.dataclass(frozen=True, slots=True)
class MemorySize:
    """How large a branch is."""

    project_key: str
    branch_name: str
    entries: int
    chars: int
    updated_at: str


@dataclasses.dataclass(frozen=True, slots=True)
class Aside:
    """A record that was set aside, or that cannot be read where it stands."""

    place: str
    name: str
    why: str | None
    job_id: str | None = None
    moved_ms: int | None = None
    bytes: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Figures:
    """All of it. Lists are bounded; what a `…_of` names is how many there are in all."""

    days: tuple[tuple[str, Spent], ...]
    days_of: int
    spent: Spent
    models: tuple[ModelCalls, ...]
    outcomes: dict[str, dict[str, int]]
    failures: tuple[tuple[str, int], ...]
    waiting: tuple[Waiting, ...]
    turns_ms: tuple[int, ...]
    """From acceptance to the end, sorted."""
    memories: tuple[MemorySize, ...]
    memories_of: int
    aside: tuple[Aside, ...]
    aside_of: int
    unreadable: tuple[Aside, ...]
    unreadable_of: int
    worker: tuple[str, str] | None
    """Its state, and when it last said so."""


def figures_of(connection: Connection, scope: Scope) -> Figures:
    """Ask for all of it."""
    days = _days(connection, scope)
    spent = Spent()
    for each in days.values():
        spent = spent.plus(each)
    memories = _rows(connection, _MEMORIES, scope, REPORT_ROWS_MAX)
    aside = _rows(connection, _ASIDE, scope, REPORT_ROWS_MAX)
    unreadable = _rows(connection, _UNREADABLE, scope, REPORT_ROWS_MAX)
    failures = _rows(connection, _FAILURES, scope, REPORT_ROWS_MAX)
    worker = _rows(connection, _WORKER, scope)
    return Figures(
        days=tuple(sorted(days.items())[-REPORT_DAYS_MAX:]),
        days_of=len(days),
        spent=spent,
        models=_models(connection, scope),
        outcomes=_outcomes(connection, scope),
        failures=tuple((str(code), _int(count)) for code, count in failures),
        waiting=_waiting(connection, scope),
        turns_ms=_turns(connection, scope),
        memories=tuple(
            MemorySize(str(key), str(branch), _int(entries), _int(chars), str(at))
            for key, branch, entries, chars, at, _ in memories
        ),
        memories_of=_of(memories),
        aside=tuple(
            Aside(str(place), str(name), None, _maybe_text(job_id), _maybe_int(at), _int(size))
            for place, name, job_id, at, size, _ in aside
        ),
        aside_of=_of(aside),
        unreadable=tuple(Aside(str(folder), str(name), str(fault)) for folder, name, fault, _ in unreadable),
        unreadable_of=_of(unreadable),
        worker=(str(worker[0][0]), str(worker[0][1])) if worker else None,
    )


def quantile(ordered: Sequence[int], share: float) -> int:
    """Return the value that so many of a sorted, filled list do not exceed."""
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def _days(connection: Connection, scope: Scope) -> dict[str, Spent]:
    days: dict[str, Spent] = {}
    for row in spend(connection, scope).rows:
        day, figures = str(row[0]), [int(value or 0) for value in row[2:]]
        actual, held, unknown = (Amounts(*figures[at : at + 3]) for at in (0, 3, 6))
        days[day] = days.get(day, Spent()).plus(Spent(actual, held, unknown))
    return days


def _models(connection: Connection, scope: Scope) -> tuple[ModelCalls, ...]:
    durations: dict[tuple[str, str], list[int]] = {}
    for provider, model, duration in _rows(connection, _DURATIONS, scope, REPORT_CALLS_MAX):
        durations.setdefault((str(provider), str(model)), []).append(_int(duration))
    states: dict[tuple[str, str], dict[str, int]] = {}
    for provider, model, state, count in _rows(connection, _CALLS, scope):
        states.setdefault((str(provider), str(model)), {})[str(state)] = _int(count)
    found = [ModelCalls(*key, counts, tuple(sorted(durations.get(key, ())))) for key, counts in states.items()]
    return tuple(sorted(found, key=lambda each: (-each.calls, each.name)))


def _outcomes(connection: Connection, scope: Scope) -> dict[str, dict[str, int]]:
    days: dict[str, dict[str, int]] = {}
    for day, status, count in _rows(connection, _OUTCOMES, scope):
        days.setdefault(str(day), {})[str(status)] = _int(count)
    return days


def _waiting(connection: Connection, scope: Scope) -> tuple[Waiting, ...]:
    found = [
        # Until its first claim a job's file says when it was accepted.
        Waiting(str(place), int(str(stamp).partition(".")[0]) // 1_000_000 if at is None else ms_of(str(at)))
        for place, stamp, at in _rows(connection, _WAITING, scope)
    ]
    return tuple(sorted(found, key=lambda each: each.since_ms))


def _turns(connection: Connection, scope: Scope) -> tuple[int, ...]:
    rows = _rows(connection, _TURNS, scope, REPORT_CALLS_MAX)
    return tuple(sorted(max(0, ms_of(str(finished)) - ms_of(str(accepted))) for accepted, finished in rows))


def _rows(connection: Connection, statement: str, scope: Scope, most: int | None = None) -> Sequence[tuple[Value, ...]]:
    return [tuple(row) for row in connection.execute(text(statement), {**scope.values, "most": most})]


def _of(rows: Sequence[tuple[Value, ...]]) -> int:
    return _int(rows[0][-1]) if rows else 0


def _int(value: Value) -> int:
    assert isinstance(value, int), "the schema says so"
    return value


def _maybe_int(value: Value) -> int | None:
    return None if value is None else _int(value)


def _maybe_text(value: Value) -> str | None:
    return None if value is None else str(value)
