"""The embedded reviewer: rules instead of a model (provider `offline`, model `rules-1`).

It needs no key and no network and costs nothing, but each call counts as one, so that a budget of calls means the same
with every reviewer. It keeps what the user says for good in so many words, in fifteen languages, and quotes all of it.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from curator.errors import ReviewerSetupError
from curator.model.digest import Json, compact
from curator.model.outcome import Provenance
from curator.model.ports import Answer, Brief, CallFailure, Class, Clock, Hold, Prepared, Stop
from curator.model.proposal import Proposed
from curator.model.redaction import redact
from curator.model.settings import ReviewerProfile
from curator.model.times import iso
from curator.reviewer.hold import request_digest
from curator.reviewer.normalize import no_usage
from curator.reviewer.rules.proposal import propose

PROVIDER: Final = "offline"
MODEL: Final = "rules-1"
API: Final = "offline-rules"
RULES_VERSION: Final = 2
"""Goes up with every change of the rules, so that a request's digest tells which ones judged."""


@dataclasses.dataclass(frozen=True, slots=True)
class RulesCall(Prepared):
    """A prepared review; the rules read the brief itself."""

    brief: Brief


class OfflineReviewer:
    """Reads the user's plain sentences and proposes what is said for good."""

    def __init__(self, profile: ReviewerProfile, clock: Clock) -> None:
        """Keep the profile: a model of another name is an error at `prepare`."""
        self._profile = profile
        self._clock = clock

    def prepare(self, brief: Brief) -> RulesCall:
        """Put the call together. Raises `ReviewerSetupError` if the profile names other rules."""
        if self._profile.model != MODEL:
            raise ReviewerSetupError(
                "model_not_found",
                f"provider {PROVIDER} has no model {self._profile.model}",
                remedy=f"Name {MODEL} in service.json; jobs wait until then",
            )
        system_prompt = f"curator's embedded rules, version {RULES_VERSION}"
        user_prompt = redact(brief.job.transcript)
        digest = request_digest(PROVIDER, MODEL, API, system_prompt, user_prompt)
        return RulesCall(PROVIDER, MODEL, API, system_prompt, user_prompt, digest, Hold(1, 0), brief)

    def ask(self, prepared: Prepared, stop: Stop) -> Answer | CallFailure:
        """Apply the rules; the answer is the JSON that a model would give."""
        assert isinstance(prepared, RulesCall)
        if stop.is_set():
            return CallFailure("aborted", Class.STOPPED, "curator was asked to stop")
        started_at = self._clock.now()
        brief = prepared.brief
        proposed = propose(brief.job.transcript, brief.base, brief.job.max_chars)
        text = compact({"operations": [_as_json(each) for each in proposed]})
        completed_at = max(started_at, self._clock.now())
        provenance = Provenance(
            provider=PROVIDER,
            model=MODEL,
            api=API,
            started_at=iso(started_at),
            completed_at=iso(completed_at),
            duration_ms=completed_at - started_at,
            usage=no_usage(),
        )
        return Answer(text, provenance)


def _as_json(proposed: Proposed) -> Json:
    encoded = proposed.operation.encode()
    return encoded if proposed.quote is None else {**encoded, "quote": proposed.quote}
