"""The campaign itself: every scenario, every point, every model, two recoveries, all oracles."""

from __future__ import annotations

from pathlib import Path

import pytest
from faults.campaign import Stage
from faults.figures import note
from faults.scenarios import SCENARIOS

LARGE = {"shadow": 3, "base": 3, "budget": 2, "trajectory-packed": 6}
"""In each run: of the stories of two whole jobs, and of many files that go at once, one state in so many is judged. With time, all."""


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_crash_of_a_scenario_recovers_with_every_promise_kept(
    stage_folder: Path, name: str, *, is_long: bool
) -> None:
    stage = Stage(SCENARIOS[name], stage_folder)

    report = stage.run(share=1 if is_long else LARGE.get(name, 1))

    print(f"{name}: {report.line()}")
    note("crash", report.figures())
    assert stage.ending_breaches() == []
    assert report.points == len(stage.recording.asked) + 1
    assert [str(violation) for violation in report.violations] == []
