"""The log's lines, and what never gets into one."""

import dataclasses
import io
import json
import typing

import pytest

from curator.logs import ALLOWED, Log
from curator.model import event
from curator.model.budget import Exposure, Limits
from curator.model.ids import BranchName, JobId, ProjectKey
from tests.made_up import provenance

JOB = JobId("review_" + "a" * 40)


class StillClock:
    def now(self) -> int:
        return 1_767_225_600_000

    def monotonic(self) -> int:
        return 0


class FullDisk(io.StringIO):
    def write(self, text: str, /) -> int:
        del text
        raise OSError(28, "No space left on device")


def lines(*events: event.Event) -> list[dict[str, object]]:
    stream = io.StringIO()
    log = Log(stream, StillClock(), "json")
    for each in events:
        log.tell(each)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_an_event_is_one_json_line_with_its_time_and_its_level() -> None:
    told = lines(event.Claimed(JOB, 2, ProjectKey("b" * 24), BranchName("main")))

    assert told == [
        {
            "at": "2026-01-01T00:00:00.000Z",
            "attempt": 2,
            "branch_name": "main",
            "event": "claimed",
            "job_id": JOB,
            "level": "info",
            "project_key": "b" * 24,
        }
    ]


def test_what_needs_somebody_is_a_warning() -> None:
    told = lines(event.Stopped("job x", "conflict", "a fact", "a remedy"), event.Failed(JOB, 3, "invalid_proposal"))

    assert [line["level"] for line in told] == ["warning", "warning"]
    assert told[0]["remedy"] == "a remedy"


def test_a_field_that_is_not_allowed_is_not_written() -> None:
    told = lines(event.BudgetExhausted(JOB, 1, "local", "calls", Exposure(), Limits(1, 2, 3)))

    assert set(told[0]) == {"at", "attempt", "event", "job_id", "level", "limit", "provider"}
    assert told[0]["event"] == "budget_exhausted"


def test_every_allowed_field_belongs_to_an_event() -> None:
    kinds = typing.get_args(event.Event)

    assert {field.name for kind in kinds for field in dataclasses.fields(kind)} >= ALLOWED


def test_a_line_break_in_a_value_does_not_make_a_second_line() -> None:
    assert len(lines(event.SetAside("a\nname", "a reason"))) == 1


def test_the_console_form_is_for_people() -> None:
    stream = io.StringIO()

    Log(stream, StillClock(), "console").tell(event.Recovered("open attempts", 2))

    assert "recovered" in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_log_that_cannot_be_written_stops_nothing(form: typing.Literal["json", "console"]) -> None:
    stream = FullDisk()

    Log(stream, StillClock(), form).tell(event.Idle())

    assert stream.getvalue() == ""


def test_a_completed_job_is_told_with_what_became_of_it_and_what_it_cost() -> None:
    (line,) = lines(event.Completed(JOB, 1, provenance(total_tokens=160, usd=0.0031), None))

    assert (line["tokens"], line["cost_usd"]) == (160, 0.0031)
    assert "response_id" not in line
