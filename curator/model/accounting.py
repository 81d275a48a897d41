"""The protocol's own accounting records: identities and day files (interop.md 5). Ours is the attempt journal.

The protocol spells the last state with one l; nothing outside this file and its store does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, TypeAlias

from curator.model.digest import compact
from curator.model.ids import ADay, ADigest, AJobId, ALeaseToken, AnAttemptId, AnIso, AProvider, attempt_id
from curator.model.limits import DAY_ATTEMPTS_MAX
from curator.model.outcome import Usage
from curator.model.record import Integer, Items, Record, Text, Violation

_Count = Annotated[int, Integer()]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LooseProvenance(Record):
    """A provenance as accounting reads it: looser than an outcome's in its ids and times."""

    provider: AProvider
    model: Annotated[str, Text(1, 256)]
    api: Annotated[str, Text(1, 256)]
    started_at: AnIso
    completed_at: AnIso
    duration_ms: _Count
    usage: Usage
    response_model: Annotated[str, Text(1, 256)] | None = None
    response_id: Annotated[str, Text(0, 512)] | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Identity(Record):
    """One reservation, immutable: its day is fixed for ever."""

    version: Literal[1] = 1
    id: AnAttemptId
    day: ADay
    provider: AProvider
    job_id: AJobId | None = None
    job_digest: ADigest
    claim_attempt: Annotated[int, Integer(1)]
    lease_token: ALeaseToken
    reserved_at: AnIso
    hold_tokens: Annotated[int, Integer(1)]
    hold_cost_nanodollars: _Count

    def check(self, where: str = "") -> None:
        """The id is the claim's."""
        if attempt_id(self.job_digest, self.claim_attempt, self.lease_token) != self.id:
            raise Violation(where, "has an id that is not its claim's")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _DayFacts(Record):
    id: AnAttemptId
    job_id: AJobId | None = None
    job_digest: ADigest
    claim_attempt: Annotated[int, Integer(1)]
    lease_token: ALeaseToken
    provider: AProvider
    state: str
    reserved_at: AnIso
    hold_tokens: Annotated[int, Integer(1)]
    hold_cost_nanodollars: _Count


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _DaySent(_DayFacts):
    dispatched_at: AnIso
    request_digest: ADigest | None = None
    model: Annotated[str, Text(1, 256)] | None = None
    api: Annotated[str, Text(1, 256)] | None = None

    def check(self, where: str = "") -> None:
        """The request is named whole or not at all."""
        named = {part is None for part in (self.request_digest, self.model, self.api)}
        if len(named) != 1:
            raise Violation(where, "names its request in part")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DayReserved(_DayFacts):
    """Held, not sent."""

    state: Literal["reserved"] = "reserved"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DayCancelled(_DayFacts):
    """Closed without a call."""

    state: Literal["canceled"] = "canceled"
    canceled_at: AnIso


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DayDispatched(_DaySent):
    """Sent, perhaps."""

    state: Literal["dispatched"] = "dispatched"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DaySettled(_DaySent):
    """Answered, and charged."""

    state: Literal["settled"] = "settled"
    settled_at: AnIso
    charged_tokens: _Count
    charged_cost_nanodollars: _Count
    provenance: LooseProvenance


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DayUnknown(_DaySent):
    """Nobody knows."""

    state: Literal["unknown"] = "unknown"
    unknown_at: AnIso


DayAttempt: TypeAlias = DayReserved | DayCancelled | DayDispatched | DaySettled | DayUnknown


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DayCarry(Record):
    """A legacy budget's spend inside a day file."""

    source_digest: ADigest
    imported_at: AnIso
    calls: _Count
    tokens: _Count
    cost_nanodollars: _Count


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DayFile(Record):
    """One UTC day of the protocol's accounting: what Pi's status panel adds up."""

    version: Literal[1] = 1
    day: ADay
    providers: Mapping[AProvider, Annotated[tuple[DayAttempt, ...], Items(0, DAY_ATTEMPTS_MAX)]]
    legacy_carry: Mapping[AProvider, DayCarry] | None = None

    def check(self, where: str = "") -> None:
        """An attempt stands once, under its own provider."""
        seen: set[str] = set()
        for provider, attempts in self.providers.items():
            for attempt in attempts:
                if attempt.id in seen:
                    raise Violation(where, "holds an attempt twice")
                if attempt.provider != provider:
                    raise Violation(where, "holds an attempt under another provider")
                seen.add(attempt.id)

    def line(self) -> bytes:
        """Return the day as one line of compact JSON.

        It is written attempt by attempt: a busy day as one tree takes ten times its bytes, and several texts of it several
        times.
        """
        return b"".join(self._pieces())

    def _pieces(self) -> Iterator[bytes]:
        shell = compact(dataclasses.replace(self, providers={}).encode())
        before, key, after = shell.partition('"providers":{')
        yield (before + key).encode()
        for index, (provider, attempts) in enumerate(self.providers.items()):
            yield f"{',' if index else ''}{compact(provider)}:[".encode()
            for number, attempt in enumerate(attempts):
                yield f"{',' if number else ''}{compact(attempt.encode())}".encode()
            yield b"]"
        yield f"{after}\n".encode()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LegacyBudget(Record):
    """`review-budget.json`: an aggregate older than the journal. Read only."""

    version: Literal[1] = 1
    day: ADay
    calls: _Count
    tokens: _Count
    cost_usd: float
