"""How curator stands, at one look: worker, queue, budget, storage, and what waits for somebody.

A record that cannot be read is one line of the answer, never the end of it.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Final, TypeVar

from curator.durable.lock import is_alive
from curator.durable.mounts import ground_of, read_mounts
from curator.durable.read import list_names, stamp_of
from curator.durable.records import read_record
from curator.durable.volume import Volume
from curator.errors import CuratorError, InvalidRecordError
from curator.model.budget import Exposure, Limits
from curator.model.heartbeat import WorkerBeat
from curator.model.ids import PROJECT_KEY_PATTERN, Day, JobId, ProjectKey
from curator.model.limits import DIRECTORY_NAMES_MAX, RUNTIMES_MAX, WORKER_BYTES_MAX
from curator.model.times import day_of, ms_of
from curator.store.attempts import AttemptStore
from curator.workflow.inspect.jobs import JobLine, list_jobs, open_spool
from curator.workflow.inspect.letters import Letter, read_letters
from curator.workflow.inspect.memory import Authority, open_store
from curator.workflow.settings_files import find_service, read_curator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.model.settings import ServiceSettings

T = TypeVar("T")
_NO_JOBS: Final[tuple[JobLine, ...]] = ()
_BEAT: Final = re.compile(r"[0-9a-f]{24}\.json")


@dataclasses.dataclass(frozen=True, slots=True)
class Worker:
    """A worker by its last sign of life."""

    beat: WorkerBeat
    age_ms: int
    is_fresh: bool
    is_alive: bool
    """Whether its process lives on this host."""

    @property
    def is_here(self) -> bool:
        """Whether it works, or should: it has not said that it stopped, and was heard or seen just now."""
        return self.beat.state != "stopped" and (self.is_fresh or self.is_alive)


@dataclasses.dataclass(frozen=True, slots=True)
class Budget:
    """One provider's day."""

    provider: str
    exposure: Exposure
    limits: Limits | None
    """Of the provider that reviews now."""


@dataclasses.dataclass(frozen=True, slots=True)
class Admitting:
    """Changes of a project's memory that have begun and are not over. Pi stays off there meanwhile."""

    key: ProjectKey
    root: str
    authority: Authority
    jobs: tuple[JobId, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Storage:
    """What the disk under the agent folder promises, asked without changing it."""

    kind: str
    point: Path
    is_power_safe: bool
    is_network: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """A record that cannot be read, or a part that cannot be looked at."""

    fact: str
    remedy: str


@dataclasses.dataclass(frozen=True, slots=True)
class Status:
    """The whole look."""

    now: int
    service: ServiceSettings | None
    is_configured: bool
    """Whether a service.json stands, readable or not."""
    workers: tuple[Worker, ...]
    jobs: tuple[JobLine, ...]
    set_aside: tuple[Letter, ...]
    day: Day
    budgets: tuple[Budget, ...]
    storage: Storage | None
    """None while there is no agent folder."""
    admitting: tuple[Admitting, ...]
    faults: tuple[Fault, ...]

    def of(self, *states: str) -> tuple[JobLine, ...]:
        """Return the jobs in these states."""
        return tuple(line for line in self.jobs if line.state in states)


def look(layout: Layout, now: int) -> Status:
    """Look at everything once. A part that cannot be looked at is a fault, and the rest is told."""
    faults: list[Fault] = []

    def part(read: Callable[[], T], default: T) -> T:
        try:
            return read()
        except CuratorError as error:
            faults.append(Fault(error.fact, error.remedy))
            return default

    service = part(lambda: find_service(layout), None)
    part(lambda: read_curator(layout), None)
    day = Day(day_of(now))
    jobs = part(lambda: list_jobs(layout, now), _NO_JOBS)
    faults += part(lambda: _spool_faults(layout), [])
    return Status(
        now=now,
        service=service,
        is_configured=part(lambda: stamp_of(layout.service_json), None) is not None,
        workers=part(lambda: _workers(layout, now, faults), ()),
        jobs=jobs,
        set_aside=part(lambda: read_letters(layout), ()),
        day=day,
        budgets=part(lambda: _budgets(layout, day, service, faults), ()),
        storage=_storage(layout),
        admitting=part(lambda: tuple(_admitting(layout, faults)), ()),
        faults=tuple(dict.fromkeys(faults)),
    )


def _workers(layout: Layout, now: int, faults: list[Fault]) -> tuple[Worker, ...]:
    """Return the workers whose beats can be read, the last first; one long dead or stopped is no news."""
    found: list[Worker] = []
    for name in list_names(layout.workers, DIRECTORY_NAMES_MAX)[:RUNTIMES_MAX]:
        if not _BEAT.fullmatch(name):
            continue
        try:
            beat = read_record(layout.workers / name, WorkerBeat, WORKER_BYTES_MAX)
        except InvalidRecordError as error:
            faults.append(Fault(error.fact, error.remedy))
            continue
        if beat is not None:
            at = ms_of(beat.updated_at)
            found.append(Worker(beat, now - at, beat.is_fresh(now), is_alive(beat.pid, ms_of(beat.started_at))))
    return tuple(sorted(found, key=lambda worker: worker.age_ms))


def _spool_faults(layout: Layout) -> list[Fault]:
    remedy = "The next run sets it aside and keeps it; mend it there and run `curator jobs release NAME`"
    faults = (each.fault for each in open_spool(layout).faults())
    return [Fault(fault.fact, remedy) for fault in faults if fault is not None]


def _budgets(layout: Layout, day: Day, service: ServiceSettings | None, faults: list[Fault]) -> tuple[Budget, ...]:
    attempts = AttemptStore(Volume(), layout)
    reviewer = None if service is None else service.reviewer
    providers = dict.fromkeys(attempts.providers(day))
    if reviewer is not None:
        providers = {reviewer.provider: None} | providers
    faults += [Fault(fault.fact, fault.remedy) for fault in attempts.faults()]
    return tuple(
        Budget(
            provider=provider,
            exposure=attempts.exposure(provider, day),
            limits=reviewer.limits if reviewer is not None and reviewer.provider == provider else None,
        )
        for provider in providers
    )


def _storage(layout: Layout) -> Storage | None:
    if not layout.agent.is_dir():
        return None
    ground = ground_of(layout.own, read_mounts())
    is_power_safe = Volume().can_sync_directory(ground.path) and not ground.mount.is_memory
    return Storage(ground.mount.kind, ground.mount.point, is_power_safe, ground.mount.is_network)


def _admitting(layout: Layout, faults: list[Fault]) -> Iterator[Admitting]:
    places: tuple[tuple[Path, Authority], ...] = ((layout.root, "external"), (layout.shadow, "shadow"))
    for folder, authority in places:
        for name in list_names(folder, DIRECTORY_NAMES_MAX):
            if not PROJECT_KEY_PATTERN.fullmatch(name):
                continue
            store = open_store(layout, ProjectKey(name), authority)
            try:
                jobs, project = store.pending(), store.project()
            except CuratorError as error:
                faults.append(Fault(error.fact, error.remedy))
                continue
            if jobs:
                yield Admitting(ProjectKey(name), "" if project is None else project.root, authority, jobs)
