"""Both configurations are closed; what is left out has its default."""

from typing import Final

import pytest

from curator.model.budget import Limits
from curator.model.digest import Json
from curator.model.ids import Day
from curator.model.record import Violation
from curator.model.settings import CuratorSettings, ReviewerProfile, ServiceSettings

REVIEWER: Final[dict[str, Json]] = {"provider": "offline", "model": "rules-1"}
EXTERNAL: Final[dict[str, Json]] = {"version": 1, "mode": "external", "reviewer": REVIEWER}


def test_the_smallest_reviewer_has_the_protocols_defaults() -> None:
    reviewer = ServiceSettings.decode(EXTERNAL).reviewer

    assert reviewer == ReviewerProfile(
        provider="offline",
        model="rules-1",
        reasoning_effort="medium",
        max_calls_per_day=100,
        max_tokens_per_day=500_000,
        max_cost_per_day_usd=10,
    )
    assert reviewer.limits == Limits(100, 500_000, 10_000_000_000)


def test_a_cost_limit_below_a_nano_dollar_is_one() -> None:
    assert ReviewerProfile.decode(REVIEWER | {"maxCostPerDayUsd": 1e-12}).limits.cost_nanousd == 1


@pytest.mark.parametrize(
    "value",
    [
        {"version": 1, "mode": "embedded"},
        {"version": 1, "mode": "shadow", "evidenceTtlHours": 0.5},
        EXTERNAL | {"evidenceTtlHours": 8760},
    ],
)
def test_a_service_json_within_the_rules_is_read(value: dict[str, Json]) -> None:
    assert ServiceSettings.decode(value).mode == value["mode"]


@pytest.mark.parametrize(
    "value",
    [
        {"version": 1, "mode": "external"},
        {"version": 1},
        {"mode": "embedded"},
        {"version": 2, "mode": "embedded"},
        {"version": 1, "mode": "embedded", "evidenceTtlHours": 0},
        {"version": 1, "mode": "embedded", "evidenceTtlHours": 8760.5},
        {"version": 1, "mode": "embedded", "reviewer": None},
        {"version": 1, "mode": "embedded", "onStale": "rebase"},
        EXTERNAL | {"reviewer": {"provider": "p"}},
        EXTERNAL | {"reviewer": REVIEWER | {"provider": " "}},
        EXTERNAL | {"reviewer": REVIEWER | {"apiKey": "k"}},
        EXTERNAL | {"reviewer": REVIEWER | {"reasoningEffort": "max"}},
        EXTERNAL | {"reviewer": REVIEWER | {"maxCallsPerDay": 0}},
        EXTERNAL | {"reviewer": REVIEWER | {"maxTokensPerDay": 1e9 + 1}},
        EXTERNAL | {"reviewer": REVIEWER | {"maxCostPerDayUsd": 0}},
        EXTERNAL | {"reviewer": REVIEWER | {"maxCostPerDayUsd": 1_000_001}},
    ],
)
def test_a_service_json_that_breaks_a_rule_is_refused(value: dict[str, Json]) -> None:
    with pytest.raises(Violation):
        ServiceSettings.decode(value)


def test_curators_own_settings_may_all_be_left_out() -> None:
    settings = CuratorSettings.decode({})

    assert (settings.evidence, settings.on_stale, settings.require_power_safe) == ("accept", "rebase", False)


def test_curators_own_keys_are_written_with_underscores() -> None:
    assert CuratorSettings.decode({"on_stale": "report", "require_power_safe": True}).on_stale == "report"
    with pytest.raises(Violation):
        CuratorSettings.decode({"onStale": "report"})


@pytest.mark.parametrize(
    ("said", "first"),
    [
        ("charge", "0000-00-00"),
        ("expire-after = 0 days", "2026-03-01"),
        ("expire-after = 1 day", "2026-02-28"),
        ("expire-after = 7 days", "2026-02-22"),
        ("expire-after = 365 days", "2025-03-01"),
    ],
)
def test_what_has_no_end_counts_until_it_is_settled_or_for_so_many_days(said: str, first: str) -> None:
    settings = CuratorSettings.decode({"budget": {"unresolved": said}})

    assert settings.budget.counts_from(Day("2026-03-01")) == first


@pytest.mark.parametrize("said", ["", "Charge", "forget", "expire-after", "expire-after = 07 days", "7 days", 7])
def test_another_word_for_what_has_no_end_is_refused(said: Json) -> None:
    with pytest.raises(Violation) as caught:
        CuratorSettings.decode({"budget": {"unresolved": said}})

    assert caught.value.where == "budget.unresolved"


def test_without_a_word_on_it_what_has_no_end_counts_until_it_is_settled() -> None:
    empty: list[dict[str, Json]] = [{}, {"budget": {}}]
    for given in empty:
        assert CuratorSettings.decode(given).budget.unresolved == "charge"
