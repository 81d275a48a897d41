"""Spend, with what is certain kept apart from what is not (interop.md 5.4).

actual: settled. held: reserved or dispatched. unknown: it may have run. A limit is checked against their sum.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, assert_never

from curator.model.accounting import DayCancelled, DayDispatched, DayReserved, DaySettled, DayUnknown
from curator.model.attempt import (
    Attempt,
    Cancelled,
    Correction,
    Dispatched,
    LegacyCarry,
    Reserved,
    Settled,
    Unknown,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curator.model.accounting import DayAttempt, DayFile
    from curator.model.ports import Hold


@dataclasses.dataclass(frozen=True, slots=True)
class Amount:
    """Calls, tokens and nano-dollars."""

    calls: int = 0
    tokens: int = 0
    cost_nanousd: int = 0

    def __add__(self, other: Amount) -> Amount:
        """Add up, column by column."""
        return Amount(self.calls + other.calls, self.tokens + other.tokens, self.cost_nanousd + other.cost_nanousd)

    def __sub__(self, other: Amount) -> Amount:
        """Take away, column by column."""
        return Amount(self.calls - other.calls, self.tokens - other.tokens, self.cost_nanousd - other.cost_nanousd)


@dataclasses.dataclass(frozen=True, slots=True)
class Exposure:
    """What one provider's day may cost, by certainty."""

    actual: Amount = Amount()
    held: Amount = Amount()
    unknown: Amount = Amount()

    @property
    def total(self) -> Amount:
        """What limits are checked against."""
        return self.actual + self.held + self.unknown

    def __add__(self, other: Exposure) -> Exposure:
        """Add up, column by column."""
        return Exposure(self.actual + other.actual, self.held + other.held, self.unknown + other.unknown)

    def __sub__(self, other: Exposure) -> Exposure:
        """Take away, column by column."""
        return Exposure(self.actual - other.actual, self.held - other.held, self.unknown - other.unknown)


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """What a day may cost at most."""

    calls: int
    tokens: int
    cost_nanousd: int

    def refusal(self, spent: Exposure, hold: Hold) -> str | None:
        """Name the limit that one more call with this hold would break, or return None."""
        total = spent.total
        if total.calls + 1 > self.calls:
            return "calls"
        if total.tokens + hold.tokens > self.tokens:
            return "tokens"
        if total.cost_nanousd + hold.cost_nanousd > self.cost_nanousd:
            return "cost"
        return None

    def can_never_hold(self, hold: Hold) -> str | None:
        """Name the limit that this hold breaks on an empty day: waiting for midnight would not help (W19)."""
        return self.refusal(Exposure(), hold)


def exposure_of(attempt: Attempt, correction: Correction | None = None) -> Exposure:
    """Return one attempt's place in the columns."""
    hold = Amount(1, attempt.hold_tokens, attempt.hold_cost_nanousd)
    match attempt:
        case Cancelled():
            return Exposure()
        case Settled():
            return Exposure(actual=Amount(1, attempt.charged_tokens, attempt.charged_cost_nanousd))
        case Unknown():
            if correction is None:
                return Exposure(unknown=hold)
            charged = Amount(1, correction.charged_tokens, correction.charged_cost_nanousd)
            return Exposure(actual=charged if correction.is_billed else Amount())
        case Reserved() | Dispatched():
            return Exposure(held=hold)
        case _:
            assert_never(attempt)


def exposure_of_legacy(carry: LegacyCarry) -> Exposure:
    """Return a legacy budget's place: nobody knows which of its calls ended how."""
    return Exposure(unknown=Amount(carry.calls, carry.tokens, carry.cost_nanousd))


def panel_exposure(file: DayFile, provider: str) -> Exposure:
    """Return what Pi's panel adds up for a provider from a day's file (interop.md 5.4)."""
    carry = (file.legacy_carry or {}).get(provider)
    legacy = Amount() if carry is None else Amount(carry.calls, carry.tokens, carry.cost_nanodollars)
    return total_exposure((*map(_panel_part, file.providers.get(provider, ())), Exposure(unknown=legacy)))


def _panel_part(attempt: DayAttempt) -> Exposure:
    hold = Amount(1, attempt.hold_tokens, attempt.hold_cost_nanodollars)
    match attempt:
        case DayCancelled():
            return Exposure()
        case DaySettled():
            return Exposure(actual=Amount(1, attempt.charged_tokens, attempt.charged_cost_nanodollars))
        case DayUnknown():
            return Exposure(unknown=hold)
        case DayReserved() | DayDispatched():
            return Exposure(held=hold)
        case _:
            assert_never(attempt)


def total_exposure(parts: Iterable[Exposure]) -> Exposure:
    """Add up many."""
    total = Exposure()
    for part in parts:
        total += part
    return total
