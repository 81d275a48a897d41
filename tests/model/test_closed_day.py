"""The record of a closed day: closed itself, and its rows strict."""

import pytest

from curator.model.budget import Amount, Exposure
from curator.model.closed_day import Charge, ClosedDay, PastAttempt, Total
from curator.model.ids import AttemptId, JobId
from curator.model.record import Violation
from tests.made_up import DAY, other_digest, reserved
from tests.made_up import job as made_job

ATTEMPT = AttemptId("review_attempt_" + "a" * 40)
JOB = JobId("review_" + "b" * 40)
NONE = Charge(calls=0, tokens=0, cost_nanousd=0)


def day(*rows: str) -> ClosedDay:
    return ClosedDay(
        day=DAY, totals={"provider": Total(actual=NONE, unknown=NONE)}, legacy=(), unresolved=(), attempts=rows
    )


@pytest.mark.parametrize("job", [JOB, None])
def test_a_row_says_id_state_charge_provider_and_job(job: JobId | None) -> None:
    past = PastAttempt(ATTEMPT, "settled", Amount(1, 160, 3_100_000), "provider", job)

    assert past.row == f"{ATTEMPT} settled 1 160 3100000 provider {job or '-'}"
    assert day(past.row).past() == {ATTEMPT: past}


@pytest.mark.parametrize(
    "row",
    [
        f"{ATTEMPT} settled 1 160 3100000 provider",
        f"{ATTEMPT} unknown 1 160 3100000 provider {JOB}",
        f"{ATTEMPT} settled 2 160 3100000 provider {JOB}",
        f"{ATTEMPT} settled 1 0160 3100000 provider {JOB}",
        f"{ATTEMPT} settled 1 -160 3100000 provider {JOB}",
        f"{ATTEMPT} settled 1 160 3100000 provider {JOB}\n",
        f"{ATTEMPT}  settled 1 160 3100000 provider {JOB}",
    ],
)
def test_anything_else_is_no_row(row: str) -> None:
    with pytest.raises(Violation):
        day(row).past()


def test_a_day_comes_back_as_it_was_written() -> None:
    total = Total.of(Exposure(actual=Amount(1, 2, 3), unknown=Amount(4, 5, 6)))
    written = ClosedDay(day=DAY, totals={"provider": total}, legacy=(), unresolved=(), attempts=())

    read = ClosedDay.decode(written.encode())

    assert read == written
    assert read.totals["provider"].exposure == Exposure(actual=Amount(1, 2, 3), unknown=Amount(4, 5, 6))


def test_nothing_of_another_day_stands_in_it() -> None:
    lost = reserved(made_job(), day=DAY).encode() | {
        "state": "unknown",
        "dispatchedAt": "2026-01-03T00:00:00.000Z",
        "unknownAt": "2026-01-03T00:00:00.000Z",
        "requestDigest": other_digest(),
        "model": "m",
        "api": "a",
    }
    value = day().encode() | {"unresolved": [lost]}
    assert len(ClosedDay.decode(value).unresolved) == 1

    with pytest.raises(Violation):
        ClosedDay.decode(value | {"day": "2026-01-04"})
