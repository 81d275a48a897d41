"""Each step of an attempt is self-contained, and has one place in the journal."""

import dataclasses
from typing import Final

import pytest

from curator.model.attempt import (
    AttemptRecord,
    AttemptState,
    Cancelled,
    Correction,
    Dispatched,
    LegacyCarry,
    Reserved,
    Settled,
    Unknown,
    base_of,
    cancelled_from,
    corrected_from,
    decode_attempt,
    dispatched_from,
    facts_of,
    settled_from,
    state_of,
    step_of,
    unknown_from,
)
from curator.model.digest import Json
from curator.model.record import Violation
from tests.made_up import AT, DAY, LATER, job, other_digest, provenance, reserved

RESERVED: Final = reserved(job())
DISPATCHED: Final = dispatched_from(RESERVED, AT, (other_digest(), "m", "a"))
CANCELLED: Final = cancelled_from(RESERVED, LATER)
SETTLED: Final = settled_from(DISPATCHED, LATER, provenance())
UNKNOWN: Final = unknown_from(DISPATCHED, LATER)
CORRECTED: Final = corrected_from(UNKNOWN, LATER, provenance())
ALL: Final[tuple[AttemptRecord, ...]] = (RESERVED, DISPATCHED, CANCELLED, SETTLED, UNKNOWN, CORRECTED)


@pytest.mark.parametrize(
    ("record", "step"),
    [(RESERVED, 0), (DISPATCHED, 1), (CANCELLED, 1), (SETTLED, 2), (UNKNOWN, 2), (CORRECTED, 3)],
)
def test_a_step_has_its_number_in_the_file_name(record: AttemptRecord, step: int) -> None:
    assert step_of(record) == step


@pytest.mark.parametrize(
    ("record", "state"),
    [
        (RESERVED, AttemptState.RESERVED),
        (DISPATCHED, AttemptState.DISPATCHED),
        (CANCELLED, AttemptState.CANCELLED),
        (SETTLED, AttemptState.SETTLED),
        (UNKNOWN, AttemptState.UNKNOWN),
    ],
)
def test_a_record_proves_its_state(record: AttemptRecord, state: AttemptState) -> None:
    assert not isinstance(record, Correction)
    assert state_of(record) is state


@pytest.mark.parametrize("record", ALL)
def test_a_step_is_read_as_it_was_written(record: AttemptRecord) -> None:
    assert decode_attempt(record.encode()) == record


@pytest.mark.parametrize("record", ALL)
def test_every_step_repeats_the_facts_of_the_reservation(record: AttemptRecord) -> None:
    assert facts_of(record) == facts_of(RESERVED)
    assert list(facts_of(record)) == [key for key in RESERVED.encode() if key != "state"]


def test_a_settlement_charges_exactly_what_its_provenance_says() -> None:
    assert (SETTLED.charged_tokens, SETTLED.charged_cost_nanousd, SETTLED.is_estimated) == (160, 3_100_000, False)


def test_an_estimated_settlement_charges_its_hold() -> None:
    estimated = settled_from(DISPATCHED, LATER, provenance(0, 0), is_estimated=True)

    assert (estimated.charged_tokens, estimated.charged_cost_nanousd, estimated.is_estimated) == (400, 50_000_000, True)


def test_a_late_result_corrects_an_unknown_attempt() -> None:
    assert (CORRECTED.source, CORRECTED.is_billed) == ("late-result", True)
    assert (CORRECTED.charged_tokens, CORRECTED.charged_cost_nanousd) == (160, 3_100_000)


def test_what_was_sent_is_repeated_to_the_end() -> None:
    for record in (SETTLED, UNKNOWN):
        assert (record.dispatched_at, record.request_digest, record.model, record.api) == (AT, other_digest(), "m", "a")


@pytest.mark.parametrize(
    "change",
    [
        {"claimAttempt": 2},
        {"leaseToken": "f" * 32},
        {"jobDigest": "0" * 64},
        {"holdTokens": 0},
        {"holdCostNanousd": -1},
        {"holdCostNanousd": 0.5},
        {"state": "canceled"},
        {"state": ["reserved"]},
        {"state": "dispatched"},
        {"origin": "elsewhere"},
        {"day": "2026-01-3"},
        {"jobId": None},
        {"cancelledAt": AT},
    ],
)
def test_a_step_that_breaks_a_rule_is_refused(change: dict[str, Json]) -> None:
    with pytest.raises(Violation):
        decode_attempt(RESERVED.encode() | change)


@pytest.mark.parametrize("value", [None, [], {}, {"state": None}])
def test_what_has_no_state_is_no_step(value: Json) -> None:
    with pytest.raises(Violation, match=r"attempt\.state: is none of reserved"):
        decode_attempt(value)


def test_an_attempt_judges_its_base_and_an_adopted_one_the_jobs_own() -> None:
    rebased = dataclasses.replace(RESERVED, base_branch_digest=other_digest("b"))

    assert base_of(RESERVED, other_digest("a")) == other_digest("a")
    assert base_of(rebased, other_digest("a")) == other_digest("b")
    assert dispatched_from(rebased, AT, (other_digest(), "m", "a")).base_branch_digest == other_digest("b")


def test_a_legacy_carry_is_read_as_it_was_written() -> None:
    carry = LegacyCarry(
        day=DAY, provider="p", source_digest=other_digest(), imported_at=AT, calls=7, tokens=12, cost_nanousd=3
    )

    assert LegacyCarry.decode(carry.encode()) == carry


def test_the_union_of_steps_is_closed() -> None:
    assert {type(each) for each in ALL} == {Reserved, Dispatched, Cancelled, Settled, Unknown, Correction}
