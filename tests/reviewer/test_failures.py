"""The one table of failures, literally; what a status means for the job, and how long a provider asks to wait."""

from pathlib import Path

import pytest

from curator.model.attempt import AttemptState
from curator.model.ports import Class
from curator.model.times import DAY_MS, iso, ms_of
from curator.reviewer.failures import (
    MISHAPS,
    STATUSES,
    Charge,
    Mishap,
    Row,
    failure_of,
    failure_of_status,
    read_retry_after,
    row_of_status,
    table,
)
from curator.workflow.retry import CONFIGURATION_CODES

NOW = ms_of("2026-10-21T07:00:00.000Z")


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "auth_unavailable", Class.CONFIGURATION),
        (402, "auth_unavailable", Class.CONFIGURATION),
        (403, "auth_unavailable", Class.CONFIGURATION),
        (407, "auth_unavailable", Class.CONFIGURATION),
        (404, "model_not_found", Class.CONFIGURATION),
        (410, "model_not_found", Class.CONFIGURATION),
        (302, "model_registry_invalid", Class.CONFIGURATION),
        (408, "provider_error", Class.RETRY),
        (409, "provider_error", Class.RETRY),
        (429, "rate_limited", Class.LATER),
        (500, "provider_error", Class.RETRY),
        (503, "provider_error", Class.RETRY),
        (529, "rate_limited", Class.LATER),
        (400, "provider_error", Class.TERMINAL),
        (413, "provider_error", Class.TERMINAL),
        (422, "provider_error", Class.TERMINAL),
    ],
)
def test_a_status_tells_what_may_be_done(status: int, code: str, kind: Class) -> None:
    failure = failure_of_status(status, "m", None)
    assert (failure.code, failure.kind) == (code, kind)
    assert str(status) in failure.message


@pytest.mark.parametrize(
    ("milliseconds", "value", "wait"),
    [
        (None, "7", 7_000),
        (None, " 0.25 ", 250),
        ("1500", "7", 1_500),
        ("soon", "7", 7_000),
        (None, "Wed, 21 Oct 2026 07:28:00 GMT", 28 * 60_000),
        (None, "Wed, 21 Oct 2026 07:28:00", 28 * 60_000),
        (None, "Mon, 01 Jan 2001 00:00:00 GMT", None),
        (None, "Fri, 31 Dec 9999 23:59:59 GMT", DAY_MS),
        (None, "999999999", DAY_MS),
        (None, "9" * 400, None),
        (None, "2abc", None),
        (None, "-5", None),
        (None, "0", None),
        (None, "٧", None),
        (None, "", None),
        (None, None, None),
    ],
)  # fmt: skip
def test_a_wish_to_wait_is_honoured_capped_or_ignored(
    milliseconds: str | None, value: str | None, wait: int | None
) -> None:
    assert read_retry_after(milliseconds, value, NOW) == wait


def test_the_wait_counts_from_now() -> None:
    assert read_retry_after(None, "Wed, 21 Oct 2026 07:28:00 GMT", ms_of("2026-10-21T07:27:59.000Z")) == 1_000
    assert iso(NOW) == "2026-10-21T07:00:00.000Z"


def test_a_wish_to_wait_is_kept_only_where_the_job_is_tried_again() -> None:
    assert failure_of_status(429, "m", 7_000).retry_after_ms == 7_000
    assert failure_of_status(401, "m", 7_000).retry_after_ms is None


# --- the table -------------------------------------------------------------------------------------------------------

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_readme_shows_the_table() -> None:
    shown = README.read_text("utf-8").split("<!-- failures:begin -->\n")[1].split("<!-- failures:end -->")[0]
    assert shown == table()


@pytest.mark.parametrize("mishap", Mishap)
def test_each_mishap_has_its_row_and_its_failure(mishap: Mishap) -> None:
    failure = failure_of(mishap, "A fact")
    assert (failure.code, failure.kind) == (MISHAPS[mishap].code, MISHAPS[mishap].kind)


ROWS = [*MISHAPS.values(), *STATUSES.values(), *(row_of_status(status) for status in (302, 418, 520))]


@pytest.mark.parametrize("row", ROWS)
def test_what_an_attempt_is_charged_follows_from_how_it_ends(row: Row) -> None:
    match row.state:
        case AttemptState.CANCELLED:
            assert row.charge is Charge.NO_CALL
        case AttemptState.UNKNOWN:
            assert row.charge is Charge.HOLD
        case _:
            assert row.state is AttemptState.SETTLED
            assert row.charge is not Charge.NO_CALL


@pytest.mark.parametrize("row", ROWS)
def test_what_costs_a_job_none_of_its_tries_is_known_to_the_count(row: Row) -> None:
    assert (row.code in CONFIGURATION_CODES) == (row.kind is Class.CONFIGURATION)


def test_a_gateway_that_gave_up_waiting_may_have_let_the_model_run() -> None:
    assert [status for status, row in STATUSES.items() if row.charge is Charge.HOLD] == [408, 504]
