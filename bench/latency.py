"""Review jobs with a slow model at several at once: the time of the calls is all that is waited for.

32 jobs over 32 projects, 8 at once, half a second a call: four rounds, two seconds, and the rest is ours. Beside it, in
the same run, a bare loop replays what those jobs do to the disk at the same concurrency.
"""

from __future__ import annotations

import os
import sys
from typing import Final

from bench.common.bare import Bare
from bench.common.disks import Disk, flush_figures, plain
from bench.common.figures import Figure, Report, median, options
from bench.common.place import Place, hand_over
from bench.common.pool import drain
from bench.common.reviewer import Scripted
from bench.common.trace import trace_of_one_job
from bench.common.volumes import Unflushed

JOBS: Final = 32
CONCURRENCY: Final = 8
CALL_S: Final = 0.5
IDEAL_S: Final = JOBS / CONCURRENCY * CALL_S
RATIO_MAX: Final = 1.15


def main() -> int:
    """Measure and print."""
    asked = options(__doc__).parse_args()
    report = Report(f"latency: {JOBS} jobs, {CONCURRENCY} at once, {CALL_S} s a call")
    with plain(asked.on) as disk:
        report.add(*flush_figures(disk))
        _measure(disk, 1 if asked.quick else 5, report)
    return report.show(as_json=asked.json)


def _measure(disk: Disk, rounds: int, report: Report) -> None:
    place = Place(disk.folder / "home")
    place.configure(concurrency=CONCURRENCY)
    shop = place.open(Scripted(), Unflushed()).shop
    keys = place.projects(shop, JOBS)
    bare = Bare(trace_of_one_job(place, keys[0]), place.layout.agent, disk.folder / "bare")
    bare.prepare(range(JOBS * rounds))
    app = place.open(Scripted(CALL_S))
    app.recover()
    walls, cpus, bares = [], [], []
    for number in range(rounds):
        for key in keys:
            hand_over(shop, key, f"round-{number}")
        os.sync()
        taken = drain(app)
        walls.append(taken.wall_s)
        cpus.append(taken.cpu_s / JOBS * 1000)
        bares.append(bare.run(range(number * JOBS, (number + 1) * JOBS), CONCURRENCY))
    report.add(
        Figure("wall, median", median(walls), "s"),
        Figure("of which the calls", IDEAL_S, "s"),
        Figure("the same flushes, bare", median(bares), "s"),
        Figure("wall / ideal", median(walls) / IDEAL_S, at_most=RATIO_MAX),
        Figure("CPU", median(cpus), "ms/job"),
    )


if __name__ == "__main__":
    sys.exit(main())
