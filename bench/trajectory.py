"""What indexing old sessions costs: beside a bare `json.loads` of the same lines, in memory, and with two processes.

And how often `curator backfill plan` reads what it plans over: the bytes that the system counts, of those that there are.

The sessions are made up (see `bench.common.talk` for what is in them). Bare and indexing run in turn in one process, a
pair after the other, and the median of the ratios is what counts; CPU is counted, so that a load beside them counts less.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from bench.common.disks import plain
from bench.common.figures import Figure, Report, median, options
from bench.common.place import Place
from bench.common.service import environ_of
from bench.common.talk import write_session
from curator.tracks.trajectory.facts import Ended
from curator.tracks.trajectory.pool import read_sessions
from curator.tracks.trajectory.task import Task

MEGABYTE: Final = 1_000_000
NOW: Final = 1_780_000_000_000
RATIO_MIN: Final = 0.5
PEAK_MB_MAX: Final = 150.0
FLAT_MAX: Final = 1.1
SPEEDUP_MIN: Final = 1.7
READ_MAX: Final = 1.05
"""The interpreter and its libraries are read as well."""
SMALL: Final = 100
_CHILD: Final = (
    "import resource, sys\n"
    "from curator.tracks.trajectory.reading import index_file\n"
    "for event in index_file(sys.argv[1], 1_780_000_000_000):\n    pass\n"
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
)
_PLANNING: Final = (
    "import pathlib, resource, sys\n"
    "from curator.cli.main import run\n"
    "sys.argv[0] = 'curator'\n"
    "try:\n    status = run()\nexcept SystemExit as end:\n    status = end.code or 0\n"
    "io = dict(line.split(': ') for line in pathlib.Path('/proc/self/io').read_text().splitlines())\n"
    "print(status, io['rchar'], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)\n"
)
_RSS_UNIT: Final = 1 if sys.platform == "darwin" else 1024


def main() -> int:
    """Measure and print."""
    asked = options(__doc__).parse_args()
    pairs, size, large, each, planned = (3, 20, 300, 150, 20) if asked.quick else (7, 50, 1_000, 200, 100)

    report = Report(f"trajectory: {pairs} pairs on {size} MB, memory on {SMALL} and {large} MB, 4 files of {each} MB")
    with plain(asked.on) as disk:
        _speed(disk.folder, pairs, size * MEGABYTE, report)
        _memory(disk.folder, large * MEGABYTE, report)
        _processes(disk.folder, each * MEGABYTE, report)
        _plan(disk.folder, planned * MEGABYTE, report)
    return report.show(as_json=asked.json)


def _speed(folder: Path, pairs: int, size: int, report: Report) -> None:
    path = folder / "session.jsonl"
    write_session(path, size)
    megabytes = path.stat().st_size / MEGABYTE
    took: list[tuple[float, float]] = []
    for number in range(pairs + 1):
        took.append((_cpu(lambda: _load(path)), _cpu(lambda: _index([path], 1))))
        if not number:
            took.clear()  # the first pair pays for what is compiled and cached
    bare, ours = (median([megabytes / pair[side] for pair in took]) for side in (0, 1))
    report.add(
        Figure("bare json.loads of each line", bare, "MB/s"),
        Figure("indexing, one core", ours, "MB/s"),
        Figure("indexing over bare", median([pair[0] / pair[1] for pair in took]), at_least=RATIO_MIN),
    )
    path.unlink()


def _memory(folder: Path, large: int, report: Report) -> None:
    peaks: list[float] = []
    for size in (SMALL * MEGABYTE, large):
        path = folder / "session.jsonl"
        write_session(path, size)
        ran = subprocess.run(
            [sys.executable, "-c", _CHILD, str(path)], capture_output=True, text=True, check=True, timeout=600
        )
        path.unlink()
        peaks.append(int(ran.stdout) * _RSS_UNIT / MEGABYTE)
        report.add(Figure(f"peak memory, {size // MEGABYTE} MB", peaks[-1], "MB", at_most=PEAK_MB_MAX))
    report.add(Figure("peak memory, the large over the small", peaks[1] / peaks[0], at_most=FLAT_MAX))


def _processes(folder: Path, size: int, report: Report) -> None:
    paths = [folder / f"session-{number}.jsonl" for number in range(4)]
    for number, path in enumerate(paths):
        write_session(path, size, seed=number)
    one = [_spent(lambda: _index(paths, 1)) for _ in range(3)]
    two = [_spent(lambda: _index(paths, 2)) for _ in range(3)]
    alone = min(each.cpu for each in one)
    together = min(each.cpu + each.children for each in two)
    report.add(
        Figure(
            "2 processes over one, wall, best of three",
            min(s.wall for s in one) / min(s.wall for s in two),
            at_least=SPEEDUP_MIN,
        ),
        Figure("2 processes over one, by CPU: what two whole cores would give", 2 * alone / together),
        Figure("CPU of the one that takes what they read, of one's", min(each.cpu for each in two) / alone),
    )
    report.note("the wall tells of two processes where nothing else runs: a load beside them takes the second core")
    for path in paths:
        path.unlink()


def _plan(folder: Path, size: int, report: Report) -> None:
    """Plan over twenty sessions, as a person does."""
    if not sys.platform.startswith("linux"):
        report.note("what a process read is only counted on Linux")
        return
    place, project = Place(folder / "home"), folder / "project"
    place.configure("fake")
    # Nobody listens there, and nobody needs to.
    place.know("http://127.0.0.1:9/v1")
    sessions = place.layout.agent / "sessions" / "--project--"
    sessions.mkdir(parents=True)
    (project / ".git").mkdir(parents=True)
    for number in range(20):
        write_session(sessions / f"session-{number}.jsonl", size, seed=number, cwd=str(project))
    there = sum(path.stat().st_size for path in sessions.iterdir())
    begun = time.perf_counter()
    argv = [sys.executable, "-c", _PLANNING, "backfill", "plan", "--project", str(project), "--json"]
    ran = subprocess.run(
        argv, env=environ_of(place), cwd=folder, capture_output=True, text=True, check=False, timeout=1_200
    )
    took = time.perf_counter() - begun
    if ran.returncode or not ran.stderr:
        raise RuntimeError(ran.stderr)
    status, read, peak = ran.stderr.split()[-3:]
    if status != "0":
        raise RuntimeError(ran.stderr)
    report.add(
        Figure(f"plan over {there / 1e9:.2f} GB: read over what there is", int(read) / there, at_most=READ_MAX),
        Figure("plan, wall", took, "s"),
        Figure("plan, peak memory", int(peak) * _RSS_UNIT / MEGABYTE, "MB", at_most=PEAK_MB_MAX),
    )


class Spent(NamedTuple):
    """Seconds of the wall clock, and of CPU here and in processes that ended meanwhile."""

    wall: float
    cpu: float
    children: float


def _spent(run: Callable[[], None]) -> Spent:
    before, begun = os.times(), time.perf_counter()
    run()
    wall, after = time.perf_counter() - begun, os.times()
    here = after.user + after.system - before.user - before.system
    children = after.children_user + after.children_system - before.children_user - before.children_system
    return Spent(wall, here, children)


def _load(path: Path) -> None:
    with path.open("rb") as file:
        for line in file:
            json.loads(line)


def _index(paths: list[Path], jobs: int) -> None:
    ended = 0
    for _number, event in read_sessions([Task(str(path)) for path in paths], NOW, jobs):
        ended += isinstance(event, Ended)
    assert ended == len(paths)


def _cpu(run: Callable[[], None]) -> float:
    begun = time.process_time()
    run()
    return time.process_time() - begun


if __name__ == "__main__":
    raise SystemExit(main())
