"""A price is told by models.json, by this machine, by the list, or by nobody; and nobody's passes no limit by itself."""

import dataclasses

import pytest

from curator.errors import ReviewerSetupError
from curator.model.reviewer_facts import Found, ModelFacts, Rates, Tier
from curator.model.settings import ReviewerProfile
from curator.reviewer.providers.direct import DirectReviewer
from curator.reviewer.providers.prices import priced, refuse_unknown_price
from tests.briefs import NOW, HandClock, brief

API = "openai-completions"
DOLLAR = 1_000_000_000


def facts(url: str, provider: str = "made-up", model: str = "made-up-1") -> ModelFacts:
    return ModelFacts(provider, model, API, url, 64_000, 4_096, price="unknown")


def test_what_models_json_says_is_not_looked_up_elsewhere() -> None:
    known = dataclasses.replace(facts("https://api.anthropic.com"), price="models.json", rates=Rates(1, 2, 3, 4))
    assert priced(known, NOW) == known


def test_a_server_on_this_machine_costs_nothing() -> None:
    found = priced(facts("http://127.0.0.1:11434/v1"), NOW)
    assert (found.price, found.rates) == ("this machine", Rates())


def test_the_list_is_asked_by_address_and_by_name_with_its_tiers() -> None:
    by_address = priced(facts("https://api.anthropic.com", model="claude-sonnet-4-5"), NOW)
    by_name = priced(facts("https://proxy.invalid", "anthropic", "claude-sonnet-4-5"), NOW)
    assert by_address.rates == by_name.rates == Rates(3 * DOLLAR, 15 * DOLLAR, 3 * DOLLAR // 10, 15 * DOLLAR // 4)
    tier = Tier(200_000, Rates(6 * DOLLAR, 45 * DOLLAR // 2, 6 * DOLLAR // 10, 15 * DOLLAR // 2))
    assert by_address.tiers == by_name.tiers == (tier,)
    assert by_address.price == "genai-prices"
    assert by_address.rates_for(200_001).input == 6 * DOLLAR


def test_a_kind_of_input_without_a_price_costs_what_input_costs() -> None:
    found = priced(facts("https://api.openai.com/v1", model="gpt-5.2"), NOW)
    assert found.rates.cache_write == found.rates.input


@pytest.mark.parametrize("model", ["made-up-1", "claude-sonnet-4-5"])
def test_a_price_of_the_same_name_elsewhere_is_no_price(model: str) -> None:
    assert priced(facts("https://proxy.invalid/v1", model=model), NOW).price == "unknown"


def test_an_unknown_price_passes_no_cost_limit_unless_it_may() -> None:
    unknown = facts("https://proxy.invalid/v1")
    refuse_unknown_price(unknown, is_allowed=True)
    profile = ReviewerProfile(provider="made-up", model="made-up-1")
    found = Found(unknown, lambda: pytest.fail("no key is needed to see that"))
    with pytest.raises(ReviewerSetupError, match="allow_unknown_price") as caught:
        DirectReviewer(profile, lambda *_: found, HandClock()).prepare(brief("USER: Hi."))
    assert caught.value.setup_code == "price_unknown"
    reviewer = DirectReviewer(profile, lambda *_: found, HandClock(), allow_unknown_price=True)
    assert reviewer.prepare(brief("USER: Hi.")).hold.cost_nanousd == 0
