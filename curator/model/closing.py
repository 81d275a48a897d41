"""The closing record: that a job is over, after its evidence is gone. Ids and figures, no text."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal

from curator.model.admission import Status
from curator.model.ids import (
    ABranchName,
    ADigest,
    AJobId,
    AnAttemptId,
    AnEntryId,
    AnIso,
    AProjectKey,
    ARevisionId,
    ASafeId,
    ASessionKey,
)
from curator.model.limits import GENERATION_MAX, REVISION_CHANGES_MAX
from curator.model.record import Integer, Items, Record, Text

_Count = Annotated[int, Integer()]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ClosedAttempt(Record):
    """One attempt of a finished job, as the journal had it."""

    id: AnAttemptId
    state: Literal["reserved", "dispatched", "settled", "unknown", "cancelled"]
    tokens: _Count
    cost_nanousd: _Count


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ClosedSpan(Record):
    """What an entry of the job's revision rests on: the digest of a quote, once the quote itself is gone."""

    entry_id: AnEntryId
    digest: ADigest


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Closing(Record):
    """A finished job, in figures: enough to answer a pending card, to refuse a second run, and to say whence memory came.

    What has a default was not kept by earlier releases.
    """

    version: Literal[1] = 1
    kind: Literal["curator-closing"] = "curator-closing"
    job_id: AJobId
    job_digest: ADigest
    project_key: AProjectKey
    session_key: ASessionKey
    branch_name: ABranchName
    authority: Literal["shadow", "external"]
    status: Status | Literal["failed"]
    failure_code: Annotated[str, Text(1, 64)] | None = None
    finished_at: AnIso
    attempts: Annotated[tuple[ClosedAttempt, ...], Items(0, 10_000)]
    provider: Annotated[str, Text(1, 128)] | None = None
    model: Annotated[str, Text(1, 256)] | None = None
    entry_ids: Annotated[tuple[AnEntryId, ...], Items(0, REVISION_CHANGES_MAX)]
    through_entry_id: ASafeId | None = None
    """The last turn of the session that the job had before it."""
    generation: Annotated[int, Integer(1, GENERATION_MAX)] | None = None
    elected: AnAttemptId | None = None
    """The attempt whose proposal was decided for."""
    revision_id: ARevisionId | None = None
    spans: Annotated[tuple[ClosedSpan, ...], Items(0, REVISION_CHANGES_MAX)] = ()
