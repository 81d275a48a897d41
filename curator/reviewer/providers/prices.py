"""What a model costs where models.json does not say: nothing on this machine, else what genai-prices lists for its provider.

The list is asked for the provider's own address or name; what a model of that name costs elsewhere is no price of this
one. It lies in the package and is never fetched. What is still unknown then passes a cost limit only if
`allow_unknown_price` says so.
"""

from __future__ import annotations

import dataclasses
import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from curator.errors import ReviewerSetupError
from curator.model.outcome import NANO_PER_USD
from curator.model.reviewer_facts import ModelFacts, Rates, Tier
from curator.reviewer.providers.reach import is_loopback

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice, TieredPrices

_KINDS: Final = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok")


def priced(facts: ModelFacts, now: int) -> ModelFacts:
    """Return the facts with rates that somebody told, if anybody did. `now` is UTC milliseconds: prices change."""
    if facts.price != "unknown":
        return facts
    if is_loopback(facts.base_url):
        return dataclasses.replace(facts, price="this machine")
    found = _listed(facts, now)
    if found is None:
        return facts
    return dataclasses.replace(facts, rates=found[0], tiers=found[1], price="genai-prices")


def refuse_unknown_price(facts: ModelFacts, *, is_allowed: bool) -> None:
    """Raise `ReviewerSetupError` where a cost limit would be passed by a price that nobody knows."""
    if facts.price == "unknown" and not is_allowed:
        raise ReviewerSetupError(
            "price_unknown",
            f"nobody tells the price of {facts.provider}/{facts.model}, so its cost cannot be limited",
            remedy=(
                "Give the model its cost in models.json, or set allow_unknown_price = true in curator.toml;"
                " jobs wait until then"
            ),
        )


def _listed(facts: ModelFacts, now: int) -> tuple[Rates, tuple[Tier, ...]] | None:
    from genai_prices import Usage, calc_price

    usage, at = Usage(input_tokens=1), datetime.fromtimestamp(now / 1_000, UTC)
    try:
        found = calc_price(usage, facts.model, provider_api_url=facts.base_url, genai_request_timestamp=at)
    except LookupError:
        try:
            found = calc_price(usage, facts.model, provider_id=facts.provider, genai_request_timestamp=at)
        except LookupError:
            return None
    return _rates_of(found.model_price)


def _rates_of(price: ModelPrice) -> tuple[Rates, tuple[Tier, ...]]:
    input_price, output_price, cached, written = (getattr(price, kind) for kind in _KINDS)
    # A kind of input without a price of its own costs what input costs.
    every = (input_price, output_price, cached or input_price, written or input_price)
    starts = sorted({tier.start for each in every if not isinstance(each, Decimal | None) for tier in each.tiers})
    return _rates_at(every, 0), tuple(Tier(start, _rates_at(every, start + 1)) for start in starts)


def _rates_at(prices: tuple[Decimal | TieredPrices | None, ...], tokens: int) -> Rates:
    fresh, output, cached, written = (_nano(each, tokens) for each in prices)
    return Rates(fresh, output, cached, written)


def _nano(price: Decimal | TieredPrices | None, tokens: int) -> int:
    if price is None:
        return 0
    if not isinstance(price, Decimal):
        reached = [tier.price for tier in price.tiers if tokens > tier.start]
        price = reached[-1] if reached else price.base
    return math.ceil(price * NANO_PER_USD)
