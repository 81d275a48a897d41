"""What is known of a model before it is asked: where it is, what it can, what it costs, and with which key."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

from curator.model.settings import Effort

TOKENS_PER_RATE: Final = 1_000_000
"""Rates are prices of a million tokens."""

MaxTokensField: TypeAlias = Literal["max_completion_tokens", "max_tokens"]
PriceSource: TypeAlias = Literal["models.json", "genai-prices", "this machine", "Pi", "unknown"]
"""Who told the rates; a server on this machine that names none costs nothing."""


@dataclasses.dataclass(frozen=True, slots=True)
class Rates:
    """What a million tokens of each kind cost, in nano-USD."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Tier:
    """Rates for a whole request whose input is larger than a threshold."""

    tokens_above: int
    rates: Rates


@dataclasses.dataclass(frozen=True, slots=True)
class ModelFacts:
    """One model of Pi's models.json, or one that Pi itself knows, as far as a review needs it."""

    provider: str
    model: str
    api: str
    base_url: str
    context_tokens: int
    output_tokens_max: int
    rates: Rates = Rates()
    tiers: tuple[Tier, ...] = ()
    price: PriceSource = "models.json"
    efforts: Mapping[Effort, str] = dataclasses.field(default_factory=dict)
    """The wire's word for each reasoning effort that may be sent; empty where none may."""
    has_developer_role: bool = False
    has_stream_usage: bool = True
    has_store_field: bool = False
    max_tokens_field: MaxTokensField = "max_completion_tokens"
    has_bearer: bool = False
    """Whether the key goes into an Authorization header, where the API has one of its own."""

    def rates_for(self, input_tokens: int) -> Rates:
        """Return the rates of a request with that much input, cached input included."""
        matching = [tier for tier in self.tiers if input_tokens > tier.tokens_above]
        return max(matching, key=lambda tier: tier.tokens_above).rates if matching else self.rates


@dataclasses.dataclass(frozen=True, slots=True)
class Credential:
    """A key and headers that carry secrets. Never shown: its text form tells nothing."""

    api_key: str = dataclasses.field(repr=False)
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict, repr=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """A model, and how to come by its key: only right before a call, for a command may ask a person for a password."""

    facts: ModelFacts
    find_key: Callable[[], Credential] = dataclasses.field(repr=False)
    """Raises `ReviewerSetupError` with auth_unavailable; never returns another key."""


Lookup: TypeAlias = Callable[[str, str], Found]
"""From provider and model to what is needed to call it. Raises `ReviewerSetupError`; never returns another model."""
