"""A model behind the chat completions API (api `openai-completions`): local servers and most hosted ones.

The client itself is heavy, so it is loaded with the first request and not before.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from curator.model.limits import MODEL_TIMEOUT_MS
from curator.model.ports import Answer, Brief, CallFailure, Clock, Prepared, Stop
from curator.model.reviewer_facts import Lookup
from curator.model.settings import ReviewerProfile
from curator.reviewer.hold import estimate_hold, request_digest
from curator.reviewer.profile import Resolved, resolve
from curator.reviewer.prompt import build_prompts

API: Final = "openai-completions"


@dataclasses.dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, in milliseconds."""

    total_ms: int = MODEL_TIMEOUT_MS
    connect_ms: int = 15_000
    read_ms: int = 180_000
    """Between two pieces. A model on a small machine may read the prompt for minutes before its first word."""


@dataclasses.dataclass(frozen=True, slots=True)
class Call(Prepared):
    """A prepared request with what only this provider needs; it lives as long as the attempt."""

    resolved: Resolved


class CompletionsReviewer:
    """Asks one model of models.json, as service.json names it."""

    def __init__(
        self, profile: ReviewerProfile, lookup: Lookup, clock: Clock, patience: Patience | None = None
    ) -> None:
        """Keep the profile; model and key are looked up anew for each call, so that mending them helps at once."""
        self._profile = profile
        self._lookup = lookup
        self._clock = clock
        self._patience = patience or Patience()

    def prepare(self, brief: Brief) -> Call:
        """Resolve model and key, write the prompts and estimate the hold. Raises `ReviewerSetupError`."""
        resolved = resolve(self._profile, self._lookup, API)
        facts = resolved.facts
        system_prompt, user_prompt = build_prompts(brief)
        return Call(
            provider=facts.provider,
            model=facts.model,
            api=facts.api,
            system_prompt=system_prompt,
            user_prompt=user_prompt,
            request_digest=request_digest(facts.provider, facts.model, facts.api, system_prompt, user_prompt),
            hold=estimate_hold(facts, system_prompt, user_prompt),
            resolved=resolved,
        )

    def ask(self, prepared: Prepared, stop: Stop) -> Answer | CallFailure:
        """Send the one request and wait for its end. `prepared` comes from this class's `prepare`."""
        from curator.reviewer.providers.openai import converse

        assert isinstance(prepared, Call)
        return converse(prepared, self._clock, self._patience, stop)
