"""Every call that the journal knows, one by one: what a person may ask about what was spent."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from curator.model.attempt import Cancelled, Correction, Reserved, Settled
from curator.model.budget import Exposure, exposure_of_legacy
from curator.model.settings import FIRST_DAY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator.model.closed_day import PastAttempt
    from curator.model.ids import Day
    from curator.store.attempts import AttemptStore, Seen

CallState: TypeAlias = Literal["reserved", "dispatched", "settled", "unknown", "cancelled", "corrected", "legacy"]
_OPEN: Final[frozenset[CallState]] = frozenset({"reserved", "dispatched"})
UNRESOLVED: Final[frozenset[CallState]] = _OPEN | {"unknown"}


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    """One attempt, or what a legacy budget carried into a day."""

    day: Day
    id: str
    provider: str
    state: CallState
    exposure: Exposure
    job_id: str | None = None
    model: str | None = None
    reserved_at: str | None = None
    """None for one of a closed day that had its end: such a day keeps what it cost."""
    is_estimated: bool = False
    source: str | None = None
    """Who corrected it: an operator, or a result that came late."""
    reason: str | None = None
    errand: Literal["trial", "backfill"] | None = None
    """What asked for it, where no job did."""


def calls_of(attempts: AttemptStore, day: Day) -> tuple[Call, ...]:
    """Return the calls of a day: those that stand whole by reservation, then what its closing kept, then legacy."""
    whole = [_call(seen) for seen in attempts.of_day(day)]
    past = [_past(day, each) for each in sorted(attempts.past(day).values(), key=lambda each: each.id)]
    legacy = [
        Call(day, f"legacy budget {carry.source_digest[:12]}", carry.provider, "legacy", exposure_of_legacy(carry))
        for carry in attempts.legacy(day)
    ]
    return (*whole, *past, *legacy)


def unresolved_calls(attempts: AttemptStore) -> Iterator[Call]:
    """Yield the calls of any day that have no end."""
    for day in attempts.days():
        yield from (call for call in map(_call, attempts.of_day(day)) if call.state in UNRESOLVED)


def all_calls(attempts: AttemptStore, since: Day = FIRST_DAY, until: Day | None = None) -> Iterator[Call]:
    """Yield the calls of the days from one to another, both included."""
    for day in attempts.days():
        if since <= day and (until is None or day <= until):
            yield from calls_of(attempts, day)


def _call(seen: Seen) -> Call:
    latest, correction = seen.latest, seen.correction
    return Call(
        day=latest.day,
        id=seen.id,
        provider=latest.provider,
        state="corrected" if isinstance(correction, Correction) else latest.state,
        exposure=seen.exposure,
        job_id=latest.job_id,
        model=None if isinstance(latest, Reserved | Cancelled) else latest.model,
        reserved_at=latest.reserved_at,
        is_estimated=isinstance(latest, Settled) and latest.is_estimated,
        source=None if correction is None else correction.source,
        reason=None if correction is None else correction.reason,
        errand=latest.origin if latest.origin in ("trial", "backfill") else None,
    )


def _past(day: Day, past: PastAttempt) -> Call:
    return Call(day, past.id, past.provider, past.state, Exposure(actual=past.charged), past.job_id)
