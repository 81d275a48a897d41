"""Faults that come while a scenario runs: it really dies, or its disk refuses, at each primitive."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from faults.campaign import Stage
from faults.figures import note
from faults.live import die_everywhere, primitives, refuse_everywhere
from faults.scenarios import SCENARIOS

QUICK = {"set-aside"}
"""Scenarios that die at every primitive in each run; of the others one in thirty is enough there."""
REFUSALS = (
    (errno.ENOSPC, False),
    (errno.ENOSPC, True),
    (errno.EIO, False),
    (errno.EDQUOT, True),
    (errno.EMFILE, False),
)


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_a_dying_run_leaves_is_what_the_model_tells(stage_folder: Path, name: str, *, is_long: bool) -> None:
    stage = Stage(SCENARIOS[name], stage_folder)
    every = 1 if is_long or name in QUICK else 30

    died, strangers = die_everywhere(stage, every)

    print(f"{name}: died {died} times")
    note("kill", {"deaths": died})
    assert died == -(-primitives(stage) // every)
    assert strangers == []


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_disk_that_refuses_costs_no_promise(stage_folder: Path, name: str, *, is_long: bool) -> None:
    stage = Stage(SCENARIOS[name], stage_folder)
    turn = list(SCENARIOS).index(name)
    refusals = REFUSALS if is_long else (REFUSALS[turn % len(REFUSALS)],)

    for error, for_good in refusals:
        report = refuse_everywhere(stage, error, for_good=for_good, every=1 if is_long else 61)
        print(f"{name}: {report.line()}")
        note("kill", {"refusals": report.points, "violations": len(report.violations)})
        assert report.points > 0
        assert [str(violation) for violation in report.violations] == []
