"""How it is told what jobs wait for: each cause in words, many in groups."""

import dataclasses
from typing import Final

import pytest

from curator.cli.reasons import group_lines, limit_said, reason_document, reason_text
from curator.model.budget import Limits
from curator.model.ids import JobId
from curator.workflow.inspect.waiting import Reason

LATER: Final = "2026-01-03T12:10:00.000Z"
MIDNIGHT: Final = "2026-01-04T00:00:00.000Z"


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (Reason("turn"), "the next review"),
        (Reason("retry", LATER, "model_timeout"), "its retry at 2026-01-03 12:10:00 UTC (model_timeout)"),
        (
            Reason("budget", MIDNIGHT, word="cost"),
            (
                "the next UTC day at 2026-01-04 00:00:00 UTC, because the day's cost is used up (maxCostPerDayUsd in "
                "service.json). Raise it there, and they go on; or see `curator budget`"
            ),
        ),
        (
            Reason("lease", LATER, worker_id="other:1", is_gone=True),
            "other:1, whose process is gone, which has it until 2026-01-03 12:10:00 UTC",
        ),
        (Reason("branch", behind=JobId("review_" + "a" * 40)), "an older job of its branch, review_aaaaaaaa"),
        (Reason("mode", word="shadow"), "external mode, in which it was begun"),
        (Reason("project", word="link"), "its project, which is being linked"),
        (Reason("project", word="paused"), "its project, which is paused"),
        (Reason("held"), "its release"),
    ],
)
def test_each_cause_completes_the_sentence(told: Reason, text: str) -> None:
    assert reason_text(told) == text


def test_a_limit_is_said_with_the_key_that_raises_it() -> None:
    limits = Limits(100, 500_000, 10_000_000_000)

    assert limit_said("tokens", limits) == "500,000 tokens a day (maxTokensPerDay in service.json)"


def test_jobs_that_wait_for_the_same_are_told_together() -> None:
    ids = [JobId(f"review_{number:040x}") for number in range(4)]
    reasons = {
        ids[0]: Reason("retry", LATER, "model_timeout"),
        ids[1]: Reason("configuration", LATER, "auth_unavailable"),
        ids[2]: Reason("configuration", MIDNIGHT, "auth_unavailable"),
        ids[3]: Reason("held"),
    }

    lines = list(group_lines(reasons))

    assert [line.split(" for ")[0] for line in lines] == ["  1 waits", "  2 wait", "  1 waits"]
    assert "(model_timeout); see `curator jobs show review_00000000`." in lines[0]
    assert "and later: run `curator config check`, and once that is mended `curator jobs retry --all`." in lines[1]


@pytest.mark.parametrize(
    "told",
    [
        Reason("turn"),
        Reason("branch", behind=JobId("review_" + "a" * 40)),
        Reason("lease", LATER, worker_id="other:1"),
        Reason("project", word="link"),
        Reason("mode", word="shadow"),
    ],
)
def test_a_program_reads_cause_text_and_what_is_known(told: Reason) -> None:
    document = reason_document(told)

    assert document["cause"] == told.cause
    assert document["text"] == reason_text(told)
    known = {value for value in dataclasses.asdict(told).values() if isinstance(value, str)}
    assert known <= {str(value) for value in document.values()}
