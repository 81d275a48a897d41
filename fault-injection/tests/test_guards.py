"""Every guard is needed: with any compare, lease check or secret gate taken away, a test fails or an argument stands."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import pytest
from faults.arguments import SPARE_GUARDS
from faults.figures import note
from faults.guards import guard_mutants, killer_of
from faults.source_mutants import SourceMutant

from tests.fakes.pis import PIS, WHY

if TYPE_CHECKING:
    from pathlib import Path

GUARDS: Final = tuple(guard_mutants())
CHOSEN: Final = GUARDS if os.environ.get("CURATOR_FAULTS") == "long" else GUARDS[::12]
"""Each costs a run of some tests: every run plants one in twelve, the whole campaign all."""


@pytest.mark.timeout(900)
@pytest.mark.parametrize("mutant", CHOSEN, ids=lambda each: each.name)
def test_a_guard_that_is_taken_away_is_missed(mutant: SourceMutant, stage_folder: Path) -> None:
    if mutant.file == "reviewer/providers/pi.py" and not PIS:
        pytest.skip(WHY)
    argument = SPARE_GUARDS.get(mutant.name, "")
    killer = "" if argument else killer_of(mutant, stage_folder)

    print(f"{mutant.name}: {killer or argument}")
    assert killer or argument
    note("mutants", {"guards taken away and missed" if killer else "guards taken away and argued": 1})


def test_every_argument_is_about_a_guard_that_there_is() -> None:
    assert set(SPARE_GUARDS) - {mutant.name for mutant in GUARDS} == set()


def test_each_kind_of_guard_is_found() -> None:
    names = [each.name for each in GUARDS]

    for part in ("check_lease", "find_secrets", "redact", "lease_token", "receipt.binding_digest", "prove_free"):
        assert [name for name in names if part in name] != [], part


def test_a_test_that_fails_anyway_kills_nothing(stage_folder: Path, tmp_path: Path) -> None:
    failing = tmp_path / "test_it.py"
    failing.write_text("def test_it() -> None:\n    assert 'this' == 'that'\n", "utf-8")
    unharmed = SourceMutant("nothing", "errors.py", 0, 0, "", (str(failing),))

    with pytest.raises(RuntimeError, match="fails without that change too"):
        killer_of(unharmed, stage_folder)
