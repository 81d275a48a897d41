"""Taking and bringing back, as tests need it: with a hand-moved clock, and with work going on between the parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.backup.restore import Restored, plan, restore
from curator.backup.snapshot import Taken, take
from curator.durable.layout import Layout
from curator.durable.volume import Volume
from tests.kit import START_MS, ScriptedReviewer, World, adding

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curator.app import App
    from curator.model.ids import ProjectKey

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

    def __init__(self, root: Path, jobs: int, projects: int = 1) -> None:
        self.root = root
        self.world = World(root / "agent")
        self.world.configure()
        self.app = self.open()
        self.keys = [self.world.project(self.app, root / f"code{number}") for number in range(projects)]
        self.ids = []
        for number in range(jobs):
            key = self.keys[number % projects]
            job = self.world.job(self.app, key, f"entry-{number:04d}", f"USER: fact {number}")
            self.app.shop.stores.spool.enqueue(job)
            self.ids.append(job.id)

    def open(self) -> App:
        """Open the folder with a fresh reviewer."""
        self.reviewer = ScriptedReviewer(lambda number: adding(f"Fact number {number}."), clock=self.world.clock)
        return self.world.open(self.reviewer)

    def elsewhere(self, agent: Path) -> tuple[App, World]:
        """Open a copy of the folder, later than every lease."""
        world = World(agent, self.world.clock)
        world.clock.ms += 400_000
        reviewer = ScriptedReviewer(lambda number: adding(f"Later fact number {number}."), clock=world.clock)
        return world.open(reviewer), world

    def texts(self, world: World, app: App, key: ProjectKey) -> list[str]:
        """What a project of a copy remembers."""
        return world.texts(app, key)
