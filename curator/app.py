"""The composition root: settings in, an `App` out. Nothing else builds stores, reads the environment or picks a reviewer."""

from __future__ import annotations

import dataclasses
import importlib
import os
import pkgutil
import re
import socket
import stat
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from curator.audit.child import FoldingChild
from curator.durable.clock import SystemChance, SystemClock
from curator.durable.layout import Layout
from curator.durable.probe import probe
from curator.durable.publish import ensure_directory
from curator.durable.read import mode_of, stamp_of
from curator.durable.volume import FOLDER_MODE, Volume
from curator.errors import BusyError, ConfigError, ReviewerSetupError, UsageError
from curator.model import event
from curator.model.ids import WORKER_ID_PATTERN, ProjectKey, WorkerId
from curator.pi.project import find_agent_dir
from curator.store.accounting import AccountingStore
from curator.store.attempts import AttemptStore
from curator.store.bases import BaseStore
from curator.store.decisions import DecisionStore
from curator.store.finished import FinishedStore
from curator.store.jobs import JobStore
from curator.store.spool import Spool
from curator.store.standings import StandingStore
from curator.workflow.authority import MEANING
from curator.workflow.beats import Beating, foreign_live_worker
from curator.workflow.drain import drain
from curator.workflow.headroom import let_go_on
from curator.workflow.instance import sole_service
from curator.workflow.maintenance import maintain
from curator.workflow.pool import Pool
from curator.workflow.projection import project
from curator.workflow.recovery import project_keys, recover
from curator.workflow.settings_files import LET_REVIEW, profile_of, read_curator, read_service
from curator.workflow.shop import Shop, Stores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from curator.durable.probe import Probe
    from curator.model.ports import Answer, Brief, CallFailure, Chance, Clock, Listener, Prepared, Reviewer, Stop
    from curator.model.settings import CuratorSettings, ReviewerProfile, ServiceSettings

__all__ = ["App", "Beating", "Pool", "new_clock", "open_app", "worker_id_of"]

PREFIX: Final = "curator:"
"""Every worker id of ours begins so: it tells us apart from another worker of the protocol."""
LATE: Final = frozenset(f"curator.reviewer.providers.{name}" for name in ("anthropic", "openai", "wire"))
"""These import what is heavy, so they are loaded at the first dispatch, also by the service."""
_ROOMS: Final = tuple(
    f"curator.{room}"
    for room in ("admission", "durable", "machine", "model", "pi", "reviewer", "store", "tracks.trajectory", "workflow")
)
_NOT_WORKER: Final = re.compile(r"[^A-Za-z0-9._:-]")
_HOST_CHARS_MAX: Final = 80
_HOUR_MS: Final = 3_600_000


@dataclasses.dataclass(frozen=True, slots=True)
class App:
    """One agent folder, opened: what commands and the service work with."""

    shop: Shop
    probe: Probe | None
    """What the storage promises; None while nothing was written yet."""
    folding: FoldingChild = dataclasses.field(default_factory=lambda: FoldingChild({}))
    """Who keeps the audit's database near the files, for the service."""

    @property
    def layout(self) -> Layout:
        """Where everything stands."""
        return self.shop.layout

    @property
    def service(self) -> ServiceSettings:
        """The shared configuration in force."""
        return self.shop.service

    @property
    def settings(self) -> CuratorSettings:
        """Our own configuration in force."""
        return self.shop.settings

    def review_once(self, *, limit: int | None = None, wait: bool = False) -> event.Drained:
        """Recover, then review what is runnable. Raises `BusyError` while another worker lives.

        In embedded mode nothing is claimed, and an event says so.
        """
        shop = self.shop
        if not self.claims_jobs:
            self.tell_embedded()
            return event.Drained(0, 0, 0, 0, 0, 0)
        self.refuse_foreign_worker()
        self.tell_promise()
        with Beating(shop) as beating:
            recover(shop, leave_expired=True)
            let_go_on(shop)
            sleeper = _Sleeper(shop.stop) if wait else None
            drained = drain(shop, limit=limit, sleeper=sleeper, pulse=beating)
            project(shop, force=True)
        return drained

    # What the long-lived service is made of.

    @property
    def claims_jobs(self) -> bool:
        """Whether the mode in force lets curator claim jobs."""
        return self.shop.service.mode != "embedded"

    def tell_embedded(self) -> None:
        """Say why nothing is claimed."""
        fact = f"the mode is embedded: {MEANING['embedded']}"
        remedy = f"{LET_REVIEW} to let curator review"
        self.shop.listener.tell(event.Stopped("authority", "embedded", fact, remedy))

    def tell_promise(self) -> None:
        """Say where the storage promises less than elsewhere."""
        for degraded in () if self.probe is None else self.probe.warnings:
            self.shop.listener.tell(degraded)

    def refuse_foreign_worker(self) -> None:
        """Raise `BusyError` while a worker of another kind lives."""
        _refuse_foreign_worker(self.shop)

    def sole_service(self) -> AbstractContextManager[None]:
        """Be the one service of this agent folder. Raises `BusyError` naming the other's process."""
        return sole_service(self.shop)

    def load(self) -> None:
        """Import all of ours that a review may need, but what loads a vendor's client.

        What is loaded later would come from whatever package stands there then: an upgrade under a running service would mix
        two releases in one process.
        """
        for room in _ROOMS:
            package = importlib.import_module(room)
            for found in pkgutil.walk_packages(package.__path__, f"{room}."):
                if found.name not in LATE and not found.name.endswith("__main__"):
                    importlib.import_module(found.name)
        importlib.import_module("curator.tracks.backfill.expiry")

    def prepare(self) -> None:
        """Create the folders that are watched and locked."""
        self.shop.stores.spool.prepare()

    def asking(self, reviewer: str) -> App:
        """Return this app with another reviewer, by `offline` or PROVIDER/MODEL, within the same limits; nothing is written.

        Raises `ConfigError` for a name that is none.
        """
        shop, named = self.shop, profile_of(reviewer)
        standing = shop.service.reviewer or named
        profile = dataclasses.replace(standing, provider=named.provider, model=named.model)
        service = dataclasses.replace(shop.service, reviewer=profile)
        asked = shop.reviewer
        if isinstance(asked, _NamedReviewer):
            asked = asked.renamed(profile, shop.settings)
        return dataclasses.replace(self, shop=dataclasses.replace(shop, service=service, reviewer=asked))

    def beating(self) -> Beating:
        """Return this worker's heart."""
        return Beating(self.shop)

    def pool(self, pulse: Beating, wake: Callable[[], None]) -> Pool:
        """Return slots for as many jobs at once as the settings say."""
        return Pool(self.shop, self.settings.concurrency, pulse, wake)

    def recover(self) -> None:
        """Put right what a crash left."""
        recover(self.shop, leave_expired=True)

    def let_go_on(self) -> None:
        """Let the jobs that wait for the budget go on, where limits that were raised have made room."""
        let_go_on(self.shop)

    def maintain(self) -> None:
        """Do what keeps an agent folder small and right; one bad entry never stops the rest."""
        # Most runs of a command maintain nothing, and the tracks take their time to load.
        from curator.tracks.backfill.expiry import let_expired_go  # noqa: PLC0415 - see above
        from curator.tracks.trajectory.upkeep import tend  # noqa: PLC0415 - see above

        shop = self.shop
        maintain(shop)
        let_expired_go(shop)
        tend(self.layout, shop.volume, shop.clock, shop.listener, int(shop.service.evidence_ttl_hours * _HOUR_MS))

    def take_in(self) -> None:
        """Take in what Pi handed over of what was just said; one bad file never stops the rest."""
        if self.layout.trajectory_inbox.root.is_dir():
            from curator.tracks.trajectory.upkeep import take_in  # noqa: PLC0415 - most folders have no inbox

            shop = self.shop
            take_in(self.layout, shop.volume, shop.clock, shop.listener)

    def fold_audit(self) -> None:
        """Begin to fold what is new into the audit's database, beside the work; what goes wrong is told and costs nothing."""
        self.folding.start(self.layout, self.shop.listener)

    def end_fold(self, *, at_once: bool = False) -> None:
        """Tell what a fold that is over complained of; `at_once` ends one that is under way, and the next question folds."""
        self.folding.collect(self.shop.listener)
        if at_once:
            self.folding.stop()

    def project(self) -> None:
        """Bring the protocol's accounting up to date with our journal."""
        project(self.shop, force=True)

    def watched_folders(self) -> tuple[Path, ...]:
        """Return the folders in which new work, or a new configuration, shows."""
        return (self.layout.queued, self.layout.root, self.layout.own)

    def settings_stamp(self) -> tuple[object, object]:
        """Return what changes when a configuration file does."""
        return stamp_of(self.layout.service_json), stamp_of(self.layout.curator_toml)

    def reloaded(self) -> App:
        """Return this app with the configuration as it stands now. Raises `ConfigError`; then the old one holds."""
        service, settings = read_service(self.layout), read_curator(self.layout)
        if settings.require_power_safe and self.probe is not None and not self.probe.is_power_safe:
            fact = (
                f"{self.layout.curator_toml}: require_power_safe is set, and this disk does not keep what was flushed"
            )
            raise ConfigError(fact, remedy="Take it back, or move the agent folder to another disk")
        shop = self.shop
        is_other = (service.reviewer, settings) != (shop.service.reviewer, shop.settings)
        if is_other and isinstance(shop.reviewer, _NamedReviewer):
            shop = dataclasses.replace(shop, reviewer=shop.reviewer.renamed(service.reviewer, settings))
        return dataclasses.replace(self, shop=dataclasses.replace(shop, service=service, settings=settings))


def open_app(  # noqa: PLR0913 - the ports to the world outside, each with its default
    agent_dir: Path | None = None,
    *,
    environ: Mapping[str, str],
    listener: Listener,
    worker_id: str | None = None,
    stop: Stop | None = None,
    clock: Clock | None = None,
    chance: Chance | None = None,
    volume: Volume | None = None,
    reviewer: Reviewer | None = None,
) -> App:
    """Open an agent folder for work.

    Raises `ConfigError` where the configuration is missing or wrong, `UnsupportedStorageError` where the storage lacks
    what correctness needs, `UsageError` for a worker id that the protocol does not allow.
    """
    layout = Layout(find_agent_dir(environ, None if agent_dir is None else str(agent_dir)))
    disk, time, dice = volume or Volume(), clock or SystemClock(), chance or SystemChance()
    service, settings = read_service(layout), read_curator(layout)
    ensure_directory(disk, layout.own)
    _close_to_others(layout, disk, listener)
    shop = Shop(
        layout=layout,
        volume=disk,
        clock=time,
        chance=dice,
        listener=listener,
        stop=stop or threading.Event(),
        stores=Stores(
            spool=Spool(disk, layout, time, dice),
            jobs=JobStore(disk, layout),
            attempts=AttemptStore(disk, layout),
            bases=BaseStore(disk, layout),
            decisions=DecisionStore(disk, layout),
            finished=FinishedStore(disk, layout),
            accounting=AccountingStore(disk, layout),
            standings=StandingStore(disk, layout),
        ),
        service=service,
        settings=settings,
        reviewer=reviewer or _NamedReviewer(service.reviewer, settings, layout.agent, time, environ),
        worker_id=worker_id_of(worker_id),
    )
    projects = [layout.project(ProjectKey(key)).root for key in project_keys(shop)]
    found = probe(disk, layout, projects=projects, require_power_safe=settings.require_power_safe)
    return App(shop, found, FoldingChild(environ))


def _close_to_others(layout: Layout, volume: Volume, listener: Listener) -> None:
    """Take from others what they could change of the state: whoever may write there may put another queue in its place."""
    mode = mode_of(layout.root)
    if mode is not None and stat.S_ISDIR(mode) and mode & (stat.S_IWGRP | stat.S_IWOTH):
        volume.restrict(layout.root, FOLDER_MODE)
        fact = f"{layout.root}: others could change what stands there, by mode {stat.S_IMODE(mode):04o}; it is 0700 now"
        listener.tell(event.Degraded(fact, "See `curator doctor` for what else is open"))


def new_clock() -> Clock:
    """Return the machine's clock, for whoever may not ask it directly."""
    return SystemClock()


def worker_id_of(given: str | None) -> WorkerId:
    """Return our worker id: `curator:` and what was given, else the host's name and the process id."""
    host = _NOT_WORKER.sub("_", socket.gethostname())[:_HOST_CHARS_MAX]
    name = PREFIX + (given or f"{host}:{os.getpid()}")
    if not WORKER_ID_PATTERN.fullmatch(name):
        raise UsageError("the worker id may hold letters, digits, dots, underscores, colons and hyphens, 120 at most")
    return WorkerId(name)


class _NamedReviewer:
    """The reviewer of service.json, loaded at the first job: an empty queue needs none, and loading takes its time."""

    def __init__(
        self,
        profile: ReviewerProfile | None,
        settings: CuratorSettings,
        agent: Path,
        clock: Clock,
        environ: Mapping[str, str],
    ) -> None:
        self._profile = profile
        self._settings = settings
        self._agent = agent
        self._clock = clock
        self._environ = environ
        self._loaded: Reviewer | None = None

    def renamed(self, profile: ReviewerProfile | None, settings: CuratorSettings) -> _NamedReviewer:
        return _NamedReviewer(profile, settings, self._agent, self._clock, self._environ)

    def prepare(self, brief: Brief) -> Prepared:
        return self._reviewer().prepare(brief)

    def ask(self, prepared: Prepared, stop: Stop) -> Answer | CallFailure:
        return self._reviewer().ask(prepared, stop)

    def _reviewer(self) -> Reviewer:
        if self._profile is None:
            remedy = "Run `curator config init --force`"
            raise ReviewerSetupError("model_not_found", "service.json names no reviewer", remedy=remedy)
        if self._loaded is None:
            from curator.workflow.reviewers import reviewer_for  # noqa: PLC0415 - see the class

            self._loaded = reviewer_for(self._profile, self._settings, self._agent, self._clock, self._environ)
        return self._loaded


class _Sleeper:
    """Waits for a back-off, and ends the wait when a stop is wished for."""

    def __init__(self, stop: Stop) -> None:
        self._stop = stop

    def sleep(self, ms: int) -> None:
        step, left = 200, ms
        pause = threading.Event()
        while left > 0 and not self._stop.is_set():
            pause.wait(min(step, left) / 1000)
            left -= step


def _refuse_foreign_worker(shop: Shop) -> None:
    foreign = foreign_live_worker(shop)
    if foreign is not None:
        worker_id, pid = foreign
        fact = f"another review worker is running: {worker_id}, process {pid}"
        raise BusyError(fact, remedy=f"Stop it first (its service unit, or: kill {pid}), then run again")
