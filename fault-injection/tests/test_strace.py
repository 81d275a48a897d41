"""Nothing changes the disk past the volume: the kernel is asked, and says the same as the recorder."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest
from faults.model.seam import SAID, Change, apart, from_kernel, heard, lay_ground, shape, why_not
from faults.model.witness import BUGS, LAZY, read_log

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(autouse=True)
def _kernel_can_be_heard() -> None:
    if why := why_not():
        print(f"skipped: {why}")
        pytest.skip(why)


@pytest.fixture
def agent(stage_folder: Path) -> Path:
    agent = stage_folder / "agent"
    lay_ground(agent)
    return agent


def witnessed(agent: Path, bug: str = "") -> list[str]:
    """Review once before both witnesses, and say where they part."""
    calls, said = agent.parent / "calls", agent.parent / "said"
    run = f"import sys; sys.path[:0] = {[str(ROOT), str(ROOT / 'fault-injection')]}; "
    run += "import runpy; runpy.run_module('faults.model.witness', run_name='__main__', alter_sys=True)"
    assert heard((sys.executable, "-c", run, str(agent), str(said), bug), calls, ROOT) == 0
    seam, kernel = read_log(said), from_kernel(calls, agent)
    print(f"{bug or 'no bug'}: {len(seam)} changes by the volume, {len(kernel)} by the kernel")
    assert len(seam) > 100
    return apart(seam, kernel)


def remembered(agent: Path) -> str:
    return next((agent / "no-forgetti").glob("*/branches/main.json")).read_text()


def test_the_kernel_did_what_the_volume_says_and_nothing_else(agent: Path) -> None:
    assert witnessed(agent) == []
    assert SAID in remembered(agent)


@pytest.mark.parametrize("bug", BUGS)
def test_a_change_past_the_volume_is_found(agent: Path, bug: str) -> None:
    told = witnessed(agent, bug)

    assert told
    assert all(each.startswith("past the volume: ") for each in told)


def test_a_flush_of_which_only_the_volume_speaks_is_found(agent: Path) -> None:
    told = witnessed(agent, LAZY)

    assert told
    assert all(each.startswith("the kernel was never asked: fsync ") for each in told)


def test_the_command_does_what_the_recorded_review_does(agent: Path) -> None:
    """What `curator review --once` changes is what the volume said of the same job, heartbeats apart."""
    twin = agent.parent / "twin" / "agent"
    twin.parent.mkdir()
    lay_ground(twin)
    assert witnessed(twin) == []
    said = read_log(twin.parent / "said")
    calls = agent.parent / "calls"

    command = (sys.executable, "-m", "curator", "review", "--once", "--agent-dir", str(agent), "--json")
    assert heard(command, calls, ROOT) == 0

    done = from_kernel(calls, agent)
    assert SAID in remembered(agent)
    assert Counter(map(shape, steady(done))) == Counter(map(shape, steady(said)))


def test_the_ground_is_one_job_that_waits(agent: Path) -> None:
    (queued,) = (agent / "no-forgetti" / "review-spool" / "queued").iterdir()

    assert json.loads(queued.read_text())["nextAttempt"] == 1


def steady(changes: list[Change]) -> list[Change]:
    """Leave the heartbeats aside: how many there are depends on how long a run takes."""
    return [each for each in changes if "/review-workers" not in each.path and "/runtimes" not in each.path]
