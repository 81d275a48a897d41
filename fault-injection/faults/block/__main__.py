"""Cut the power of scenarios on real ext4, image by image. Root's, in a mount namespace of its own.

    PYTHONPATH=.:fault-injection unshare -m python -m faults.block [SCENARIO ...] [options]

The last line is the report as JSON. With a violation the status is 3, and `--log` keeps what reached the device: the
same command with `--replay` judges exactly that again, for a kernel never writes the same blocks twice.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from faults.backfill_stories import BACKFILL_STORIES
from faults.block.mounts import NOLOGFLUSH, mount, why_not
from faults.block.planted import PLANTS
from faults.block.stage import BlockStage
from faults.campaign import Report
from faults.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Sequence

STORIES: Final = SCENARIOS | BACKFILL_STORIES
SKIPPED: Final = 2
BROKEN: Final = 3
"""The exit status where a promise was broken; that of Python itself is 1."""
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a private filesystem is mounted over it
"""Where everything happens: always the same path, for a project's key is made of it."""


def main(arguments: Sequence[str]) -> int:
    """Run, report and return the status."""
    asked = _parse(arguments)
    reason = why_not()
    if reason:
        print(f"nothing can be tried here: {reason}")
        return SKIPPED
    mount("faults", _MEMORY, "tmpfs", "mode=700")
    total = Report()
    for name in asked.scenarios or STORIES:
        report = _try_one(name, asked)
        print(f"{name}: {_line(report)}", flush=True)
        for violation in report.violations:
            print(violation, flush=True)
        total += report
    print(
        json.dumps(
            {
                "images": total.seen,
                "judged": total.states.total(),
                "points": total.points,
                "states": total.states,
                "seconds": round(total.seconds, 1),
                "violations": [str(each) for each in total.violations],
            }
        )
    )
    return BROKEN if total.violations else 0


def _line(report: Report) -> str:
    states = ", ".join(f"{kind} {count}" for kind, count in sorted(report.states.items()))
    return (
        f"{report.points} points, {report.seen} images mounted, {report.states.total()} distinct recovered ({states}), "
        f"{len(report.violations)} violations, {report.seconds:.1f} s"
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says."""

    scenarios: list[str]
    subsets: int
    every: int
    seed: int
    limit: int | None
    plant: str
    shutdown: bool
    how: int
    log: Path | None
    replay: Path | None


def _parse(arguments: Sequence[str]) -> Asked:
    parser = argparse.ArgumentParser(prog="python -m faults.block")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    parser.add_argument("--subsets", type=int, default=4, help="random subsets at each flush")
    parser.add_argument("--every", type=int, default=1, help="one flush, or one primitive, of so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=None, help="end a scenario after so many violations")
    parser.add_argument("--plant", choices=PLANTS, default="nothing", help="a bug that must be found")
    parser.add_argument("--shutdown", action="store_true", help="shut the filesystem down in mid-run instead")
    parser.add_argument("--how", type=int, default=NOLOGFLUSH, help="0 freezes, 1 writes the journal out, 2 does not")
    parser.add_argument("--log", type=Path, default=None, help="where to keep the log of a violation")
    parser.add_argument("--replay", type=Path, default=None, help="a kept log, to be judged again")
    return Asked(**vars(parser.parse_args(arguments)))


def _try_one(name: str, asked: Asked) -> Report:
    room = _MEMORY / "room"
    room.mkdir()
    stage = BlockStage(STORIES[name], room)
    try:
        if asked.shutdown:
            return stage.end_everywhere(asked.how, first=1 + asked.seed % asked.every, every=asked.every)
        log = room / "log"
        if asked.replay is None:
            stage.record(log, asked.plant)
        else:
            shutil.copyfile(asked.replay, log)
        report = stage.cut_everywhere(
            log,
            subsets=asked.subsets,
            seed=asked.seed,
            every=asked.every,
            limit=asked.limit,
            is_planted=asked.plant != "nothing",
        )
        if report.violations and asked.log is not None:
            shutil.copyfile(log, asked.log)
        return report
    finally:
        shutil.rmtree(room)


if __name__ == "__main__":
    tempfile.tempdir = str(_MEMORY)
    sys.exit(main(sys.argv[1:]))
