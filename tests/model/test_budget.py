"""Spend by certainty: what is actual, held and unknown, and the limits that their sum meets."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.model.attempt import (
    Attempt,
    LegacyCarry,
    cancelled_from,
    corrected_from,
    dispatched_from,
    settled_from,
    unknown_from,
)
from curator.model.budget import Amount, Exposure, Limits, exposure_of, exposure_of_legacy, total_exposure
from curator.model.ports import Hold
from tests.made_up import AT, DAY, LATER, job, other_digest, provenance, reserved

RESERVED = reserved(job())
DISPATCHED = dispatched_from(RESERVED, AT, (other_digest(), "m", "a"))
UNKNOWN = unknown_from(DISPATCHED, LATER)
HELD = Amount(1, 400, 50_000_000)
CHARGED = Amount(1, 160, 3_100_000)


@pytest.mark.parametrize(
    ("attempt", "column"),
    [
        (RESERVED, Exposure(held=HELD)),
        (DISPATCHED, Exposure(held=HELD)),
        (settled_from(DISPATCHED, LATER, provenance()), Exposure(actual=CHARGED)),
        (settled_from(DISPATCHED, LATER, provenance(), is_estimated=True), Exposure(actual=HELD)),
        (UNKNOWN, Exposure(unknown=HELD)),
        (cancelled_from(RESERVED, LATER), Exposure()),
    ],
)
def test_every_state_has_its_budget_column(attempt: Attempt, column: Exposure) -> None:
    assert exposure_of(attempt) == column


def test_a_correction_moves_an_unknown_attempt_to_what_it_cost() -> None:
    late = corrected_from(UNKNOWN, LATER, provenance())
    unbilled = dataclasses.replace(late, source="operator", is_billed=False)

    assert exposure_of(UNKNOWN, late) == Exposure(actual=CHARGED)
    assert exposure_of(UNKNOWN, unbilled) == Exposure()


def test_a_legacy_budget_is_unknown() -> None:
    carry = LegacyCarry(
        day=DAY, provider="p", source_digest=other_digest(), imported_at=AT, calls=7, tokens=12345, cost_nanousd=9
    )

    assert exposure_of_legacy(carry) == Exposure(unknown=Amount(7, 12345, 9))


LIMITS = Limits(calls=2, tokens=1_000, cost_nanousd=100_000_000)


@pytest.mark.parametrize(
    ("spent", "hold", "refusal"),
    [
        (Exposure(), Hold(1_000, 100_000_000), None),
        (Exposure(), Hold(1_001, 0), "tokens"),
        (Exposure(), Hold(1, 100_000_001), "cost"),
        (Exposure(actual=Amount(1)), Hold(1, 0), None),
        (Exposure(actual=Amount(1), held=Amount(1)), Hold(1, 0), "calls"),
        (Exposure(unknown=Amount(2)), Hold(1, 0), "calls"),
        (Exposure(unknown=Amount(1, 600), held=Amount(0, 300)), Hold(100, 0), None),
        (Exposure(unknown=Amount(1, 600), held=Amount(0, 300)), Hold(101, 0), "tokens"),
    ],
)
def test_a_limit_is_met_exactly_and_not_passed(spent: Exposure, hold: Hold, refusal: str | None) -> None:
    assert LIMITS.refusal(spent, hold) == refusal


def test_a_hold_that_no_day_could_hold_is_told_apart() -> None:
    assert LIMITS.can_never_hold(Hold(1_001, 0)) == "tokens"
    assert LIMITS.can_never_hold(Hold(1_000, 0)) is None


AMOUNTS = st.builds(Amount, st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
EXPOSURES = st.builds(Exposure, AMOUNTS, AMOUNTS, AMOUNTS)


@given(st.lists(EXPOSURES))
def test_adding_and_taking_away_leaves_nothing(parts: list[Exposure]) -> None:
    total = total_exposure(parts)
    for part in parts:
        total -= part

    assert total == Exposure()


@given(EXPOSURES)
def test_a_total_is_the_sum_of_the_columns(spent: Exposure) -> None:
    assert spent.total == spent.actual + spent.held + spent.unknown
