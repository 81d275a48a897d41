"""A UTC day of the attempt journal that is over, in one file: what it cost, and what it still may.

What nobody knows the end of stands whole, so that a correction may still come. Everything else has its end, and is one
row: id, state, what it was charged, provider, job.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self, TypeAlias, cast

from curator.model.attempt import LegacyCarry, Unknown
from curator.model.budget import Amount, Exposure
from curator.model.ids import ADay, AProvider, AttemptId, JobId
from curator.model.limits import CLOSED_DAY_ATTEMPTS_MAX
from curator.model.record import Integer, Items, Record, Text, Violation

PastState: TypeAlias = Literal["settled", "corrected", "cancelled"]

_Count = Annotated[int, Integer()]
_ROW: Final = re.compile(
    r"(review_attempt_[0-9a-f]{40}) (settled|corrected|cancelled) ([01]) (0|[1-9][0-9]*) (0|[1-9][0-9]*)"
    r" ([A-Za-z0-9][A-Za-z0-9._:-]{0,127}) (review_[0-9a-f]{40}|-)"
)
_ROW_CHARS_MAX: Final = 400


@dataclasses.dataclass(frozen=True, slots=True)
class PastAttempt:
    """An attempt of a closed day that has its end."""

    id: AttemptId
    state: PastState
    charged: Amount
    provider: str
    job_id: JobId | None

    @property
    def row(self) -> str:
        """Return it as its file spells it."""
        charged = self.charged
        figures = f"{charged.calls} {charged.tokens} {charged.cost_nanousd}"
        return f"{self.id} {self.state} {figures} {self.provider} {self.job_id or '-'}"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Charge(Record):
    """Calls, tokens and nano-dollars."""

    calls: _Count
    tokens: _Count
    cost_nanousd: _Count

    @classmethod
    def of(cls, amount: Amount) -> Self:
        """Return an amount as a record."""
        return cls(calls=amount.calls, tokens=amount.tokens, cost_nanousd=amount.cost_nanousd)

    @property
    def amount(self) -> Amount:
        """Return the record as an amount."""
        return Amount(self.calls, self.tokens, self.cost_nanousd)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Total(Record):
    """What one provider's day came to when it was closed. Nothing is held: nothing of it is under way."""

    actual: Charge
    unknown: Charge

    @classmethod
    def of(cls, exposure: Exposure) -> Self:
        """Return a day's exposure as a record."""
        return cls(actual=Charge.of(exposure.actual), unknown=Charge.of(exposure.unknown))

    @property
    def exposure(self) -> Exposure:
        """Return the record as an exposure."""
        return Exposure(actual=self.actual.amount, unknown=self.unknown.amount)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ClosedDay(Record):
    """`curator/attempts/<day>.closed.json`. A day that is met with the same attempts closes to the same bytes."""

    version: Literal[1] = 1
    kind: Literal["curator-closed-day"] = "curator-closed-day"
    day: ADay
    totals: Mapping[AProvider, Total]
    """By provider, legacy carries and unresolved attempts included."""
    legacy: tuple[LegacyCarry, ...]
    unresolved: Annotated[tuple[Unknown, ...], Items(0, CLOSED_DAY_ATTEMPTS_MAX)]
    """By id."""
    attempts: Annotated[tuple[Annotated[str, Text(1, _ROW_CHARS_MAX)], ...], Items(0, CLOSED_DAY_ATTEMPTS_MAX)]
    """By id. A row is looked at when somebody asks for it: most processes never do."""

    def check(self, where: str = "") -> None:
        """What stands whole is of this day."""
        days = {unknown.day for unknown in self.unresolved} | {carry.day for carry in self.legacy}
        if days - {self.day}:
            raise Violation(where, "holds something of another day")

    def past(self) -> dict[AttemptId, PastAttempt]:
        """Return the rows by attempt. Raises `Violation` for one that is none."""
        found = [_past_of(row) for row in self.attempts]
        return {past.id: past for past in found}


def _past_of(row: str) -> PastAttempt:
    match = _ROW.fullmatch(row)
    if match is None:
        raise Violation("attempts", "holds a row that is not an attempt's")
    attempt, state, calls, tokens, cost, provider, job = match.groups()
    return PastAttempt(
        id=AttemptId(attempt),
        state=cast("PastState", state),
        charged=Amount(int(calls), int(tokens), int(cost)),
        provider=provider,
        job_id=None if job == "-" else JobId(job),
    )
