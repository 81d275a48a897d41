"""An agent folder with every kind of record in it, made by curator itself, and ways to damage one record."""

from __future__ import annotations

import atexit
import dataclasses
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from curator.durable.layout import Layout
from curator.model.attempt import Correction, LegacyCarry, Reserved, dispatched_from, facts_of
from curator.model.digest import Digest, digest_of
from curator.model.feedback import Pending
from curator.model.ids import BranchName, Day, JobId, ProjectKey, attempt_id
from curator.model.ports import CallFailure, Class
from curator.model.times import day_of, iso
from curator.verify.finding import Finding, Severity
from curator.verify.whole import verify
from curator.workflow.claim import take
from curator.workflow.line import line_up
from curator.workflow.undo import undo
from tests.foreign import foreground_add
from tests.kit import ScriptedReviewer, World, adding, provenance_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from curator.app import App
    from curator.model.digest import Json
    from curator.model.job import Job
    from curator.model.outcome import Provenance

MAIN = BranchName("main")
Fields: TypeAlias = "dict[str, Json]"

QUOTED = "USER: please run the checks before a merge"
SECRET = "please run the checks"
"""A piece of evidence: no finding may show it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Scene:
    """The folder, and who is who in it."""

    agent: Path
    key: ProjectKey
    other: ProjectKey
    shadowed: ProjectKey
    jobs: dict[str, JobId]
    attempts: dict[str, Path]
    """By job: the folder and stem of its last attempt's journal files."""

    @property
    def layout(self) -> Layout:
        return Layout(self.agent)

    def step(self, job: str, n: int) -> Path:
        return self.attempts[job].with_name(f"{self.attempts[job].name}.{n}.json")

    def result(self, job: str) -> Path:
        return self.layout.results / self.jobs[job] / f"{self.attempts[job].name}.json"

    def name(self, job: str) -> str:
        return f"{self.jobs[job]}.json"

    def closing(self, job: str) -> Path:
        return self.layout.finished / self.jobs[job].removeprefix("review_")[:2] / self.name(job)

    def revisions(self) -> list[Path]:
        return sorted(self.layout.project(self.key).revisions(MAIN).iterdir())

    @property
    def day(self) -> Path:
        return next(iter(self.layout.days.iterdir()))


def find(agent: Path, severity: Severity = Severity.ERROR) -> list[Finding]:
    """Check a folder and return what weighs so much."""
    return [each for each in verify(Layout(agent), lambda _: None) if each.severity is severity]


def read(path: Path) -> Fields:
    """Return a record."""
    value = json.loads(path.read_text("utf-8"))
    assert isinstance(value, dict)
    return value


def write(path: Path, value: Json) -> None:
    """Write a record by hand, over whatever stands there."""
    path.write_text(json.dumps(value, ensure_ascii=False), "utf-8")
    path.chmod(0o600)


def change(path: Path, **fields: Json) -> None:
    """Overwrite some fields of a record."""
    write(path, read(path) | fields)


def inner(value: Json, *trail: str | int) -> Json:
    """Return what stands deep in a record."""
    for key in trail:
        if isinstance(value, dict) and isinstance(key, str):
            value = value[key]
        else:
            assert isinstance(value, list)
            assert isinstance(key, int)
            value = value[key]
    return value


def put(path: Path, *trail: str | int, value: Json) -> None:
    """Set one field deep in a record."""
    record = read(path)
    owner, key = inner(record, *trail[:-1]), trail[-1]
    assert isinstance(owner, dict)
    assert isinstance(key, str)
    owner[key] = value
    write(path, record)


def repeat_first(path: Path, *trail: str | int) -> None:
    """Put the first item of a list deep in a record a second time."""
    record = read(path)
    items = inner(record, *trail)
    assert isinstance(items, list)
    items.append(items[0])
    write(path, record)


def seal(record: Fields, key: str) -> Fields:
    """Return a record whose own digest is right, as somebody who means harm would leave it."""
    return record | {key: digest_of({name: item for name, item in record.items() if name != key})}


def copy_of(scene: Scene, tmp_path: Path) -> Scene:
    """Return a scene of one's own, to be damaged."""
    agent = tmp_path / "agent"
    shutil.copytree(scene.agent, agent, symlinks=True)
    attempts = {name: agent / path.relative_to(scene.agent) for name, path in scene.attempts.items()}
    return dataclasses.replace(scene, agent=agent, attempts=attempts)


@cache
def scene() -> Scene:
    """Make the folder once for all tests."""
    root = Path(tempfile.mkdtemp(prefix="verify-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return _Maker(root).make()


class _Maker:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.world = World(root / "agent")
        self.world.configure()
        self.jobs: dict[str, JobId] = {}
        self.attempts: dict[str, Path] = {}
        self.key = self._project("code")

    def make(self) -> Scene:
        self._reviewed("applied", adding("Run the checks before a merge.").replace("}]", f', "quote": "{SECRET}"}}]'))
        self._reviewed("changed", lambda _: self._replacing())
        self._reviewed("noop", '{"operations": []}')
        refused = CallFailure("provider_error", Class.TERMINAL, "The provider refused.", self._provenance())
        self._reviewed("failed", refused)
        self._reviewed("rebased", self._overtaken, lambda _: adding("Tag each release."))
        undo(self._open().shop, self.key, MAIN)
        self._reviewed("again", adding("Name the ticket in the commit."))
        other = self._project("other")
        self._held_queued_running(other)
        self._reviewed("deferred", CallFailure("provider_error", Class.RETRY, "Not now."))
        self._correct("deferred")
        shadowed = self._shadow()
        self._legacy()
        return Scene(self.world.agent, self.key, other, shadowed, self.jobs, self.attempts)

    def _open(self, *script: str | CallFailure | Callable[[int], str | CallFailure]) -> App:
        return self.world.open(ScriptedReviewer(*(script or ('{"operations": []}',)), clock=self.world.clock))

    def _project(self, name: str) -> ProjectKey:
        return self.world.project(self._open(), self.root / name)

    def _provenance(self) -> Provenance:
        return provenance_at(self.world.clock.now(), self.world.clock.now())

    def _enqueued(self, app: App, name: str, key: ProjectKey) -> Job:
        job = self.world.job(app, key, f"entry-{name}", f"{QUOTED}, for the {name} one")
        app.shop.mailbox(key).register(Pending(job_id=job.id, job_digest=job.digest, requested_by="manual"))
        app.shop.stores.spool.enqueue(job)
        self.jobs[name] = job.id
        return job

    def _reviewed(
        self, name: str, *script: str | CallFailure | Callable[[int], str | CallFailure], key: ProjectKey | None = None
    ) -> None:
        app = self._open(*script)
        job = self._enqueued(app, name, key or self.key)
        app.review_once(limit=1)
        last = app.shop.stores.attempts.of_job(job.id, Day("0000-00-00"))[-1]
        self._note(app, name, last.latest.day, last.id)

    def _note(self, app: App, name: str, day: str, attempt: str) -> None:
        self.attempts[name] = app.layout.attempts / day / attempt.removeprefix("review_attempt_")[:2] / attempt

    def _replacing(self) -> str:
        branch = self._open().shop.memory(self.key, "external").branch(MAIN)
        assert branch is not None
        operation = {"action": "replace", "entryId": branch.entries[0].id, "content": "Run all checks first."}
        return json.dumps({"operations": [operation | {"importance": "high"}]})

    def _overtaken(self, _number: int) -> str:
        foreground_add(self.world.agent / "no-forgetti" / self.key, "Written by hand.")
        return adding("Judged too early.")

    def _held_queued_running(self, key: ProjectKey) -> None:
        app = self._open()
        for name in ("held", "running", "queued"):
            self._enqueued(app, name, key)
        app.shop.stores.spool.hold(self.jobs["held"])
        waiting = next(each for each in app.shop.stores.spool.waiting() if each.job_id == self.jobs["running"])
        claim = take(app.shop, waiting)
        assert claim is not None
        assert all(head.glimpse.project_key != key for head in line_up(app.shop).ready)
        now = app.shop.clock.now()
        draft = Reserved(
            id=attempt_id(claim.job.digest, claim.attempt, claim.running.lease_token),
            day=Day(day_of(now)),
            provider="fixture-provider",
            job_id=claim.job.id,
            job_digest=claim.job.digest,
            claim_attempt=claim.attempt,
            lease_token=claim.running.lease_token,
            reserved_at=iso(now),
            hold_tokens=400,
            hold_cost_nanousd=50_000_000,
            base_branch_digest=claim.job.base_branch_digest,
            origin="curator",
        )
        app.shop.stores.attempts.reserve(draft, None)
        request = (Digest("ab" * 32), "fixture-reviewer", "fixture-api")
        app.shop.stores.attempts.advance(dispatched_from(draft, iso(app.shop.clock.now()), request))
        self._note(app, "running", draft.day, draft.id)

    def _correct(self, name: str) -> None:
        app = self._open()
        lost = app.shop.stores.attempts.of_job(self.jobs[name], Day("0000-00-00"))[-1].latest
        more: dict[str, Json] = {"correctedAt": iso(self.world.clock.now()), "source": "operator", "isBilled": True}
        charged: dict[str, Json] = {"state": "corrected", "chargedTokens": 9, "chargedCostNanousd": 9}
        app.shop.stores.attempts.advance(Correction.decode(facts_of(lost) | more | charged))

    def _shadow(self) -> ProjectKey:
        key = self._project("shadowed")
        self.world.configure("shadow")
        self._reviewed("shadow", adding("Seen in the shadow."), key=key)
        self.world.configure()
        return key

    def _legacy(self) -> None:
        app = self._open()
        day = Day("2026-01-02")
        carry = LegacyCarry(
            day=day,
            provider="fixture-provider",
            source_digest=Digest("cd" * 32),
            imported_at=iso(self.world.clock.now()),
            calls=1,
            tokens=2,
            cost_nanousd=3,
        )
        app.shop.stores.attempts.publish_legacy(carry)
        budget = app.layout.legacy_budget
        budget.write_text(json.dumps({"version": 1, "day": day, "calls": 1, "tokens": 2, "costUsd": 3e-9}), "utf-8")
        budget.chmod(0o600)
