"""Each API through its official client against the same failures: the same endings, from one request each."""

import json
from pathlib import Path

import pytest

from curator.model.digest import Json
from curator.model.outcome import nanousd
from curator.model.ports import Answer, Class
from curator.reviewer.providers.direct import Patience
from tests.briefs import Flag, HandClock
from tests.fakes.provider import PROPOSAL
from tests.reviewer.providers.benches import KEY, bench, failed

APIS = ("anthropic-messages", "openai-responses")
IDS = {"anthropic-messages": "msg_fake_1", "openai-responses": "resp_fake_1"}


@pytest.fixture(params=APIS)
def api(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_an_answer_comes_with_its_usage_from_one_request(tmp_path: Path, api: str) -> None:
    with bench(tmp_path, api=api) as at:
        answer = at.ask()
        (request,) = at.requests()
    assert isinstance(answer, Answer)
    assert (answer.text, answer.is_estimated, request["kind"]) == (PROPOSAL, False, "review")
    provenance = answer.provenance
    assert (provenance.provider, provenance.model, provenance.api) == ("fake", "fake-1", api)
    assert provenance.response_id == IDS[api]
    assert provenance.usage.total_tokens == provenance.usage.input + provenance.usage.output > 0
    assert nanousd(provenance.usage.cost.total) == 1_000 * provenance.usage.input + 2_000 * provenance.usage.output


def test_the_request_carries_the_prompts_and_nothing_to_keep_or_to_call(tmp_path: Path, api: str) -> None:
    with bench(tmp_path, api=api) as at:
        at.effort = "high"
        prepared = at.reviewer().prepare(at.brief)
        at.ask()
        body = at.body()
    expected: dict[str, Json] = {"model": "fake-1", "stream": True}
    if api == "anthropic-messages":
        expected |= {"system": prepared.system_prompt, "max_tokens": 2_048}
        expected |= {"messages": [{"role": "user", "content": prepared.user_prompt}]}
    else:
        expected |= {"instructions": prepared.system_prompt, "input": prepared.user_prompt, "store": False}
        expected |= {"max_output_tokens": 2_048, "reasoning": {"effort": "medium"}}
    assert body == expected


def test_headers_of_another_account_are_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api: str) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_ORG_ID"):
        monkeypatch.setenv(name, "http://other.invalid")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "x-other: account")
    with bench(tmp_path, api=api) as at:
        assert isinstance(at.ask(), Answer)
        (request,) = at.requests()
    headers = request["headers"]
    assert isinstance(headers, dict)
    own = {"x-api-key", "anthropic-version"} if api == "anthropic-messages" else {"authorization"}
    of_the_wire = {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "user-agent"}
    assert set(headers) == own | of_the_wire
    assert KEY not in json.dumps(request)


@pytest.mark.parametrize(
    ("mode", "code"),
    [
        ("empty", "empty_model_output"),
        ("length", "output_truncated"),
        ("refusal", "provider_error"),
        ("toolcall", "unexpected_tool_use"),
    ],
)
def test_a_whole_answer_that_is_none_settles_with_its_usage(tmp_path: Path, api: str, mode: str, code: str) -> None:
    with bench(tmp_path, mode, api) as at:
        failure = failed(at.ask())
        assert len(at.requests()) == 1
    assert (failure.code, failure.kind, failure.is_estimated) == (code, Class.RETRY, False)
    assert failure.provenance is not None
    assert failure.provenance.usage.total_tokens > 0


@pytest.mark.parametrize("status", [302, 400, 401, 404, 429, 500, 529])
def test_an_error_status_is_one_request_that_cost_nothing(tmp_path: Path, api: str, status: int) -> None:
    with bench(tmp_path, f"http{status}", api) as at:
        failure = failed(at.ask())
        assert len(at.requests()) == 1
    assert str(status) in failure.message
    assert "made-up" not in failure.message
    assert failure.provenance is not None
    assert (failure.provenance.usage.total_tokens, failure.is_estimated) == (0, False)
    assert failure.retry_after_ms == (1_000 if status in (429, 529) else None)


@pytest.mark.parametrize("mode", ["reset", "reset_mid", "truncated", "badsse", "badjson", "gzip", "huge"])
def test_what_ends_early_leaves_nobody_knowing(tmp_path: Path, api: str, mode: str) -> None:
    with bench(tmp_path, mode, api) as at:
        failure = failed(at.ask())
        assert len(at.requests()) == 1
    assert (failure.kind, failure.provenance) == (Class.RETRY, None)
    assert failure.code == ("invalid_model_output" if mode in ("huge", "gzip") else "provider_error")


def test_a_message_without_its_last_event_was_cut(tmp_path: Path) -> None:
    with bench(tmp_path, "nodone", "anthropic-messages") as at:
        assert failed(at.ask()).provenance is None


def test_an_answer_without_usage_is_usable_and_charged_at_its_hold(tmp_path: Path, api: str) -> None:
    with bench(tmp_path, "nousage", api) as at:
        answer = at.ask()
    assert isinstance(answer, Answer)
    assert answer.is_estimated


@pytest.mark.parametrize("mode", ["hang", "stall"])
def test_silence_ends_by_the_read_timeout(tmp_path: Path, api: str, mode: str) -> None:
    with bench(tmp_path, mode, api) as at:
        at.patience = Patience(total_ms=60_000, connect_ms=5_000, read_ms=200)
        failure = failed(at.ask())
        assert len(at.requests()) == 1
    assert (failure.code, failure.provenance) == ("model_timeout", None)


def test_the_deadline_ends_a_call(tmp_path: Path, api: str) -> None:
    with bench(tmp_path, "hang", api) as at:
        at.clock = HandClock(each=2_000)
        assert failed(at.ask()).code == "model_timeout"


def test_a_wish_to_stop_closes_the_stream(tmp_path: Path, api: str) -> None:
    with bench(tmp_path, "stall", api) as at:
        failure = failed(at.ask(Flag(lambda: bool(at.requests()))))
    assert (failure.code, failure.kind, failure.provenance) == ("aborted", Class.STOPPED, None)


WHOLE: dict[str, Json] = {
    "anthropic-messages": {
        "type": "message",
        "id": "msg_1",
        "model": "another-model",
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": PROPOSAL}],
        "stop_reason": "end_turn",
        "usage": {
            "input_tokens": 200,
            "cache_read_input_tokens": 800,
            "cache_creation_input_tokens": None,
            "output_tokens": 40.0,
        },
    },
    "openai-responses": {
        "id": "resp_1",
        "model": "another-model",
        "status": "completed",
        "output": [
            {"type": "reasoning", "content": []},
            {"type": "message", "content": [{"type": "output_text", "text": PROPOSAL}]},
        ],
        "usage": {
            "input_tokens": 1_000,
            "input_tokens_details": {"cached_tokens": 800},
            "output_tokens": 40,
            "output_tokens_details": {"reasoning_tokens": 30},
            "total_tokens": 1_040,
        },
    },
}


def test_a_server_that_does_not_stream_is_understood_and_cached_tokens_count_once(tmp_path: Path, api: str) -> None:
    raw = json.dumps({"status": 200, "headers": {}, "body": WHOLE[api]})
    with bench(tmp_path, api=api, raw=raw) as at:
        answer = at.ask()
    assert isinstance(answer, Answer)
    assert (answer.text, answer.provenance.response_model) == (PROPOSAL, "another-model")
    usage = answer.provenance.usage
    assert (usage.input, usage.cache_read, usage.output, usage.total_tokens) == (200, 800, 40, 1_040)
    assert usage.reasoning == (30 if api == "openai-responses" else None)


ERRORS: dict[str, Json] = {
    "anthropic-messages": {"type": "error", "error": {"type": "overloaded_error", "message": "secret overload"}},
    "openai-responses": {"error": {"message": "secret overload"}},
}


def test_an_error_that_calls_itself_a_success_settles_at_its_hold(tmp_path: Path, api: str) -> None:
    raw = json.dumps({"status": 200, "headers": {}, "body": ERRORS[api]})
    with bench(tmp_path, api=api, raw=raw) as at:
        failure = failed(at.ask())
    assert (failure.code, failure.is_estimated) == ("provider_error", True)
    assert failure.provenance is not None
    assert "secret" not in failure.message


@pytest.mark.parametrize(
    "sse",
    [
        'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"secret"}}\n\n',
        'event: message_start\ndata: {"type":"message_start","message":7}\n\n',
        'event: response.created\ndata: {"type":"response.created","response":[]}\n\n',
        "data: 7\n\ndata: null\n\n",
        "event: message_start\ndata: \udcff\n\n",
        "",
    ],
)
def test_an_odd_stream_is_no_answer(tmp_path: Path, api: str, sse: str) -> None:
    with bench(tmp_path, api=api, raw=json.dumps({"sse": sse})) as at:
        failure = failed(at.ask())
        assert len(at.requests()) == 1
    assert (failure.code, failure.kind) == ("provider_error", Class.RETRY)
    assert "secret" not in failure.message
