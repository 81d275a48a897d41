"""Real Pi, as a child, before the fake provider: one request, typed endings, nothing left behind."""

import contextlib
import dataclasses
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from curator.durable.layout import Layout
from curator.errors import ReviewerSetupError
from curator.model.digest import Json
from curator.model.outcome import nanousd
from curator.model.ports import Answer, Brief, CallFailure, Class, Prepared, Reviewer, Unready
from curator.model.settings import Effort, ReviewerProfile
from curator.reviewer.providers.pi import PiCall
from curator.workflow.retry import is_stand_in
from curator.workflow.reviewers import reviewer_for
from curator.workflow.settings_files import read_curator
from tests.acceptance.processes import wait_until
from tests.briefs import Flag, HandClock, brief
from tests.fakes.pis import EACH_PI
from tests.fakes.provider import PROPOSAL, Settings, serving

KEY = "key-never-shown"
SAID = "made-up-words-of-a-person"
COST: Json = {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0}


@dataclasses.dataclass
class Desk:
    """An agent folder whose model is asked through Pi."""

    agent: Path
    url: str
    log: Path
    pi: str
    environ: dict[str, str]
    clock: HandClock = dataclasses.field(default_factory=HandClock)

    def lay(self, api: str = "openai-completions", key: str | None = KEY, **model: Json) -> None:
        entry: dict[str, Json] = {"id": "fake-1", "maxTokens": 4_096, "cost": COST, **model}
        url = self.url.removesuffix("/v1") if api == "anthropic-messages" else self.url
        block: dict[str, Json] = {"baseUrl": url, "api": api, "models": [entry]}
        if key:
            block["apiKey"] = key
        self.agent.mkdir(parents=True, exist_ok=True)
        (self.agent / "models.json").write_text(json.dumps({"providers": {"fake": block}}))
        self.route("pi")

    def provide(self, name: str, **block: Json) -> None:
        """Know another provider alone, and let curator choose the way."""
        (self.agent / "models.json").write_text(json.dumps({"providers": {name: block}}))
        self.route("auto")

    def route(self, via: str) -> None:
        settings = self.agent / "no-forgetti" / "curator" / "curator.toml"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(f'via = "{via}"\npi = "{self.pi}"\n')

    def reviewer(self, model: str = "fake-1", effort: Effort = "off", provider: str = "fake") -> Reviewer:
        profile = ReviewerProfile(provider=provider, model=model, reasoning_effort=effort)
        return reviewer_for(profile, read_curator(Layout(self.agent)), self.agent, self.clock, self.environ)

    @property
    def brief(self) -> Brief:
        return brief(f"USER: {SAID}.")

    def ask(self, stop: Flag | None = None) -> Answer | CallFailure:
        reviewer = self.reviewer()
        ready = reviewer.prepare(self.brief).make_ready(Flag())
        assert isinstance(ready, Prepared)
        return reviewer.ask(ready, stop or Flag())

    def requests(self) -> list[dict[str, Json]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []


@contextlib.contextmanager
def desk(tmp_path: Path, pi: str, mode: str = "ok", **settings: Json) -> Iterator[Desk]:
    made = Settings(review=mode)
    for name, value in settings.items():
        setattr(made, name, value)
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    with serving(made, tmp_path / "log") as server:
        at = Desk(tmp_path / "agent", server.url, tmp_path / "log", pi, environ)
        at.lay()
        yield at


def failed(ending: Answer | CallFailure) -> CallFailure:
    assert isinstance(ending, CallFailure)
    return ending


@pytest.mark.parametrize("pi", EACH_PI)
@pytest.mark.parametrize("api", ["openai-completions", "openai-responses", "anthropic-messages"])
def test_an_answer_comes_with_its_usage_from_one_request(tmp_path: Path, pi: str, api: str) -> None:
    with desk(tmp_path, pi) as at:
        at.lay(api)
        answer = at.ask()
        (request,) = at.requests()
    assert isinstance(answer, Answer)
    assert (answer.text, answer.is_estimated) == (PROPOSAL, False)
    provenance = answer.provenance
    assert (provenance.provider, provenance.model, provenance.api) == ("fake", "fake-1", api)
    assert nanousd(provenance.usage.cost.total) == 1_000 * provenance.usage.input + 2_000 * provenance.usage.output > 0
    body = request["body"]
    assert isinstance(body, dict)
    assert not body.get("tools")
    assert request["kind"] == "review", "the instructions are curator's own"
    assert SAID in json.dumps(body)
    assert 2_048 in body.values(), "an answer is cut to what a review needs"


@pytest.mark.parametrize("pi", EACH_PI)
def test_nothing_of_the_person_and_no_project_is_loaded_and_nothing_is_left(tmp_path: Path, pi: str) -> None:
    with desk(tmp_path, pi) as at:
        (at.agent / "AGENTS.md").write_text("made-up-context")
        (at.agent / "extensions").mkdir()
        (at.agent / "extensions" / "loud.js").write_text(
            'export default (pi) => pi.on("before_agent_start", () => ({ systemPrompt: "made-up-context" }));'
        )
        (at.agent / "settings.json").write_text('{"retry": {"enabled": true, "provider": {"maxRetries": 3}}}')
        before = (at.agent / "settings.json").read_text()
        assert isinstance(at.ask(), Answer)
        assert "made-up-context" not in json.dumps(at.requests())
        assert (at.agent / "settings.json").read_text() == before
        assert not (at.agent / "sessions").exists()
        texts = [path.read_text("utf-8") for path in tmp_path.rglob("*") if path.is_file() and path != at.log]
    assert [text for text in texts if SAID in text] == []


@pytest.mark.parametrize("pi", EACH_PI)
@pytest.mark.parametrize(
    ("mode", "code", "kind"),
    [
        ("http401", "auth_unavailable", Class.CONFIGURATION),
        ("http429", "rate_limited", Class.LATER),
    ],
)
def test_an_error_status_is_one_request_that_cost_nothing(
    tmp_path: Path, pi: str, mode: str, code: str, kind: Class
) -> None:
    with desk(tmp_path, pi, mode, retry_after="7") as at:
        (at.agent / "settings.json").write_text('{"retry": {"enabled": true, "provider": {"maxRetries": 3}}}')
        failure = failed(at.ask())
        assert len(at.requests()) == 1
    assert (failure.code, failure.kind) == (code, kind)
    assert failure.provenance is not None
    assert not is_stand_in(failure.provenance.usage)
    assert failure.retry_after_ms == (7_000 if mode == "http429" else None)
    assert "made-up" not in failure.message


@pytest.mark.parametrize("pi", EACH_PI)
@pytest.mark.parametrize(
    ("mode", "code", "is_settled"),
    [
        ("toolcall", "unexpected_tool_use", True),
        ("length", "output_truncated", True),
        ("empty", "empty_model_output", True),
        ("truncated", "provider_error", False),
        ("reset", "provider_error", False),
        ("badsse", "provider_error", False),
    ],
)
def test_each_other_failure_is_one_request(tmp_path: Path, pi: str, mode: str, code: str, *, is_settled: bool) -> None:
    with desk(tmp_path, pi, mode) as at:
        failure = failed(at.ask())
        assert len(at.requests()) == 1
    assert (failure.code, failure.kind) == (code, Class.RETRY)
    assert (failure.provenance is not None) == is_settled
    assert failure.provenance is None or failure.provenance.usage.total_tokens > 0


@pytest.mark.parametrize("pi", EACH_PI)
def test_a_refusal_that_pi_tells_of_is_no_proposal(tmp_path: Path, pi: str) -> None:
    # Of a refusal by the two other APIs Pi tells nothing: its words come as an answer, which is no JSON, or as none.
    with desk(tmp_path, pi, "refusal") as at:
        at.lay("anthropic-messages")
        failure = failed(at.ask())
        assert len(at.requests()) == 1
    assert (failure.code, failure.kind) == ("provider_error", Class.RETRY)


@pytest.mark.parametrize("pi", EACH_PI)
def test_a_login_of_pi_is_left_to_pi(tmp_path: Path, pi: str) -> None:
    token = "sk-ant-oat01-made-up"
    with desk(tmp_path, pi) as at:
        at.provide("anthropic", baseUrl=at.url.removesuffix("/v1"))
        day_after_ms = time.time_ns() // 1_000_000 + 86_400_000
        login: Json = {"type": "oauth", "access": token, "refresh": "made-up", "expires": day_after_ms}
        auth = at.agent / "auth.json"
        auth.write_text(json.dumps({"anthropic": login}))
        auth.chmod(0o600)
        reviewer = at.reviewer("claude-haiku-4-5", provider="anthropic")
        call = reviewer.prepare(at.brief)
        ready = call.make_ready(Flag())
        assert isinstance(ready, PiCall)
        answer = reviewer.ask(ready, Flag())
        (request,) = at.requests()
        assert json.loads(auth.read_text()) == {"anthropic": login}
    assert isinstance(answer, Answer)
    assert (answer.text, answer.provenance.model) == (PROPOSAL, "claude-haiku-4-5")
    headers = request["headers"]
    assert isinstance(headers, dict)
    assert "oauth" in str(headers["anthropic-beta"])
    assert "authorization" in headers
    assert "x-api-key" not in headers


@pytest.mark.parametrize("pi", EACH_PI)
def test_a_price_that_nobody_tells_is_seen_before_anything_is_asked(tmp_path: Path, pi: str) -> None:
    with desk(tmp_path, pi) as at:
        entry: Json = {"id": "made-up-1", "maxTokens": 4_096}
        at.provide(
            "made-up", baseUrl="https://made-up.invalid/v1", api="openai-completions", apiKey=KEY, models=[entry]
        )
        at.route("pi")
        with pytest.raises(ReviewerSetupError, match="allow_unknown_price") as caught:
            at.reviewer("made-up-1", provider="made-up").prepare(at.brief)
        assert at.requests() == []
    assert caught.value.setup_code == "price_unknown"


@pytest.mark.parametrize("pi", EACH_PI)
def test_an_answer_without_usage_is_charged_at_its_hold(tmp_path: Path, pi: str) -> None:
    with desk(tmp_path, pi, "nousage") as at:
        answer = at.ask()
    assert isinstance(answer, Answer)
    assert answer.is_estimated


@pytest.mark.parametrize("pi", EACH_PI)
def test_a_wish_to_stop_ends_pi_with_all_that_it_started(tmp_path: Path, pi: str) -> None:
    with desk(tmp_path, pi, "stall") as at:
        failure = failed(at.ask(Flag(lambda: bool(at.requests()))))
    assert (failure.code, failure.kind) == ("aborted", Class.STOPPED)
    assert failure.provenance is None
    assert [pid for pid in running() if str(tmp_path) in arguments_of(pid)] == []


def running() -> list[str]:
    return [path.name for path in Path("/proc").iterdir() if path.name.isdigit()] if Path("/proc").is_dir() else []


def arguments_of(pid: str) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
    return ""


@pytest.mark.parametrize("pi", EACH_PI)
def test_no_argument_of_pi_shows_the_prompt_or_the_key(tmp_path: Path, pi: str) -> None:
    seen: list[str] = []

    def look() -> bool:
        seen.extend(arguments_of(pid) for pid in running())
        return len(at.requests()) > 0

    with desk(tmp_path, pi, "stall") as at:
        at.ask(Flag(look))
    mine = [each for each in seen if str(tmp_path) in each]
    assert mine
    assert [each for each in mine if SAID in each or KEY in each or "quoted evidence" in each] == []


@pytest.mark.parametrize("pi", EACH_PI)
def test_only_a_variable_that_the_files_name_reaches_pi(tmp_path: Path, pi: str) -> None:
    with desk(tmp_path, pi) as at:
        at.environ |= {"ANTHROPIC_API_KEY": "another-account", "MADE_UP_API_KEY": "key-of-the-profile"}
        with pytest.raises(ReviewerSetupError, match="anthropic") as caught:
            at.reviewer("claude-sonnet-4-5", provider="anthropic").prepare(at.brief)
        assert caught.value.setup_code == "auth_unavailable"
        at.lay(key="$MADE_UP_API_KEY")
        assert isinstance(at.ask(), Answer)


@pytest.mark.parametrize("pi", EACH_PI)
def test_a_variable_that_is_not_set_cancels_the_attempt(tmp_path: Path, pi: str) -> None:
    with desk(tmp_path, pi) as at:
        at.lay(key="literal")
        prepared = at.reviewer().prepare(at.brief)
        assert isinstance(prepared.make_ready(Flag()), Prepared)
        at.lay(key="$MADE_UP_API_KEY")
        try:
            unready = at.reviewer().prepare(at.brief).make_ready(Flag())
        except ReviewerSetupError as error:  # as releases differ in when they see it
            unready = Unready(error.setup_code, error.fact, error.remedy)
        assert at.requests() == []
    assert isinstance(unready, Unready)
    assert unready.code == "auth_unavailable"


@pytest.mark.parametrize("pi", EACH_PI)
@pytest.mark.parametrize(("provider", "model"), [("fake", "another"), ("nobody", "fake-1")])
def test_a_model_that_pi_does_not_know_is_never_another_one(tmp_path: Path, pi: str, provider: str, model: str) -> None:
    with desk(tmp_path, pi) as at, pytest.raises(ReviewerSetupError) as caught:
        at.reviewer(model, provider=provider).prepare(at.brief)
    assert caught.value.setup_code == "model_not_found"


@pytest.mark.parametrize("pi", EACH_PI)
def test_a_provider_that_is_not_there_is_seen_before_the_dispatch(tmp_path: Path, pi: str) -> None:
    with desk(tmp_path, pi) as at:
        prepared = at.reviewer().prepare(at.brief)
    unready = prepared.make_ready(Flag())
    assert isinstance(unready, Unready)
    assert unready.code == "provider_unreachable"


@pytest.mark.parametrize("pi", EACH_PI)
@pytest.mark.parametrize("url", ["", "https://{ACCOUNT}.made-up.invalid/v1"])
def test_an_address_that_only_pi_can_make_up_is_left_to_pi(tmp_path: Path, pi: str, url: str) -> None:
    with desk(tmp_path, pi) as at:
        prepared = at.reviewer().prepare(at.brief)
    assert isinstance(prepared, PiCall)
    assert isinstance(
        dataclasses.replace(prepared, facts=dataclasses.replace(prepared.facts, base_url=url)).make_ready(Flag()),
        PiCall,
    )


# --- without a Pi ----------------------------------------------------------------------------------------------------


def script(tmp_path: Path, text: str) -> str:
    path = tmp_path / "pi-made-up"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return str(path)


def test_a_pi_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with (
        desk(tmp_path, str(tmp_path / "nowhere")) as at,
        pytest.raises(ReviewerSetupError, match="not found") as caught,
    ):
        at.reviewer().prepare(at.brief)
    assert caught.value.setup_code == "pi_unavailable"


def test_a_pi_that_says_nothing_is_ended_with_what_it_started(tmp_path: Path) -> None:
    with desk(tmp_path, script(tmp_path, f"sleep 97531 & echo $! >{tmp_path}/below; wait")) as at:
        at.clock = HandClock(each=2_000)
        with pytest.raises(ReviewerSetupError, match="did not start") as caught:
            at.reviewer().prepare(at.brief)
    assert caught.value.setup_code == "pi_unavailable"
    below = tmp_path / "below"
    if below.exists():
        # The signal has come by now; to die of it takes a moment.
        wait_until(lambda: "97531" not in arguments_of(below.read_text().strip()))


def test_a_pi_that_says_too_much_is_ended(tmp_path: Path) -> None:
    with desk(tmp_path, script(tmp_path, "exec cat /dev/zero")) as at, pytest.raises(ReviewerSetupError) as caught:
        at.reviewer().prepare(at.brief)
    assert caught.value.setup_code == "pi_unavailable"


def test_a_pi_that_ends_at_once_is_broken_unless_it_runs_at_all(tmp_path: Path) -> None:
    for text, code in (("exit 3", "pi_unavailable"), ('[ "$1" = --version ]', "model_not_found")):
        with desk(tmp_path, script(tmp_path, text)) as at, pytest.raises(ReviewerSetupError) as caught:
            at.reviewer().prepare(at.brief)
        assert caught.value.setup_code == code
