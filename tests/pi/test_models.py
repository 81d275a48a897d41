"""models.json: as lenient as Pi about what is Pi's, and strict about what a review uses."""

import json
from pathlib import Path

import pytest

from curator.errors import ReviewerSetupError
from curator.model.digest import Json
from curator.model.reviewer_facts import ModelFacts, Rates, Tier
from curator.pi.models import Model, find_model
from tests.golden_fixtures import real_pi

COST: Json = {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75}
TIER: Json = {"inputTokensAbove": 200_000, "input": 6, "output": 22.5, "cacheRead": 0.6, "cacheWrite": 7.5}


def registry(tmp_path: Path, model: dict[str, Json] | None = None, provider: dict[str, Json] | None = None) -> Path:
    block: dict[str, Json] = {"baseUrl": "http://127.0.0.1:1/v1", "api": "openai-completions", "apiKey": "k"}
    own: dict[str, Json] = {"id": "m"}
    models: list[Json] = [own | (model or {})]
    whole: Json = {"providers": {"p": block | {"models": models} | (provider or {})}}
    (tmp_path / "models.json").write_text(json.dumps(whole))
    return tmp_path


def facts(tmp_path: Path, model: dict[str, Json] | None = None, provider: dict[str, Json] | None = None) -> ModelFacts:
    return find_model(registry(tmp_path, model, provider), "p", "m").facts


def refusal(agent_dir: Path, provider: str = "p", model: str = "m") -> ReviewerSetupError:
    with pytest.raises(ReviewerSetupError) as caught:
        find_model(agent_dir, provider, model)
    return caught.value


def test_the_model_of_real_pi_is_read(tmp_path: Path) -> None:
    found = find_model(real_pi("queued", tmp_path), "fake", "fake-1")

    assert found == Model(
        ModelFacts(
            provider="fake",
            model="fake-1",
            api="openai-completions",
            base_url="http://127.0.0.1:35635/v1",
            context_tokens=64_000,
            output_tokens_max=4_096,
            rates=Rates(input=1_000_000_000, output=2_000_000_000),
        ),
        "dummy-key",
        {},
    )


def test_a_model_that_says_nothing_has_pis_defaults(tmp_path: Path) -> None:
    found = facts(tmp_path)
    assert (found.context_tokens, found.output_tokens_max, found.rates) == (128_000, 16_384, Rates())
    assert (found.max_tokens_field, found.has_developer_role, found.has_stream_usage) == (
        "max_completion_tokens",
        False,
        True,
    )


def test_prices_are_nano_dollars_and_the_highest_tier_that_matches_counts(tmp_path: Path) -> None:
    assert isinstance(COST, dict)
    found = facts(tmp_path, {"cost": COST | {"tiers": [TIER]}})
    assert found.rates == Rates(3_000_000_000, 15_000_000_000, 300_000_000, 3_750_000_000)
    above = Rates(6_000_000_000, 22_500_000_000, 600_000_000, 7_500_000_000)
    assert found.tiers == (Tier(200_000, above),)
    assert found.rates_for(200_000) == found.rates
    assert found.rates_for(200_001) == above


def test_a_model_overrides_its_provider(tmp_path: Path) -> None:
    shared: dict[str, Json] = {"supportsDeveloperRole": False, "maxTokensField": "max_tokens"}
    own: dict[str, Json] = {"supportsDeveloperRole": True, "supportsUsageInStreaming": False, "supportsStore": True}
    found = find_model(
        registry(
            tmp_path,
            {"api": "other-api", "baseUrl": "https://example.org/x", "compat": own, "headers": {"b": "2"}},
            {"compat": shared, "headers": {"a": "1", "b": "1"}},
        ),
        "p",
        "m",
    )
    assert (found.facts.api, found.facts.base_url) == ("other-api", "https://example.org/x")
    assert (found.facts.has_developer_role, found.facts.max_tokens_field) == (True, "max_tokens")
    assert (found.facts.has_stream_usage, found.facts.has_store_field) == (False, True)
    assert found.header_sources == {"a": "1", "b": "2"}


ALL = {"minimal": "minimal", "low": "low", "medium": "medium", "high": "high"}


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ({}, {}),
        ({"reasoning": True}, ALL),
        ({"reasoning": True, "compat": {"supportsReasoningEffort": False}}, {}),
        ({"reasoning": True, "compat": {"thinkingFormat": "zai"}}, {}),
        ({"reasoning": True, "thinkingLevelMap": {"minimal": None, "xhigh": "max"}},
         {"low": "low", "medium": "medium", "high": "high", "xhigh": "max"}),
    ],
)  # fmt: skip
def test_efforts_are_those_that_the_model_takes(tmp_path: Path, model: dict[str, Json], words: dict[str, str]) -> None:
    assert facts(tmp_path, model).efforts == words


def test_comments_trailing_commas_and_a_byte_order_mark_are_allowed(tmp_path: Path) -> None:
    text = """\ufeff{
      // the server in the cellar
      "providers": {"p": {"baseUrl": "http://cellar:8080/v1", "api": "openai-completions", // no TLS there
        "models": [{"id": "m",},],},},
    }"""
    (tmp_path / "models.json").write_text(text, "utf-8")
    assert find_model(tmp_path, "p", "m").facts.base_url == "http://cellar:8080/v1"


def test_unknown_keys_and_the_slips_of_other_providers_are_pis_business(tmp_path: Path) -> None:
    registry(tmp_path, {"name": "M", "samplingParams": {}, "hologram": 1}, {"authHeader": True})
    whole = json.loads((tmp_path / "models.json").read_text())
    whole["providers"]["broken"] = {"models": "none", "baseUrl": 7}
    (tmp_path / "models.json").write_text(json.dumps(whole))
    assert find_model(tmp_path, "p", "m").facts.model == "m"
    assert refusal(tmp_path, "broken").setup_code == "model_registry_invalid"


@pytest.mark.parametrize(("provider", "model"), [("p", "other"), ("p", "m[1m]"), ("p", "M"), ("q", "m")])
def test_a_model_that_is_not_there_is_named_and_none_other_is_taken(tmp_path: Path, provider: str, model: str) -> None:
    error = refusal(registry(tmp_path), provider, model)
    assert error.setup_code == "model_not_found"
    assert model in error.fact
    assert provider in error.fact


def test_without_the_file_no_model_is_there(tmp_path: Path) -> None:
    assert refusal(tmp_path).setup_code == "model_not_found"


@pytest.mark.parametrize(
    ("model", "provider", "where"),
    [
        ({"cost": {"input": "3 secret"}}, {}, "models[0].cost.input"),
        ({"cost": {"output": -1}}, {}, "models[0].cost.output"),
        ({"cost": {"tiers": [{"input": 1}]}}, {}, "cost.tiers[0].inputTokensAbove"),
        ({"cost": 3}, {}, "models[0].cost"),
        ({"contextWindow": 0}, {}, "models[0].contextWindow"),
        ({"maxTokens": True}, {}, "models[0].maxTokens"),
        ({"reasoning": "yes"}, {}, "models[0].reasoning"),
        ({"compat": {"supportsDeveloperRole": 1}}, {}, "compat.supportsDeveloperRole"),
        ({"compat": {"maxTokensField": "secret"}}, {}, "compat.maxTokensField"),
        ({"headers": {"x": 1}}, {}, "headers.x"),
        ({}, {"baseUrl": "ftp://secret/"}, "baseUrl"),
        ({}, {"baseUrl": "http://"}, "baseUrl"),
        ({}, {"baseUrl": "http://h:99999/"}, "baseUrl"),
        ({}, {"api": None}, "has no api"),
        ({}, {"baseUrl": ""}, "baseUrl"),
        ({}, {"apiKey": 5}, "apiKey"),
    ],
)
def test_a_slip_in_what_we_use_is_named_by_its_place_and_not_by_its_value(
    tmp_path: Path, model: dict[str, Json], provider: dict[str, Json], where: str
) -> None:
    error = refusal(registry(tmp_path, model, provider))
    assert error.setup_code == "model_registry_invalid"
    assert where in error.fact
    assert "secret" not in str(error)


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff", b"[]", b'{"providers":[]}'])
def test_a_file_that_is_not_a_registry_is_refused(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "models.json").write_bytes(raw)
    assert refusal(tmp_path).setup_code == "model_registry_invalid"


def test_the_key_is_not_shown_by_a_model(tmp_path: Path) -> None:
    assert "dummy-key" not in repr(find_model(real_pi("queued", tmp_path), "fake", "fake-1"))
