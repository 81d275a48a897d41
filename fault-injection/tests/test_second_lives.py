"""A kill, the process after it, and then a power cut: nothing is built on a name that nobody flushed."""

from __future__ import annotations

from pathlib import Path

import pytest
from faults.campaign import Stage
from faults.figures import note
from faults.scenarios import SCENARIOS, SECOND_LIVES

SAMPLE = {"applied", "held", "retried", "set-aside"}
"""In each run: of these scenarios, the cuts that take what the killed process wrote. With time, every cut of them all."""

STATES_MAX = 1_400
"""With time: so many distinct states of one scenario are judged. Few have more; of theirs it is a sample, drawn by name."""


STORIES = SCENARIOS | SECOND_LIVES


@pytest.mark.parametrize("name", STORIES)
def test_nothing_is_built_on_what_a_killed_process_had_not_flushed(
    stage_folder: Path, name: str, *, is_long: bool
) -> None:
    if not is_long and name not in SAMPLE:
        pytest.skip("only in the whole campaign: CURATOR_FAULTS=long")
    stage = Stage(STORIES[name], stage_folder)

    report = stage.run_second_lives(is_whole=is_long, most=STATES_MAX)

    print(f"{name}: {report.line()}")
    note("crash", report.figures())
    assert 0 < report.states.total() <= STATES_MAX
    assert report.states.total() == STATES_MAX or report.passed_over == 0
    assert [str(violation) for violation in report.violations] == []
