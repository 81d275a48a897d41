"""The real command and the real service are killed at each change to the disk in turn, until a run needs no kill any more."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Final

import pytest
from faults.contention.crowd import locks
from faults.figures import note
from faults.surroundings.killed import SURVIVE, lay_killed

from curator.model.ids import ProjectKey
from curator.model.job import Job
from tests.acceptance.processes import Place, provided, wait_until
from tests.cli.commands import CURATOR
from tests.fakes.provider import Settings

ROOT: Final = Path(__file__).parents[2]
IS_LONG: Final = os.environ.get("CURATOR_FAULTS") == "long"
FACTS: Final = '{"operations": [{"action": "add", "content": "Fact number {n}.", "importance": "normal"}]}'
SERVICE: Final = (sys.executable, "-m", "curator_service", "--worker-id", "service")
REVIEW: Final = (*CURATOR, "review", "--once")
STEPS: Final[dict[tuple[str, ...], int]] = {REVIEW: 1 if IS_LONG else 71, SERVICE: 8}
"""At one primitive of so many each is killed; the service, in the whole campaign alone, asks for much the same ones of a job."""

NAMES: Final[dict[tuple[str, ...], str]] = {REVIEW: "the command", SERVICE: "the service"}


def killed_at(place: Place, source: Path, command: tuple[str, ...], survive: int, job: Job) -> bool:
    """Run a command until it is killed at a primitive; tell whether it came so far. A service whose job is over is stopped."""
    paths = (source, ROOT / "service", ROOT, ROOT / "fault-injection")
    more = {"PYTHONPATH": os.pathsep.join(map(str, paths)), SURVIVE: str(survive)}
    log = place.home / "said"
    with (
        log.open("ab") as out,
        subprocess.Popen(command, env=place.environ(**more), cwd=place.home, stdout=out, stderr=out) as process,
    ):
        try:
            if command == SERVICE:
                wait_until(lambda: process.poll() is not None or place.ending(job) == "applied")
                process.send_signal(signal.SIGTERM)
            status = process.wait(30)
        finally:
            process.kill()
    assert status in (0, -signal.SIGKILL), log.read_text("utf-8")
    return status == -signal.SIGKILL


def assert_recovers(place: Place, job: Job, key: ProjectKey, asked: int) -> None:
    """Recover twice: the job is applied once, every call is counted, and the second recovery changes nothing."""
    for lock in locks(place):
        # What the dead left locked is believed for half a minute; that has passed.
        os.utime(lock, (time.time() - 60,) * 2)
    place.review_later()
    assert place.ending(job) == "applied"
    assert len(place.texts(key)) == 1
    states = place.states()
    assert set(states) <= {"settled", "unknown", "cancelled"}
    lost = states["settled"] + states["unknown"] - place.requests()
    # Between the record of a dispatch and its first byte nothing can be known; at most the dead one's call is such.
    assert lost in (0, 1)
    assert asked <= place.requests() <= asked + 1
    before = place.tree()
    place.review_later(2)
    assert place.tree() == before


@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("command", [REVIEW, SERVICE] if IS_LONG else [REVIEW], ids=NAMES.__getitem__)
def test_whoever_is_killed_at_any_change_to_the_disk_loses_nothing(command: tuple[str, ...], tmp_path: Path) -> None:
    source, seen, survive = lay_killed(tmp_path / "killed"), Counter[str](), 1
    is_killed = True
    while is_killed:
        folder = tmp_path / str(survive)
        folder.mkdir()
        with provided(folder, Settings(proposal=FACTS)) as (place, _):
            job = place.enqueue(key := place.project())
            is_killed = killed_at(place, source, command, survive, job)
            seen["killed" if is_killed else "not killed"] += 1
            seen[place.ending(job)] += is_killed
            assert_recovers(place, job, key, place.requests())
        survive += STEPS[command]

    print(f"{survive} primitives; {dict(seen)}")
    note("kill", {"deaths of real processes": seen["killed"]})
    assert seen["not killed"] == 1
    assert seen["killed"] > 1
    assert {"queued", "running"} <= set(seen)
