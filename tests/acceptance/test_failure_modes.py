"""Each way in which a provider fails, through the real command: code, retry, attempt, budget and request, as the table says."""

import dataclasses
import json
import signal
import socket
import subprocess
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from curator.model.budget import Amount, Exposure
from curator.model.digest import Json
from curator.model.job import Job
from curator.model.limits import RETRY_BASE_MS, RETRY_CONFIG_BASE_MS
from curator.model.outcome import Failed
from curator.model.times import ms_of
from curator.reviewer.failures import MISHAPS as ROWS
from curator.reviewer.failures import Charge, Mishap, Row, row_of_status
from curator.store.attempts import Seen
from tests.acceptance.processes import KEY, Place, arguments_of, ended, wait_until
from tests.fakes.pis import EACH_PI
from tests.fakes.provider import Settings, serving

APIS: Final = ("openai-completions", "openai-responses", "anthropic-messages")
RETRY_AFTER_S: Final = 40
COST: Final[Json] = {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0}
SLACK_MS: Final = 30_000
"""More than a slow machine needs between an answer and a look at the queue."""


@dataclasses.dataclass(frozen=True)
class Mode:
    """One failure of the fake provider, and its row of the table; without a row it is none."""

    name: str
    row: Row | None
    has_wait: bool = False


def status(code: int) -> Mode:
    return Mode(f"http{code}", row_of_status(code), has_wait=code in (429, 503, 529))


PASSING: Final = (
    Mode("ok", None),
    Mode("noop", None),
    Mode("nousage", None),
    *map(status, (400, 408, 409, 413, 500, 502, 503, 504)),
    Mode("malformed", ROWS[Mishap.NO_JSON]),
    Mode("toolong", ROWS[Mishap.BROKEN_RULE]),
    Mode("length", ROWS[Mishap.LENGTH]),
    Mode("refusal", ROWS[Mishap.REFUSED]),
    Mode("toolcall", ROWS[Mishap.TOOL_CALL]),
    Mode("empty", ROWS[Mishap.EMPTY]),
    Mode("thought", ROWS[Mishap.EMPTY]),
    Mode("reset", ROWS[Mishap.RESET]),
    Mode("reset_mid", ROWS[Mishap.RESET]),
    Mode("truncated", ROWS[Mishap.BROKEN]),
    Mode("badsse", ROWS[Mishap.BROKEN]),
    Mode("badjson", ROWS[Mishap.BROKEN]),
    Mode("gzip", ROWS[Mishap.TOO_LONG]),
    Mode("huge", ROWS[Mishap.TOO_LONG]),
)
"""Failures that concern one job alone, so that one run meets them all."""
BLOCKING: Final = tuple(map(status, (302, 401, 402, 403, 404)))
"""Failures that every other job would meet too."""


def lay(place: Place, url: str, api: str = APIS[0], *, key: str = KEY, toml: str = "") -> None:
    model: Json = {"id": "fake-1", "contextWindow": 64_000, "maxTokens": 4_096, "cost": COST}
    base = url.removesuffix("/v1") if api == "anthropic-messages" else url
    block: Json = {"baseUrl": base, "api": api, "models": [model], "apiKey": key}
    place.write(place.layout.agent / "models.json", {"providers": {"fake": block}})
    place.configure(provider="fake", maxTokensPerDay=100_000_000)
    if toml:
        place.layout.curator_toml.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        place.layout.curator_toml.write_text(toml, "utf-8")


def expected(seen: Seen, row: Row | None, *, is_estimated: bool = False) -> Exposure:
    """Return an attempt's place in the budget's columns, by its row."""
    hold = Amount(1, seen.latest.hold_tokens, seen.latest.hold_cost_nanousd)
    match Charge.USAGE if row is None else row.charge:
        case Charge.NO_CALL:
            return Exposure()
        case Charge.NOTHING:
            return Exposure(actual=Amount(1))
        case Charge.USAGE:
            assert is_estimated or 0 < seen.exposure.actual.tokens < hold.tokens
            return Exposure(actual=hold) if is_estimated else seen.exposure
        case Charge.HOLD:
            is_unknown = row is not None and row.state.value == "unknown"
            return Exposure(unknown=hold) if is_unknown else Exposure(actual=hold)


@pytest.mark.parametrize("api", APIS)
def test_each_failure_is_one_request_and_ends_as_its_row_says(tmp_path: Path, api: str) -> None:
    place = Place(tmp_path)
    settings = Settings(review=",".join(mode.name for mode in PASSING), retry_after=str(RETRY_AFTER_S))
    with serving(settings, place.log) as server:
        lay(place, server.url, api)
        jobs = [(mode, place.enqueue(place.project(f"p{at:02}"))) for at, mode in enumerate(PASSING)]
        ran = place.review("--json")
    assert (ran.status, ran.err) == (0, "")
    modes = [json.loads(line)["mode"] for line in place.log.read_text("utf-8").splitlines()]
    assert Counter(modes) == Counter(mode.name for mode in PASSING)
    claimed = [line["jobId"] for line in ran.lines if line["type"] == "claimed"]
    by_job = {job.id: job for _, job in jobs}
    total = Exposure()
    for mode, job_id in zip(PASSING, claimed, strict=True):
        assert isinstance(job_id, str)
        total += judge(place, mode, next(job for each, job in by_job.items() if each == job_id))
    day = place.attempts()[0].latest.day
    assert place.shop().stores.attempts.exposure("fake", day) == total
    assert total.total.calls == place.requests() == len(PASSING)
    assert KEY not in ran.out


def judge(place: Place, mode: Mode, job: Job) -> Exposure:
    """Hold one job to its row, and return what its attempt counts."""
    (seen,) = place.attempts(job)
    row = mode.row
    assert seen.state.value == ("settled" if row is None else row.state.value), mode
    assert seen.exposure == expected(seen, row, is_estimated=mode.name == "nousage"), mode
    if row is None:
        assert place.ending(job) == ("noop" if mode.name == "noop" else "applied")
        return seen.exposure
    outcome = place.result(job).outcome
    assert isinstance(outcome, Failed)
    assert outcome.error.code == row.code, mode
    assert place.ending(job) == (row.code if row.kind.value == "terminal" else "queued"), mode
    if row.kind.value == "retry":
        wait = RETRY_AFTER_S * 1_000 if mode.has_wait else RETRY_BASE_MS
        assert 0 <= waits_ms(place, job, outcome) - wait < SLACK_MS, mode
    return seen.exposure


def waits_ms(place: Place, job: Job, outcome: Failed) -> int:
    """Return for how long after its failure a job rests."""
    (record,) = [each for each in place.shop().stores.spool.queued() if each.job.id == job.id]
    assert record.available_at is not None
    return ms_of(record.available_at) - ms_of(outcome.completed_at)


@pytest.mark.parametrize("mode", BLOCKING, ids=lambda mode: mode.name)
def test_what_every_job_would_meet_is_met_once_and_costs_no_try(tmp_path: Path, mode: Mode) -> None:
    place = Place(tmp_path)
    with serving(Settings(review=mode.name), place.log) as server:
        lay(place, server.url)
        jobs = [place.enqueue(place.project(name)) for name in ("one", "two")]
        ran = place.review()
    assert mode.row is not None
    assert (ran.status, place.requests()) == (78, 1)
    assert mode.row.code in ran.out
    (seen,) = place.attempts()
    assert (seen.state, seen.exposure) == (mode.row.state, Exposure(actual=Amount(1)))
    asked = next(job for job in jobs if job.id == seen.latest.job_id)
    outcome = place.result(asked).outcome
    assert isinstance(outcome, Failed)
    assert 0 <= waits_ms(place, asked, outcome) - RETRY_CONFIG_BASE_MS < SLACK_MS


@pytest.mark.parametrize("code", [429, 529])
def test_a_provider_that_takes_nothing_more_is_asked_once_and_costs_no_try(tmp_path: Path, code: int) -> None:
    place = Place(tmp_path)
    with serving(Settings(review=f"http{code}", retry_after=str(RETRY_AFTER_S)), place.log) as server:
        lay(place, server.url)
        jobs = [place.enqueue(place.project(name)) for name in ("one", "two")]
        for turn in range(1, 5):
            ran = place.review()
            assert (ran.status, place.requests()) == (0, turn), "the other job is not sent after it"
            assert "(rate_limited)" in ran.out
            seen = place.attempts()[-1]
            assert (seen.state.value, seen.exposure) == ("settled", Exposure(actual=Amount(1)))
            asked = next(job for job in jobs if job.id == seen.latest.job_id)
            outcome = place.result(asked).outcome if turn == 1 else None
            if isinstance(outcome, Failed):
                wait = RETRY_AFTER_S * 1_000
                assert 0 <= waits_ms(place, asked, outcome) - wait < SLACK_MS + wait // 4
            for job in jobs:
                place.let_go_on(job)
        server.state.settings.review = "ok"
        assert place.review().status == 0

    assert [place.ending(job) for job in jobs] == ["applied", "applied"], "after four refusals of one job"


def refused() -> str:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        return f"http://127.0.0.1:{closed.getsockname()[1]}/v1"


@pytest.mark.parametrize("case", ["refused", "no such host", "no TLS", "no key", "no price"])
def test_what_shows_before_the_dispatch_burns_nothing_and_names_its_remedy(tmp_path: Path, case: str) -> None:
    place = Place(tmp_path)
    with serving(Settings(), place.log) as server:
        urls = {
            "refused": refused(),
            "no such host": "https://made-up.invalid/v1",
            "no TLS": server.url.replace("http:", "https:"),
            "no price": "https://made-up.invalid/v1",
        }
        lay(place, urls.get(case, server.url), key="$MADE_UP_KEY" if case == "no key" else KEY)
        if case == "no price":
            models = place.layout.agent / "models.json"
            value = json.loads(models.read_text("utf-8"))
            del value["providers"]["fake"]["models"][0]["cost"]
            place.write(models, value)
        jobs = [place.enqueue(place.project(name)) for name in ("one", "two")]
        ran = place.review()
        codes = {"no key": "auth_unavailable", "no price": "price_unknown"}
        code = codes.get(case, "provider_unreachable")
        assert ran.status == 78
        assert f"({code})" in ran.out
        assert "jobs wait until then" in ran.err
        assert (place.requests(), [place.ending(job) for job in jobs]) == (0, ["queued", "queued"])
        assert place.states() == ({} if case == "no price" else {"cancelled": 1})
        assert [seen.exposure for seen in place.attempts() if seen.exposure != Exposure()] == []

        # Once it is mended, all three tries are still there.
        lay(place, server.url)
        for job in jobs:
            place.let_go_on(job)
        assert place.review().status == 0
    assert [place.ending(job) for job in jobs] == ["applied", "applied"]
    assert place.requests() == 2


@pytest.mark.parametrize("pi", EACH_PI)
def test_through_pi_it_is_the_same_decision_and_the_same_memory(tmp_path: Path, pi: str) -> None:
    told: list[tuple[list[str], Json]] = []
    for number, api in enumerate((*APIS, "pi")):
        place = Place(tmp_path / f"{number}")
        place.home.mkdir()
        with serving(Settings(), place.log) as server:
            lay(
                place,
                server.url,
                APIS[0] if api == "pi" else api,
                toml=f'via = "pi"\npi = "{pi}"\n' if api == "pi" else "",
            )
            key = place.project()
            job = place.enqueue(key)
            ran = place.review()
        assert (ran.err, ran.status, place.requests(), place.states()) == ("", 0, 1, {"settled": 1})
        decision = place.shop().stores.decisions.find(job.id)
        assert decision is not None
        told.append((place.texts(key), [each.encode() for each in decision.outcome.operations]))
    assert told[0][0] != []
    assert [each for each in told if each != told[0]] == []


@pytest.mark.parametrize("pi", EACH_PI)
def test_nobody_sees_the_prompt_or_the_key_of_a_review_through_pi_and_a_stop_ends_it_whole(
    tmp_path: Path, pi: str
) -> None:
    place = Place(tmp_path)
    with serving(Settings(review="stall"), place.log) as server:
        lay(place, server.url, toml=f'via = "pi"\npi = "{pi}"\n')
        job = place.enqueue(place.project(), transcript="USER: made-up-words-of-a-person")
        command = place.start("review", "--once")
        wait_until(lambda: place.requests() == 1)
        below = children_of(command.pid)
        shown = b" ".join(arguments_of(pid) for pid in (command.pid, *below))
        command.send_signal(signal.SIGTERM)
        assert ended(command).status == 130
    assert len(below) >= 1
    assert [word for word in (KEY, "made-up-words", "quoted evidence") if word.encode() in shown] == []
    assert [pid for pid in below if Path(f"/proc/{pid}").exists()] == []
    (seen,) = place.attempts(job)
    assert (seen.state.value, place.requests(), place.ending(job)) == ("unknown", 1, "queued")


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    listed = subprocess.run(["ps", "-o", "pid=,ppid=", "-A"], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in listed.splitlines()]
    return [child for child, parent in pairs if parent == pid]
