"""Drain queued jobs of as many projects by the product's own pool, beside a bare loop that flushes as much.

The bare loop replays, verb for verb, what one job was seen to do to the disk: the same files of the same sizes, the same
links, renames and flushes, at the same concurrency, and nothing else. Half of it runs before and half after the product.
Flushes are counted by a volume; the tables say which folder is flushed, and who asked, how often a job.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Final

from bench.common.bare import Bare
from bench.common.disks import Disk, flush_figures, journaled, plain
from bench.common.figures import Figure, Report, options, shares
from bench.common.place import Place, Silence, hand_over
from bench.common.pool import Drained, drain
from bench.common.reviewer import Scripted
from bench.common.trace import trace_of_one_job
from bench.common.volumes import Counting, CountingUnflushed, Unflushed
from curator.app import App
from curator.durable.volume import Volume
from curator.model.ids import ProjectKey

CONCURRENCY: Final = 16
RATIO_MIN: Final = 0.75
FLUSHES_MAX: Final = 38.0
FLUSHES_AIM: Final = 34
_WATCHED: Final = 200


def main() -> int:
    """Measure each disk and print."""
    parser = options(__doc__)
    parser.add_argument("-n", "--jobs", type=int, default=None, help="queued jobs, one a project (default 1000)")
    parser.add_argument("--no-image", action="store_true", help="leave the journaled image out")
    asked = parser.parse_args()
    jobs = asked.jobs or (200 if asked.quick else 1_000)

    report = Report(f"drain: {jobs} jobs over {jobs} projects, {CONCURRENCY} at once, scripted reviewer")
    report.note(f"flushes a job: {FLUSHES_AIM} are aimed at")
    with plain(asked.on) as disk:
        _measure(disk, jobs, report, is_watched=True)
    if not asked.no_image:
        with journaled(asked.on) as image:
            if isinstance(image, str):
                report.note(image)
            else:
                _measure(image, jobs, report, is_watched=False)
    return report.show(as_json=asked.json)


def _measure(disk: Disk, jobs: int, report: Report, *, is_watched: bool) -> None:
    report.add(*flush_figures(disk))
    place = Place(disk.folder / "home")
    place.configure(concurrency=CONCURRENCY)
    shop = _open(place, Unflushed()).shop
    keys = place.projects(shop, jobs)

    first = CountingUnflushed(is_watching=True)
    _drain(place, keys, "first", first)
    second = CountingUnflushed(is_watching=True)
    watched = keys[:_WATCHED]
    _drain(place, watched, "second", second)
    if is_watched:
        report.add(Figure("flushes, first job of a project", first.flushes / jobs, "/job"))
        report.tables["flushes a job by folder (projects' folders exist)"] = shares(second.folders, len(watched))
        report.tables["flushes a job by who asked, nearest frame first"] = shares(second.sites, len(watched))
        report.tables["first job of a project, by folder"] = shares(first.folders, jobs)

    bare = Bare(trace_of_one_job(place, keys[0]), place.layout.agent, disk.folder / "bare")
    bare.prepare(range(2 * jobs))
    counted = Counting()
    for key in keys:
        hand_over(shop, key, "timed")
    os.sync()
    before = bare.run(range(jobs), CONCURRENCY)
    taken = _run(place, counted, jobs)
    after = bare.run(range(jobs, 2 * jobs), CONCURRENCY)
    report.add(*_figures(disk, jobs, bare, taken, (before, after), counted))


def _figures(
    disk: Disk, jobs: int, bare: Bare, taken: Drained, bare_s: tuple[float, float], counted: Counting
) -> Sequence[Figure]:
    rate, bare_rate = jobs / taken.wall_s, 2 * jobs / sum(bare_s)
    return (
        Figure(f"{disk.name}: jobs", rate, "/s"),
        Figure(f"{disk.name}: bare loop, before the product", jobs / bare_s[0], "/s"),
        Figure(f"{disk.name}: bare loop, after it", jobs / bare_s[1], "/s"),
        Figure(f"{disk.name}: flushes of the bare loop", bare.flushes, "/job"),
        Figure(f"{disk.name}: product / bare", rate / bare_rate, at_least=RATIO_MIN),
        Figure(f"{disk.name}: flushes", counted.flushes / jobs, "/job", at_most=FLUSHES_MAX),
        Figure(f"{disk.name}: CPU", taken.cpu_s / jobs * 1000, "ms/job"),
    )


def _drain(place: Place, keys: Sequence[ProjectKey], frontier: str, volume: Counting) -> None:
    shop = _open(place, Unflushed()).shop
    for key in keys:
        hand_over(shop, key, frontier)
    _run(place, volume, len(keys))


def _run(place: Place, volume: Counting, jobs: int) -> Drained:
    """Drain what is queued; the flushes of opening the folder are not those of a job."""
    heard = Silence()
    app = _open(place, volume, heard)
    app.recover()
    app.project()
    volume.reset()
    taken = drain(app)
    assert heard.told.get("Completed") == jobs, heard.told
    return taken


def _open(place: Place, volume: Volume, listener: Silence | None = None) -> App:
    return place.open(Scripted(), volume, listener)


if __name__ == "__main__":
    sys.exit(main())
