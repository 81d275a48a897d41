"""When a job is tried again: typed by what failed, counted by provider attempts alone (interop.md 4.6).

Configuration blocks, budget waits and lost leases cost no attempt: only a call that may have happened counts.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Final

from curator.model.attempt import AttemptState
from curator.model.limits import (
    ATTEMPTS_MAX,
    RETRY_BASE_MS,
    RETRY_CONFIG_BASE_MS,
    RETRY_CONFIG_MS_MAX,
    RETRY_MS_MAX,
    SUPERSEDED_MAX,
)
from curator.model.outcome import Completed
from curator.model.ports import Class

if TYPE_CHECKING:
    from curator.model.decision import ProviderResult
    from curator.model.ids import LeaseToken
    from curator.model.outcome import Usage
    from curator.store.attempts import Seen

_NOT_CODE: Final = re.compile(r"[^a-z0-9_-]+")
_CODE_CHARS_MAX: Final = 64
CONFIGURATION_CODES: Final = frozenset(
    {
        "auth_unavailable",
        "model_not_found",
        "model_registry_invalid",
        "pi_unavailable",
        "price_unknown",
        "provider_unreachable",
    }
)
"""What has to be mended outside, and what every job meets alike: never a job's own fault, so it costs none its tries."""
RATE_LIMITED: Final = "rate_limited"
SHARED_CODES: Final = CONFIGURATION_CODES | {RATE_LIMITED}
"""What every job meets alike, whoever is to mend it, or time: while one waits for it, no other is sent after it."""
_EXPONENT_MAX: Final = 16
_SPREAD: Final = 4
_TOKEN_PARTS: Final = 1 << 16


@dataclasses.dataclass(frozen=True, slots=True)
class Tally:
    """What a job's earlier attempts came to, as the files tell."""

    failures: int
    """Attempts that may have been paid for and brought no proposal; one that the account was refused is none."""
    completed: tuple[ProviderResult, ...]
    """Results with a proposal, none of them elected, by claim."""
    last_failure_code: str | None
    limited: int = 0
    """How often the provider took nothing more for now."""

    @property
    def is_final(self) -> bool:
        """Whether the next attempt is the last."""
        return self.failures + 1 >= ATTEMPTS_MAX

    @property
    def is_spent(self) -> bool:
        """Whether no further attempt is due."""
        return self.failures >= ATTEMPTS_MAX

    @property
    def may_rebase(self) -> bool:
        """Whether a moved base is judged anew; after that the last result is elected as it is."""
        return len(self.completed) <= SUPERSEDED_MAX


def tally(attempts: tuple[Seen, ...], results: tuple[ProviderResult, ...]) -> Tally:
    """Count a job's attempts: from the journal what may have been paid for, from the results what came of it."""
    order = {seen.id: (seen.latest.claim_attempt, seen.id) for seen in attempts}
    completed = [result for result in results if isinstance(result.outcome, Completed)]
    failed = [result for result in results if not isinstance(result.outcome, Completed)]
    excused = {result.attempt_id for result in results if _is_excused(result)}
    paid = {AttemptState.DISPATCHED, AttemptState.SETTLED, AttemptState.UNKNOWN}
    failures = [seen for seen in attempts if seen.state in paid and seen.id not in excused]
    last = max(failed, key=lambda result: result.outcome.completed_at, default=None)
    code = None if last is None or isinstance(last.outcome, Completed) else last.outcome.error.code
    return Tally(
        failures=len(failures),
        completed=tuple(sorted(completed, key=lambda each: order.get(each.attempt_id, (0, each.attempt_id)))),
        last_failure_code=code,
        limited=sum(_code_of(each) == RATE_LIMITED for each in failed),
    )


def _is_excused(result: ProviderResult) -> bool:
    """Tell whether an attempt does not count against its job: it brought a proposal, or met what all others meet too."""
    return isinstance(result.outcome, Completed) or _code_of(result) in SHARED_CODES


def _code_of(result: ProviderResult) -> str | None:
    return None if isinstance(result.outcome, Completed) else result.outcome.error.code


def wait_ms(kind: Class, nth: int, retry_after_ms: int | None = None) -> int:
    """Return how long a job waits after its `nth` failure of a kind; a provider's own wish counts if it is longer.

    Our back-off has its bound; a provider's wish comes bounded, and to ask it sooner would be one of three tries lost.
    """
    is_set_up = kind is not Class.CONFIGURATION
    base, most = (RETRY_BASE_MS, RETRY_MS_MAX) if is_set_up else (RETRY_CONFIG_BASE_MS, RETRY_CONFIG_MS_MAX)
    delay: int = base * 2 ** min(_EXPONENT_MAX, max(0, nth - 1))
    return max(min(most, delay), retry_after_ms or 0)


def spread_ms(wait: int, token: LeaseToken) -> int:
    """Return a wait with up to a quarter more, by chance: what many were refused at once does not come back at once."""
    return wait + wait * int(token[:4], 16) // (_SPREAD * _TOKEN_PARTS)


def is_stand_in(usage: Usage) -> bool:
    """Tell whether a usage of zero stands where the provider told none; a zero that is told has a count of thoughts."""
    return usage.total_tokens == 0 and usage.reasoning is None


def failure_code(text: str) -> str:
    """Return a failure's code in the protocol's spelling."""
    code = _NOT_CODE.sub("_", text.lower()).strip("_")[:_CODE_CHARS_MAX]
    return code if code and code[0].isalpha() else "review_error"
