"""A model asked by its own API: chat completions and responses as OpenAI defined them, and Anthropic's messages.

The clients are heavy, so each is loaded with its first request and not before.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from curator.errors import ReviewerSetupError
from curator.model.limits import MODEL_TIMEOUT_MS
from curator.model.ports import Answer, Brief, CallFailure, Clock, Prepared, Stop, Unready
from curator.model.reviewer_facts import Credential, Found, Lookup, ModelFacts
from curator.model.settings import ReviewerProfile
from curator.reviewer.failures import MISHAPS, Mishap
from curator.reviewer.hold import estimate_hold, request_digest
from curator.reviewer.profile import effort_of, look_up
from curator.reviewer.prompt import build_prompts
from curator.reviewer.providers.prices import priced, refuse_unknown_price
from curator.reviewer.providers.reach import CONNECT_MS_MAX, find_obstacle

if TYPE_CHECKING:
    from curator.reviewer.heard.answer import Heard
    from curator.reviewer.providers.wire import Door

APIS: Final = ("anthropic-messages", "openai-completions", "openai-responses")


@dataclasses.dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, in milliseconds."""

    total_ms: int = MODEL_TIMEOUT_MS
    connect_ms: int = 15_000
    read_ms: int = 180_000
    """Between two pieces. A model on a small machine may read the prompt for minutes before its first word."""
    reach_ms: int = CONNECT_MS_MAX


@dataclasses.dataclass(frozen=True, slots=True)
class Call(Prepared):
    """A prepared request with what only this provider needs; it lives as long as the attempt."""

    found: Found
    effort: str | None
    """The wire's word for the reasoning effort, or None to say nothing of it."""
    clock: Clock
    patience: Patience
    credential: Credential | None = None

    @property
    def facts(self) -> ModelFacts:
        """What is known of the model."""
        return self.found.facts

    @property
    def sure_credential(self) -> Credential:
        """The key; there once the call is ready."""
        assert self.credential is not None
        return self.credential

    def make_ready(self, stop: Stop) -> Prepared | Unready:
        """Find the key, and open a connection to the host; nothing of the call leaves."""
        try:
            credential = self.found.find_key()
        except ReviewerSetupError as error:
            return Unready(error.setup_code, error.fact, error.remedy)
        obstacle = find_obstacle(self.facts.base_url, self.clock, stop, self.patience.reach_ms)
        if obstacle is not None:
            return unreachable(self.facts, obstacle)
        return dataclasses.replace(self, credential=credential)


def unreachable(facts: ModelFacts, obstacle: str) -> Unready:
    """Return that a provider cannot be reached, and what may help."""
    fact = f"provider {facts.provider} cannot be reached: {obstacle}"
    remedy = "See that the network and the server are up, and that baseUrl is right; jobs wait until then"
    return Unready(MISHAPS[Mishap.UNREACHABLE].code, fact, remedy)


class DirectReviewer:
    """Asks one model by its API, as service.json names it."""

    def __init__(
        self,
        profile: ReviewerProfile,
        lookup: Lookup,
        clock: Clock,
        patience: Patience | None = None,
        *,
        allow_unknown_price: bool = False,
    ) -> None:
        """Keep the profile; model and key are looked up anew for each call, so that mending them helps at once."""
        self._profile = profile
        self._lookup = lookup
        self._clock = clock
        self._patience = patience or Patience()
        self._allow_unknown_price = allow_unknown_price

    def prepare(self, brief: Brief) -> Call:
        """Resolve the model and its price, write the prompts and estimate the hold. Raises `ReviewerSetupError`."""
        found = look_up(self._profile, self._lookup, APIS)
        facts = priced(found.facts, self._clock.now())
        refuse_unknown_price(facts, is_allowed=self._allow_unknown_price)
        system_prompt, user_prompt = build_prompts(brief)
        return Call(
            provider=facts.provider,
            model=facts.model,
            api=facts.api,
            system_prompt=system_prompt,
            user_prompt=user_prompt,
            request_digest=request_digest(facts.provider, facts.model, facts.api, system_prompt, user_prompt),
            hold=estimate_hold(facts, system_prompt, user_prompt),
            found=dataclasses.replace(found, facts=facts),
            effort=effort_of(self._profile.reasoning_effort, facts),
            clock=self._clock,
            patience=self._patience,
        )

    def ask(self, prepared: Prepared, stop: Stop) -> Answer | CallFailure:
        """Send the one request and wait for its end. `prepared` comes from this class's `prepare`, made ready."""
        assert isinstance(prepared, Call)
        return send(prepared, stop)


def send(call: Call, stop: Stop) -> Answer | CallFailure:
    """Send a prepared call, made ready. Every expected failure is returned."""
    from curator.reviewer.providers.wire import converse

    door, heard = _open(call.api)
    return converse(call, door, heard, call.clock, call.patience, stop)


def _open(api: str) -> tuple[Door, Heard]:
    match api:
        case "openai-completions":
            from curator.reviewer.heard.chat import ChatHeard
            from curator.reviewer.providers.openai import ask_chat

            return ask_chat, ChatHeard()
        case "openai-responses":
            from curator.reviewer.heard.responses import ResponsesHeard
            from curator.reviewer.providers.openai import ask_responses

            return ask_responses, ResponsesHeard()
        case _:
            from curator.reviewer.heard.messages import MessagesHeard
            from curator.reviewer.providers.anthropic import ask_messages

            assert api == "anthropic-messages"
            return ask_messages, MessagesHeard()
