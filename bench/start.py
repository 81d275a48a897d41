"""Start the real service on a full agent folder, and take the time until it first asks.

Thousands wait in the queue, many running records have outlived their lease, and a long past is finished: none of it may
keep the first job waiting.
"""

from __future__ import annotations

import sys
import time
from typing import Final

from bench.common.disks import Disk, flush_figures, plain
from bench.common.figures import Figure, Report, options
from bench.common.past import add_closing_records
from bench.common.place import Place, make
from bench.common.reviewer import Scripted
from bench.common.server import Server, serving
from bench.common.service import start, stop
from bench.common.volumes import Unflushed
from curator.model.digest import compact
from curator.model.ids import LeaseToken, WorkerId
from curator.model.job import Queued, Running
from curator.model.times import iso

SECONDS_MAX: Final = 2.0
PROJECTS: Final = 100
_EXPIRED_MS: Final = 600_000
_PATIENCE_S: Final = 300.0


def main() -> int:
    """Measure and print."""
    asked = options(__doc__).parse_args()
    queued, expired, finished = (900, 100, 10_000) if asked.quick else (9_000, 1_000, 100_000)
    report = Report(f"start: {queued} queued, {expired} expired running, {finished} finished")
    with plain(asked.on) as disk, serving() as server:
        report.add(*flush_figures(disk))
        empty = _first_request(disk, "empty", server, (1, 0, 0))
        full = _first_request(disk, "full", server, (queued, expired, finished))
    report.add(
        Figure("first request, one job alone", empty, "s"),
        Figure("first request, full folder", full, "s", at_most=SECONDS_MAX),
    )
    return report.show(as_json=asked.json)


def _first_request(disk: Disk, name: str, server: Server, counts: tuple[int, int, int]) -> float:
    """Lay out a folder, start the service and return the seconds until its first request."""
    place = Place(disk.folder / name)
    place.configure("fake")
    place.know(server.url)
    _fill(place, *counts)
    before, started = len(server.arrivals), time.perf_counter()
    service = start(place)
    try:
        return server.wait_for(before + 1, _PATIENCE_S) - started
    finally:
        # What waits is not worth waiting for.
        service.kill()
        stop(service)


def _fill(place: Place, queued: int, expired: int, finished: int) -> None:
    disk = Unflushed()
    shop = place.open(Scripted(), disk).shop
    keys, now = place.projects(shop, min(PROJECTS, queued)), shop.clock.now()
    for number in range(queued + expired):
        job = make(shop, keys[number % len(keys)], f"entry-{number}")
        record: Queued | Running = Queued(job=job, next_attempt=1)
        folder = shop.layout.queued
        if number >= queued:
            folder = shop.layout.running
            record = Running(
                job=job,
                attempt=1,
                worker_id=WorkerId("curator:gone"),
                lease_token=LeaseToken(f"{number:032x}"),
                claimed_at=iso(now - 2 * _EXPIRED_MS),
                lease_until=iso(now - _EXPIRED_MS),
            )
        path = folder / f"{job.id}.json"
        disk.rename(disk.stage(path, compact(record.encode()).encode()), path)
    add_closing_records(place, finished)


if __name__ == "__main__":
    sys.exit(main())
