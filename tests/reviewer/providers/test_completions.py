"""The official client against a provider that fails in every way, over real HTTP on loopback."""

import dataclasses
import json
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from curator.model.digest import Json
from curator.model.outcome import nanousd
from curator.model.ports import Answer, Class
from curator.model.reviewer_facts import Credential
from curator.reviewer.parse import Refusal, parse_answer
from curator.reviewer.providers.direct import Call, Patience
from curator.workflow.retry import is_stand_in
from tests.briefs import Flag, HandClock, brief
from tests.fakes.provider import PROPOSAL
from tests.reviewer.providers.benches import API, KEY, Bench, bench, facts_at, failed

# --- what is sent ------------------------------------------------------------------------------------------------------


def test_an_answer_comes_with_its_usage_from_one_request(tmp_path: Path) -> None:
    with bench(tmp_path) as at:
        answer = at.ask()
        assert len(at.requests()) == 1
    assert isinstance(answer, Answer)
    assert answer.text == PROPOSAL
    assert not answer.is_estimated
    provenance = answer.provenance
    assert (provenance.provider, provenance.model, provenance.api) == ("fake", "fake-1", API)
    assert provenance.response_id == "chatcmpl-fake-1"
    assert provenance.usage.total_tokens == provenance.usage.input + provenance.usage.output > 0
    assert nanousd(provenance.usage.cost.total) == 1_000 * provenance.usage.input + 2_000 * provenance.usage.output


def test_the_request_is_the_one_whose_digest_was_recorded(tmp_path: Path) -> None:
    with bench(tmp_path) as at:
        reviewer = at.reviewer()
        prepared = reviewer.prepare(brief("USER: Remember the tests."))
        reviewer.ask(dataclasses.replace(prepared, credential=at.credential), Flag())
        (request,) = at.requests()
        body = at.body()
    assert request["kind"] == "review"
    assert body == {
        "model": "fake-1",
        "messages": [
            {"role": "system", "content": prepared.system_prompt},
            {"role": "user", "content": prepared.user_prompt},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 2_048,
    }


def test_a_model_is_spoken_to_as_it_wants(tmp_path: Path) -> None:
    with bench(tmp_path) as at:
        at.effort = "high"
        at.facts = dataclasses.replace(
            at.facts,
            has_developer_role=True,
            has_stream_usage=False,
            has_store_field=True,
            max_tokens_field="max_tokens",
            output_tokens_max=100,
        )
        at.ask()
        body = at.body()
    assert body["max_tokens"] == 100
    assert "max_completion_tokens" not in body
    assert "stream_options" not in body
    assert body["store"] is False
    assert body["reasoning_effort"] == "medium"
    assert isinstance(body["messages"], list)
    assert isinstance(body["messages"][0], dict)
    assert body["messages"][0]["role"] == "developer"


def test_headers_of_the_file_are_sent_and_those_of_another_account_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "http://other.invalid")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with bench(tmp_path) as at:
        at.credential = Credential(KEY, {"x-team": "t"})
        assert isinstance(at.ask(), Answer)
        headers = at.requests()[0]["headers"]
    assert isinstance(headers, dict)
    assert headers["x-team"] == "t"
    assert headers["accept-encoding"] == "identity"
    assert not {"openai-organization", "openai-project"} & set(headers)


def test_the_key_is_in_no_text_form(tmp_path: Path) -> None:
    with bench(tmp_path) as at:
        prepared = at.reviewer().prepare(brief("USER: Hi."))
    assert isinstance(prepared, Call)
    assert KEY not in repr(prepared)


# --- how it ends -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mode", ["ok", "noop", "fenced", "nodone", "nousage", "slow", "invalidop", "toolong", "malformed"]
)
def test_a_whole_answer_is_an_answer_whatever_it_says(tmp_path: Path, mode: str) -> None:
    with bench(tmp_path, mode, slow_s=0.01) as at:
        answer = at.ask()
        assert len(at.requests()) == 1
    assert isinstance(answer, Answer)
    assert answer.is_estimated == (mode == "nousage")
    assert isinstance(parse_answer(answer.text), Refusal) == (mode in ("invalidop", "malformed"))


@pytest.mark.parametrize(
    ("mode", "code"),
    [("empty", "empty_model_output"), ("length", "output_truncated"), ("toolcall", "unexpected_tool_use")],
)
def test_a_whole_answer_that_is_none_settles_with_its_usage(tmp_path: Path, mode: str, code: str) -> None:
    with bench(tmp_path, mode) as at:
        failure = failed(at.ask())
        assert len(at.requests()) == 1
    assert (failure.code, failure.kind) == (code, Class.RETRY)
    assert failure.provenance is not None
    assert failure.provenance.usage.total_tokens > 0
    assert not failure.is_estimated


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (302, "model_registry_invalid", Class.CONFIGURATION),
        (400, "provider_error", Class.TERMINAL),
        (401, "auth_unavailable", Class.CONFIGURATION),
        (404, "model_not_found", Class.CONFIGURATION),
        (429, "rate_limited", Class.LATER),
        (500, "provider_error", Class.RETRY),
        (503, "provider_error", Class.RETRY),
    ],
)
def test_an_error_status_is_one_request_that_cost_nothing(tmp_path: Path, status: int, code: str, kind: Class) -> None:
    with bench(tmp_path, f"http{status}") as at:
        failure = failed(at.ask())
        assert len(at.requests()) == 1
    assert (failure.code, failure.kind) == (code, kind)
    assert str(status) in failure.message
    assert "made-up" not in failure.message
    assert failure.provenance is not None
    assert failure.provenance.usage.total_tokens == 0
    assert not failure.is_estimated
    assert failure.retry_after_ms == (1_000 if status in (429, 503) else None)


@pytest.mark.parametrize("mode", ["reset", "reset_mid", "truncated", "badsse", "badjson", "huge"])
def test_what_ends_early_leaves_nobody_knowing(tmp_path: Path, mode: str) -> None:
    with bench(tmp_path, mode) as at:
        failure = failed(at.ask())
        assert len(at.requests()) == 1
    assert failure.kind is Class.RETRY
    assert failure.provenance is None
    assert failure.code == ("invalid_model_output" if mode == "huge" else "provider_error")


def test_a_frame_without_end_does_not_fill_the_memory(tmp_path: Path) -> None:
    # A single piece far above the bound: it is refused before it is whole.
    with bench(tmp_path, "huge", huge_bytes=200_000_000, chunk=1) as at:
        began = time.monotonic()
        assert failed(at.ask()).provenance is None
    assert time.monotonic() - began < 20


def test_a_connection_that_was_never_opened_cost_nothing(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: refused at once
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        failure = failed(Bench(url, tmp_path / "log", facts_at(url)).ask())
    assert (failure.code, failure.kind) == ("provider_unreachable", Class.CONFIGURATION)
    assert failure.provenance is not None
    assert not is_stand_in(failure.provenance.usage)


@pytest.mark.parametrize("mode", ["hang", "stall"])
def test_silence_ends_by_the_read_timeout(tmp_path: Path, mode: str) -> None:
    with bench(tmp_path, mode) as at:
        at.patience = Patience(total_ms=60_000, connect_ms=5_000, read_ms=200)
        failure = failed(at.ask())
        assert len(at.requests()) == 1
    assert (failure.code, failure.kind) == ("model_timeout", Class.RETRY)
    assert failure.provenance is None


@pytest.mark.parametrize("mode", ["hang", "stall", "slow"])
def test_the_deadline_ends_a_call_in_any_phase(tmp_path: Path, mode: str) -> None:
    with bench(tmp_path, mode, slow_s=5.0) as at:
        at.clock = HandClock(each=2_000)  # each look at the clock is two seconds later
        failure = failed(at.ask())
    assert (failure.code, failure.provenance) == ("model_timeout", None)


@pytest.mark.parametrize("mode", ["hang", "stall", "slow"])
def test_a_wish_to_stop_closes_the_stream(tmp_path: Path, mode: str) -> None:
    with bench(tmp_path, mode, slow_s=5.0) as at:
        failure = failed(at.ask(Flag(lambda: bool(at.requests()))))
        assert len(at.requests()) == 1
    assert (failure.code, failure.kind, failure.provenance) == ("aborted", Class.STOPPED, None)


def test_a_wish_to_stop_from_the_beginning_sends_nothing(tmp_path: Path) -> None:
    with bench(tmp_path) as at:
        failure = failed(at.ask(Flag(lambda: True)))
        assert at.requests() == []
    assert (failure.kind, failure.provenance) == (Class.STOPPED, None)


def test_a_clock_that_goes_back_still_makes_a_provenance(tmp_path: Path) -> None:
    with bench(tmp_path) as at:
        at.clock = HandClock(each=-1_000)
        answer = at.ask()
    assert isinstance(answer, Answer)
    assert answer.provenance.duration_ms == 0


# --- exchanges that others reported -----------------------------------------------------------------------------------


def exchange(choice: Json, *, status: int = 200, headers: dict[str, Json] | None = None, **more: Json) -> str:
    said: dict[str, Json] = {"id": "chatcmpl-x1", "model": "example-model", "choices": [choice] if choice else []}
    return json.dumps({"status": status, "headers": headers or {}, "body": {**said, "usage": USAGE, **more}})


USAGE: Json = {"prompt_tokens": 900, "completion_tokens": 40, "total_tokens": 940}


def whole(content: Json, finish: Json = "stop") -> Json:
    return {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}


def test_a_server_that_does_not_stream_is_understood(tmp_path: Path) -> None:
    with bench(tmp_path, raw=exchange(whole(PROPOSAL))) as at:
        answer = at.ask()
    assert isinstance(answer, Answer)
    assert answer.text == PROPOSAL
    assert answer.provenance.usage.total_tokens == 940
    assert answer.provenance.response_model == "example-model"


SETTLED = {
    "cut by the limit": (whole('{"operations":[{"action":"add",', "length"), "output_truncated"),
    "an error as text": (whole("Error: the service is overloaded (529)", "error"), "provider_error"),
    "filtered": (whole(None, "content_filter"), "provider_error"),
    "no content": (whole(None), "empty_model_output"),
    "no choices": (None, "empty_model_output"),
}


@pytest.mark.parametrize(("choice", "code"), SETTLED.values(), ids=SETTLED.keys())
def test_an_unusable_whole_answer_settles_and_its_text_goes_nowhere(tmp_path: Path, choice: Json, code: str) -> None:
    with bench(tmp_path, raw=exchange(choice)) as at:
        failure = failed(at.ask())
    assert (failure.code, failure.kind) == (code, Class.RETRY)
    assert "overloaded" not in failure.message
    assert failure.provenance is not None
    assert failure.provenance.usage.total_tokens == 940


def test_an_error_that_calls_itself_a_success_settles_at_its_hold(tmp_path: Path) -> None:
    raw = json.dumps({"status": 200, "headers": {}, "body": {"error": {"message": "upstream failed", "code": 502}}})
    with bench(tmp_path, raw=raw) as at:
        failure = failed(at.ask())
    assert failure.code == "provider_error"
    assert failure.provenance is not None
    assert failure.is_estimated


@pytest.mark.parametrize(
    "usage",
    [None, {"prompt_tokens": 900, "completion_tokens": None}, {"prompt_tokens": "900"}, {"prompt_tokens": 0}],
    ids=repr,
)
def test_an_answer_without_true_usage_is_usable_and_charged_at_its_hold(tmp_path: Path, usage: Json) -> None:
    with bench(tmp_path, raw=exchange(whole(PROPOSAL), usage=usage)) as at:
        answer = at.ask()
    assert isinstance(answer, Answer)
    assert answer.is_estimated


def test_a_provider_that_asks_to_wait_is_understood(tmp_path: Path) -> None:
    raw = json.dumps({"status": 529, "headers": {"retry-after": "7"}, "body": {}})
    with bench(tmp_path, raw=raw) as at:
        failure = failed(at.ask())
    assert (failure.kind, failure.retry_after_ms) == (Class.LATER, 7_000)


def test_odd_metadata_never_breaks_provenance(tmp_path: Path) -> None:
    raw = exchange(whole(PROPOSAL), id="-not safe\n", model="x" * 500)
    with bench(tmp_path, raw=raw) as at:
        answer = at.ask()
    assert isinstance(answer, Answer)
    assert (answer.provenance.response_id, answer.provenance.response_model) == (None, None)


ODD_STREAMS = {
    "another api, cut inside a delta": 'event: message_start\ndata: {"type":"message_start","message":{"id":"m1"}}\n\n',
    "text without an ending": 'data: {"choices":[{"delta":{"content":"{}"}}]}\n\n',
    "only done": "data: [DONE]\n\n",
    "an error in the middle": 'data: {"choices":[]}\n\ndata: {"error":{"message":"secret overload"}}\n\n',
    "shapes of no sort": 'data: {"choices":5,"usage":"x","id":[1]}\n\ndata: 7\n\ndata: [1]\n\ndata: null\n\n',
    "choices of no sort": 'data: {"choices":[7,null,{"delta":5,"finish_reason":{}}]}\n\n',
    "not text": "data: \udcff\n\n",
    "nested too deep": "data: " + "[" * 100_000 + "\n\n",
}


@pytest.mark.parametrize("sse", ODD_STREAMS.values(), ids=ODD_STREAMS.keys())
def test_a_stream_that_does_not_say_how_it_ended_was_no_answer(tmp_path: Path, sse: str) -> None:
    with bench(tmp_path, raw=json.dumps({"sse": sse})) as at:
        failure = failed(at.ask())
        assert len(at.requests()) == 1
    assert (failure.code, failure.kind, failure.provenance) == ("provider_error", Class.RETRY, None)
    assert "secret" not in failure.message


def test_halves_of_a_character_in_two_pieces_are_one_character(tmp_path: Path) -> None:
    pieces = ("\\ud83d", "\\ude00")
    frames = [f'data: {{"choices":[{{"delta":{{"content":"{piece}"}}}}]}}\n\n' for piece in pieces]
    ending = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
    with bench(tmp_path, raw=json.dumps({"sse": "".join([*frames, ending])})) as at:
        answer = at.ask()
    assert isinstance(answer, Answer)
    assert answer.text == "😀"


def test_several_calls_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    with bench(tmp_path) as at, ThreadPoolExecutor(4) as pool:
        endings = list(pool.map(lambda _: at.ask(), range(8)))
        assert len(at.requests()) == 8
    assert all(isinstance(ending, Answer) for ending in endings)


def test_the_client_is_not_loaded_before_the_first_call() -> None:
    code = (
        "import sys, curator.reviewer.providers.direct, curator.workflow.reviewers\n"
        "heavy = {'openai', 'anthropic', 'genai_prices', 'httpx2', 'pydantic', 'asyncio'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
