"""What a run of the crowd cost: the journal read by code of our own, and held against what the provider was asked.

When a reservation was linked nobody wrote down. It lies between the time that it names and that of its dispatch, so a sum
that is certain can be made: of those linked by a moment, one was the last, and stood before all the others.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from curator.model.times import ms_of

if TYPE_CHECKING:
    from pathlib import Path

    from curator.durable.layout import Layout
    from faults.contention.run import Limited, Run

_NEVER: Final = 1 << 62


@dataclasses.dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt, as its steps come to."""

    id: str
    job: str
    claim: int
    base: str
    steps: tuple[str, ...]
    reserved_ms: int
    dispatched_ms: int | None
    request: str
    hold_tokens: int
    charged_tokens: int | None
    """None where nobody knows; a correction tells it too."""
    settled_ms: int
    """Since when that is known."""

    @property
    def is_open(self) -> bool:
        """Whether its owner still had something to write."""
        return self.steps[-1] in ("reserved", "dispatched")

    def tokens_at(self, moment_ms: int) -> int:
        """Return the least that it counted for at a moment after its reservation."""
        if self.charged_tokens is None or self.settled_ms > moment_ms:
            return self.hold_tokens
        return min(self.charged_tokens, self.hold_tokens)


def attempts_in(layout: Layout) -> list[Attempt]:
    """Return the journal, by reservation."""
    steps: defaultdict[str, list[Path]] = defaultdict(list)
    for path in sorted(layout.attempts.glob("*/??/review_attempt_*.json")):
        steps[path.name.partition(".")[0]].append(path)
    found = [_attempt(name, paths) for name, paths in steps.items()]
    return sorted(found, key=lambda each: (each.reserved_ms, each.id))


def _attempt(name: str, paths: list[Path]) -> Attempt:
    records = [json.loads(path.read_bytes()) for path in paths]
    told = {key: value for record in records for key, value in record.items()}
    charged = told.get("chargedTokens")
    return Attempt(
        id=name,
        job=told["jobId"],
        claim=told["claimAttempt"],
        base=told.get("baseBranchDigest", ""),
        steps=tuple(record["state"] for record in records),
        reserved_ms=ms_of(told["reservedAt"]),
        dispatched_ms=ms_of(told["dispatchedAt"]) if "dispatchedAt" in told else None,
        request=told.get("requestDigest", ""),
        hold_tokens=told["holdTokens"],
        charged_tokens=charged,
        settled_ms=_NEVER if charged is None else ms_of(told.get("settledAt") or told["correctedAt"]),
    )


def every_request_was_dispatched(run: Run) -> Iterator[str]:
    """A request stands for one dispatch record that names exactly it, and no two for the same."""
    asked = Counter(request_of(each["body"]) for each in run.requests)
    sent = Counter(each.request for each in attempts_in(run.place.layout) if each.dispatched_ms is not None)
    for request, times in (asked - sent).items():
        yield f"{times} more requests than dispatches of {request[:12]}"


def every_dispatch_is_a_request(run: Run) -> Iterator[str]:
    """What was settled was asked; and of the rest as many were not as can have died between the record and the first byte."""
    asked = Counter(request_of(each["body"]) for each in run.requests)
    attempts = [each for each in attempts_in(run.place.layout) if each.dispatched_ms is not None]
    for request, times in (Counter(each.request for each in attempts if each.steps[-1] == "settled") - asked).items():
        yield f"{times} more settled attempts than requests of {request[:12]}"
    missing = len(attempts) - len(run.requests)
    if missing > run.crowd.leases_left:
        yield f"{missing} dispatches without a request, and the killed had {run.crowd.leases_left} jobs"


def every_attempt_is_over(run: Run) -> Iterator[str]:
    """Nobody works any more, so no attempt is open; and as many have no end as can have lost it by a death."""
    attempts = attempts_in(run.place.layout)
    for each in attempts:
        if each.is_open:
            yield f"{each.id} is still {each.steps[-1]}"
    lost = run.crowd.leases_left + sum(each["mode"] == "reset" for each in run.requests)
    unknown = sum(each.steps[-1] == "unknown" for each in attempts)
    if unknown > lost:
        yield f"nobody knows the end of {unknown} attempts, and {lost} were cut off"


def no_limit_was_passed(run: Run) -> Iterator[str]:
    """At each reservation what was spent, held and unknown, and what it asked for, were within the limits in force."""
    attempts = [each for each in attempts_in(run.place.layout) if each.dispatched_ms is not None]
    for now in attempts:
        assert now.dispatched_ms is not None
        linked = [each for each in attempts if _dispatched(each) <= now.dispatched_ms]
        latest = max(each.reserved_ms for each in linked)
        # Who was dispatched before another reserved was not the last to be linked.
        last = [each for each in linked if _dispatched(each) >= latest]
        if not any(_was_allowed(each, linked, run.limits) for each in last):
            yield f"{now.id} and the {len(linked) - 1} before it: together beyond the limits in force"
            return


def _was_allowed(last: Attempt, linked: list[Attempt], limits: list[Limited]) -> bool:
    moment = _dispatched(last)
    # Limits are only ever raised, so the newest that can have been read is the widest.
    force = max((each for each in limits if each.since_ms <= moment), key=lambda each: each.since_ms)
    tokens = last.hold_tokens + sum(each.tokens_at(moment) for each in linked if each is not last)
    return len(linked) <= force.calls and tokens <= force.tokens


def _dispatched(attempt: Attempt) -> int:
    return _NEVER if attempt.dispatched_ms is None else attempt.dispatched_ms


def request_of(body: object) -> str:
    """Return the digest under which a request was to be dispatched (interop.md 2.2), from what arrived."""
    assert isinstance(body, dict)
    prompts = [message["content"] for message in body["messages"]]
    named = "\n".join(("review-model-request/v1", "fake", body["model"], "openai-completions", *prompts))
    return hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()
