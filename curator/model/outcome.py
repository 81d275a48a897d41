"""What became of a job, and what the provider's answer cost (interop.md 4.4)."""

from __future__ import annotations

import dataclasses
import math
from typing import Annotated, Final, Literal, TypeAlias

from curator.model.digest import Digest, canonical, digest_of
from curator.model.ids import ADigest, AJobId, AnIso, ASafeId
from curator.model.limits import (
    FAILURE_MESSAGE_CHARS_MAX,
    INT_MAX,
    OPERATIONS_MAX,
    OUTCOME_BYTES_MAX,
)
from curator.model.proposal import Operation
from curator.model.record import Integer, Items, Pattern, Record, Text, Violation
from curator.model.text import sanitized_fault

NANO_PER_USD: Final = 1_000_000_000


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cost(Record):
    """Dollars, as the wire has them: floats. Ours are nano-dollars, by `nanousd`."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    total: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Usage(Record):
    """Tokens and cost of one answer, normalized before anything is kept."""

    input: Annotated[int, Integer()]
    output: Annotated[int, Integer()]
    cache_read: Annotated[int, Integer()]
    cache_write: Annotated[int, Integer()]
    total_tokens: Annotated[int, Integer()]
    cost: Cost
    reasoning: Annotated[int, Integer()] | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Provenance(Record):
    """Who answered, when, and for how much."""

    provider: Annotated[str, Text(1, 128)]
    model: Annotated[str, Text(1, 256)]
    api: Annotated[str, Text(1, 128)]
    started_at: AnIso
    completed_at: AnIso
    duration_ms: Annotated[int, Integer()]
    usage: Usage
    response_model: Annotated[str, Text(1, 256)] | None = None
    response_id: ASafeId | None = None

    def check(self, where: str = "") -> None:
        """A call ends after it starts."""
        if self.completed_at < self.started_at:
            raise Violation(where, "completedAt is before startedAt")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Failure(Record):
    """Why an attempt or a job failed. The message is sanitized and never quotes evidence of ours."""

    code: Annotated[str, Pattern(r"[a-z][a-z0-9_-]{0,63}", "a failure code")]
    message: Annotated[str, Text(1, FAILURE_MESSAGE_CHARS_MAX, sanitized_fault)]
    retryable: bool


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Completed(Record):
    """A whole answer that became a proposal of at most four operations."""

    version: Literal[1] = 1
    job_id: AJobId
    job_digest: ADigest
    completed_at: AnIso
    status: Literal["completed"] = "completed"
    operations: Annotated[tuple[Operation, ...], Items(0, OPERATIONS_MAX)]
    provenance: Provenance

    def check(self, where: str = "") -> None:
        """Both spellings of the moment agree, and the whole stays small."""
        if self.completed_at != self.provenance.completed_at:
            raise Violation(where, "completedAt differs from provenance.completedAt")
        _check_size(self, where)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Failed(Record):
    """An attempt without a proposal, or a job that is over without one."""

    version: Literal[1] = 1
    job_id: AJobId
    job_digest: ADigest
    completed_at: AnIso
    status: Literal["failed"] = "failed"
    error: Failure
    provenance: Provenance | None = None

    def check(self, where: str = "") -> None:
        """The whole stays small."""
        _check_size(self, where)


Outcome: TypeAlias = Completed | Failed


def proposal_digest(outcome: Outcome) -> Digest | None:
    """Return the digest of what was proposed, or None where nothing was."""
    if isinstance(outcome, Failed):
        return None
    operations = outcome.encode()["operations"]
    return digest_of({"version": 1, "jobId": outcome.job_id, "jobDigest": outcome.job_digest, "operations": operations})


def outcome_digest(outcome: Outcome) -> Digest:
    """Return the digest of the whole outcome."""
    return digest_of(outcome.encode())


def nanousd(usd: float) -> int:
    """Return dollars as nano-dollars, rounded half up as the protocol does. Raises ValueError beyond its range."""
    exact = usd * NANO_PER_USD + 0.5
    # Compared before it is rounded: an infinity cannot be.
    if not 0 <= exact < INT_MAX + 1:
        message = "a cost beyond the protocol's range"
        raise ValueError(message)
    return math.floor(exact)


def usd(nano: int) -> float:
    """Return nano-dollars as the wire's dollars."""
    return nano / NANO_PER_USD


def _check_size(outcome: Outcome, where: str) -> None:
    if len(canonical(outcome.encode()).encode()) > OUTCOME_BYTES_MAX:
        raise Violation(where, f"is larger than {OUTCOME_BYTES_MAX} bytes")
