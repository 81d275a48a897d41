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
from curator.errors import CuratorError, InvalidRecordError, StorageError
from curator.model.heartbeat import WorkerBeat
from curator.model.ids import PROJECT_KEY_PATTERN, Day, JobId, ProjectKey
from curator.model.limits import DIRECTORY_NAMES_MAX, RUNTIMES_MAX, WORKER_BYTES_MAX
from curator.model.times import day_of, ms_of
from curator.workflow.inspect.books import Books, open_books
from curator.workflow.inspect.budget import Budget, budgets_of
from curator.workflow.inspect.jobs import JobLine, list_jobs
from curator.workflow.inspect.letters import Letter, read_letters
from curator.workflow.inspect.memory import Authority, open_store
from curator.workflow.inspect.steps import Step, step_of
from curator.workflow.settings_files import find_service, read_curator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
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
class ProjectLine:
    """A project that has jobs which are not over."""

    key: ProjectKey
    root: str | None
    jobs: tuple[JobLine, ...]

    def of(self, state: str) -> int:
        """Return how many of its jobs are in a state."""
        return sum(line.state == state for line in self.jobs)


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """A record that cannot be read, or a part that cannot be looked at."""

    fact: str
    remedy: str


@dataclasses.dataclass(frozen=True, slots=True)
class Status:
    """The whole look."""

    now: int
    looked_at: int
    """When it was read; `now` may be a little later."""
    service: ServiceSettings | None
    is_configured: bool
    """Whether a service.json stands, readable or not."""
    workers: tuple[Worker, ...]
    jobs: tuple[JobLine, ...]
    steps: Mapping[JobId, Step]
    """Of the jobs that run."""
    set_aside: tuple[Letter, ...]
    day: Day
    budgets: tuple[Budget, ...]
    is_there: bool
    """Whether there is an agent folder."""
    storage: Storage | None
    """None while there is none, or where it cannot be asked."""
    admitting: tuple[Admitting, ...]
    faults: tuple[Fault, ...]

    def of(self, *states: str) -> tuple[JobLine, ...]:
        """Return the jobs in these states."""
        return tuple(line for line in self.jobs if line.state in states)

    def projects(self) -> tuple[ProjectLine, ...]:
        """Return the projects that have jobs which are not over, in the order of these."""
        found: dict[ProjectKey, list[JobLine]] = {}
        for line in self.jobs:
            if line.state != "over" and line.project_key is not None:
                found.setdefault(line.project_key, []).append(line)
        return tuple(ProjectLine(key, lines[0].root, tuple(lines)) for key, lines in found.items())

    def seen_at(self, now: int) -> Status:
        """Return the same look a little later: nothing was read since, and every age has grown."""
        workers = (dataclasses.replace(each, age_ms=now - ms_of(each.beat.updated_at)) for each in self.workers)
        return dataclasses.replace(self, now=now, workers=tuple(workers))


def look(layout: Layout, now: int) -> Status:
    """Look at everything once. A part that cannot be looked at is a fault, and the rest is told."""
    return look_in(open_books(layout), now)


def look_in(books: Books, now: int, storage: Storage | None = None) -> Status:
    """Look at everything through books that may have been read before, and with what is known of the disk."""
    layout = books.layout
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
    jobs = part(lambda: list_jobs(books, now), _NO_JOBS)
    faults += part(lambda: _spool_faults(books), [])
    return Status(
        now=now,
        looked_at=now,
        service=service,
        is_configured=part(lambda: stamp_of(layout.service_json), None) is not None,
        workers=part(lambda: _workers(layout, now, faults), ()),
        jobs=jobs,
        steps=part(lambda: {each.job.id: step_of(books, each) for each in books.spool.running()}, {}),
        set_aside=part(lambda: read_letters(layout), ()),
        day=day,
        budgets=part(lambda: _budgets(books, day, service, faults), ()),
        is_there=layout.agent.is_dir(),
        storage=storage or part(lambda: _storage(layout), None),
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


def _spool_faults(books: Books) -> list[Fault]:
    remedy = "The next run sets it aside and keeps it; mend it there and run `curator jobs release NAME`"
    faults = (each.fault for each in books.spool.faults())
    return [Fault(fault.fact, remedy) for fault in faults if fault is not None]


def _budgets(books: Books, day: Day, service: ServiceSettings | None, faults: list[Fault]) -> tuple[Budget, ...]:
    faults += [Fault(fault.fact, fault.remedy) for fault in books.attempts.faults()]
    file = None
    try:
        file = books.accounting.look(day).file
    except InvalidRecordError as fault:
        faults.append(Fault(fault.fact, fault.remedy))
    return budgets_of(books.layout, books.attempts, day, service, file)


def _storage(layout: Layout) -> Storage | None:
    if not layout.agent.is_dir():
        return None
    try:
        ground = ground_of(layout.own, read_mounts())
    except OSError as error:
        # The folder went while it was looked at, or somebody may not look.
        raise StorageError(layout.own, error) from error
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
