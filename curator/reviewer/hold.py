"""What is reserved before a call, and the digest that names the call (interop.md 2.2 and 5.5)."""

from __future__ import annotations

from typing import Final

from curator.model.digest import Digest, digest_of_text
from curator.model.limits import EVIDENCE_CHARS_MAX, HOLD_OVERHEAD_TOKENS, MEMORY_CHARS_MAX, OUTPUT_TOKENS_MAX
from curator.model.ports import Hold
from curator.model.reviewer_facts import TOKENS_PER_RATE, ModelFacts
from curator.reviewer.prompt import SYSTEM_PROMPT

_INSTRUCTION_CHARS: Final = 4_000
"""Longer than what is said around the evidence."""


def output_tokens(facts: ModelFacts) -> int:
    """Return how much the model may answer: four operations need less, and more would not be read."""
    return min(OUTPUT_TOKENS_MAX, facts.output_tokens_max)


def estimate_hold(facts: ModelFacts, system_prompt: str, user_prompt: str, answer_tokens: int | None = None) -> Hold:
    """Return an upper estimate: a token has at least a byte, and each may cost the dearest rate of any tier.

    `answer_tokens` is what may be answered, where that is not what a review needs.
    """
    size = len(f"{system_prompt}\n{user_prompt}".encode("utf-8", "surrogatepass"))
    input_tokens = min(facts.context_tokens, size + HOLD_OVERHEAD_TOKENS)
    answer_tokens = answer_tokens or output_tokens(facts)
    every = (facts.rates, *(tier.rates for tier in facts.tiers))
    input_rate = sum(max(kind) for kind in zip(*((r.input, r.cache_read, r.cache_write) for r in every), strict=True))
    cost = input_tokens * input_rate + answer_tokens * max(rates.output for rates in every)
    # Rounded up: a reservation that is a fraction too small would not be one.
    return Hold(input_tokens + answer_tokens, -(-cost // TOKENS_PER_RATE))


def hold_bounds(facts: ModelFacts, answer_tokens: int | None = None) -> tuple[Hold, Hold]:
    """Return what a call of this model holds: at least, and at most for a job with all the evidence that it may have."""
    most = "\uffff" * (EVIDENCE_CHARS_MAX + MEMORY_CHARS_MAX + _INSTRUCTION_CHARS)
    least = estimate_hold(facts, SYSTEM_PROMPT, "", answer_tokens)
    return least, estimate_hold(facts, SYSTEM_PROMPT, most, answer_tokens)


def request_digest(provider: str, model: str, api: str, system_prompt: str, user_prompt: str) -> Digest:
    """Return the digest under which the dispatch of exactly this request is recorded."""
    return digest_of_text(f"review-model-request/v1\n{provider}\n{model}\n{api}\n{system_prompt}\n{user_prompt}")
