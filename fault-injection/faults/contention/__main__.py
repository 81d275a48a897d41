"""`python -m faults.contention --seed N`: one run of the crowd, its figures, and every breach; what it left can be kept."""

from __future__ import annotations

import argparse
import dataclasses
import shutil
import sys
import time
from pathlib import Path

from faults.contention.oracles import figures, judge, sometimes
from faults.contention.run import LONG, SHORT, lived_through
from faults.tree import scratch


def main() -> int:
    """Live through it, judge it, print."""
    parser = argparse.ArgumentParser(prog="faults.contention", description=__doc__)
    for name in ("seed", "jobs", "projects", "kills"):
        parser.add_argument(f"--{name}", type=int, default=getattr(SHORT, name))
    parser.add_argument("--source", type=Path, help="a folder with another copy of curator to try")
    parser.add_argument("--keep", type=Path, help="where what is left is to lie")
    asked = parser.parse_args()
    kind = SHORT if asked.jobs <= SHORT.jobs else LONG
    numbers = {"seed": asked.seed, "jobs": asked.jobs, "projects": asked.projects, "kills": asked.kills}
    plan = dataclasses.replace(kind, **numbers)
    folder, began = asked.keep or scratch(), time.monotonic()
    try:
        with lived_through(plan, folder, asked.source) as run:
            breaches = judge(run)
            for name, count in {**figures(run), **sometimes(run)}.items():
                print(f"{name}: {count}")
    finally:
        if asked.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    print(*breaches, f"{len(breaches)} breaches in {time.monotonic() - began:.0f} s", sep="\n")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
