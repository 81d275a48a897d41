"""What a provider said, and which proposal counts (interop.md 6). Both are immutable."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal, Self

from curator.model.digest import Json
from curator.model.ids import ADigest, AJobId, AnAttemptId
from curator.model.job import Job
from curator.model.limits import OPERATIONS_MAX
from curator.model.outcome import Completed, Outcome, proposal_digest
from curator.model.record import Integer, Items, Record, Text, Violation


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ProviderResult(Record):
    """The checkpoint of one attempt: the whole job and the normalized outcome. A failed one never elects."""

    version: Literal[1] = 1
    kind: Literal["review-provider-result"] = "review-provider-result"
    attempt_id: AnAttemptId
    proposal_digest: ADigest | None = None
    job: Job
    outcome: Outcome

    @classmethod
    def decode(cls, value: Json, where: str = "") -> Self:
        """Decode; the digest of a failed outcome's proposal is null on the wire, the protocol's only null."""
        if isinstance(value, dict) and value.get("proposalDigest", 0) is None:
            value = {key: item for key, item in value.items() if key != "proposalDigest"}
            is_null = True
        else:
            is_null = False
        record = super(ProviderResult, cls).decode(value, where)
        if is_null != (record.proposal_digest is None):
            raise Violation(where, "lacks proposalDigest")
        return record

    def encode(self) -> dict[str, Json]:
        """Encode with the protocol's null."""
        encoded = super(ProviderResult, self).encode()
        return encoded | {"proposalDigest": self.proposal_digest}

    def check(self, where: str = "") -> None:
        """Job, outcome and digest belong together."""
        _check_binding(self.job, self.outcome, where)
        if self.proposal_digest != proposal_digest(self.outcome):
            raise Violation(where, "has a proposal digest that is not its outcome's")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Record):
    """The one proposal of a job that may change memory, with all that recovery needs."""

    version: Literal[1] = 1
    kind: Literal["review-proposal-decision"] = "review-proposal-decision"
    attempt_id: AnAttemptId
    proposal_digest: ADigest
    job: Job
    outcome: Completed

    def check(self, where: str = "") -> None:
        """Job, outcome and digest belong together."""
        _check_binding(self.job, self.outcome, where)
        if self.proposal_digest != proposal_digest(self.outcome):
            raise Violation(where, "has a proposal digest that is not its outcome's")


def _check_binding(job: Job, outcome: Outcome, where: str) -> None:
    if (outcome.job_id, outcome.job_digest) != (job.id, job.digest):
        raise Violation(where, "has an outcome of another job")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Span(Record):
    """Where in the transcript one operation's evidence stands, in UTF-16 units. No word of it."""

    operation: Annotated[int, Integer(0, OPERATIONS_MAX - 1)]
    start: Annotated[int, Integer()]
    end: Annotated[int, Integer()]
    digest: ADigest


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Evidence(Record):
    """Ours, beside a result: which operations quote their evidence. An operation without a span is unsupported."""

    version: Literal[1] = 1
    kind: Literal["curator-evidence"] = "curator-evidence"
    job_id: AJobId
    job_digest: ADigest
    attempt_id: AnAttemptId
    spans: Annotated[tuple[Span, ...], Items(0, OPERATIONS_MAX)]
    dropped: Annotated[tuple[Annotated[str, Text(1, 300)], ...], Items(0, OPERATIONS_MAX + 1)] = ()
    """Operations that were not let through, by number and reason, in our own words."""
