"""One run of the crowd, from a seed: what is queued, who dies when, when a limit is raised; and what is left at the end.

The seed draws all that is chosen here. How the kernel lets the processes take turns nobody chooses: a replay draws the
same choices, and meets another order.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from curator.errors import BusyError
from curator.model.digest import pretty
from curator.model.feedback import Pending
from curator.model.ids import BranchName, ProjectKey, session_key
from curator.model.job import Job, make_job
from curator.model.memory import branch_digest, empty_branch
from curator.model.times import iso
from faults.contention.crowd import Crowd, locks
from faults.contention.foreground import Written, replace, written
from faults.model.taped import CURATOR
from faults.surroundings.watched import on_tape
from tests.fakes.provider import Server, Settings, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator.store.spool import Spool
    from faults.surroundings.watched import Watch
    from tests.acceptance.processes import Place

EVIDENCE: Final = "made-up-canary-of-the-evidence"
ANSWER: Final = "made-up-canary-of-the-answer"
ERROR: Final = "made-up failure"
"""What the fake provider says when it fails."""
FACT: Final = "Fact number {n}."
BRANCHES: Final = ("main", "feature", "bugfix")
_PROPOSAL: Final = json.dumps({"operations": [{"action": "add", "content": FACT, "importance": "normal"}]})
_CALLS: Final = 10_000
_TOKENS: Final = 1_000_000_000
_DOLLARS: Final = 100_000
"""Limits that no run meets."""
_TOKENS_FIRST: Final = 60_000
_STAGED_AGE_S: Final = 7_200
_LOOK_S: Final = 0.5


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """What a run is made of."""

    seed: int = 1
    jobs: int = 32
    projects: int = 3
    kills: int = 5
    by_hand: int = 14
    """How many entries the stranger adds to a branch at most."""
    pause_ms: int = 150
    """How long the stranger waits between two of them at most."""
    seconds_max: float = 90.0

    def command(self) -> str:
        """Return what draws this plan again."""
        paths = "PYTHONPATH=.:service:fault-injection"
        numbers = f"--seed {self.seed} --jobs {self.jobs} --projects {self.projects} --kills {self.kills}"
        return f"{paths} .venv/bin/python -m faults.contention {numbers}"


SHORT: Final = Plan()
LONG: Final = Plan(jobs=500, projects=8, kills=60, by_hand=40, pause_ms=600, seconds_max=480.0)


@dataclasses.dataclass(frozen=True, slots=True)
class Limited:
    """Limits, and since when they were in force."""

    since_ms: int
    calls: int
    tokens: int


@dataclasses.dataclass(slots=True)
class Run:
    """A run that is over, or under way, and what it left."""

    plan: Plan
    place: Place
    crowd: Crowd
    watch: Watch
    jobs: list[Job] = dataclasses.field(default_factory=list)
    limits: list[Limited] = dataclasses.field(default_factory=list)
    by_hand: list[Written] = dataclasses.field(default_factory=list)
    is_over: bool = False
    ends: dict[str, str] = dataclasses.field(default_factory=dict)
    """What was said where something did not end with 0: a command that looked at the end, or the stranger."""

    @property
    def requests(self) -> list[dict[str, object]]:
        """Every request that the provider got."""
        return [json.loads(line) for line in self.place.log.read_text("utf-8").splitlines()]


@contextlib.contextmanager
def lived_through(plan: Plan, folder: Path, source: Path | None = None) -> Iterator[Run]:
    """Give a run that is over, with what it left, while the block runs."""
    home, outputs = folder / "home", folder / "outputs"
    for each in (home, outputs):
        each.mkdir(parents=True)
    watch = on_tape(home, folder, CURATOR if source is None else source / "curator")
    place, dice = watch.place, random.Random(plan.seed)
    crowd = Crowd(place, outputs, random.Random(dice.random()), watch.source, watch.tapes)
    run = Run(plan, place, crowd, watch)
    settings = Settings(review=_modes(plan, dice), proposal=f"{ANSWER}\n```json\n{_PROPOSAL}\n```", slow_s=0.08)
    settings.chunk = 10_000
    with serving(settings, place.log) as server:
        place.know(server)
        _Driver(run, server, dice).drive()
        watch.end(place.layout.agent)
        yield run


def _modes(plan: Plan, dice: random.Random) -> str:
    """Draw how the provider answers: some of the first requests fail, and the rest takes a moment."""
    modes = ["slow"] * (plan.jobs // 2)
    for at in dice.sample(range(plan.jobs // 3), plan.jobs // 12):
        modes[at] = dice.choice(("http500", "malformed", "reset"))
    return ",".join((*modes, "slow"))


class _Driver:
    """Lays the jobs, keeps the crowd going, kills, raises limits, and sees to the end."""

    def __init__(self, run: Run, server: Server, dice: random.Random) -> None:
        self.run, self.server, self.dice = run, server, dice
        self.pause = threading.Event()
        self.look_at = 0.0
        self.branches: list[tuple[ProjectKey, BranchName]] = []
        self.kills_due = sorted(self.dice.randrange(2, max(3, run.plan.jobs)) for _ in range(run.plan.kills))

    def drive(self) -> None:
        run, plan = self.run, self.run.plan
        self._lay()
        self._limit(calls=plan.jobs * 2 // 3, tokens=_TOKENS_FIRST)
        run.watch.begin(run.place.layout.agent)
        self._feed(plan.jobs // 2)
        log = run.crowd.folder.parent / "by-hand.jsonl"
        with self._stranger(log) as stranger:
            deadline = time.monotonic() + plan.seconds_max
            try:
                while not self._is_done() and time.monotonic() < deadline:
                    run.crowd.keep_going()
                    self._step()
                    self.pause.wait(0.02)
                run.is_over = self._is_done()
                run.crowd.end()
            finally:
                run.crowd.put_away()
            assert stranger.stdin is not None
            stranger.stdin.close()
            if stranger.wait(30) != 0:
                run.ends["no longer, said the stranger"] = (run.crowd.folder / "stranger.out").read_text("utf-8")
        run.by_hand = written(log)
        self._tidy()

    def _step(self) -> None:
        """Do what is due: more jobs, a death, a higher limit."""
        run, asked = self.run, self.server.state.requests
        if len(run.jobs) < run.plan.jobs and asked * 2 > len(run.jobs) - run.plan.jobs // 2:
            self._feed(1)
        if self.kills_due and asked >= self.kills_due[0]:
            self.pause.wait(self.dice.random() * 0.15)
            run.crowd.kill()
            if run.crowd.kills + len(self.kills_due) > run.plan.kills:
                self.kills_due.pop(0)
        self._raise_limit()

    def _raise_limit(self) -> None:
        """Raise a limit that has been met, and let go on whoever waits for the next day."""
        if time.monotonic() < self.look_at:
            return
        self.look_at = time.monotonic() + _LOOK_S
        run, first = self.run, self.run.limits[0]
        if not self._waits_for_tomorrow():
            return
        if len(run.limits) == 1:
            self._limit(calls=first.calls, tokens=_TOKENS)
        elif len(run.limits) == 2 and self.server.state.requests >= first.calls // 2:
            self._limit(calls=_CALLS, tokens=_TOKENS)
        run.crowd.curator("jobs", "retry", "--all")

    def _waits_for_tomorrow(self) -> bool:
        soon = iso(time.time_ns() // 1_000_000 + 120_000)
        for path in self.run.place.layout.queued.glob("*.json"):
            with contextlib.suppress(FileNotFoundError):
                if json.loads(path.read_bytes()).get("availableAt", "") > soon:
                    return True
        return False

    def _limit(self, calls: int, tokens: int) -> None:
        self.run.limits.append(Limited(time.time_ns() // 1_000_000, calls, tokens))
        numbers = {"maxCallsPerDay": calls, "maxTokensPerDay": tokens, "maxCostPerDayUsd": _DOLLARS}
        path = self.run.place.layout.service_json
        settings = json.loads(path.read_bytes())
        settings["reviewer"] |= numbers
        replace(path, json.dumps(settings))

    def _lay(self) -> None:
        place = self.run.place
        shop = place.shop()
        for number in range(self.run.plan.projects):
            key = place.project(f"code-{number}")
            for name in map(BranchName, BRANCHES[: 1 + number % len(BRANCHES)]):
                self.branches.append((key, name))
                path = shop.layout.project(key).branch(name)
                if not path.exists():
                    path.write_text(pretty(empty_branch(name, iso(shop.clock.now())).encode()), "utf-8")
                    path.chmod(0o600)

    def _feed(self, count: int) -> None:
        """Queue some jobs as the extension does, each from its branch as it stands."""
        shop = self.run.place.shop()
        for _ in range(count):
            key, name = self.dice.choice(self.branches)
            branch = shop.memory(key, "external").branch(name)
            assert branch is not None
            number = len(self.run.jobs)
            job = make_job(
                project_key=key,
                session_key=session_key(f"session-{name}"),
                through_entry_id=f"entry-{number:04d}",
                transcript=f"USER: {EVIDENCE} {number}",
                branch=branch.sanitized(),
                base_branch_digest=branch_digest(branch),
                max_chars=6000,
            )
            shop.mailbox(key).register(Pending(job_id=job.id, job_digest=job.digest))
            self._enqueue(job, shop.stores.spool)
            self.run.jobs.append(job)

    def _enqueue(self, job: Job, spool: Spool) -> None:
        try:
            spool.enqueue(job)
        except BusyError:
            # Whoever held the lock may have died meanwhile; by now it is old.
            spool.enqueue(job)

    @contextlib.contextmanager
    def _stranger(self, log: Path) -> Iterator[subprocess.Popen[bytes]]:
        run = self.run
        numbers = (run.plan.by_hand, run.plan.pause_ms)
        arguments = (run.place.layout.agent, run.plan.seed, log, run.watch.tapes, *numbers)
        command = [sys.executable, "-m", "faults.contention.foreground", *map(str, arguments)]
        with (run.crowd.folder / "stranger.out").open("wb") as out:
            process = subprocess.Popen(
                command, env=run.crowd.environ(), cwd=run.place.home, stdin=subprocess.PIPE, stdout=out, stderr=out
            )
        try:
            yield process
        finally:
            process.kill()

    def _is_done(self) -> bool:
        run, layout = self.run, self.run.place.layout
        if len(run.jobs) < run.plan.jobs or self.kills_due:
            return False
        if any(next(folder.glob("review_*.json"), None) for folder in (layout.queued, layout.running)):
            return False
        return sum(1 for _ in layout.finished.glob("*/*.json")) >= len(run.jobs)

    def _tidy(self) -> None:
        """Let as much time pass as what the dead had staged is kept, and let the product look at what stands."""
        run, old = self.run, time.time() - _STAGED_AGE_S
        # A lock of anybody who ended by himself stays young, and is found.
        left = filter(run.crowd.is_left, locks(run.place))
        for path in (*run.place.layout.agent.rglob("*.tmp"), *left):
            os.utime(path, (old, old))
        for arguments in (("review", "--once", "--maintain"), ("doctor", "--fix"), ("verify",)):
            ended = run.crowd.curator(*arguments)
            (run.crowd.folder / f"{arguments[0]}.end").write_bytes(ended.stdout + ended.stderr)
            # The doctor has more to say of such a machine, which has no Pi.
            if ended.returncode != 0 and arguments[0] != "doctor":
                run.ends[" ".join(arguments)] = (ended.stdout + ended.stderr).decode()
