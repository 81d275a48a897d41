"""Cases A-034 to A-040: what calls cost, whatever providers say of it, and limits that nobody gets around."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from curator.model.budget import Amount, Exposure
from curator.model.digest import Json
from curator.model.outcome import Completed
from tests.acceptance.processes import ended, wait_until
from tests.cases.scene import MESSAGES, RELEASE, Here, ask, exchange, know, needs, text
from tests.cli.commands import assert_refused
from tests.fakes.provider import Settings, serving

ADD: Final = text("A-019/fenced.txt")
UNTOLD: Final = ("usage_null", "usage_absent", "usage_partial", "usage_string", "usage_zero")
MIDNIGHT: Final = datetime(2031, 3, 10, tzinfo=UTC)
ZONES: Final = {"CST-8": 8, "PST8": -8, "<+14>-14": 14}
"""Shanghai, Los Angeles and Kiritimati as POSIX spells them, and their hours east of UTC."""


def test_a_034_usage_that_is_not_told_is_charged_at_the_hold_and_shown_as_not_told(tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(None, place.log) as server:
        asked = ask(place, server, {name: exchange(f"A-034/{name}.json") for name in UNTOLD})
        shown = place.run("budget", "attempts").out.splitlines()

    for name in UNTOLD:
        assert (asked.ending(name), RELEASE in asked.texts(name)) == ("applied", True)
        seen = asked.attempt(name)
        hold = Amount(1, seen.latest.hold_tokens, seen.latest.hold_cost_nanousd)
        assert (seen.state.value, seen.exposure) == ("settled", Exposure(actual=hold))
    assert sum("usage not told, counted as" in line for line in shown) == len(UNTOLD)


@pytest.mark.parametrize(("name", "api"), [("openai_cached", "openai-completions"), ("anthropic_cached", MESSAGES)])
def test_a_035_cached_tokens_count_the_same_however_a_provider_counts_them(name: str, api: str, tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(None, place.log) as server:
        asked = ask(place, server, {name: exchange(f"A-035/{name}.json")}, api)

    (result,) = place.shop().stores.decisions.results(asked.jobs[name].id)
    assert isinstance(result.outcome, Completed)
    usage = result.outcome.provenance.usage
    assert (usage.input, usage.cache_read, usage.cache_write, usage.output) == (200, 800, 0, 40)
    assert asked.attempt(name).exposure.actual == Amount(1, 1_040, 200 * 1_000 + 40 * 2_000)


def test_a_036_of_many_workers_at_once_one_gets_the_last_call_of_the_day_also_when_some_are_killed(
    tmp_path: Path,
) -> None:
    place = Here(tmp_path)
    with serving(Settings(review="slow", slow_s=0.05), place.log) as server:
        know(place, server, maxCallsPerDay=1)
        jobs = [place.enqueue(place.project(f"p{number}")) for number in range(6)]
        workers = [place.start("review", "--once") for _ in range(6)]
        wait_until(lambda: place.requests() >= 1)
        for worker in workers[::3]:
            worker.kill()
        for worker in workers:
            ended(worker)
        place.review()

    assert place.requests() == 1
    day = place.attempts()[0].latest.day
    assert place.shop().stores.attempts.exposure("fake", day).total.calls == 1
    assert sum(place.ending(job) == "queued" for job in jobs) >= len(jobs) - 1
    assert place.run("budget", "prove").status == 0


@pytest.mark.skipif(needs("faketime"), reason="faketime is not installed")
def test_a_037_a_day_of_the_budget_is_the_day_of_utc_in_every_zone(tmp_path: Path) -> None:
    place = Here(tmp_path)

    def reviewed(zone: str, seconds: int) -> object:
        """Review once in a zone, so many seconds from midnight, and return how many jobs were done."""
        local = MIDNIGHT + timedelta(hours=ZONES[zone], seconds=seconds)
        before = ("faketime", "-f", f"@{local:%Y-%m-%d %H:%M:%S}")
        ran = ended(place.start("review", "--once", "--json", before=before, TZ=zone))
        assert ran.status == 0, ran.err
        return ran.lines[-1]["completed"]

    with serving(Settings(review="ok"), place.log) as server:
        know(place, server, maxCallsPerDay=1)
        jobs = [place.enqueue(place.project(name)) for name in ("one", "two", "three")]
        done = [reviewed("PST8", -90), reviewed("CST-8", -60), reviewed("<+14>-14", 1), reviewed("PST8", 5)]

    assert done == [1, 0, 1, 0]
    assert Counter(seen.latest.day for seen in place.attempts()) == {"2031-03-09": 1, "2031-03-10": 1}
    assert sorted(place.ending(job) for job in jobs) == ["applied", "applied", "queued"]


def test_a_038_each_job_costs_one_call_and_a_worker_without_work_none(tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(Settings(review="noop"), place.log) as server:
        know(place, server)
        jobs = [place.enqueue(place.project(f"p{number}")) for number in range(4)]
        place.review()
        for _ in range(3):
            assert place.review().out == "Nothing to review now.\n"
        assert place.requests() == len(jobs)
        # What no model of that size takes is refused by its provider, once and for good.
        server.state.settings.review = "http413"
        large = place.enqueue(place.project("large"), transcript="USER: " + "words " * 5_000)
        for _ in range(3):
            place.review()

    assert {place.ending(job) for job in jobs} == {"noop"}
    assert (place.ending(large), place.requests()) == ("provider_error", len(jobs) + 1)


def test_a_039_the_providers_own_log_and_the_accounts_agree_call_by_call(tmp_path: Path) -> None:
    answers: dict[str, Json] = {
        **{f"good-{number}": ADD for number in range(3)},
        "nothing": '{"operations":[]}',
        "prose": "no JSON",
        "cut": exchange("A-022/exchange.json"),
        "error": exchange("A-033/error_200.json"),
        "stream": {"sse": 'data: {"choices":[{"delta":{"content":"{"}}]}\n\n'},
        "limit": exchange("A-027/503_huge.json"),
    }
    place = Here(tmp_path)
    with serving(None, place.log) as server:
        asked = ask(place, server, answers)
        server.state.settings.marked, server.state.settings.review = "", "hang"
        last = place.enqueue(place.project("stopped"))
        command = place.start("review", "--once")
        wait_until(lambda: place.requests() == len(answers) + 1)
        command.terminate()
        ended(command)
        told = place.run("status", "--json").document["budgets"]
        rows = list(csv.DictReader(io.StringIO(place.run("budget", "export", "--csv").out)))

    logged = [json.loads(line) for line in place.log.read_text("utf-8").splitlines()]
    assert [row["provider"] for row in rows] == ["fake"] * len(logged)
    assert {row["model"] for row in rows} == {entry["body"]["model"] for entry in logged}
    assert Counter(row["jobId"] for row in rows) == Counter([job.id for job in (*asked.jobs.values(), last)])
    assert isinstance(told, list)
    (budget,) = told
    assert isinstance(budget, dict)
    for column in ("actual", "held", "unknown"):
        of_column = [row for row in rows if row["column"] == column]
        sums = {name: sum(int(row[name]) for row in of_column) for name in ("calls", "tokens", "costNanodollars")}
        assert budget[column] == sums


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("negative", "reviewer.maxCallsPerDay"),
        ("strings", "reviewer.maxCallsPerDay"),
        ("typo", "reviewer.maxCallPerDay"),
        ("truncated", "not JSON at line 1, byte 31"),
    ],
)
def test_a_040_limits_that_cannot_be_read_stop_all_calls_and_name_the_field(
    name: str, field: str, tmp_path: Path
) -> None:
    place = Here(tmp_path)
    with serving(None, place.log) as server:
        know(place, server)
        good = place.layout.service_json.read_text("utf-8")
        first = place.enqueue(key := place.project())
        broken = text(f"A-040/{name}.json")
        place.layout.service_json.write_text(broken, "utf-8")

        assert_refused(place.review(), 78, place.layout.service_json, field)

        second = place.enqueue(key, "entry-2")
        assert (place.requests(), place.layout.service_json.read_text("utf-8")) == (0, broken)
        place.layout.service_json.write_text(good, "utf-8")
        place.review()
    assert [place.ending(job) for job in (first, second)] == ["applied", "noop"]


def test_a_040_limits_that_are_left_out_are_those_of_the_protocol_and_are_shown(tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(None, place.log) as server:
        know(place, server)
        limitless = json.loads(text("A-040/no_limits.json"))
        limitless["reviewer"] |= {"provider": "fake", "model": "fake-1"}
        place.write(place.layout.service_json, limitless)
        place.enqueue(place.project())
        place.review()

    assert "of 100 calls, 500,000 tokens, $10.00" in place.run("status").out
