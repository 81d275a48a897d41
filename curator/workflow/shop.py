"""Everything that the path of a job needs, in one frozen place; `curator.app` makes it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal

from curator.store.mailbox import Mailbox
from curator.store.memory import ProjectStore
from curator.workflow.calls import Calls, Place

if TYPE_CHECKING:
    from curator.durable.layout import Layout
    from curator.durable.volume import Volume
    from curator.model.ids import ProjectKey, WorkerId
    from curator.model.ports import Chance, Clock, Listener, Reviewer, Stop
    from curator.model.settings import CuratorSettings, ServiceSettings
    from curator.store.accounting import AccountingStore
    from curator.store.attempts import AttemptStore
    from curator.store.bases import BaseStore
    from curator.store.decisions import DecisionStore
    from curator.store.finished import FinishedStore
    from curator.store.jobs import JobStore
    from curator.store.spool import Spool
    from curator.store.standings import StandingStore


@dataclasses.dataclass(frozen=True, slots=True)
class Stores:
    """One store a lock domain."""

    spool: Spool
    jobs: JobStore
    attempts: AttemptStore
    bases: BaseStore
    decisions: DecisionStore
    finished: FinishedStore
    accounting: AccountingStore
    standings: StandingStore


@dataclasses.dataclass(frozen=True, slots=True)
class Shop:
    """The stores, the settings in force, and the ports to the world outside."""

    layout: Layout
    volume: Volume
    clock: Clock
    chance: Chance
    listener: Listener
    stop: Stop
    """Begin no call any more."""
    stores: Stores
    service: ServiceSettings
    settings: CuratorSettings
    reviewer: Reviewer
    worker_id: WorkerId
    abort: Stop | None = None
    """Cut the calls that are under way; None where the wish to stop does so at once."""
    place: Place = dataclasses.field(default_factory=lambda: Place(Calls(1)))
    """Where a job waits for its turn to ask; a pool gives each job its own."""

    def memory(self, key: ProjectKey, authority: Literal["shadow", "external"]) -> ProjectStore:
        """Return the project store that a job of this authority may change."""
        layout = self.layout.shadow_project(key) if authority == "shadow" else self.layout.project(key)
        return ProjectStore(self.volume, layout, self.clock)

    def mailbox(self, key: ProjectKey) -> Mailbox:
        """Return a project's mailbox."""
        return Mailbox(self.volume, self.layout.project(key))
