"""`curator eval`: the scores of a reviewer; a paid one is asked for leave, held, capped and counted."""

import json
from pathlib import Path

import pytest

from curator.durable.clock import SystemClock
from curator.model.budget import Amount
from curator.model.digest import Json
from curator.model.ids import Day
from curator.model.times import day_of
from tests.cli.commands import Home, assert_refused, environ_of, make_home, on_a_terminal, run
from tests.fakes.provider import Server, Settings, serving


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path)


def know(home: Home, server: Server, **limits: Json) -> None:
    """Make the fake provider the configured reviewer: 1 dollar a million tokens in, 2 out."""
    model: Json = {
        "id": "fake-1",
        "contextWindow": 64_000,
        "maxTokens": 4_096,
        "cost": {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0},
    }
    block: Json = {"baseUrl": server.url, "api": "openai-completions", "apiKey": "made-up", "models": [model]}
    path = home.layout.agent / "models.json"
    path.write_text(json.dumps({"providers": {"fake": block}}), "utf-8")
    path.chmod(0o600)
    home.service(reviewer={"provider": "fake", "model": "fake-1", **limits})


def spent(home: Home) -> Amount:
    """Return what the journal has counted today, and yesterday if it is midnight."""
    attempts, now = home.open().shop.stores.attempts, SystemClock().now()
    days = {Day(day_of(now)), Day(day_of(now - 60_000))}
    return sum((attempts.exposure("fake", day).total for day in days), Amount())


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_offline_reviewer_needs_no_agent_folder(tmp_path: Path) -> None:
    ran = run("eval", "--half", "seen", cwd=tmp_path, environ=environ_of(tmp_path))

    assert ran.status == 0, ran.err
    assert "The seen half" in ran.out
    assert "The unseen half" not in ran.out
    assert list(tmp_path.iterdir()) == []


def test_the_document_has_both_halves_apart(tmp_path: Path) -> None:
    ran = run("eval", "--json", cwd=tmp_path, environ=environ_of(tmp_path))

    halves = ran.document["halves"]
    assert isinstance(halves, list)
    assert [half["half"] for half in halves if isinstance(half, dict)] == ["seen", "unseen"]
    assert "decision-0" not in ran.out


def test_a_paid_reviewer_is_not_asked_without_a_yes(home: Home) -> None:
    with serving() as server:
        know(home, server)
        ran = home.run("eval", "--reviewer", "configured", "--max-calls", "3")

        assert_refused(ran, 2, "3 calls to fake/fake-1", "--yes")
        assert server.state.requests == 0
    assert spent(home) == Amount()


def test_each_call_of_a_paid_reviewer_is_counted_and_no_memory_is_touched(home: Home) -> None:
    home.enqueue("We use pnpm in this repo, not npm.")
    home.service(mode="embedded")
    before = {name: held for name, held in tree(home.layout.root).items() if not _is_counting(name)}
    with serving(Settings(proposal='{"operations":[]}')) as server:
        know(home, server)
        before["service.json"] = home.layout.service_json.read_bytes()
        ran = home.run("eval", "--reviewer", "configured", "--max-calls", "3", "--yes", "--json")

        assert ran.status == 0, ran.err
        assert server.state.requests == 3
    told = ran.document
    assert (told["reviewer"], told["calls"], told["wanted"]) == ("fake/fake-1", 3, 3)
    counted = spent(home)
    assert (counted.calls, counted.tokens, counted.cost_nanousd) == (3, told["tokens"], told["costNanousd"])
    assert counted.tokens > 0
    after = {name: held for name, held in tree(home.layout.root).items() if not _is_counting(name)}
    assert after == before


def _is_counting(name: str) -> bool:
    return name.startswith(("curator/attempts", "accounting/", "review-spool/accounting/"))


def test_the_cost_cap_is_held_before_each_call(home: Home) -> None:
    with serving(Settings(proposal='{"operations":[]}')) as server:
        know(home, server)
        ran = home.run("eval", "--reviewer", "configured", "--max-cost", "0.001", "--yes")

        assert ran.status == 0
        assert server.state.requests == 0
        assert "the cap of cost was reached" in ran.err


def test_a_days_limit_ends_it_and_what_was_asked_is_scored(home: Home) -> None:
    with serving(Settings(proposal='{"operations":[]}')) as server:
        know(home, server, maxCallsPerDay=2)
        ran = home.run("eval", "--reviewer", "configured", "--max-calls", "5", "--yes")

        assert server.state.requests == 2
    assert ran.status == 1
    assert "2 conversations of" in ran.out
    assert "3 were not asked: the day's limit of calls" in ran.err


def test_a_reviewer_that_is_out_of_order_is_not_paid_for_again_and_again(home: Home) -> None:
    with serving(Settings(review="malformed")) as server:
        know(home, server)
        ran = home.run("eval", "--reviewer", "configured", "--max-calls", "20", "--yes")

        assert server.state.requests == 5
    assert ran.status == 1
    assert "5 calls in a row brought no proposal" in ran.err


def test_the_configured_offline_reviewer_counts_its_calls_too(home: Home) -> None:
    ran = home.run("eval", "--reviewer", "configured", "--half", "seen", "--max-calls", "2", "--yes", "--json")

    assert (ran.document["reviewer"], ran.document["calls"]) == ("offline/rules-1", 2)
    now = SystemClock().now()
    assert home.open().shop.stores.attempts.exposure("offline", Day(day_of(now))).total.calls in (1, 2)


def test_a_limit_of_the_providers_rate_ends_it_and_scores_nothing(home: Home) -> None:
    with serving(Settings(review="http429")) as server:
        know(home, server)
        ran = home.run("eval", "--reviewer", "configured", "--max-calls", "9", "--yes", "--json")

        assert server.state.requests == 1
    assert ran.status == 1
    halves = ran.document["halves"]
    assert isinstance(halves, list)
    assert [half["all"]["conversations"] for half in halves if isinstance(half, dict)] == [0, 0]  # type: ignore[index, call-overload]  # figures
    assert "the provider takes nothing more for now" in str(ran.document["halted"])


def test_a_key_that_is_missing_costs_nothing_and_is_named(home: Home) -> None:
    with serving() as server:
        know(home, server)
        models = home.layout.agent / "models.json"
        models.write_text(models.read_text("utf-8").replace('"made-up"', '"$MADE_UP_KEY"'), "utf-8")
        ran = home.run("eval", "--reviewer", "configured", "--max-calls", "2", "--yes")

        assert server.state.requests == 0
    assert ran.status == 1
    assert "2 were not asked" in ran.err
    assert spent(home) == Amount()


def test_at_a_terminal_the_table_follows_the_progress(tmp_path: Path) -> None:
    shown = on_a_terminal("eval", "--half", "seen", environ=environ_of(tmp_path, TERM="xterm"))

    assert "The seen half" in shown
    assert "191/191" in shown
