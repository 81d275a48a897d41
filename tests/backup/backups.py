"""Taking and bringing back, as tests need it: with a hand-moved clock, and with work going on between the parts."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from curator.backup.restore import Restored, plan, restore
from curator.backup.snapshot import Taken, take
from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.model.feedback import Pending
from curator.model.ports import CallFailure, Class
from tests.kit import START_MS, ScriptedReviewer, World, adding, provenance_at

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curator.app import App

NOW = START_MS + 3_600_000


def taken(agent: Path, target: Path, told: Callable[[str], None] = lambda _: None) -> Taken:
    """Take a backup."""
    return take(Layout(agent), Volume(), target, NOW, told)


def brought_back(source: Path, agent: Path, now: int = NOW) -> Restored:
    """Bring a backup back."""
    layout = Layout(agent)
    return restore(layout, Volume(), plan(layout, source), now, lambda _: None)


class Facts:
    """A reviewer that adds one numbered fact a call, and a world with jobs for it."""

    def __init__(self, root: Path, jobs: int, projects: int = 1, refusals: tuple[int, ...] = ()) -> None:
        self.root = root
        self.refusals = refusals
        self.world = World(root / "agent")
        self.world.configure()
        self.app = self.open()
        self.keys = [self.world.project(self.app, root / f"code{number}") for number in range(projects)]
        self.ids = []
        for number in range(jobs):
            key = self.keys[number % projects]
            job = self.world.job(self.app, key, f"entry-{number:04d}", f"USER: fact {number}")
            self.app.shop.mailbox(key).register(Pending(job_id=job.id, job_digest=job.digest))
            self.app.shop.stores.spool.enqueue(job)
            self.ids.append(job.id)

    def open(self) -> App:
        """Open the folder with a fresh reviewer."""
        reviewer = ScriptedReviewer(self._said, clock=self.world.clock)
        return self.world.open(reviewer)

    def elsewhere(self, agent: Path) -> tuple[App, World]:
        """Open a copy of the folder, later than every lease, with ids that were not drawn before."""
        world = copy.copy(self.world)
        world.agent = agent
        world.clock.ms += 400_000
        reviewer = ScriptedReviewer(lambda number: adding(f"Later fact number {number}."), clock=world.clock)
        return world.open(reviewer), world

    def _said(self, number: int) -> str | CallFailure:
        """Add a fact; refuse for good at each call that `refusals` names."""
        if number not in self.refusals:
            return adding(f"Fact number {number}.")
        now = self.world.clock.now()
        return CallFailure("provider_error", Class.TERMINAL, "Refused.", provenance_at(now, now))
