"""What became of a job: its digests, its bounds, and its money in integers."""

import dataclasses
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.model.digest import Json
from curator.model.outcome import Completed, Failed, Failure, Provenance, nanousd, outcome_digest, proposal_digest, usd
from curator.model.proposal import Add
from curator.model.record import Violation
from tests.golden_fixtures import vectors
from tests.made_up import completed, failed, job, provenance


def test_the_vectors_outcome_has_the_vectors_digests() -> None:
    outcome = Completed.decode(vectors()["outcome"])

    assert outcome_digest(outcome) == "db17b5af52baf99ed2d79c60f64a1e7eed9c88ece0a876864b00254465e60a08"
    assert proposal_digest(outcome) == "1b2a13ffb5305a5e1daa7b636c83f7b7e5c05cf38875344a3421d313905e0e94"


def test_a_failed_outcome_proposes_nothing() -> None:
    assert proposal_digest(failed(job())) is None


@pytest.mark.parametrize(
    ("dollars", "nano"),
    [(0.0031, 3_100_000), (0.1 + 0.2, 300_000_000), (1e-10, 0), (5e-10, 1), (1.0000000005, 1_000_000_001), (0, 0)],
)
def test_dollars_become_nano_dollars_rounded_half_up(dollars: float, nano: int) -> None:
    assert nanousd(dollars) == nano


def test_every_vector_of_money_comes_out() -> None:
    rows = vectors()["nano"]
    assert isinstance(rows, list)

    got = [[row[0], nanousd(float(str(row[0])))] for row in rows if isinstance(row, list)]

    assert got == rows


@pytest.mark.parametrize("dollars", [-1.0, 9_007_199.254740993, 1e300, 1.7e308, float("inf"), float("nan")])
def test_a_cost_beyond_the_protocols_range_is_a_value_error(dollars: float) -> None:
    with pytest.raises(ValueError, match="beyond the protocol's range"):
        nanousd(dollars)


@given(st.integers(0, 2**52))
def test_nano_dollars_survive_the_wire(nano: int) -> None:
    assert abs(nanousd(usd(nano)) - nano) <= 1


@pytest.mark.parametrize(
    "change",
    [
        {"completedAt": "2026-01-02T23:59:59.999Z"},
        {"startedAt": "2026-01-03T00:00:01.001Z"},
        {"provider": ""},
        {"provider": "p" * 129},
        {"model": "m" * 257},
        {"api": "a" * 129},
        {"durationMs": -1},
        {"durationMs": 1.5},
        {"responseId": "_starts-wrong"},
        {"responseId": "r" * 257},
        {"responseModel": ""},
        {"usage": {}},
        {"extra": 1},
    ],
)
def test_a_provenance_that_breaks_a_rule_is_refused(change: dict[str, Json]) -> None:
    with pytest.raises(Violation):
        Provenance.decode(provenance().encode() | change)


@pytest.mark.parametrize("code", ["", "Provider_Error", "9lives", "_x", "a" * 65, "a b", "a\n"])
def test_a_failure_code_has_the_protocols_shape(code: str) -> None:
    with pytest.raises(Violation, match=r"error\.code: is not a failure code"):
        Failed.decode(failed(job()).encode() | {"error": {"code": code, "message": "m", "retryable": False}})


@pytest.mark.parametrize("message", ["", "m" * 2001, "password: hunter22", "a\rb"])
def test_a_failure_message_is_short_and_sanitized(message: str) -> None:
    with pytest.raises(Violation) as caught:
        Failure.decode({"code": "c", "message": message, "retryable": False})

    assert "hunter22" not in str(caught.value)


def test_both_spellings_of_a_moment_must_agree() -> None:
    wrong = completed(job()).encode() | {"completedAt": "2026-01-03T00:00:02.000Z"}

    with pytest.raises(Violation, match=r"completedAt differs from provenance\.completedAt"):
        Completed.decode(wrong)


# Four texts of 4,000 three-byte characters are within each text's bound, and beyond the whole outcome's.
WIDE: Final = "漢" * 4_000


def test_the_whole_outcome_is_bounded_in_bytes() -> None:
    one = completed(job(), Add(content=WIDE, importance="high"))
    two = dataclasses.replace(one, operations=one.operations * 2)

    assert Completed.decode(one.encode()) == one
    with pytest.raises(Violation, match="is larger than 16384 bytes"):
        Completed.decode(two.encode())


def test_an_outcome_is_told_by_its_status() -> None:
    with pytest.raises(Violation):
        Completed.decode(failed(job()).encode())
    with pytest.raises(Violation):
        Failed.decode(completed(job()).encode())
