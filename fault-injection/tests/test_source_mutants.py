"""Every row and arrow of the tables is needed: with any one of them wrong, a story shows a breach."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import pytest
from faults.figures import note
from faults.source_mutants import (
    SourceMutant,
    admission_mutants,
    attempt_mutants,
    coverage_mutants,
    job_mutants,
)

from curator.machine.admission import ADMISSION
from curator.machine.attempt import ATTEMPT
from curator.machine.coverage import COVERAGE
from curator.machine.job import JOB

if TYPE_CHECKING:
    from pathlib import Path


MUTANTS: Final = (*admission_mutants(), *attempt_mutants(), *job_mutants())
COVERED: Final = tuple(coverage_mutants())
CHOSEN: Final = (*MUTANTS, *COVERED) if os.environ.get("CURATOR_FAULTS") == "long" else (*MUTANTS[::6], *COVERED[::16])
"""Each costs a few stories and their crashes: every run plants one in six, or in sixteen, the whole campaign all."""


@pytest.mark.parametrize("mutant", CHOSEN, ids=lambda each: each.name)
def test_a_wrong_table_is_found(mutant: SourceMutant, stage_folder: Path) -> None:
    killed_by = mutant.run(stage_folder)

    print(f"killed: {mutant.name}: {killed_by}")
    assert killed_by
    note("mutants", {"wrong tables killed": 1})


def test_each_row_and_arrow_is_altered() -> None:
    rows = {mutant.name.split(" ")[1].rstrip(":") for mutant in admission_mutants()}

    assert rows == {str(number) for number in range(1, len(ADMISSION) + 1)}
    for machine, mutants in ((ATTEMPT, attempt_mutants()), (JOB, job_mutants()), (COVERAGE, coverage_mutants())):
        removed = [mutant for mutant in mutants if mutant.name.endswith("removed")]
        assert len(removed) == len(machine.transitions)


def test_what_is_right_passes(stage_folder: Path) -> None:
    healthy = SourceMutant("nothing", "machine/job.py", 0, 0, "", ("held", "set-aside", "overslept"))

    assert healthy.run(stage_folder) == ""
