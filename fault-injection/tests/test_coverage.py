"""The scenarios take every arrow and see every row; counted, not declared."""

from __future__ import annotations

from collections import Counter

from faults.campaign import Stage
from faults.coverage import JOB_SITES, admission_rows, attempt_arrows, coverage_arrows, job_arrows
from faults.figures import note

from curator.machine.job import JOB

ELSEWHERE = {
    "return": "a graceful stop gives a job back as a deferral does: scenarios stopped-before and stopped-meanwhile",
}
"""Arrows of the job that no function of their own takes."""


def print_all(counts: Counter[str], kind: str = "") -> list[str]:
    for name, count in counts.items():
        print(f"{count:6} {name}")
    if kind:
        note("crash", {f"{kind} {name}": count for name, count in counts.items()})
    return [name for name, count in counts.items() if count == 0]


def test_every_arrow_of_the_job_is_taken(stages: list[Stage]) -> None:
    arrows = {JOB.entry, *(each.verb for each in JOB.transitions)}

    assert arrows - set(JOB_SITES) == set(ELSEWHERE)
    assert print_all(job_arrows(stages)) == []


def test_every_arrow_of_the_attempt_is_taken(stages: list[Stage]) -> None:
    assert print_all(attempt_arrows(stages), "arrow attempt:") == []


def test_every_arrow_of_the_coverage_is_taken(stages: list[Stage]) -> None:
    assert print_all(coverage_arrows(stages), "arrow coverage:") == []


def test_every_row_of_the_admission_table_is_seen(stages: list[Stage]) -> None:
    assert print_all(admission_rows(stages), "row") == []


def test_a_request_marks_the_place_between_its_checkpoint_and_its_result(stages: list[Stage]) -> None:
    applied = next(stage for stage in stages if stage.scenario.name == "applied")
    asked = applied.recording.asked
    request = next(step for step, each in enumerate(asked) if each.mark is not None and each.mark.kind == "request")

    before = [each.path for each in asked[:request]]
    after = [each.path for each in asked[request:]]

    assert any(path.endswith(".1.json") for path in before)
    assert not any("provider-results" in path for path in before)
    assert any("provider-results" in path for path in after)
