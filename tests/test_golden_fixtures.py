"""The packed state comes out as it went in: modes and empty folders included."""

import stat
from pathlib import Path

import pytest

from tests.golden_fixtures import expected, golden, real_pi, vectors


def test_a_scenario_keeps_its_modes_and_its_empty_folders(tmp_path: Path) -> None:
    agent = golden("a", tmp_path)

    root = agent / "no-forgetti"
    assert stat.S_IMODE((root / "service.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    assert expected(agent)["scenario"] == "a-queued"


def test_a_name_that_fits_no_scenario_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        golden("z", tmp_path)


@pytest.mark.parametrize("moment", ["queued", "consumed"])
def test_what_real_pi_left_unpacks(tmp_path: Path, moment: str) -> None:
    agent = real_pi(moment, tmp_path)

    assert (agent / "no-forgetti" / "review-spool").is_dir()


def test_the_vectors_are_there() -> None:
    assert "attemptIds" in vectors()
