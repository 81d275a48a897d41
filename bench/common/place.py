"""An agent folder to measure in, laid out without flushes, and the jobs that Pi would hand over."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Final

from bench.common.volumes import Unflushed
from curator.app import App, open_app
from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.model.digest import Json, compact
from curator.model.event import Event
from curator.model.feedback import Pending
from curator.model.ids import BranchName, ProjectKey, project_key, session_key
from curator.model.job import Job, Queued, make_job
from curator.model.limits import MEMORY_CHARS_MAX
from curator.model.memory import branch_digest
from curator.model.ports import Reviewer
from curator.model.project import Project
from curator.model.times import iso
from curator.workflow.shop import Shop

MAIN: Final = BranchName("main")
_TALK: Final = "USER: the build wants its own folder, please remember that.\nASSISTANT: I will.\n"
TRANSCRIPT: Final = (_TALK * 50).strip()
"""About four thousand characters: what a few turns come to."""


class Silence:
    """Nobody listens, but what ended is counted."""

    def __init__(self) -> None:
        """Nothing was told yet."""
        self.told: dict[str, int] = {}

    def tell(self, event: Event) -> None:
        """Count an event by its name."""
        name = type(event).__name__
        self.told[name] = self.told.get(name, 0) + 1


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A home with an agent folder in it."""

    home: Path

    @property
    def layout(self) -> Layout:
        """Where everything stands."""
        return Layout(self.home / "agent")

    def configure(self, provider: str = "scripted", *, concurrency: int = 4, **reviewer: Json) -> None:
        """Write service.json and curator.toml; the limits are the widest."""
        profile: dict[str, Json] = {
            "provider": provider,
            "model": "fake-1",
            "maxCallsPerDay": 10_000,
            "maxTokensPerDay": 1_000_000_000,
            "maxCostPerDayUsd": 1_000_000,
        }
        self.write(self.layout.service_json, {"version": 1, "mode": "external", "reviewer": profile | reviewer})
        self.layout.own.mkdir(mode=0o700, exist_ok=True)
        self.write_text(self.layout.curator_toml, f"concurrency = {concurrency}\n")

    def know(self, url: str) -> None:
        """Write a models.json that names the server at `url` as the provider `fake`."""
        model: Json = {
            "id": "fake-1",
            "reasoning": False,
            "contextWindow": 64_000,
            "maxTokens": 4_096,
            "cost": {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0},
        }
        block: Json = {"baseUrl": url, "api": "openai-completions", "apiKey": "no-key", "models": [model]}
        self.write(self.layout.agent / "models.json", {"providers": {"fake": block}})

    def write(self, path: Path, value: Json) -> None:
        """Write a private file of JSON."""
        self.write_text(path, json.dumps(value))

    def write_text(self, path: Path, text: str) -> None:
        """Write a private file."""
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_text(text, "utf-8")
        path.chmod(0o600)

    def open(self, reviewer: Reviewer, volume: Volume | None = None, listener: Silence | None = None) -> App:
        """Open the folder as a worker would."""
        app = open_app(
            self.layout.agent,
            environ={"HOME": str(self.home)},
            listener=listener or Silence(),
            worker_id=f"bench-{os.getpid()}",
            volume=volume,
            reviewer=reviewer,
        )
        app.prepare()
        return app

    def projects(self, shop: Shop, count: int, prefix: str = "code") -> list[ProjectKey]:
        """Make so many projects and their memory."""
        made = []
        for number in range(count):
            root = self.home / f"{prefix}-{number}"
            root.mkdir()
            key = project_key(str(root))
            shop.memory(key, "external").initialise(Project(str(root), key))
            made.append(key)
        return made


def make(shop: Shop, key: ProjectKey, frontier: str) -> Job:
    """Make a job of a project as its branch stands."""
    branch = shop.memory(key, "external").branch(MAIN)
    assert branch is not None
    return make_job(
        project_key=key,
        session_key=session_key("bench"),
        through_entry_id=frontier,
        transcript=TRANSCRIPT,
        branch=branch.sanitized(),
        base_branch_digest=branch_digest(branch),
        max_chars=MEMORY_CHARS_MAX,
    )


def hand_over(shop: Shop, key: ProjectKey, frontier: str) -> Job:
    """Let Pi hand over a job that somebody waits for. Nothing is flushed, and the queue's own bound is not asked."""
    job = make(shop, key, frontier)
    pending = Pending(
        job_id=job.id,
        job_digest=job.digest,
        branch_name=MAIN,
        requested_by="automatic",
        queued_at=iso(shop.clock.now()),
    )
    disk, path = Unflushed(), shop.layout.queued / f"{job.id}.json"
    dataclasses.replace(shop, volume=disk).mailbox(key).register(pending)
    staged = disk.stage(path, compact(Queued(job=job, next_attempt=1).encode()).encode())
    disk.rename(staged, path)
    return job
