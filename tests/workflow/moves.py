"""A project whose folder was moved, and the means to die at any verb of what is done about it."""

from __future__ import annotations

import dataclasses
import shutil
from typing import TYPE_CHECKING

from curator.app import App
from curator.model.feedback import Pending
from curator.model.ids import ProjectKey, project_key
from curator.model.times import iso
from tests.durable.volumes import Crash, Recorded
from tests.kit import HandClock, ScriptedReviewer, World, adding

if TYPE_CHECKING:
    from pathlib import Path

    from curator.model.job import Job

HELD_LATER = "frontier-held"


class Fuse(Recorded):
    """Dies before a verb, counted from the moment it is lit; asks nothing of the disk's cache, for no power is cut."""

    def __init__(self) -> None:
        super().__init__()
        self.left: int | None = None

    def light(self, left: int) -> None:
        self.left = left

    def _note(self, verb: str, path: Path) -> None:
        if self.left is not None:
            if self.left <= 0:
                raise Crash(verb)
            self.left -= 1
        super()._note(verb, path)

    def _flush_file(self, descriptor: int) -> None:
        pass

    def _flush_directory(self, descriptor: int) -> None:
        pass


@dataclasses.dataclass(frozen=True, slots=True)
class Moved:
    """An agent folder with a reviewed project, two jobs that wait for it, and where its folder is by now."""

    world: World
    reviewer: ScriptedReviewer
    old: Path
    new: Path

    def open(self, volume: Fuse | None = None) -> App:
        return self.world.open(self.reviewer, volume=volume or Fuse())

    @property
    def old_key(self) -> ProjectKey:
        return project_key(str(self.old))

    @property
    def new_key(self) -> ProjectKey:
        return project_key(str(self.new))

    def copied(self, agent: Path) -> Moved:
        """Lay the same agent folder out once more."""
        shutil.copytree(self.world.agent, agent, symlinks=True)
        clock = HandClock(self.world.clock.ms)
        return Moved(World(agent, clock), answering(clock), self.old, self.new)


def answering(clock: HandClock) -> ScriptedReviewer:
    return ScriptedReviewer(lambda nth: adding(f"Fact {nth} of {clock.ms} holds."), clock=clock)


def make_moved(tmp_path: Path, *, reviewed: int = 2, is_moved: bool = True) -> Moved:
    """Review some jobs of a project, leave one waiting and one held, then rename the folder."""
    world = World(tmp_path / "agent")
    world.configure()
    moved = Moved(world, answering(world.clock), tmp_path / "before", tmp_path / "after")
    app = moved.open()
    key = world.project(app, moved.old)
    for number in range(reviewed):
        app.shop.stores.spool.enqueue(world.job(app, key, f"frontier-{number}"))
    app.review_once()
    for frontier in ("frontier-waits", HELD_LATER):
        wait_for(app, world, world.job(app, key, frontier))
    app.shop.stores.spool.hold(job_of(app, key, HELD_LATER).id)
    if is_moved:
        moved.old.rename(moved.new)
    return moved


def wait_for(app: App, world: World, job: Job) -> None:
    """Let Pi hand a job over, somebody waiting for it."""
    now = iso(world.clock.now())
    pending = Pending(job_id=job.id, job_digest=job.digest, branch_name=job.branch.name, queued_at=now)
    app.shop.mailbox(job.project_key).register(pending)
    app.shop.stores.spool.enqueue(job)


def job_of(app: App, key: ProjectKey, frontier: str) -> Job:
    spool = app.shop.stores.spool
    found = [*(each.job for each in spool.queued()), *(each.job for each in spool.held())]
    return next(job for job in found if (job.project_key, job.through_entry_id) == (key, frontier))


def waiting_of(app: App, key: ProjectKey) -> list[str]:
    """Return the frontiers of the jobs that wait or are held for a project."""
    spool = app.shop.stores.spool
    found = [*(each.job for each in spool.queued()), *(each.job for each in spool.held())]
    return sorted(job.through_entry_id for job in found if job.project_key == key)
