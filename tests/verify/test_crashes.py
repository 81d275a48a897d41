"""No crash leads to an error: the checker is asked after every verb of a few jobs' lives, and after the recovery."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

import pytest

from curator.durable.volume import Volume
from curator.model.feedback import Pending
from curator.model.ports import CallFailure, Class
from tests.foreign import foreground_add
from tests.kit import ScriptedReviewer, World, adding, provenance_at
from tests.verify.scene import find

if TYPE_CHECKING:
    from pathlib import Path

    from curator.app import App

VERBS: Final = 450
"""More than the story has."""
STRIDE: Final = 7


class Crash(BaseException):
    """The process is gone: nothing catches this."""


class CrashingVolume(Volume):
    """Survives so many verbs."""

    def __init__(self, survive: int) -> None:
        self.left = survive

    def _spend(self) -> None:
        if self.left == 0:
            raise Crash
        self.left -= 1

    def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
        self._spend()
        return super().stage(path, data, hidden=hidden, flush=flush)

    def link(self, staged: Path, path: Path) -> None:
        self._spend()
        super().link(staged, path)

    def rename(self, source: Path, target: Path) -> None:
        self._spend()
        super().rename(source, target)

    def unlink(self, path: Path) -> bool:
        self._spend()
        return super().unlink(path)

    def can_sync_directory(self, path: Path) -> bool:
        self._spend()
        return super().can_sync_directory(path)

    def make_directory(self, path: Path) -> bool:
        self._spend()
        return super().make_directory(path)


class Story:
    """One job applied, one failed, one overtaken by a foreground write and judged anew."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.world = World(root / "agent")
        self.world.configure()
        self.calls = 0

    def open(self, volume: Volume | None = None) -> App:
        reviewer = ScriptedReviewer(lambda _: self._said(), clock=self.world.clock)
        return self.world.open(reviewer, volume=volume)

    def begin(self) -> None:
        app = self.open()
        key = self.world.project(app, self.root / "code")
        for number in range(3):
            job = self.world.job(app, key, f"entry-{number}", f"USER: fact {number}")
            app.shop.mailbox(key).register(Pending(job_id=job.id, job_digest=job.digest))
            app.shop.stores.spool.enqueue(job)

    def _said(self) -> str | CallFailure:
        self.calls += 1
        now = self.world.clock.now()
        if self.calls == 2:
            return CallFailure("provider_error", Class.TERMINAL, "Refused.", provenance_at(now, now))
        if self.calls == 3:
            (project,) = [path for path in (self.world.agent / "no-forgetti").iterdir() if (path / "branches").is_dir()]
            foreground_add(project, "Written by hand.")
        return adding(f"Fact number {self.calls}.")


@pytest.mark.parametrize("survive", range(0, VERBS, STRIDE))
def test_no_crash_leads_to_an_error_nor_does_its_recovery(survive: int, tmp_path: Path) -> None:
    story = Story(tmp_path)
    story.begin()
    with contextlib.suppress(Crash):
        story.open(CrashingVolume(survive)).review_once()

    crashed = find(story.world.agent)
    story.world.clock.ms += 400_000
    drained = story.open().review_once()

    assert (crashed, find(story.world.agent)) == ([], [])
    assert drained.left == 0


def test_the_story_has_no_more_verbs_than_are_counted(tmp_path: Path) -> None:
    story = Story(tmp_path)
    story.begin()

    drained = story.open(CrashingVolume(VERBS)).review_once()

    assert (drained.completed, drained.failed, story.calls) == (2, 1, 4)
