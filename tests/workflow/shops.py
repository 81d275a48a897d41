"""A shop with real stores in a folder, a hand-moved clock and an ear; nobody reviews in it."""

import dataclasses
from pathlib import Path

from curator.durable.clock import SystemChance
from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.model.event import Event
from curator.model.ids import WorkerId
from curator.model.ports import Answer, Brief, CallFailure, Prepared, Stop
from curator.model.settings import CuratorSettings, ReviewerProfile, ServiceSettings
from curator.model.times import ms_of
from curator.store.accounting import AccountingStore
from curator.store.attempts import AttemptStore
from curator.store.bases import BaseStore
from curator.store.decisions import DecisionStore
from curator.store.finished import FinishedStore
from curator.store.jobs import JobStore
from curator.store.spool import Spool
from curator.store.standings import StandingStore
from curator.workflow.shop import Shop, Stores


@dataclasses.dataclass
class HandClock:
    """Stands still until somebody moves it."""

    at: int

    def now(self) -> int:
        return self.at

    def monotonic(self) -> int:
        return self.at


@dataclasses.dataclass
class Ear:
    """Remembers what it was told."""

    events: list[Event] = dataclasses.field(default_factory=list)

    def tell(self, event: Event) -> None:
        self.events.append(event)


class Never:
    """No wish to stop."""

    def is_set(self) -> bool:
        return False


class NoReviewer:
    """Fails the test that asks it."""

    def prepare(self, brief: Brief) -> Prepared:
        raise AssertionError(brief.job.id)

    def ask(self, prepared: Prepared, stop: Stop) -> Answer | CallFailure:
        raise AssertionError(prepared.model, stop)


@dataclasses.dataclass
class Scene:
    """A shop, and the two of its ports that a test holds in its hand."""

    shop: Shop
    clock: HandClock
    ear: Ear


def open_shop(agent: Path, now: str, *, provider: str = "fixture-provider", volume: Volume | None = None) -> Scene:
    """Open a shop over an agent folder, at a moment; as a new process would."""
    layout, clock, ear, chance = Layout(agent), HandClock(ms_of(now)), Ear(), SystemChance()
    volume = volume or Volume()
    stores = Stores(
        spool=Spool(volume, layout, clock, chance),
        jobs=JobStore(volume, layout),
        attempts=AttemptStore(volume, layout),
        bases=BaseStore(volume, layout),
        decisions=DecisionStore(volume, layout),
        finished=FinishedStore(volume, layout),
        accounting=AccountingStore(volume, layout),
        standings=StandingStore(volume, layout),
    )
    shop = Shop(
        layout=layout,
        volume=volume,
        clock=clock,
        chance=chance,
        listener=ear,
        stop=Never(),
        stores=stores,
        service=ServiceSettings(mode="external", reviewer=ReviewerProfile(provider=provider, model="fixture-reviewer")),
        settings=CuratorSettings(),
        reviewer=NoReviewer(),
        worker_id=WorkerId("curator:test:1"),
    )
    return Scene(shop, clock, ear)
