"""What a job costs beside a long past, over what it costs beside a short one.

Two agent folders at a time, drained in turn, a pair after the other; the ratio of a pair is what counts, and the median
of the pairs is held to the bar. Closing records are names for this purpose: they are hard links of one record.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable
from typing import Final

from bench.common.disks import Disk, flush_figures, plain
from bench.common.figures import Figure, Report, median, options
from bench.common.past import add_attempts, add_closing_names
from bench.common.place import Place, hand_over
from bench.common.pool import Drained, drain
from bench.common.reviewer import Scripted
from bench.common.volumes import Unflushed
from curator.app import App
from curator.model.ids import ProjectKey

RATIO_MAX: Final = 1.1
CONCURRENCY: Final = 4


@dataclasses.dataclass(frozen=True, slots=True)
class Size:
    """How large a run is."""

    finished: int
    attempts: int
    jobs: int
    pairs: int


@dataclasses.dataclass(frozen=True, slots=True)
class Side:
    """One agent folder, open, with projects that have had a job."""

    place: Place
    app: App
    keys: list[ProjectKey]

    def run(self, frontier: str) -> Drained:
        """Drain one job a project."""
        shop = self.place.open(Scripted(), Unflushed()).shop
        for key in self.keys:
            hand_over(shop, key, frontier)
        return drain(self.app)


def main() -> int:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("--finished", type=int, default=None, help="closing records (default 1000000)")
    parser.add_argument("--attempts", type=int, default=None, help="attempts in the day's journal (default 10000)")
    asked = parser.parse_args()
    size = Size(50_000, 2_000, 16, 5) if asked.quick else Size(1_000_000, 10_000, 32, 7)
    size = dataclasses.replace(size, finished=asked.finished or size.finished, attempts=asked.attempts or size.attempts)

    report = Report(f"flat: {size.pairs} interleaved pairs of {size.jobs} jobs, {CONCURRENCY} at once")
    with plain(asked.on) as disk:
        report.add(*flush_figures(disk))
        _compare(disk, size, report, f"{size.finished} finished / 100", (100, size.finished), add_closing_names)
        _compare(disk, size, report, f"{size.attempts} attempts in the day / 10", (10, size.attempts), add_attempts)
    return report.show(as_json=asked.json)


def _compare(
    disk: Disk, size: Size, report: Report, name: str, counts: tuple[int, int], add: Callable[[Place, int], None]
) -> None:
    few, many = (_side(disk, f"{add.__name__}-{count}", size.jobs, count, add) for count in counts)
    os.sync()
    pairs: list[tuple[Drained, Drained]] = []
    for number in range(size.pairs):
        # Whoever goes second finds the disk as the first left it; so they take turns.
        if number % 2:
            after = many.run(f"pair-{number}")
            pairs.append((few.run(f"pair-{number}"), after))
        else:
            before = few.run(f"pair-{number}")
            pairs.append((before, many.run(f"pair-{number}")))
    report.add(
        Figure(f"{name}: CPU", median([b.cpu_s / a.cpu_s for a, b in pairs]), at_most=RATIO_MAX),
        Figure(f"{name}: wall", median([b.wall_s / a.wall_s for a, b in pairs]), at_most=RATIO_MAX),
        *(
            Figure(f"  {side}, {what}", median([_ms(getattr(pair[index], field), size) for pair in pairs]), "ms/job")
            for what, field in (("CPU", "cpu_s"), ("wall", "wall_s"))
            for index, side in enumerate(("few", "many"))
        ),
    )


def _ms(seconds: float, size: Size) -> float:
    return seconds / size.jobs * 1000


def _side(disk: Disk, name: str, jobs: int, count: int, add: Callable[[Place, int], None]) -> Side:
    place = Place(disk.folder / name)
    place.configure(concurrency=CONCURRENCY)
    keys = place.projects(place.open(Scripted(), Unflushed()).shop, jobs)
    add(place, count)
    app = place.open(Scripted())
    app.recover()
    app.project()
    side = Side(place, app, keys)
    side.run("first")
    return side


if __name__ == "__main__":
    sys.exit(main())
