"""Why jobs wait, told from files that are laid by hand."""

import json
import os
from pathlib import Path
from typing import Final

import pytest

from curator.durable.layout import Layout
from curator.model.attempt import Reserved
from curator.model.budget import Amount, Limits
from curator.model.decision import ProviderResult
from curator.model.digest import Json
from curator.model.heartbeat import WorkerBeat, WorkerState
from curator.model.ids import BranchName, Day, JobId, LeaseToken, WorkerId, attempt_id, project_key, session_key
from curator.model.job import Acceptance, Job, Queued, make_job
from curator.model.limits import MEMORY_CHARS_MAX
from curator.model.memory import branch_digest, empty_branch
from curator.model.outcome import Failed, Failure
from curator.model.project import Standing, Wish
from curator.model.settings import Via
from curator.model.times import ms_of
from curator.workflow.inspect.books import open_books
from curator.workflow.inspect.waiting import Reason, find_reasons, spent_limit
from curator.workflow.settings_files import profile_of, service_of, write_service
from tests.workflow.shops import Scene, open_shop

AT: Final = "2026-01-03T12:00:00.000Z"
NOW: Final = ms_of(AT)
LATER: Final = "2026-01-03T12:10:00.000Z"
MIDNIGHT: Final = "2026-01-04T00:00:00.000Z"
MAIN: Final = BranchName("main")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    scene = open_shop(tmp_path / "agent", AT)
    write_service(scene.shop.volume, scene.shop.layout, service_of("external", profile_of("offline"), None))
    scene.shop.stores.spool.prepare()
    return scene


def job_of(entry: str, *, root: str = "/made/up", max_chars: int = MEMORY_CHARS_MAX) -> Job:
    branch = empty_branch(MAIN, AT)
    return make_job(
        project_key=project_key(root),
        session_key=session_key("made-up"),
        through_entry_id=entry,
        transcript="USER: made up",
        branch=branch,
        base_branch_digest=branch_digest(branch),
        max_chars=max_chars,
    )


def queue(scene: Scene, job: Job, *, attempt: int = 1, at: str | None = None, written_ms: int = NOW) -> JobId:
    path = scene.shop.layout.queued / f"{job.id}.json"
    path.write_text(json.dumps(Queued(job=job, next_attempt=attempt, available_at=at).encode()), "utf-8")
    os.utime(path, ns=(written_ms * 1_000_000,) * 2)
    return job.id


def failed(scene: Scene, job: Job, code: str, claim: int = 1) -> None:
    token = LeaseToken("0" * 32)
    mine = attempt_id(job.digest, claim, token)
    reserved = Reserved(
        id=mine,
        day=Day(AT[:10]),
        provider="offline",
        job_id=job.id,
        job_digest=job.digest,
        claim_attempt=claim,
        lease_token=token,
        reserved_at=AT,
        hold_tokens=1,
        hold_cost_nanousd=0,
        base_branch_digest=job.base_branch_digest,
        origin="curator",
    )
    scene.shop.stores.attempts.reserve(reserved, None)
    outcome = Failed(
        job_id=job.id,
        job_digest=job.digest,
        completed_at=AT,
        error=Failure(code=code, message="made up", retryable=True),
    )
    result = ProviderResult(attempt_id=mine, proposal_digest=None, job=job, outcome=outcome)
    scene.shop.stores.decisions.record_result(result)


def reason(scene: Scene, job_id: JobId) -> Reason:
    return find_reasons(open_books(scene.shop.layout), NOW)[job_id]


def ask(layout: Layout, via: Via, pi: str = "no-such-pi") -> None:
    layout.own.mkdir(exist_ok=True)
    layout.curator_toml.write_text(f'via = "{via}"\npi = "{pi}"\n', "utf-8")


def configure(layout: Layout, **changes: Json) -> None:
    path = layout.service_json
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}), "utf-8")


def test_the_oldest_of_a_branch_waits_for_its_turn_and_the_others_for_it(scene: Scene) -> None:
    second = queue(scene, job_of("b"), written_ms=NOW - 1)
    first = queue(scene, job_of("a"), written_ms=NOW - 2)
    elsewhere = queue(scene, job_of("c", root="/made/up/too"))

    assert reason(scene, first) == reason(scene, elsewhere) == Reason("turn")
    assert reason(scene, second) == Reason("branch", behind=first)


def test_a_failed_attempt_waits_for_its_retry_with_its_code(scene: Scene) -> None:
    job = job_of("a")
    failed(scene, job, "model_timeout")
    job_id = queue(scene, job, attempt=2, at=LATER)

    assert reason(scene, job_id) == Reason("retry", LATER, "model_timeout")


def test_an_account_that_was_refused_waits_for_configuration(scene: Scene) -> None:
    job = job_of("a")
    failed(scene, job, "auth_unavailable")

    assert reason(scene, queue(scene, job, attempt=2, at=LATER)) == Reason("configuration", LATER, "auth_unavailable")


def test_a_model_that_is_not_there_waits_for_configuration_and_whatever_else_is_not_guessed(scene: Scene) -> None:
    job_id = queue(scene, job_of("a"), attempt=2, at=LATER)
    assert reason(scene, job_id) == Reason("unasked", LATER)

    configure(scene.shop.layout, reviewer={"provider": "made-up", "model": "m"})
    ask(scene.shop.layout, via="direct")

    assert reason(scene, job_id) == Reason("configuration", LATER, "model_not_found")


MODELS = {
    "providers": {"made-up": {"baseUrl": "http://127.0.0.1:9", "api": "openai-completions", "models": [{"id": "m"}]}}
}
KEY = {"made-up": {"type": "api_key", "key": "made-up"}}
LOGIN = {"made-up": {"type": "oauth", "access": "a", "refresh": "r", "expires": 1}}


@pytest.mark.parametrize(
    ("auth", "via", "pi", "expected"),
    [
        (KEY, "direct", "no-such-pi", Reason("unasked", LATER)),
        ({}, "direct", "sh", Reason("configuration", LATER, "auth_unavailable")),
        (LOGIN, "direct", "sh", Reason("configuration", LATER, "auth_unavailable")),
        (LOGIN, "auto", "no-such-pi", Reason("configuration", LATER, "auth_unavailable")),
        (LOGIN, "auto", "sh", Reason("unasked", LATER)),
        ({}, "pi", "sh", Reason("unasked", LATER)),
    ],
    ids=["a key in auth.json", "no key", "a login", "a login without Pi", "a login and Pi", "Pi"],
)
def test_a_key_is_looked_for_in_auth_json_too_and_what_pi_may_know_is_not_guessed(
    scene: Scene, auth: Json, via: Via, pi: str, expected: Reason
) -> None:
    layout = scene.shop.layout
    job_id = queue(scene, job_of("a"), attempt=2, at=LATER)
    configure(layout, reviewer={"provider": "made-up", "model": "m"})
    (layout.agent / "models.json").write_text(json.dumps(MODELS), "utf-8")
    (layout.agent / "auth.json").write_text(json.dumps(auth), "utf-8")
    ask(layout, via, pi)

    assert reason(scene, job_id) == expected


def test_what_waits_for_midnight_without_an_attempt_waits_for_the_budget(scene: Scene) -> None:
    configure(scene.shop.layout, reviewer={"provider": "offline", "model": "rules-1", "maxCallsPerDay": 1})
    failed(scene, job_of("other"), "model_timeout")

    found = reason(scene, queue(scene, job_of("a"), attempt=2, at=MIDNIGHT))

    assert found == Reason("budget", MIDNIGHT, "attempt_budget_exhausted", "calls")


def test_a_limit_is_named_by_how_close_the_day_came_to_it() -> None:
    limits = Limits(100, 1_000, 1_000)

    assert spent_limit(limits, Amount(50, 990, 10)) == "tokens"
    assert spent_limit(limits, Amount(50, 10, 990)) == "cost"
    assert spent_limit(limits, Amount(100, 10, 10)) == "calls"


def test_a_job_of_a_larger_memory_waits_and_lets_the_others_by(scene: Scene) -> None:
    large = queue(scene, job_of("a", max_chars=MEMORY_CHARS_MAX + 1), attempt=2, at=LATER, written_ms=NOW - 9)
    small = queue(scene, job_of("b"))

    assert reason(scene, large) == Reason("policy", LATER, "incompatible_policy")
    assert reason(scene, small) == Reason("turn")


def test_a_held_job_waits_for_its_release(scene: Scene) -> None:
    job_id = queue(scene, job_of("a"))
    scene.shop.stores.spool.hold(job_id)

    assert reason(scene, job_id) == Reason("held")


@pytest.mark.parametrize(
    ("state", "pid", "is_gone"), [("working", 2**22 + 1, True), ("stopped", 1, True), (None, 1, False)]
)
def test_a_running_job_is_with_its_worker(scene: Scene, state: WorkerState | None, pid: int, *, is_gone: bool) -> None:
    first, second = job_of("a"), job_of("b")
    queue(scene, first)
    (waiting,) = scene.shop.stores.spool.waiting()
    claim = scene.shop.stores.spool.claim(waiting, WorkerId("other:1"))
    assert claim is not None
    queue(scene, second)
    if state is not None:
        beat = WorkerBeat(worker_id="other:1", pid=pid, started_at=AT, updated_at=AT, state=state)
        path = scene.shop.layout.worker_beat("other:1")
        path.parent.mkdir()
        path.write_text(json.dumps(beat.encode()), "utf-8")

    found = reason(scene, first.id)

    assert found == Reason("lease", claim.running.lease_until, worker_id="other:1", is_gone=is_gone)
    assert reason(scene, second.id) == Reason("branch", behind=first.id)


@pytest.mark.parametrize("mode", ["embedded", "shadow"])
def test_the_mode_in_force_may_forbid_a_job(scene: Scene, mode: str) -> None:
    job = job_of("a")
    scene.shop.stores.jobs.accept(
        Acceptance(job_id=job.id, job_digest=job.digest, authority="external", accepted_at=AT)
    )
    job_id = queue(scene, job, attempt=2)
    configure(scene.shop.layout, mode=mode)

    assert reason(scene, job_id) == Reason("mode", word=mode)


def test_without_a_configuration_every_job_waits_for_one(scene: Scene) -> None:
    job_id = queue(scene, job_of("a"))
    scene.shop.layout.service_json.unlink()

    assert reason(scene, job_id) == Reason("configuration", code="config")


@pytest.mark.parametrize("wish", ["paused", "excluded"])
def test_a_project_at_rest_lets_its_jobs_wait(scene: Scene, wish: Wish) -> None:
    job = job_of("a")
    job_id = queue(scene, job)
    standing = Standing(project_key=job.project_key, wish=wish, changed_at=AT)
    scene.shop.stores.standings.change(job.project_key, lambda _: standing)

    assert reason(scene, job_id) == Reason("project", word=wish)
