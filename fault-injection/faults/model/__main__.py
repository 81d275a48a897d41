"""The model by hand: explore it within bounds, or see one trace through it.

python -m faults.model explore JOBS WORKERS CRASHES WRITES SLEEPS FAILURES [reduced] [without GUARD]
python -m faults.model replay SCENARIO [life POINT | enospc N | MODEL POINT NUMBER]
"""

from __future__ import annotations

import shutil
import sys
import time

from faults.campaign import Stage
from faults.model.again import again
from faults.model.explore import explore
from faults.model.program import Bounds
from faults.scenarios import SCENARIOS
from faults.tree import scratch

_BOUNDS = 6


def main(words: list[str]) -> int:
    """Do what the words say; tell by the status whether all was allowed."""
    if words[:1] == ["explore"] and len(words) > _BOUNDS:
        return _explore(words[1:])
    if words[:1] == ["replay"] and len(words) > 1 and words[1] in SCENARIOS:
        return _replay(words[1], words[2:])
    print(__doc__)
    return 64


def _explore(words: list[str]) -> int:
    jobs, workers, crashes, writes, sleeps, failures = map(int, words[:_BOUNDS])
    rest = words[_BOUNDS:]
    bounds = Bounds(jobs, workers, crashes, writes, sleeps, failures, is_reduced="reduced" in rest)
    began = time.monotonic()
    explored = explore(bounds, frozenset(rest[rest.index("without") + 1 :] if "without" in rest else ()))
    print(f"{explored.line()}, {time.monotonic() - began:.1f} s")
    return int(explored.breach is not None)


def _replay(name: str, words: list[str]) -> int:
    folder = scratch()
    try:
        replayed = again(Stage(SCENARIOS[name], folder), words)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for event in replayed.events:
        print(event)
    print("the model allows it" if replayed.refusal is None else f"REFUSED at {replayed.refusal}")
    return int(replayed.refusal is not None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
