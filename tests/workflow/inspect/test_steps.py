"""In which step a running job is: by what another worker left, and by what our own leaves on its way."""

from pathlib import Path

import pytest

from curator.durable.layout import Layout
from curator.workflow.inspect.status import look
from curator.workflow.inspect.steps import STEPS, StepName
from tests.acceptance.processes import ended, provided, wait_until
from tests.fakes.provider import Settings
from tests.golden_fixtures import golden
from tests.service.test_service import serving
from tests.workflow.inspect.test_status import NOW
from tests.workflow.inspect.test_watching import now_ms


@pytest.mark.parametrize(
    ("scenario", "step"),
    [
        ("b-running-reserved", "claimed"),
        ("d-result-no-decision", "answered"),
        ("e-decision-no-admission", "elected"),
        ("f-intent-no-branch", "admitting"),
        ("g5-receipt-not-retired", "admitting"),
        ("o3-finish-crash-both", "closing"),
    ],
)
def test_the_last_artifact_says_the_step(tmp_path: Path, scenario: str, step: StepName) -> None:
    found = look(Layout(golden(scenario, tmp_path)), NOW)

    assert [each.name for each in found.steps.values()] == [step]
    assert step in STEPS


def test_a_call_that_is_under_way_is_told_with_its_provider_and_its_hold_is_in_the_budget(tmp_path: Path) -> None:
    with provided(tmp_path, Settings(review="hang,ok")) as (place, _):
        job = place.enqueue(place.project())
        with serving(place) as service:
            wait_until(lambda: place.requests() == 1)
            found = look(place.layout, now_ms())
            told = place.run("status").out
            service.kill()
            ended(service)

    step = found.steps[job.id]
    assert step.name == "asking"
    assert step.reviewer is not None
    assert step.reviewer in told
    assert "the reviewer is asked" in told
    calls = next(line for line in told.splitlines() if line.lstrip().startswith("calls "))
    assert "[=." in calls
    assert "0 spent, 1 held, 0 unknown of 100" in calls
