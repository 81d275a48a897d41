"""Every golden state of the protocol comes out as its own worker's recovery left it, or better where we say so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curator.model.digest import Json
from curator.model.times import day_of
from tests.golden_fixtures import PROJECT_KEY, PROJECT_ROOT, expected, golden
from tests.kit import START_MS, HandClock, ScriptedReviewer, World, adding

SCENARIOS = (
    "a-queued",
    "b-running-reserved",
    "c-running-dispatched",
    "d-result-no-decision",
    "e-decision-no-admission",
    "f-intent-no-branch",
    "g-branch-no-revision",
    "g2-revision-no-completion",
    "g3-completion-no-feedback",
    "g5-receipt-not-retired",
    "h-completed",
    "i-failed-with-feedback",
    "i3-dead-letter",
    "j-noop",
    "k-stale",
    "l-legacy-budget",
    "l2-legacy-budget-imported",
    "m-replay-queued",
    "n-deferred-backoff",
    "o1-claim-crash-both",
    "o3-finish-crash-both",
    "p-live-lease-2099",
    "q-accounting-mix",
    "r-applied-then-undo",
)

ELSEWHERE = {
    # The protocol's worker pays a second call here; we elect the first result from its checkpoint.
    "d-result-no-decision": {"calls": 0, "attempts": {"2026-01-03": ["1:settled"]}, "texts": "e-decision-no-admission"},
}


@pytest.fixture(autouse=True)
def project_root() -> None:
    """The fixtures' project is one fixed path, which must be there."""
    PROJECT_ROOT.mkdir(exist_ok=True)


def recovered(agent: Path, now: int = START_MS + 3_600_000) -> tuple[World, ScriptedReviewer]:
    world = World(agent, HandClock(now))
    reviewer = ScriptedReviewer(adding("Recovered-run fact."), clock=world.clock)
    world.open(reviewer).review_once()
    return world, reviewer


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_golden_state_recovers_as_its_own_worker_recovers_it(name: str, tmp_path: Path) -> None:
    agent = golden(name, tmp_path)
    wanted = expected(agent)
    own = ELSEWHERE.get(name, {})
    project = agent / "no-forgetti" / PROJECT_KEY

    world, reviewer = recovered(agent)

    assert len(reviewer.asked) == own.get("calls", wanted["providerCallsDuringRecovery"])
    texts = expected(golden(str(own["texts"]), tmp_path / "other"))["branchTexts"] if "texts" in own else None
    assert _texts(project) == (texts or wanted["branchTexts"])
    assert _statuses(project / "service" / "commit-receipts") == wanted["receipts"]
    assert _statuses(project / "service" / "review-feedback" / "ready") == wanted["ready"]
    assert _outcomes(agent) == {key: str(value).split("@")[0] for key, value in _object(wanted["outcomes"]).items()}
    assert _attempts(agent) == own.get("attempts", _wanted_attempts(wanted, day_of(world.clock.ms)))


@pytest.mark.parametrize("name", SCENARIOS)
def test_recovering_a_second_time_changes_nothing(name: str, tmp_path: Path) -> None:
    agent = golden(name, tmp_path)
    world, _ = recovered(agent)
    before = _tree(agent)

    again = ScriptedReviewer(adding("Never asked."), clock=world.clock)
    world.open(again).review_once()

    assert again.asked == []
    assert _tree(agent) == before


def test_a_legacy_budget_of_today_is_unknown_exposure(tmp_path: Path) -> None:
    agent = golden("l-legacy-budget", tmp_path)
    world, _ = recovered(agent, START_MS + 12 * 3_600_000)
    app = world.open(ScriptedReviewer(adding("x"), clock=world.clock))

    exposure = app.shop.stores.attempts.exposure("fixture-provider", "2026-01-03")  # type: ignore[arg-type]  # a literal day

    assert (exposure.unknown.calls, exposure.unknown.tokens, exposure.unknown.cost_nanousd) == (7, 12345, 123456789)


def _texts(project: Path) -> list[str]:
    branch = json.loads((project / "branches" / "main.json").read_text("utf-8"))
    return [entry["text"] for entry in branch["entries"]]


def _statuses(folder: Path) -> dict[str, str]:
    if not folder.is_dir():
        return {}
    return {path.name: json.loads(path.read_text("utf-8"))["status"] for path in sorted(folder.glob("*.json"))}


def _outcomes(agent: Path) -> dict[str, str]:
    folder = agent / "no-forgetti" / "review-spool" / "outcomes"
    found = {path.name: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))}
    return {name: value["outcome"]["status"] for name, value in found.items()}


def _attempts(agent: Path) -> dict[str, list[str]]:
    days = agent / "no-forgetti" / "review-spool" / "accounting" / "days"
    found: dict[str, list[str]] = {}
    for path in sorted(days.iterdir()) if days.is_dir() else ():
        value = json.loads(path.read_text("utf-8"))
        states = [f"{each['claimAttempt']}:{each['state']}" for each in value["providers"].get("fixture-provider", [])]
        if states:
            found[path.name] = sorted(states)
    return found


def _object(value: Json) -> dict[str, Json]:
    assert isinstance(value, dict)
    return value


def _wanted_attempts(wanted: dict[str, Json], today: str) -> dict[str, list[str]]:
    """The states by day; the protocol's run happened on another today than ours."""
    found: dict[str, list[str]] = {}
    for day, value in _object(wanted["attemptStates"]).items():
        states = _object(_object(value)["attempts"]).get("fixture-provider", [])
        if isinstance(states, list) and states:
            found.setdefault(day if day == "2026-01-03" else today, []).extend(map(str, states))
    return {day: sorted(states) for day, states in found.items()}


def _tree(agent: Path) -> dict[str, bytes]:
    """Everything but signs of life."""
    beats = {"review-workers", "runtimes"}
    files = [path for path in sorted(agent.rglob("*")) if path.is_file() and not path.is_symlink()]
    return {str(path.relative_to(agent)): path.read_bytes() for path in files if not beats & set(path.parts)}
