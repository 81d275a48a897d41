"""The owner of a lease sleeps in the middle of its work, anywhere in it, and wakes when its lease belongs to another."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from faults.surroundings.watched import watched
from faults.tree import is_lock, is_staged

from curator.errors import BusyError
from curator.model.job import Job
from tests.acceptance.processes import Place, ended, provided
from tests.cli.commands import environ_of
from tests.fakes.provider import Settings

ROOT: Final = Path(__file__).parents[2]
IS_LONG: Final = os.environ.get("CURATOR_FAULTS") == "long"
FACTS: Final = '{"operations": [{"action": "add", "content": "Fact number {n}.", "importance": "normal"}]}'


def asleep(place: Place, survive: int) -> subprocess.Popen[bytes]:
    """Start a worker that stops itself before one primitive."""
    paths = [place.more["PYTHONPATH"], *(str(ROOT / each) for each in (".", "service", "fault-injection"))]
    environ = environ_of(place.home, PYTHONPATH=os.pathsep.join(paths))
    command = [sys.executable, "-m", "faults.surroundings.frozen", str(place.layout.agent), str(survive)]
    return subprocess.Popen(command, cwd=place.home, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def is_stopped(worker: subprocess.Popen[bytes]) -> bool:
    """Wait until a worker has stopped or ended, and tell which; its end is left for `Popen` to collect."""
    seen = os.waitid(os.P_PID, worker.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    return seen is not None and seen.si_code == os.CLD_STOPPED


@contextlib.contextmanager
def sleeper(place: Place, survive: int) -> Iterator[subprocess.Popen[bytes]]:
    """Have a worker asleep while the block runs."""
    with asleep(place, survive) as worker:
        try:
            yield worker
        finally:
            worker.kill()


def review_later(place: Place, turn: int) -> bool:
    """Let another worker come when every lease has run out; tell whether no lock was in its way."""
    try:
        place.open_later(turn).review_once()
    except BusyError:
        return False
    return True


def primitives(folder: Path) -> int:
    """Return how many primitives a whole run asks for."""
    folder.mkdir()
    with watched(folder) as watch, provided(folder, Settings(proposal=FACTS), watch.place) as (place, _):
        place.enqueue(place.project())
        ran = ended(asleep(place, 1_000_000))
    assert ran.status == 0
    return int(ran.out)


def sleep_through(folder: Path, survive: int) -> tuple[str, str]:
    """Let a worker sleep at one primitive while another does its job; return how both fared, for the table."""
    folder.mkdir()
    with contextlib.ExitStack() as stack:
        watch = stack.enter_context(watched(folder))
        place, _ = stack.enter_context(provided(folder, Settings(proposal=FACTS), watch.place))
        job = place.enqueue(key := place.project())
        worker = stack.enter_context(sleeper(place, survive))
        assert is_stopped(worker), f"it never came to primitive {survive}"
        asked, is_sent = place.requests(), place.states()["dispatched"] + place.states()["settled"] > 0
        is_free = review_later(place, 1)
        kept = tree_of(place, job)

        worker.send_signal(signal.SIGCONT)

        ran = ended(worker)
        assert "Traceback" not in ran.err, ran.err
        changed = [path for path, raw in kept.items() if tree_of(place, job).get(path) != raw]
        assert changed == [], "it changed what the other one had decided"
        if kept and not is_sent:
            assert place.requests() == 1, "it asked for a job that was not its own any more"
        for turn in (2, 3):
            assert review_later(place, turn)
        assert place.ending(job) == "applied"
        assert len(place.texts(key)) == 1
        states = place.states()
        assert set(states) <= {"settled", "unknown", "cancelled"}
        assert states["settled"] + states["unknown"] == place.requests(), "every call is counted, and nothing else"
        return ("asked" if asked else "not asked yet"), ("fenced" if is_free and kept else "held a lock")


def tree_of(place: Place, job: Job) -> dict[str, bytes]:
    """Return what stands for what became of a job and of its memory: nobody may change it once its job is over."""
    if place.ending(job) != "applied":
        return {}
    folders = ("outcomes", "proposal-decisions", "branches", "revisions", "commit-receipts", "finished")
    tree = {path: raw for path, raw in place.tree().items() if set(folders) & set(Path(path).parts)}
    return {path: raw for path, raw in tree.items() if not is_lock(path) and not is_staged(path)}


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="this system cannot say that a process has stopped")
def test_a_worker_that_slept_anywhere_finds_its_job_done_and_changes_nothing_of_it(tmp_path: Path) -> None:
    count = primitives(tmp_path / "whole")
    survived = range(0, count, 5) if IS_LONG else range(count * 2 // 7, count, count // 4)

    seen = [sleep_through(tmp_path / f"{survive}", survive) for survive in survived]

    print(f"{count} primitives; slept at {len(seen)} of them: {sorted(set(seen))}")
    assert {("asked", "fenced"), ("not asked yet", "fenced")} <= set(seen)
