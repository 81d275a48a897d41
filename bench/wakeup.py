"""Publish jobs by the protocol to an idle service, and take the time from the file's appearance to the dispatch.

Dispatched is what the journal calls so: the checkpoint is durable from which on bytes may leave, and the service says in its
log that it asks. What the vendor's client then takes until the request arrives is shown beside it.

The producer stages and flushes the job, links it under the spool's lock, flushes the folder and holds the lock for a
moment longer, as Pi does. Beside it, one after the other in the same run, a bare loop replays what the product does to
the disk before it dispatches: the same flushes. `enqueue` is the product's own producer, in this process.
"""

from __future__ import annotations

import sys
import time
from typing import Final

from bench.common.bare import Bare
from bench.common.disks import Disk, durable_file, flush_figures, plain
from bench.common.figures import Figure, Report, options, percentile
from bench.common.place import Place, make
from bench.common.reviewer import Scripted
from bench.common.server import Server, serving
from bench.common.service import Told, running, wait_until
from bench.common.trace import trace_of_one_job
from bench.common.volumes import Unflushed
from curator.durable.lock import protocol_domain
from curator.durable.volume import Volume
from curator.model.digest import compact
from curator.model.ids import ProjectKey
from curator.model.job import Job, Queued
from curator.workflow.shop import Shop

PROJECTS: Final = 4
HOLD_S: Final = 0.001
RATIO_MAX: Final = 1.5
SLACK_MS: Final = 5.0
P99_MS_MAX: Final = 100.0
_WARM: Final = 5


def main() -> int:
    """Measure and print."""
    asked = options(__doc__).parse_args()
    rounds = 20 if asked.quick else 200
    report = Report(f"wakeup: {rounds} jobs, one at a time, to an idle service")
    with plain(asked.on) as disk, serving() as server:
        report.add(*flush_figures(disk))
        _wake(disk, server, rounds, report)
        _enqueue(disk, rounds, report)
    return report.show(as_json=asked.json)


def _wake(disk: Disk, server: Server, rounds: int, report: Report) -> None:
    model = Place(disk.folder / "model")
    model.configure()
    key = model.projects(model.open(Scripted(), Unflushed()).shop, 1)[0]
    verbs = trace_of_one_job(model, key, is_until_asked=True)
    bare = Bare(verbs, model.layout.agent, disk.folder / "bare")
    bare.prepare(range(rounds))

    place = Place(disk.folder / "home")
    place.configure("fake")
    place.know(server.url)
    shop = place.open(Scripted(), Unflushed()).shop
    keys = place.projects(shop, PROJECTS)
    waits, arrivals, bares = [], [], []
    told = Told("asking")
    with running(place, told):
        for number in range(-_WARM, rounds):
            dispatched, arrived = _round(shop, server, told, keys[number % PROJECTS], f"entry-{number + _WARM}")
            if number >= 0:
                waits.append(dispatched * 1000)
                arrivals.append(arrived * 1000)
                bares.append(bare.run([number], 1) * 1000)
    p50, bare50 = percentile(waits, 0.5), percentile(bares, 0.5)
    report.add(
        Figure("flushes before the request", bare.flushes),
        Figure("the same flushes, bare, p50", bare50, "ms"),
        Figure("the same flushes, bare, p99", percentile(bares, 0.99), "ms"),
        Figure("from appearance to dispatch, p50", p50, "ms", at_most=round(RATIO_MAX * bare50 + SLACK_MS, 1)),
        Figure("from appearance to dispatch, p99", percentile(waits, 0.99), "ms", at_most=P99_MS_MAX),
        Figure("from appearance to the request's arrival, p50", percentile(arrivals, 0.5), "ms"),
        Figure("from appearance to the request's arrival, p99", percentile(arrivals, 0.99), "ms"),
    )


def _round(shop: Shop, server: Server, told: Told, key: ProjectKey, frontier: str) -> tuple[float, float]:
    """Publish one job, and return the seconds to its dispatch and to its request; wait until the service is idle again."""
    job, asked_before = make(shop, key, frontier), len(server.arrivals)
    appeared = _publish(shop, job)
    arrived = server.wait_for(asked_before + 1, 60)
    dispatched = told.wait_for(job.id, 60)
    wait_until(lambda: shop.stores.finished.find(job.id) is not None and not any(shop.layout.running.glob("*.json")))
    time.sleep(0.1)
    return dispatched - appeared, arrived - appeared


def _enqueue(disk: Disk, rounds: int, report: Report) -> None:
    place = Place(disk.folder / "producer")
    place.configure()
    keys = place.projects(place.open(Scripted(), Unflushed()).shop, 1)
    shop = place.open(Scripted()).shop
    bare = disk.folder / "files"
    bare.mkdir()
    took, files = [], []
    for number in range(rounds):
        job = make(shop, keys[0], f"entry-{number}")
        data = compact(Queued(job=job, next_attempt=1).encode()).encode()
        started = time.perf_counter()
        shop.stores.spool.enqueue(job)
        took.append((time.perf_counter() - started) * 1000)
        started = time.perf_counter()
        durable_file(bare / str(number), data)
        files.append((time.perf_counter() - started) * 1000)
    report.add(
        Figure("enqueue, p50", percentile(took, 0.5), "ms"),
        Figure("enqueue, p99", percentile(took, 0.99), "ms"),
        Figure("one durable file of that size, bare, p50", percentile(files, 0.5), "ms"),
        Figure("one durable file of that size, bare, p99", percentile(files, 0.99), "ms"),
    )


def _publish(shop: Shop, job: Job) -> float:
    """Hand a job over as Pi does, and return when its file appeared."""
    disk, path = Volume(), shop.layout.queued / f"{job.id}.json"
    staged = disk.stage(path, compact(Queued(job=job, next_attempt=1).encode()).encode())
    with protocol_domain("spool", shop.layout.spool_lock).hold():
        disk.link(staged, path)
        appeared = time.perf_counter()
        disk.sync_directory(path.parent)
        disk.unlink(staged)
        time.sleep(HOLD_S)
    return appeared


if __name__ == "__main__":
    sys.exit(main())
