"""What a provider says of itself, made fit to be kept (interop.md 16.6).

Nothing of the answer decides who was asked: provider, model and api come from the request. What breaks the protocol's
bounds is dropped before it becomes provenance: kept once, it would fail every later reading.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable
from typing import Final

from curator.model.digest import Json
from curator.model.ids import SAFE_ID_PATTERN
from curator.model.outcome import Cost, Provenance, Usage, usd
from curator.model.reviewer_facts import TOKENS_PER_RATE, ModelFacts
from curator.model.times import iso

TOKENS_MAX: Final = 100_000_000
"""No single answer used that many: a larger count is a defect, and would overflow the protocol's integers."""
PI_FORM: Final = "pi"
"""The usage of Pi's own messages, whatever API is behind it."""
_MODEL_NAME: Final = re.compile(r"[\x21-\x7e]{1,256}")


@dataclasses.dataclass(frozen=True, slots=True)
class Said:
    """What an answer claims about itself, unchecked."""

    usage: Json = None
    response_id: Json = None
    response_model: Json = None
    form: str | None = None
    """In whose words the usage is told, where these are not those of the model's API."""


def make_provenance(
    facts: ModelFacts, started_at: int, completed_at: int, said: Said | None
) -> tuple[Provenance, bool]:
    """Return the provenance, and whether its usage is a stand-in: zero, because the provider did not tell it.

    Where nothing is `said` the model provably did not run, and zero is the truth. Times are milliseconds; a clock that
    went back ends the call when it began.
    """
    completed_at = max(started_at, completed_at)
    usage = no_usage() if said is None else read_usage(said.usage, facts, said.form)
    said = said or Said()
    provenance = Provenance(
        provider=facts.provider,
        model=facts.model,
        api=facts.api,
        started_at=iso(started_at),
        completed_at=iso(completed_at),
        duration_ms=completed_at - started_at,
        usage=usage or _STAND_IN,
        response_model=_response_model(said.response_model, facts.model),
        response_id=_response_id(said.response_id),
    )
    return provenance, usage is None


def no_usage() -> Usage:
    """Return the usage of a call that provably used nothing: its zero is told, and is no stand-in."""
    return _usage(_Counts(0, 0, 0, 0, 0), Cost(input=0, output=0, cache_read=0, cache_write=0, total=0))


def read_usage(value: Json, facts: ModelFacts, form: str | None = None) -> Usage | None:
    """Return usage and cost of an answer, or None where they are not told or cannot be true.

    Tokens that only the total knows, as some servers count thinking, are charged as output.
    """
    counts = _READERS.get(form or facts.api, _of_chat)(value) if isinstance(value, dict) else None
    if counts is None or counts.total == 0:
        return None
    return _usage(counts, _cost(facts, counts))


@dataclasses.dataclass(frozen=True, slots=True)
class _Counts:
    """Tokens of one answer, each counted once: cached ones are not among the fresh, thinking is among the output."""

    fresh: int
    output: int
    cached: int
    written: int
    reasoning: int | None = None

    @property
    def total(self) -> int:
        return self.fresh + self.output + self.cached + self.written


def _of_chat(value: dict[str, Json]) -> _Counts | None:
    """Cached tokens are part of the prompt count in this API; where they are more, they were counted beside it."""
    details, thought = _inner(value, "prompt_tokens_details"), _inner(value, "completion_tokens_details")
    told = (details.get("cached_tokens"), value.get("prompt_cache_hit_tokens"), value.get("cached_tokens"))
    return _within(
        (value.get("prompt_tokens"), value.get("completion_tokens"), value.get("total_tokens")),
        cached=_first(*told),
        written=_first(details.get("cache_write_tokens")),
        reasoning=_count(thought.get("reasoning_tokens")),
    )


def _of_responses(value: dict[str, Json]) -> _Counts | None:
    """Cached tokens are part of the input count, and reasoning of the output."""
    details, thought = _inner(value, "input_tokens_details"), _inner(value, "output_tokens_details")
    return _within(
        (value.get("input_tokens"), value.get("output_tokens"), value.get("total_tokens")),
        cached=_first(details.get("cached_tokens")),
        written=_first(details.get("cache_write_tokens")),
        reasoning=_count(thought.get("reasoning_tokens")),
    )


def _of_messages(value: dict[str, Json]) -> _Counts | None:
    """Cached tokens are counted beside the input in this API, and thinking within the output."""
    fresh, output = _count(value.get("input_tokens")), _count(value.get("output_tokens"))
    if fresh is None or output is None:
        return None
    cached, written = _first(value.get("cache_read_input_tokens")), _first(value.get("cache_creation_input_tokens"))
    return _Counts(fresh, output, cached, written)


def _of_pi(value: dict[str, Json]) -> _Counts | None:
    """Pi has put them apart already."""
    fresh, output = _count(value.get("input")), _count(value.get("output"))
    if fresh is None or output is None:
        return None
    cached, written = _first(value.get("cacheRead")), _first(value.get("cacheWrite"))
    return _Counts(fresh, output, cached, written, _count(value.get("reasoning")))


def _within(told: tuple[Json, Json, Json], *, cached: int, written: int, reasoning: int | None) -> _Counts | None:
    prompt, output, total = map(_count, told)
    if prompt is None or output is None:
        return None
    fresh = prompt - cached - written if cached + written <= prompt else prompt
    output += max(0, (total or 0) - fresh - cached - written - output)
    return _Counts(fresh, output, cached, written, reasoning)


_READERS: Final[dict[str, Callable[[dict[str, Json]], _Counts | None]]] = {
    "openai-completions": _of_chat,
    "openai-responses": _of_responses,
    "anthropic-messages": _of_messages,
    PI_FORM: _of_pi,
}


def _usage(counts: _Counts, cost: Cost) -> Usage:
    # Only where nothing was used a count of zero thoughts is kept: it tells this zero from one that stands in.
    reasoning = None if counts.reasoning is None else min(counts.reasoning, counts.output)
    return Usage(
        input=counts.fresh,
        output=counts.output,
        cache_read=counts.cached,
        cache_write=counts.written,
        total_tokens=counts.total,
        cost=cost,
        reasoning=reasoning if reasoning or counts.total == 0 else None,
    )


def _cost(facts: ModelFacts, counts: _Counts) -> Cost:
    rates = facts.rates_for(counts.fresh + counts.cached + counts.written)
    # Each kind rounds up to a whole nano-dollar, and the total is their sum: so the columns always add up.
    parts = [
        -(-tokens * rate // TOKENS_PER_RATE)
        for tokens, rate in (
            (counts.fresh, rates.input),
            (counts.output, rates.output),
            (counts.cached, rates.cache_read),
            (counts.written, rates.cache_write),
        )
    ]
    return Cost(
        input=usd(parts[0]),
        output=usd(parts[1]),
        cache_read=usd(parts[2]),
        cache_write=usd(parts[3]),
        total=usd(sum(parts)),
    )


_STAND_IN: Final = _usage(_Counts(0, 0, 0, 0), Cost(input=0, output=0, cache_read=0, cache_write=0, total=0))


def _first(*told: Json) -> int:
    """Return the first count that is one, else none."""
    return next((count for count in map(_count, told) if count is not None), 0)


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
