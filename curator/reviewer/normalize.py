"""What a provider says of itself, made fit to be kept (interop.md 16.6).

Nothing of the answer decides who was asked: provider, model and api come from the request. What breaks the protocol's
bounds is dropped before it becomes provenance: kept once, it would fail every later reading.
"""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Final

from curator.model.digest import Json
from curator.model.ids import SAFE_ID_PATTERN
from curator.model.outcome import Cost, Provenance, Usage, usd
from curator.model.reviewer_facts import TOKENS_PER_RATE, ModelFacts
from curator.model.times import iso

TOKENS_MAX: Final = 100_000_000
"""No single answer used that many: a larger count is a defect, and would overflow the protocol's integers."""
_MODEL_NAME: Final = re.compile(r"[\x21-\x7e]{1,256}")


@dataclasses.dataclass(frozen=True, slots=True)
class Said:
    """What an answer claims about itself, unchecked."""

    usage: Json = None
    response_id: Json = None
    response_model: Json = None


def make_provenance(facts: ModelFacts, started_at: int, completed_at: int, said: Said) -> tuple[Provenance, bool]:
    """Return the provenance, and whether its usage is a stand-in: zero, because the provider did not tell it.

    Times are milliseconds; a clock that went back ends the call when it began.
    """
    completed_at = max(started_at, completed_at)
    usage = read_usage(said.usage, facts)
    provenance = Provenance(
        provider=facts.provider,
        model=facts.model,
        api=facts.api,
        started_at=iso(started_at),
        completed_at=iso(completed_at),
        duration_ms=completed_at - started_at,
        usage=usage or no_usage(),
        response_model=_response_model(said.response_model, facts.model),
        response_id=_response_id(said.response_id),
    )
    return provenance, usage is None


def no_usage() -> Usage:
    """Return the usage of a call that provably used nothing."""
    return _usage(0, 0, 0, 0, Cost(input=0, output=0, cache_read=0, cache_write=0, total=0))


def read_usage(value: Json, facts: ModelFacts) -> Usage | None:
    """Return usage and cost of a chat completion, or None where they are not told or cannot be true.

    Cached tokens are part of the prompt count in this API; where they are more, they were counted beside it. Tokens
    that only the total knows, as some servers count thinking, are charged as output.
    """
    if not isinstance(value, dict):
        return None
    prompt, completion = _count(value.get("prompt_tokens")), _count(value.get("completion_tokens"))
    if prompt is None or completion is None or prompt + completion == 0:
        return None
    details, thought = _inner(value, "prompt_tokens_details"), _inner(value, "completion_tokens_details")
    told = (details.get("cached_tokens"), value.get("prompt_cache_hit_tokens"), value.get("cached_tokens"))
    cached = next((count for count in map(_count, told) if count is not None), 0)
    written = _count(details.get("cache_write_tokens")) or 0
    fresh = prompt - cached - written if cached + written <= prompt else prompt
    total = _count(value.get("total_tokens")) or 0
    completion += max(0, total - fresh - cached - written - completion)
    reasoning = _count(thought.get("reasoning_tokens"))
    return _usage(fresh, completion, cached, written, _cost(facts, fresh, completion, cached, written), reasoning)


def _usage(fresh: int, output: int, cached: int, written: int, cost: Cost, reasoning: int | None = None) -> Usage:
    return Usage(
        input=fresh,
        output=output,
        cache_read=cached,
        cache_write=written,
        total_tokens=fresh + output + cached + written,
        cost=cost,
        reasoning=min(reasoning, output) if reasoning else None,
    )


def _cost(facts: ModelFacts, fresh: int, output: int, cached: int, written: int) -> Cost:
    rates = facts.rates_for(fresh + cached + written)
    # Each kind rounds up to a whole nano-dollar, and the total is their sum: so the columns always add up.
    parts = [
        -(-tokens * rate // TOKENS_PER_RATE)
        for tokens, rate in (
            (fresh, rates.input),
            (output, rates.output),
            (cached, rates.cache_read),
            (written, rates.cache_write),
        )
    ]
    return Cost(
        input=usd(parts[0]),
        output=usd(parts[1]),
        cache_read=usd(parts[2]),
        cache_write=usd(parts[3]),
        total=usd(sum(parts)),
    )


def _inner(value: dict[str, Json], key: str) -> dict[str, Json]:
    inner = value.get(key)
    return inner if isinstance(inner, dict) else {}


def _count(value: Json) -> int | None:
    """Return a number of tokens, or None for what is none: a text, a negative, a truth value, more than can be."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= TOKENS_MAX:
        return None
    return math.ceil(value)


def _response_id(value: Json) -> str | None:
    return value if isinstance(value, str) and SAFE_ID_PATTERN.fullmatch(value) else None


def _response_model(value: Json, asked: str) -> str | None:
    """Return the model that answered where it is not the one that was asked: a router's choice, say."""
    return value if isinstance(value, str) and value != asked and _MODEL_NAME.fullmatch(value) else None
