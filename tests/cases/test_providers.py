"""Cases A-027 to A-032, A-044 and A-049: providers that ask to wait, vanish, hang, cut off or refuse, over real HTTP."""

from __future__ import annotations

import email.utils
import json
import signal
import socket
import time
from pathlib import Path
from typing import Final

import pytest

from curator.model.budget import Amount, Exposure
from curator.model.digest import Json
from curator.model.limits import RETRY_BASE_MS
from curator.model.outcome import Failed
from curator.model.times import ms_of
from tests.acceptance.processes import KEY, ended, wait_until
from tests.cases.scene import MESSAGES, RELEASE, Asked, Here, ask, exchange, know, needs, text
from tests.fakes.provider import Settings, serving

ADD: Final = text("A-019/fenced.txt")
DAY_S: Final = 86_400
SLACK_MS: Final = 30_000


def waits_ms(asked: Asked, name: str) -> int:
    """Return for how long after its failure a job waits."""
    job = asked.jobs[name]
    stores = asked.place.shop().stores
    (result,) = stores.decisions.results(job.id)
    assert isinstance(result.outcome, Failed)
    (record,) = [each for each in stores.spool.queued() if each.job.id == job.id]
    assert record.available_at is not None
    return ms_of(record.available_at) - ms_of(result.outcome.completed_at)


@pytest.mark.parametrize(
    ("name", "wait_ms"),
    [
        ("429_seconds", 7_000),
        ("429_date", 3_600_000),
        ("503_huge", DAY_S * 1_000),
        ("429_garbage", RETRY_BASE_MS),
        ("429_past", RETRY_BASE_MS),
    ],
)
def test_a_027_a_wait_that_a_provider_asks_for_is_kept_capped_and_survives_a_restart(
    name: str, wait_ms: int, tmp_path: Path
) -> None:
    in_an_hour: Json = {"retry-after": email.utils.formatdate(time.time() + 3_600, usegmt=True)}
    place = Here(tmp_path)
    with serving(None, place.log) as server:
        said: Json = {"status": 429, "headers": in_an_hour, "body": {}}
        asked = ask(place, server, {name: [said if name == "429_date" else exchange(f"A-027/{name}.json"), ADD]})
        # An HTTP date has whole seconds, and chance lengthens a wait a little.
        assert -2_000 < waits_ms(asked, name) - wait_ms < max(SLACK_MS, wait_ms // 4)
        place.review()
        assert place.requests() == 1, "no request before the given time"
        place.let_go_on(asked.jobs[name])
        place.review()

    assert (asked.ending(name), place.requests(), len(place.attempts())) == ("applied", 2, 2)


def test_a_027_a_date_in_the_words_of_the_messages_api_is_kept_too(tmp_path: Path) -> None:
    overloaded = exchange("A-027/529_date.json")
    assert isinstance(overloaded, dict)
    overloaded["headers"] = {"retry-after": email.utils.formatdate(time.time() + 600, usegmt=True)}
    place = Here(tmp_path)
    with serving(None, place.log) as server:
        asked = ask(place, server, {"date": [overloaded, ADD]}, MESSAGES)

    assert -SLACK_MS < waits_ms(asked, "date") - 600_000 < SLACK_MS + 150_000


@pytest.mark.parametrize(("name", "api"), [("404.json", MESSAGES), ("410.json", "openai-completions")])
def test_a_029_a_model_that_is_gone_is_asked_once_named_and_jobs_wait_until_it_is_mended(
    name: str, api: str, tmp_path: Path
) -> None:
    place = Here(tmp_path)
    with serving(None, place.log) as server:
        asked = ask(place, server, dict.fromkeys(("one", "two"), exchange(f"A-029/{name}")), api)
        first = asked.ran
        assert (first.status, place.requests()) == (78, 1)
        place.review()
        place.review()
        assert place.requests() == 2, "the other job meets it once too, and then all wait"
        shown = place.run("status").out + first.err
        assert "fake/fake-1" in shown
        assert "model_not_found" in first.out
        assert [seen.exposure for seen in place.attempts()] == [Exposure(actual=Amount(1))] * 2
        server.state.settings.marked = ""
        for job in asked.jobs.values():
            place.let_go_on(job)
        place.review()
    assert [asked.ending(each) for each in ("one", "two")] == ["applied", "applied"]


def test_a_030_a_stream_without_its_end_is_unknown_charged_at_its_hold_and_never_a_review(tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(None, place.log) as server:
        names = ("cut", "nostop")
        asked = ask(place, server, {name: exchange(f"A-030/{name}.sse") for name in names}, MESSAGES)

    for name in names:
        seen = asked.attempt(name)
        hold = Amount(1, seen.latest.hold_tokens, seen.latest.hold_cost_nanousd)
        assert (seen.state.value, seen.exposure) == ("unknown", Exposure(unknown=hold))
        assert asked.ending(name) == "queued"
        assert RELEASE not in asked.texts(name)
        assert place.shop().stores.decisions.find(asked.jobs[name].id) is None


@pytest.mark.skipif(needs("faketime"), reason="faketime is not installed")
@pytest.mark.parametrize("mode", ["hang", "stall"])
def test_a_031_a_provider_that_falls_silent_is_left_at_the_deadline_and_the_next_job_runs(
    mode: str, tmp_path: Path
) -> None:
    place = Here(tmp_path)
    with serving(Settings(review=f"{mode},ok"), place.log) as server:
        know(place, server)
        jobs = [place.enqueue(place.project(name)) for name in ("one", "two")]
        command = place.start("review", "--once", before=("faketime", "-f", "+0 x50"))
        wait_until(lambda: place.requests() == 1)
        (beat,) = [json.loads(path.read_text("utf-8")) for path in place.layout.workers.glob("*.json")]
        ran = ended(command)

    assert (beat["state"], beat["jobId"]) == ("working", jobs[0].id)
    assert (ran.status, ran.err) == (0, "")
    # At that pace its short back-off is over within the same run.
    assert place.states(jobs[0])["unknown"] == 1
    assert place.ending(jobs[1]) == "applied"


def test_a_032_a_key_that_is_refused_for_a_while_costs_no_try_and_work_resumes(tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(Settings(review="http401,http401,http401,http401,ok"), place.log) as server:
        know(place, server)
        job = place.enqueue(place.project())
        shown = []
        for _ in range(4):
            ran = place.review()
            assert (ran.status, place.ending(job)) == (78, "queued")
            shown.append(ran.out + ran.err)
            place.let_go_on(job)
        assert place.review().status == 0

    assert place.ending(job) == "applied"
    assert all("auth_unavailable" in each and KEY not in each for each in shown)
    assert [seen.exposure for seen in place.attempts(job)[:4]] == [Exposure(actual=Amount(1))] * 4


def test_a_032_without_a_network_nothing_is_charged_and_the_job_goes_on_by_itself(tmp_path: Path) -> None:
    place = Here(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with serving(Settings(), place.log) as server:
        know(place, server)
        models = place.layout.agent / "models.json"
        good = models.read_text("utf-8")
        models.write_text(good.replace(server.url, f"http://127.0.0.1:{port}/v1"), "utf-8")
        job = place.enqueue(place.project())

        ran = place.review()

        assert (ran.status, place.states(job)) == (78, {"cancelled": 1})
        assert "provider_unreachable" in ran.out
        assert place.attempts(job)[0].exposure == Exposure()
        models.write_text(good, "utf-8")
        place.let_go_on(job)
        assert place.review().status == 0
    assert place.ending(job) == "applied"


def test_a_044_a_job_that_never_gets_an_answer_ends_with_a_card_and_the_others_go_on(tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(None, place.log) as server:
        asked = ask(place, server, {"never": "", "well": ADD})
        for _ in range(2):
            place.let_go_on(asked.jobs["never"])
            place.review()
        place.review()

    assert asked.ending("never") == "empty_model_output"
    assert (asked.ending("well"), RELEASE in asked.texts("well")) == ("applied", True)
    assert (len(place.attempts(asked.jobs["never"])), place.requests()) == (3, 4)
    assert [card.status for card in place.cards(asked.keys["never"]).values()] == ["failed"]
    assert "empty_model_output" in place.run("jobs", "show", asked.jobs["never"].id).out


def test_a_031_a_wish_to_stop_a_provider_that_hangs_is_heard_at_once(tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(Settings(review="hang"), place.log) as server:
        know(place, server)
        job = place.enqueue(place.project())
        command = place.start("review", "--once")
        wait_until(lambda: place.requests() == 1)
        begun = time.monotonic()
        command.send_signal(signal.SIGTERM)
        assert ended(command).status == 130

    assert time.monotonic() - begun < 10
    assert (place.ending(job), place.states(job)) == ("queued", {"unknown": 1})
