"""A small world around curator: one agent folder, one project, a clock moved by hand, and a reviewer with a script.

Everything that differs from run to run is taken away: time stands until a scenario moves it, and ids are counted, apart
for each life of the process, so that two lives never draw the same.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import threading
import uuid
from typing import TYPE_CHECKING, Final, TypeAlias

from curator.app import App, open_app, worker_id_of
from curator.durable.layout import Layout
from curator.durable.publish import ensure_directory, remove, replace
from curator.errors import ReviewerSetupError
from curator.model import event
from curator.model.attempt import Unknown
from curator.model.digest import Digest, pretty
from curator.model.feedback import Pending
from curator.model.ids import BranchName, session_key
from curator.model.ids import project_key as key_of
from curator.model.job import Job, make_job
from curator.model.limits import MEMORY_CHARS_MAX
from curator.model.memory import Branch, Entry, branch_digest
from curator.model.outcome import Cost, Provenance, Usage
from curator.model.ports import Answer, Brief, CallFailure, Class, Hold, Prepared
from curator.model.project import Project
from curator.model.settings import Mode, ReviewerProfile, ServiceSettings
from curator.model.times import iso
from curator.store.accounting import AccountingStore
from curator.store.attempts import AttemptStore
from curator.store.bases import BaseStore
from curator.store.decisions import DecisionStore
from curator.store.finished import FinishedStore
from curator.store.jobs import JobStore
from curator.store.spool import Spool
from curator.store.standings import StandingStore
from curator.workflow.reconcile import reconcile
from curator.workflow.retry import RATE_LIMITED
from curator.workflow.settings_files import read_curator, read_service, write_service
from curator.workflow.shop import Shop, Stores
from faults.recording import Mark

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from curator.durable.volume import Volume
    from curator.model.ports import Stop

MORNING: Final = 1_767_344_400_000
"""Where the hand-moved clock starts: 2026-01-02, 09:00 UTC."""
EVIDENCE_MS: Final = 86_400_000
"""How long evidence is kept: from then on what a finished job left may go."""
OVERSLEPT_MS: Final = 600_000
"""Longer than any lease."""
MAIN: Final = BranchName("main")
SESSION: Final = "scenario-session"


class HandClock:
    """A clock that stands until somebody moves it."""

    def __init__(self, now: int = MORNING) -> None:
        """Stand at `now`, in UTC milliseconds."""
        self._now = now

    def now(self) -> int:
        """Return UTC milliseconds."""
        return self._now

    def monotonic(self) -> int:
        """Return milliseconds that only grow."""
        return self._now

    def move(self, ms: int) -> None:
        """Let time pass."""
        self._now += ms


class CountedChance:
    """Ids that nobody can guess, except whoever knows which life of the process asks."""

    def __init__(self, life: str) -> None:
        """Count from nothing for one life of the process."""
        self.life = life
        self._drawn = 0

    def uuid(self) -> str:
        """Return the next version 4 UUID."""
        return str(uuid.UUID(hex=self._draw(), version=4))

    def token(self) -> str:
        """Return the next 32 hex characters."""
        return self._draw()

    def _draw(self) -> str:
        self._drawn += 1
        return hashlib.sha256(f"{self.life}/{self._drawn}".encode()).hexdigest()[:32]


@dataclasses.dataclass(frozen=True, slots=True)
class Says:
    """The reviewer answers whole: these texts are to be added."""

    texts: tuple[str, ...] = ()
    meanwhile: tuple[str, ...] = ()
    """Texts that Pi writes while calls run: at each call the first that the branch does not have yet."""
    sleeps: bool = False
    """In its first life the process sleeps beyond its lease, and another one comes by."""


@dataclasses.dataclass(frozen=True, slots=True)
class SaysRaw:
    """The reviewer answers whole, but with this text, whatever it is worth."""

    text: str


@dataclasses.dataclass(frozen=True, slots=True)
class Fails:
    """The call ends without a usable answer."""

    code: str = "provider_error"
    kind: Class = Class.RETRY
    has_provenance: bool = False
    stops: bool = False
    """Somebody wants the process to stop while the call runs."""


@dataclasses.dataclass(frozen=True, slots=True)
class Unready:
    """Nothing can be sent before a moment: the configuration lacks something until then."""

    until: int
    then: Says
    code: str = "auth_unavailable"


@dataclasses.dataclass(frozen=True, slots=True)
class Limited:
    """The provider takes nothing more before a moment, and says so in an answer that is counted."""

    until: int
    then: Says


@dataclasses.dataclass(frozen=True, slots=True)
class Stops:
    """In its first life the process is asked to stop before it has sent anything."""

    then: Says


Reply: TypeAlias = Says | SaysRaw | Fails | Unready | Limited | Stops
Script: TypeAlias = "Mapping[str, tuple[Reply, ...]]"
"""By frontier, what each provider attempt of that job meets; the last reply stands for all later ones."""


class World:
    """One life of the process over one agent folder."""

    def __init__(
        self, agent: Path, volume: Volume, clock: HandClock, script: Script, life: str, tell: Callable[[Mark], None]
    ) -> None:
        """Open the world; the project's folder stands beside the agent's."""
        self.volume = volume
        self.clock = clock
        self.script = script
        self.layout = Layout(agent)
        self.chance = CountedChance(life)
        self.tell = tell
        self.project = Project(str(agent.parent / "project"), key_of(str(agent.parent / "project")))
        self.life = life
        self.stop = threading.Event()
        self._asked = 0

    @property
    def is_first_life(self) -> bool:
        """Whether this is the life that is crashed, not one that recovers."""
        return self.life.endswith("/run")

    # What a scenario does.

    def configure(self, mode: Mode, *, calls: int = 100) -> None:
        """Write the shared configuration."""
        profile = ReviewerProfile(provider="scripted", model="script-1", max_calls_per_day=calls)
        write_service(self.volume, self.layout, ServiceSettings(mode=mode, reviewer=profile), force=True)

    def open(self) -> App:
        """Open the agent folder exactly as each command does, the probe of its storage included."""
        return open_app(
            self.layout.agent,
            environ={},
            listener=_Listener(self),
            worker_id=self._worker_id,
            stop=self.stop,
            clock=self.clock,
            chance=self.chance,
            volume=self.volume,
            reviewer=_ScriptedReviewer(self),
        )

    @property
    def shop(self) -> Shop:
        """Open everything anew but without the probe, which tells the same each time and costs a third of it."""
        disk, layout = self.volume, self.layout
        return Shop(
            layout=layout,
            volume=disk,
            clock=self.clock,
            chance=self.chance,
            listener=_Listener(self),
            stop=self.stop,
            stores=Stores(
                spool=Spool(disk, layout, self.clock, self.chance),
                jobs=JobStore(disk, layout),
                attempts=AttemptStore(disk, layout),
                bases=BaseStore(disk, layout),
                decisions=DecisionStore(disk, layout),
                finished=FinishedStore(disk, layout),
                accounting=AccountingStore(disk, layout),
                standings=StandingStore(disk, layout),
            ),
            service=read_service(layout),
            settings=read_curator(layout),
            reviewer=_ScriptedReviewer(self),
            worker_id=worker_id_of(self._worker_id),
        )

    @property
    def _worker_id(self) -> str:
        return self.life.replace("/", ".").replace(" ", "-")

    def review(self) -> event.Drained:
        """Do what `curator review --once` does: maintain, then drain."""
        self._tell_age()
        return App(self.shop, None).review_once()

    def maintain(self) -> None:
        """Do what the service does between jobs."""
        self._tell_age()
        App(self.shop, None).maintain()

    def _tell_age(self) -> None:
        if self.clock.now() - MORNING > EVIDENCE_MS:
            self.tell(Mark("aged"))

    def take_cards(self) -> None:
        """Let Pi show every card and drop it with whoever waited for it."""
        project = self.layout.project(self.project.key)
        for card in sorted(project.ready.glob("*.json")):
            for folder in (project.pending, project.ready):
                remove(self.volume, folder / card.name)

    def let_another_come_by(self) -> None:
        """Sleep beyond the lease, while another process recovers and reviews."""
        self.tell(Mark("overslept"))
        self.clock.move(OVERSLEPT_MS)
        World(self.layout.agent, self.volume, self.clock, self.script, f"{self.life}/other", self.tell).review()

    def settle_lost(self) -> None:
        """Let the operator say of each call whose end nobody knows that it was not billed."""
        shop = self.shop
        for day in shop.stores.attempts.days():
            for seen in shop.stores.attempts.of_day(day):
                if isinstance(seen.latest, Unknown) and seen.correction is None:
                    reconcile(seen.id, None, "It is not on the bill.", shop)
                    self.tell(Mark("reconciled", seen.id))

    def begin_memory(self, *texts: str) -> None:
        """Make the project's memory, with these texts in its branch."""
        memory = self.shop.memory(self.project.key, "external")
        memory.initialise(self.project)
        for text in texts:
            self._write(text)
            self.tell(Mark("seeded", text))

    def job(self, frontier: str, generation: int | None = None) -> Job:
        """Make the job of one frontier against the branch as it stands."""
        branch = self.branch()
        return make_job(
            project_key=self.project.key,
            session_key=session_key(SESSION),
            through_entry_id=frontier,
            transcript=f"USER: please remember {frontier}",
            branch=branch.sanitized(),
            base_branch_digest=branch_digest(branch),
            max_chars=MEMORY_CHARS_MAX,
            generation=generation,
        )

    def enqueue(self, job: Job, *, is_awaited: bool = True) -> None:
        """Let Pi hand a job over: whoever waits is registered first."""
        shop = self.shop
        if is_awaited:
            pending = Pending(
                job_id=job.id,
                job_digest=job.digest,
                branch_name=MAIN,
                requested_by="automatic",
                queued_at=iso(self.clock.now()),
            )
            shop.mailbox(self.project.key).register(pending)
        shop.stores.spool.enqueue(job)
        self.tell(Mark("accepted", job.id))

    def write_foreground(self, text: str) -> None:
        """Let Pi write one entry into the branch, by the protocol; once, however often it is asked."""
        self._write(text)
        self.tell(Mark("foreground", text))

    def _write(self, text: str) -> None:
        memory = self.shop.memory(self.project.key, "external")
        branch = memory.current(MAIN)
        assert branch is not None
        if all(entry.text != text for entry in branch.entries):
            now = iso(self.clock.now())
            entry = Entry.decode(
                {
                    "id": hashlib.sha256(text.encode()).hexdigest()[:12],
                    "text": text,
                    "createdAt": now,
                    "updatedAt": now,
                    "importance": "normal",
                    "createdBy": "assistant_tool",
                }
            )
            after = dataclasses.replace(branch, entries=(*branch.entries, entry), updated_at=now)
            replace(self.volume, memory.layout.branch(MAIN), pretty(after.encode()).encode())

    def branch(self) -> Branch:
        """Return the real branch as it stands."""
        branch = self.shop.memory(self.project.key, "external").branch(MAIN)
        assert branch is not None
        return branch

    def rest(self) -> None:
        """Say that a step is over: everything that it wrote must be durable now."""
        self.tell(Mark("rest"))

    def prepare_folder(self) -> None:
        """Make the agent's own folder, as Pi does."""
        ensure_directory(self.volume, self.layout.root)

    # What the reviewer and the listener do.

    def next_request(self, brief: Brief) -> Digest:
        """Return the digest of a request that was never made before."""
        self._asked += 1
        text = f"{self.life}/{self._asked}/{brief.job.id}/{brief.attempt}"
        return Digest(hashlib.sha256(text.encode()).hexdigest())


class _Listener:
    """Turns what a person is told into marks."""

    def __init__(self, world: World) -> None:
        self._world = world

    def tell(self, told: event.Event) -> None:
        match told:
            case event.Completed(job_id=job_id, receipt=receipt):
                self._world.tell(Mark("over", job_id))
                if receipt is not None and receipt.status == "applied":
                    self._world.tell(Mark("applied", job_id))
            case event.Failed(job_id=job_id):
                self._world.tell(Mark("over", job_id))
            case _:
                pass


class _ScriptedReviewer:
    """A reviewer that answers by the script and remembers every request it was sent."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._replies: dict[Digest, Reply] = {}

    def prepare(self, brief: Brief) -> Prepared:
        world = self._world
        replies = world.script[brief.job.through_entry_id]
        reply = replies[min(brief.attempt, len(replies)) - 1]
        if isinstance(reply, Unready):
            if world.clock.now() < reply.until:
                raise ReviewerSetupError(reply.code, "the script has no key for this model")
            reply = reply.then
        elif isinstance(reply, Limited):
            is_open = world.clock.now() >= reply.until
            reply = reply.then if is_open else Fails(RATE_LIMITED, Class.LATER, has_provenance=True)
        elif isinstance(reply, Stops):
            if world.is_first_life:
                world.stop.set()
            reply = reply.then
        request = world.next_request(brief)
        self._replies[request] = reply
        return Prepared(
            provider="scripted",
            model="script-1",
            api="script",
            system_prompt="You are curator.",
            user_prompt=f"attempt {brief.attempt}",
            request_digest=request,
            hold=Hold(tokens=400, cost_nanousd=50_000_000),
        )

    def ask(self, prepared: Prepared, stop: Stop) -> Answer | CallFailure:
        del stop
        world = self._world
        world.tell(Mark("request", prepared.request_digest))
        match self._replies[prepared.request_digest]:
            case Says(texts, meanwhile, sleeps):
                known = {entry.text for entry in world.branch().entries} if meanwhile else set()
                for text in [each for each in meanwhile if each not in known][:1]:
                    world.write_foreground(text)
                if sleeps and world.is_first_life:
                    world.let_another_come_by()
                operations = [{"action": "add", "content": text, "importance": "high"} for text in texts]
                return Answer(json.dumps({"operations": operations}), self._provenance())
            case SaysRaw(text):
                return Answer(text, self._provenance())
            case Fails(code, kind, has_provenance, stops):
                if stops and world.is_first_life:
                    world.stop.set()
                provenance = self._provenance() if has_provenance else None
                return CallFailure(code, kind, "The script says that this call fails.", provenance)
            case other:
                message = f"{other} was sent"
                raise AssertionError(message)

    def _provenance(self) -> Provenance:
        return provenance_at(self._world.clock.now())


def provenance_at(now: int) -> Provenance:
    """Return where a scripted answer of this moment comes from, and what it cost."""
    cost = Cost(input=0.001, output=0.002, cache_read=0, cache_write=0, total=0.003)
    return Provenance(
        provider="scripted",
        model="script-1",
        api="script",
        started_at=iso(now),
        completed_at=iso(now),
        duration_ms=0,
        usage=Usage(input=100, output=60, cache_read=0, cache_write=0, total_tokens=160, cost=cost),
    )
