"""A world to run the product in: a hand-moved clock, a scripted reviewer, somebody who listens, an agent folder."""

from __future__ import annotations

import itertools
import json
import threading
from typing import TYPE_CHECKING

from curator.app import App, open_app
from curator.model.digest import digest_of_text
from curator.model.ids import ProjectKey, project_key, session_key
from curator.model.job import Job, make_job
from curator.model.memory import branch_digest
from curator.model.outcome import Cost, Provenance, Usage
from curator.model.ports import Answer, Brief, CallFailure, Hold, Prepared, Stop
from curator.model.project import Project
from curator.model.times import iso

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from curator.durable.volume import Volume
    from curator.model.event import Event
    from curator.model.ids import BranchName
    from curator.model.ports import Reviewer

START_MS = 1_767_398_400_000
"""2026-01-03T00:00:00Z."""


class HandClock:
    """A clock that moves ten milliseconds a look, and further only by hand."""

    def __init__(self, now: int = START_MS) -> None:
        self.ms = now

    def now(self) -> int:
        self.ms += 10
        return self.ms

    def monotonic(self) -> int:
        return self.now()


class CountingChance:
    """Ids that a test can foresee. `seed` keeps two worlds on one folder apart."""

    def __init__(self, seed: int = 0) -> None:
        self._numbers = itertools.count(seed * 1_000_000 + 1)

    def uuid(self) -> str:
        number = next(self._numbers)
        return f"{number:08x}-{number % 4096:03x}0-4000-8000-{number:012x}"

    def token(self) -> str:
        return f"{next(self._numbers):032x}"


class Listening:
    """Remembers every event."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def tell(self, event: Event) -> None:
        self.events.append(event)

    def names(self) -> list[str]:
        return [type(event).__name__ for event in self.events]


def adding(text: str, importance: str = "normal") -> str:
    """An answer that proposes one addition."""
    return json.dumps({"operations": [{"action": "add", "content": text, "importance": importance}]})


class ScriptedReviewer:
    """Answers what it was told to, in order, the last for ever; and remembers what it was asked."""

    def __init__(
        self,
        *script: str | CallFailure | Callable[[int], str | CallFailure],
        clock: HandClock,
        provider: str = "fixture-provider",
    ) -> None:
        self._script: Sequence[str | CallFailure | Callable[[int], str | CallFailure]] = script
        self._clock = clock
        self._provider = provider
        self.briefs: list[Brief] = []
        self.asked: list[Prepared] = []

    def prepare(self, brief: Brief) -> Prepared:
        self.briefs.append(brief)
        prompt = f"review {brief.job.id}"
        return Prepared(
            provider=self._provider,
            model="fixture-reviewer",
            api="fixture-api",
            system_prompt="curator",
            user_prompt=prompt,
            request_digest=digest_of_text(prompt),
            hold=Hold(400, 50_000_000),
        )

    def ask(self, prepared: Prepared, stop: Stop) -> Answer | CallFailure:
        del stop
        started = self._clock.now()
        self.asked.append(prepared)
        said = self._script[min(len(self.asked), len(self._script)) - 1]
        reply = said(len(self.asked)) if callable(said) else said
        if isinstance(reply, CallFailure):
            return reply
        return Answer(reply, provenance_at(started, self._clock.now(), self._provider))


def provenance_at(started: int, completed: int, provider: str = "fixture-provider") -> Provenance:
    """A normalized answer of 160 tokens for 0.0031 dollars."""
    return Provenance(
        provider=provider,
        model="fixture-reviewer",
        api="fixture-api",
        started_at=iso(started),
        completed_at=iso(completed),
        duration_ms=completed - started,
        usage=Usage(
            input=120,
            output=40,
            cache_read=0,
            cache_write=0,
            total_tokens=160,
            cost=Cost(input=0.0011, output=0.002, cache_read=0, cache_write=0, total=0.0031),
        ),
    )


class World:
    """An agent folder and what curator needs to work in it."""

    def __init__(self, agent: Path, clock: HandClock | None = None) -> None:
        self.agent = agent
        self.clock = clock or HandClock()
        self.heard = Listening()
        self.stop = threading.Event()
        self._seed = itertools.count(1)

    def configure(self, mode: str = "external", **reviewer: object) -> None:
        """Write service.json."""
        root = self.agent / "no-forgetti"
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        profile = {"provider": "fixture-provider", "model": "fixture-reviewer"} | reviewer
        path = root / "service.json"
        path.write_text(json.dumps({"version": 1, "mode": mode, "reviewer": profile}), "utf-8")
        path.chmod(0o600)

    def open(self, reviewer: Reviewer, *, worker: str = "w", volume: Volume | None = None) -> App:
        """Open the folder as a worker would, with ids of its own."""
        return open_app(
            self.agent,
            environ={"HOME": str(self.agent.parent)},
            listener=self.heard,
            worker_id=worker,
            stop=self.stop,
            clock=self.clock,
            chance=CountingChance(next(self._seed)),
            volume=volume,
            reviewer=reviewer,
        )

    def project(self, app: App, root: Path) -> ProjectKey:
        """Make a project folder and its memory."""
        root.mkdir(parents=True, exist_ok=True)
        key = project_key(str(root))
        app.shop.memory(key, "external").initialise(Project(str(root), key))
        return key

    def job(self, app: App, key: ProjectKey, frontier: str, transcript: str = "USER: hello") -> Job:
        """Make a job of a project as its branch stands."""
        name: BranchName = "main"  # type: ignore[assignment]  # a literal is not a NewType
        branch = app.shop.memory(key, "external").branch(name)
        assert branch is not None
        return make_job(
            project_key=key,
            session_key=session_key("session"),
            through_entry_id=frontier,
            transcript=transcript,
            branch=branch.sanitized(),
            base_branch_digest=branch_digest(branch),
            max_chars=6000,
        )

    def texts(self, app: App, key: ProjectKey) -> list[str]:
        """What the project's main branch remembers."""
        name: BranchName = "main"  # type: ignore[assignment]  # a literal is not a NewType
        branch = app.shop.memory(key, "external").branch(name)
        return [] if branch is None else [entry.text for entry in branch.entries]
