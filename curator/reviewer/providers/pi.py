"""A model asked through Pi itself, in RPC mode: every provider, login and subscription that Pi knows.

INVARIANT  One request at most leaves a child, and its status is known by type: an extension of ours, the only one that
           is loaded, counts requests and tells what became of the one (through_pi/guard.js).
INVARIANT  The prompt goes over standard input; neither it nor a key stands in an argument.
CRASH      What ends an answer early leaves no provenance: the attempt stays unknown, unless nothing had left yet.
"""

from __future__ import annotations

import dataclasses
import math
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from curator.errors import ReviewerSetupError
from curator.model.digest import Json, MalformedJsonError, parse
from curator.model.limits import ANSWER_BYTES_MAX
from curator.model.outcome import NANO_PER_USD
from curator.model.ports import Answer, Brief, CallFailure, Clock, Prepared, Stop, Unready
from curator.model.reviewer_facts import ModelFacts, Rates, Tier
from curator.model.settings import ReviewerProfile
from curator.reviewer.failures import MISHAPS, Charge, Mishap, failure_of, failure_of_status, row_of_status
from curator.reviewer.failures import read_retry_after as read_wait
from curator.reviewer.heard.answer import Ended, failure_of_end, inner, objects
from curator.reviewer.hold import estimate_hold, output_tokens, request_digest
from curator.reviewer.normalize import PI_FORM, Said, make_provenance
from curator.reviewer.prompt import build_prompts
from curator.reviewer.providers.direct import Patience, unreachable
from curator.reviewer.providers.prices import priced, refuse_unknown_price
from curator.reviewer.providers.reach import find_obstacle
from curator.reviewer.through_pi.child import Child, OverdueError, StoppedError, TooMuchError
from curator.reviewer.through_pi.room import arguments, environment

START_MS_MAX: Final = 30_000
"""Pi is up in half a second; a cold disk or a busy machine takes longer."""
_NEVER_OPENED: Final = frozenset({"ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT", "EHOSTUNREACH"})
_ENDS: Final = {"stop": Ended.DONE, "length": Ended.LENGTH, "toolUse": Ended.TOOL}
_REFUSALS: Final = frozenset({"refusal", "content_filter", "safety", "SAFETY"})
_HOST: Final = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+(?:/|\Z)")
_TOKENS_MAX: Final = 1_000_000_000
_USD_PER_MILLION_MAX: Final = 10_000
_SUCCESS: Final = range(200, 300)


@dataclasses.dataclass(frozen=True, slots=True)
class Way:
    """How Pi is started, and what its own files say of the model."""

    command: str
    agent_dir: Path
    room: Path
    environ: Mapping[str, str]
    named: frozenset[str]
    """The variables that auth.json and models.json name for the provider."""
    known: ModelFacts | None
    """The model as models.json has it, where that has it."""
    check_key: Callable[[], None]
    """Raises `ReviewerSetupError` where a key is missing that shows without asking anybody."""


@dataclasses.dataclass(frozen=True, slots=True)
class PiCall(Prepared):
    """A prepared call through Pi."""

    way: Way
    facts: ModelFacts
    effort: str
    output_tokens: int | None
    """What the answer is cut to, where no thoughts need room."""
    clock: Clock
    patience: Patience

    def make_ready(self, stop: Stop) -> Prepared | Unready:
        """See that a key is named and that the host can be reached; nothing of the call leaves."""
        try:
            self.way.check_key()
        except ReviewerSetupError as error:
            return Unready(error.setup_code, error.fact, error.remedy)
        if not _HOST.match(self.facts.base_url):
            # Some of Pi's providers make up their address from an account or a region, and only Pi knows how.
            return self
        obstacle = find_obstacle(self.facts.base_url, self.clock, stop, self.patience.reach_ms)
        return self if obstacle is None else unreachable(self.facts, obstacle)


class PiReviewer:
    """Asks the model that service.json names through the person's own Pi."""

    def __init__(
        self,
        profile: ReviewerProfile,
        way: Way,
        clock: Clock,
        patience: Patience | None = None,
        *,
        allow_unknown_price: bool = False,
    ) -> None:
        """Keep the profile; Pi is asked anew for each call what it knows of the model."""
        self._profile = profile
        self._way = way
        self._clock = clock
        self._patience = patience or Patience()
        self._allow_unknown_price = allow_unknown_price

    def find_facts(self, stop: Stop) -> tuple[ModelFacts, bool]:
        """Ask Pi for the model and its price, and whether it will think. Raises `ReviewerSetupError`."""
        state, available = self._ask_state(stop)
        provider, model = self._profile.provider, self._profile.model
        raw = inner(state, "model")
        if (raw.get("provider"), raw.get("id")) != (provider, model):
            raise self._missing("model_not_found", "has no such model", "Name one that `pi --list-models` shows")
        if not any((each.get("provider"), each.get("id")) == (provider, model) for each in available):
            # Pi makes up what it does not know, and lists only what it has a key for.
            if any(each.get("provider") == provider for each in available):
                raise self._missing("model_not_found", "has no such model", "Name one that `pi --list-models` shows")
            raise self._missing("auth_unavailable", "has no key and no login for it", "Log in with /login in Pi")
        facts = priced(_facts_of(raw, provider, model, self._way.known), self._clock.now())
        return facts, state.get("thinkingLevel") != "off"

    def prepare(self, brief: Brief) -> PiCall:
        """Ask Pi for the model and its price, write the prompts and estimate the hold. Raises `ReviewerSetupError`."""
        facts, thinks = self.find_facts(_Never())
        refuse_unknown_price(facts, is_allowed=self._allow_unknown_price)
        system_prompt, user_prompt = build_prompts(brief)
        limit = None if thinks else output_tokens(facts)
        return PiCall(
            provider=facts.provider,
            model=facts.model,
            api=facts.api,
            system_prompt=system_prompt,
            user_prompt=user_prompt,
            request_digest=request_digest(facts.provider, facts.model, facts.api, system_prompt, user_prompt),
            hold=estimate_hold(facts, system_prompt, user_prompt, limit or facts.output_tokens_max),
            way=self._way,
            facts=facts,
            effort=self._profile.reasoning_effort,
            output_tokens=limit,
            clock=self._clock,
            patience=self._patience,
        )

    def ask(self, prepared: Prepared, stop: Stop) -> Answer | CallFailure:
        """Let a Pi of its own send the one request, and wait for its end. `prepared` comes from `prepare`."""
        assert isinstance(prepared, PiCall)
        return talk(prepared, stop)

    def _ask_state(self, stop: Stop) -> tuple[Mapping[str, Json], list[dict[str, Json]]]:
        profile, way = self._profile, self._way
        state: Mapping[str, Json] | None = None
        try:
            with _start(way, profile.provider, profile.model, profile.reasoning_effort, None, self._clock, stop) as pi:
                pi.say({"id": "state", "type": "get_state"})
                pi.say({"id": "models", "type": "get_available_models"})
                for told in pi.listen(self._clock.monotonic() + START_MS_MAX):
                    if told.get("id") == "state":
                        state = inner(told, "data")
                    elif told.get("id") == "models" and state is not None:
                        return state, objects(inner(told, "data").get("models"))
        except FileNotFoundError:
            raise self._missing("pi_unavailable", "was not found", "Name its path as `pi` in curator.toml") from None
        except (OSError, OverdueError, TooMuchError, StoppedError):
            raise self._missing("pi_unavailable", "did not start", "See that `pi` runs in a terminal") from None
        # A provider that it does not know makes it end at once; so does a broken installation.
        if _runs(way):
            raise self._missing(
                "model_not_found", "does not know the provider", "Name one that `pi --list-models` shows"
            )
        raise self._missing("pi_unavailable", "did not start", "See that `pi` runs in a terminal")

    def _missing(self, code: str, fact: str, remedy: str) -> ReviewerSetupError:
        profile = self._profile
        named = f"Pi ({self._way.command}), asked for {profile.provider}/{profile.model},"
        return ReviewerSetupError(code, f"{named} {fact}", remedy=f"{remedy}; jobs wait until then")


def talk(call: PiCall, stop: Stop) -> Answer | CallFailure:
    """Send a prepared call, made ready, through a Pi of its own. Every expected failure is returned."""
    return _Talk(call, call.clock).hold(stop)


class _Never:
    """No wish to stop: what is asked before a reservation is short."""

    def is_set(self) -> bool:
        return False


class _Talk:
    """One request through one Pi, and what is known of it."""

    def __init__(self, call: PiCall, clock: Clock) -> None:
        self._call = call
        self._clock = clock
        self._started_at = clock.now()
        self._is_sent = False
        self._has_failed_to_open = False
        self._status: int | None = None
        self._wait: int | None = None

    def hold(self, stop: Stop) -> Answer | CallFailure:
        """Start Pi, send the prompt, and return how it ends; every expected failure is returned."""
        call = self._call
        deadline = self._clock.monotonic() + call.patience.total_ms
        try:
            with _start(call.way, call.provider, call.model, call.effort, call.output_tokens, self._clock, stop) as pi:
                pi.say({"id": "prompt", "type": "prompt", "message": call.user_prompt})
                for told in pi.listen(deadline):
                    ending = self._hear(told)
                    if ending is not None:
                        return ending
            return self._cut(Mishap.RESET, "Pi ended before the answer was whole")
        except OSError:
            return self._cut(Mishap.RESET, "Pi could not be started")
        except OverdueError:
            return self._cut(Mishap.TIMEOUT, "the provider did not finish in time")
        except StoppedError:
            return self._cut(Mishap.STOPPED, "curator was asked to stop")
        except TooMuchError:
            return self._cut(Mishap.TOO_LONG, "the answer is too long to be one")

    def _hear(self, told: Mapping[str, Json]) -> Answer | CallFailure | None:
        match told.get("type"):
            case "extension_ui_request" if told.get("statusKey") == "curator":
                self._note(told.get("statusText"))
            case "response" if told.get("id") == "prompt" and told.get("success") is not True:
                row = MISHAPS[Mishap.NO_KEY]
                failure = CallFailure(row.code, row.kind, "Pi did not take the prompt: it has no usable key or login")
                return self._settled(failure, None)
            case "message_end" if inner(told, "message").get("role") == "assistant":
                return self._judge(inner(told, "message"))
            case _:
                pass
        return None

    def _note(self, fact: Json) -> None:
        try:
            told = parse(fact.encode()) if isinstance(fact, str) else None
        except MalformedJsonError:
            return
        if not isinstance(told, dict):
            return
        self._is_sent = self._is_sent or told.get("sent") is True
        failed, status = told.get("failed"), told.get("status")
        self._has_failed_to_open = isinstance(failed, str) and failed in _NEVER_OPENED
        if isinstance(status, int):
            self._status = status
            self._wait = read_wait(_text(told.get("retryAfterMs")), _text(told.get("retryAfter")), self._clock.now())

    def _judge(self, message: Mapping[str, Json]) -> Answer | CallFailure:
        said = Said(message.get("usage"), message.get("responseId"), message.get("responseModel"), PI_FORM)
        reason = message.get("stopReason")
        if reason not in _ENDS:
            if message.get("rawStopReason") in _REFUSALS:
                refused = failure_of_end(Ended.REFUSED, "")
                assert refused is not None
                return self._settled(refused, said)
            return self._cut(Mishap.RESET if self._status is None else Mishap.BROKEN, "the answer broke off")
        blocks = objects(message.get("content"))
        text = "".join(str(each.get("text")) for each in blocks if each.get("type") == "text")
        if len(text.encode("utf-8", "replace")) > ANSWER_BYTES_MAX:
            return self._cut(Mishap.TOO_LONG, "the answer is too long to be one")
        called = any(each.get("type") == "toolCall" for each in blocks)
        failure = failure_of_end(Ended.TOOL if called else _ENDS[str(reason)], text)
        if failure is not None:
            return self._settled(failure, said)
        provenance, is_estimated = make_provenance(self._call.facts, self._started_at, self._clock.now(), said)
        return Answer(text, provenance, is_estimated)

    def _cut(self, mishap: Mishap, message: str) -> CallFailure:
        """Return the end of a talk without an answer: what is known of the request says what it may have cost."""
        if self._status is not None and self._status not in _SUCCESS:
            may_have_run = row_of_status(self._status).charge is Charge.HOLD
            failure = failure_of_status(self._status, self._call.model, self._wait)
            return self._settled(failure, Said() if may_have_run else None)
        if self._is_sent and not self._has_failed_to_open:
            return failure_of(mishap, message)
        if mishap is Mishap.STOPPED:
            return self._settled(failure_of(mishap, message), None)
        return self._settled(
            failure_of(Mishap.NEVER_OPENED, "nothing was sent: the provider, or Pi, was not there"), None
        )

    def _settled(self, failure: CallFailure, said: Said | None) -> CallFailure:
        provenance, is_estimated = make_provenance(self._call.facts, self._started_at, self._clock.now(), said)
        return dataclasses.replace(failure, provenance=provenance, is_estimated=is_estimated)


def _start(way: Way, provider: str, model: str, effort: str, limit: int | None, clock: Clock, stop: Stop) -> Child:
    command = arguments(way.command, way.room, provider, model, effort)
    return Child(command, way.room, environment(way.environ, way.agent_dir, way.command, way.named, limit), clock, stop)


def _runs(way: Way) -> bool:
    """Tell whether Pi itself runs, whatever it was asked for."""
    environ = environment(way.environ, way.agent_dir, way.command, way.named, None)
    pipe = subprocess.DEVNULL
    try:
        ran = subprocess.run(  # noqa: S603 - the person's own Pi, by the path that settings name
            [way.command, "--version"],
            env=environ,
            cwd=way.room,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            timeout=START_MS_MAX / 1_000,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ran.returncode == 0


def _facts_of(raw: Mapping[str, Json], provider: str, model: str, known: ModelFacts | None) -> ModelFacts:
    cost = inner(raw, "cost")
    rates, tiers = (
        _rates(cost),
        tuple(Tier(_whole(each, "inputTokensAbove"), _rates(each)) for each in objects(cost.get("tiers"))),
    )
    is_told = rates != Rates() or bool(tiers) or (known is not None and known.price == "models.json")
    return ModelFacts(
        provider=provider,
        model=model,
        api=str(raw.get("api") or "pi"),
        base_url=str(raw.get("baseUrl") or ""),
        context_tokens=_whole(raw, "contextWindow") or 128_000,
        output_tokens_max=_whole(raw, "maxTokens") or 16_384,
        rates=rates,
        tiers=tiers,
        price="Pi" if is_told else "unknown",
    )


def _rates(cost: Mapping[str, Json]) -> Rates:
    return Rates(*(_nano(cost.get(kind)) for kind in ("input", "output", "cacheRead", "cacheWrite")))


def _nano(value: Json) -> int:
    is_price = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _USD_PER_MILLION_MAX
    return math.ceil(value * NANO_PER_USD) if is_price and isinstance(value, int | float) else 0


def _whole(value: Mapping[str, Json], key: str) -> int:
    number = value.get(key)
    return int(number) if isinstance(number, int | float) and 0 < number <= _TOKENS_MAX else 0


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None
