"""The attempt journal's records: one fact, one file, each self-contained (design: the attempt journal).

The step `n` in the file's name elects the state: 0 reserved; 1 dispatched or cancelled; 2 settled or unknown; 3 a
correction of an unknown. No file is ever rewritten.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Annotated, Final, Literal, TypeAlias

from curator.model.digest import Digest, Json
from curator.model.ids import (
    ADay,
    ADigest,
    AJobId,
    ALeaseToken,
    AnAttemptId,
    AnIso,
    AProvider,
    attempt_id,
)
from curator.model.outcome import Provenance, nanousd
from curator.model.record import Integer, Record, Text, Violation


class AttemptState(enum.StrEnum):
    """What is known of one provider attempt."""

    RESERVED = "reserved"
    DISPATCHED = "dispatched"
    SETTLED = "settled"
    UNKNOWN = "unknown"
    CANCELLED = "cancelled"


STEP: Final = {
    AttemptState.RESERVED: 0,
    AttemptState.DISPATCHED: 1,
    AttemptState.CANCELLED: 1,
    AttemptState.SETTLED: 2,
    AttemptState.UNKNOWN: 2,
}
CORRECTION_STEP: Final = 3

_Count = Annotated[int, Integer()]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Facts(Record):
    """What every step repeats: who, for which job and claim, how much is held."""

    version: Literal[1] = 1
    kind: Literal["curator-attempt"] = "curator-attempt"
    id: AnAttemptId
    day: ADay
    provider: AProvider
    job_id: AJobId | None = None
    """Absent for an adopted attempt whose identity did not name its job, and for a trial or a backfill, which have none."""
    job_digest: ADigest
    claim_attempt: Annotated[int, Integer(1)]
    lease_token: ALeaseToken
    reserved_at: AnIso
    hold_tokens: Annotated[int, Integer(1)]
    hold_cost_nanousd: _Count
    base_branch_digest: ADigest | None = None
    """The branch state that the attempt judges; absent for an adopted one, which judges the job's own."""
    origin: Literal["curator", "adopted", "trial", "backfill"]
    """Whether a job asked for it, another worker made it, somebody wanted to see what a reviewer makes of it, or a plan
    has it look at old sessions."""

    def check(self, where: str = "") -> None:
        """The id is the claim's."""
        if attempt_id(self.job_digest, self.claim_attempt, self.lease_token) != self.id:
            raise Violation(where, "has an id that is not its claim's")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reserved(_Facts):
    """Budget is held; nothing has left."""

    state: Literal["reserved"] = "reserved"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled(_Facts):
    """Closed, with proof that nothing left: this record stands where a dispatch would."""

    state: Literal["cancelled"] = "cancelled"
    cancelled_at: AnIso


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Sent(_Facts):
    """What every step after the dispatch repeats: the request, named by its digest, model and api."""

    dispatched_at: AnIso
    request_digest: ADigest | None = None
    model: Annotated[str, Text(1, 256)] | None = None
    api: Annotated[str, Text(1, 256)] | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Dispatched(_Sent):
    """Bytes may leave now."""

    state: Literal["dispatched"] = "dispatched"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settled(_Sent):
    """The whole normalized result is durable; this is what it cost."""

    state: Literal["settled"] = "settled"
    settled_at: AnIso
    charged_tokens: _Count
    charged_cost_nanousd: _Count
    is_estimated: bool
    """True where the provider told no usage, so that the hold was charged instead."""
    provenance: Provenance


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(_Sent):
    """It may have run; nothing proves how. Charged at its hold until corrected."""

    state: Literal["unknown"] = "unknown"
    unknown_at: AnIso


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Correction(_Facts):
    """What an unknown turned out to cost: a durable result that came late, or an operator's word."""

    state: Literal["corrected"] = "corrected"
    corrected_at: AnIso
    source: Literal["late-result", "operator"]
    is_billed: bool
    charged_tokens: _Count
    charged_cost_nanousd: _Count
    reason: Annotated[str, Text(1, 500)] | None = None


Attempt: TypeAlias = Reserved | Cancelled | Dispatched | Settled | Unknown
AttemptRecord: TypeAlias = Attempt | Correction

_BY_STATE: Final[dict[str, type[AttemptRecord]]] = {
    "reserved": Reserved,
    "cancelled": Cancelled,
    "dispatched": Dispatched,
    "settled": Settled,
    "unknown": Unknown,
    "corrected": Correction,
}


def decode_attempt(value: Json) -> AttemptRecord:
    """Decode any step of an attempt, or raise `Violation`."""
    state = value.get("state") if isinstance(value, dict) else None
    cls = _BY_STATE.get(state) if isinstance(state, str) else None
    if cls is None:
        raise Violation("attempt.state", f"is none of {', '.join(_BY_STATE)}")
    return cls.decode(value, "attempt")


def step_of(record: AttemptRecord) -> int:
    """Return the step at which a record stands in the journal."""
    return CORRECTION_STEP if isinstance(record, Correction) else STEP[state_of(record)]


def state_of(attempt: Attempt) -> AttemptState:
    """Return the state that a record proves."""
    return AttemptState(attempt.state)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LegacyCarry(Record):
    """The day's spend of a budget file older than the journal: counted as unknown exposure (interop.md 5.7)."""

    version: Literal[1] = 1
    kind: Literal["curator-legacy-budget"] = "curator-legacy-budget"
    day: ADay
    provider: AProvider
    source_digest: ADigest
    imported_at: AnIso
    calls: _Count
    tokens: _Count
    cost_nanousd: _Count


def facts_of(attempt: AttemptRecord) -> dict[str, Json]:
    """Return the keys that every step of one attempt repeats, to build the next step from."""
    encoded = attempt.encode()
    names = (
        "version",
        "kind",
        "id",
        "day",
        "provider",
        "jobId",
        "jobDigest",
        "claimAttempt",
        "leaseToken",
        "reservedAt",
    )
    more = ("holdTokens", "holdCostNanousd", "baseBranchDigest", "origin")
    return {name: encoded[name] for name in (*names, *more) if name in encoded}


def base_of(attempt: AttemptRecord, job_base: Digest) -> Digest:
    """Return the branch state that an attempt judged."""
    return attempt.base_branch_digest or job_base


def dispatched_from(reserved: Reserved, at: str, request: tuple[Digest, str, str]) -> Dispatched:
    """Return the pre-dispatch checkpoint. `request` is the request's digest, the model and the api."""
    digest, model, api = request
    more: dict[str, Json] = {"dispatchedAt": at, "requestDigest": digest, "model": model, "api": api}
    return Dispatched.decode(facts_of(reserved) | {"state": "dispatched"} | more)


def cancelled_from(reserved: Reserved, at: str) -> Cancelled:
    """Return the closing of a reservation that never left."""
    return Cancelled.decode(facts_of(reserved) | {"state": "cancelled", "cancelledAt": at})


def settled_from(sent: Dispatched, at: str, provenance: Provenance, *, is_estimated: bool = False) -> Settled:
    """Return the settlement: the usage of its provenance, or its hold where that usage is an estimate."""
    usage = provenance.usage
    return Settled.decode(
        _sent_facts(sent)
        | {
            "state": "settled",
            "settledAt": at,
            "chargedTokens": sent.hold_tokens if is_estimated else usage.total_tokens,
            "chargedCostNanousd": sent.hold_cost_nanousd if is_estimated else nanousd(usage.cost.total),
            "isEstimated": is_estimated,
            "provenance": provenance.encode(),
        }
    )


def unknown_from(sent: Dispatched, at: str) -> Unknown:
    """Return the closing of a call whose end nobody knows."""
    return Unknown.decode(_sent_facts(sent) | {"state": "unknown", "unknownAt": at})


def corrected_from(lost: Unknown, at: str, provenance: Provenance) -> Correction:
    """Return the correction that a durable result brings to an unknown attempt."""
    return Correction.decode(
        facts_of(lost)
        | {
            "state": "corrected",
            "correctedAt": at,
            "source": "late-result",
            "isBilled": True,
            "chargedTokens": provenance.usage.total_tokens,
            "chargedCostNanousd": nanousd(provenance.usage.cost.total),
        }
    )


def corrected_by(lost: Unknown, at: str, actual: tuple[int, int] | None, reason: str) -> Correction:
    """Return the correction by an operator's word: the tokens and nano-dollars of the bill, or None for not billed."""
    tokens, nano = actual or (0, 0)
    return Correction.decode(
        facts_of(lost)
        | {
            "state": "corrected",
            "correctedAt": at,
            "source": "operator",
            "isBilled": actual is not None,
            "chargedTokens": tokens,
            "chargedCostNanousd": nano,
            "reason": reason,
        }
    )


def _sent_facts(sent: Dispatched) -> dict[str, Json]:
    encoded = sent.encode()
    names = ("dispatchedAt", "requestDigest", "model", "api")
    return facts_of(sent) | {name: encoded[name] for name in names if name in encoded}
