"""Let the real service live through a bad time, and look at what is left of it.

For the given minutes jobs come in, the provider fails in turn (429, 500, broken JSON, a stalled call), both
configurations are edited, sometimes into nonsense, and SIGHUP is sent; for the first half the service is killed and
started again, for the second half it lives, so that its memory can be compared. Then the provider is well, everything
ends, staged files of the killed are made old, and what stands is counted, examined and verified.
"""

from __future__ import annotations

import dataclasses
import json
import os
import random
import signal
import subprocess
import sys
import time
from typing import Final

from bench.common.disks import Disk, flush_figures, plain
from bench.common.figures import Figure, Report, median, options
from bench.common.place import MAIN, Place, make
from bench.common.reviewer import Scripted
from bench.common.server import Server, serving
from bench.common.service import command, is_up, resident_mb, start, stop, wait_until
from bench.common.volumes import Unflushed
from curator.errors import BusyError
from curator.model.attempt import AttemptState
from curator.model.feedback import Pending
from curator.model.ids import JobId, ProjectKey
from curator.model.job import Job
from curator.model.times import iso
from curator.workflow.shop import Shop

PROJECTS: Final = 12
CONCURRENCY: Final = 4
SETTLE_S: Final = 900.0
"""A lease of a killed process ends after five minutes, and retries wait longer each time."""
MEMORY_MAX: Final = 1.1
_OLD_S: Final = 7_200
_MODES: Final = ("ok", "noop", "noop", "http429", "noop", "ok", "http500", "noop", "badjson", "noop", "noop", "stall")
"""Most conversations hold nothing to keep; were there a fact in each, the memories would be full before the time is over."""


@dataclasses.dataclass(slots=True)
class Soak:
    """The bad time and what happened in it."""

    place: Place
    shop: Shop
    keys: list[ProjectKey]
    service: subprocess.Popen[bytes]
    dice: random.Random = dataclasses.field(default_factory=lambda: random.Random(3))
    jobs: list[JobId] = dataclasses.field(default_factory=list)
    kills: int = 0
    memory: list[float] = dataclasses.field(default_factory=list)
    """Resident megabytes of the process of the second half, sample by sample."""

    def live(self, seconds: float) -> None:
        """Let the time pass."""
        began = time.monotonic()
        while (share := (time.monotonic() - began) / seconds) < 1:
            self._enqueue()
            self.dice.choice((self._edit, self._spoil, self._hang_up, self._rest))()
            if share < 0.5 and self.dice.random() < 0.05:
                self._kill()
            elif share >= 0.5:
                self.memory.append(resident_mb(self.service.pid))
            time.sleep(self.dice.uniform(0.2, 0.8))

    def _enqueue(self) -> None:
        key = self.dice.choice(self.keys)
        job = make(self.shop, key, f"entry-{len(self.jobs)}")
        pending = Pending(job_id=job.id, job_digest=job.digest, branch_name=MAIN, queued_at=iso(self.shop.clock.now()))
        self.shop.mailbox(key).register(pending)
        # The lock of a killed owner is believed for half a minute: a producer keeps its job, and tries again.
        while not self._is_taken(job):
            time.sleep(0.5)
        self.jobs.append(job.id)

    def _is_taken(self, job: Job) -> bool:
        try:
            self.shop.stores.spool.enqueue(job)
        except BusyError:
            return False
        return True

    def _kill(self) -> None:
        self.service.kill()
        self.service.wait()
        self.kills += 1
        self.service = start(self.place)
        wait_until(lambda: is_up(self.place, self.service))

    def _edit(self) -> None:
        self.place.configure("fake", concurrency=self.dice.choice((2, 3, 4)))

    def _spoil(self) -> None:
        path = self.dice.choice((self.place.layout.service_json, self.place.layout.curator_toml))
        self.place.write_text(path, "{ nonsense")
        time.sleep(0.2)
        self._edit()

    def _hang_up(self) -> None:
        self.service.send_signal(signal.SIGHUP)

    def _rest(self) -> None:
        pass


def main() -> int:
    """Live through it, and print."""
    parser = options(__doc__)
    parser.add_argument("--minutes", type=float, default=None, help="how long (default 20; --quick 1)")
    asked = parser.parse_args()
    minutes = asked.minutes or (1 if asked.quick else 20)
    report = Report(f"soak: {minutes:g} minutes of jobs, failures, kills and edits")
    with plain(asked.on) as disk, serving(lambda number: _MODES[number % len(_MODES)]) as server:
        report.add(*flush_figures(disk))
        _soak(disk, server, minutes * 60, report)
    return report.show(as_json=asked.json)


def _soak(disk: Disk, server: Server, seconds: float, report: Report) -> None:
    place = Place(disk.folder / "home")
    place.configure("fake", concurrency=CONCURRENCY)
    place.know(server.url)
    shop = place.open(Scripted(), Unflushed()).shop
    soak = Soak(place, place.open(Scripted()).shop, place.projects(shop, PROJECTS), start(place))
    try:
        wait_until(lambda: is_up(place, soak.service))
        soak.live(seconds)
        server.mode = lambda _: "noop"
        began = time.monotonic()
        is_settled = wait_until(lambda: not _under_way(place), SETTLE_S)
        report.note(f"{soak.kills} kills; all ended: {is_settled}, {time.monotonic() - began:.0f} s after the bad time")
    finally:
        stop(soak.service)
    _sweep(place)
    report.add(
        Figure("jobs", len(soak.jobs)),
        *_memory(soak, report),
        *_files(place, soak),
        *_spending(shop, server, soak),
        *_examined(place, report),
    )


def _under_way(place: Place) -> int:
    layout = place.layout
    return sum(1 for folder in (layout.queued, layout.running) for _ in folder.glob("review_*.json"))


def _sweep(place: Place) -> None:
    """Make what the killed left two hours old, and let the product find it."""
    old = time.time() - _OLD_S
    for path in place.layout.agent.rglob("*.tmp"):
        os.utime(path, (old, old))
    command(place, "review", "--once")
    command(place, "doctor", "--fix")


def _memory(soak: Soak, report: Report) -> list[Figure]:
    third = len(soak.memory) // 3
    if not third:
        report.note("too short to compare memory")
        return []
    before, after = median(soak.memory[third : 2 * third]), median(soak.memory[2 * third :])
    return [
        Figure("resident, last third of the second half", after, "MB"),
        Figure("resident, last third / the third before", after / before, at_most=MEMORY_MAX),
    ]


def _files(place: Place, soak: Soak) -> list[Figure]:
    finished = place.layout.finished
    ended = sum((finished / job[7:9] / f"{job}.json").exists() for job in soak.jobs)
    left = len(list(place.layout.agent.rglob("*.tmp")))
    return [
        Figure("jobs without an end", len(soak.jobs) - ended, at_most=0),
        Figure("jobs that still stand in the queue", _under_way(place), at_most=0),
        Figure("staged files left over", left, at_most=0),
    ]


def _spending(shop: Shop, server: Server, soak: Soak) -> list[Figure]:
    store = shop.stores.attempts
    attempts = [seen for day in store.days() for seen in store.of_day(day)]
    idle = (AttemptState.RESERVED, AttemptState.CANCELLED)
    sent = sum(seen.state not in idle for seen in attempts)
    requests = len(server.arrivals)
    return [
        Figure("requests that the server got", requests),
        Figure("attempts dispatched", sent),
        Figure("requests without an attempt", max(0, requests - sent), at_most=0),
        # Killed between the journal and the wire: it counts as unknown, and never came.
        Figure("attempts without a request", max(0, sent - requests), at_most=soak.kills * CONCURRENCY),
        Figure("attempts still open", sum(seen.is_open for seen in attempts), at_most=0),
    ]


def _examined(place: Place, report: Report) -> list[Figure]:
    verified = command(place, "verify")
    if verified.returncode:
        report.tables["curator verify"] = (verified.stdout + verified.stderr).splitlines()[:20]
    examined = command(place, "doctor", "--json")
    findings = json.loads(examined.stdout)["findings"]
    told = [f"{each['level']}: {each.get('fact', '')}" for each in findings if each["level"] in ("error", "warning")]
    if told:
        report.tables["what curator doctor warns of"] = told
    errors = sum(line.startswith("error") for line in told)
    return [
        Figure("exit status of curator verify", verified.returncode, at_most=0),
        Figure("errors of curator doctor", errors, at_most=0),
    ]


if __name__ == "__main__":
    sys.exit(main())
