"""What a trajectory's ledger keeps beside its nodes: ends that were settled, what reviews covered, what is forgotten.

Each is one line of canonical JSON in a file of many, or one small file; none holds what was said.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Annotated, Literal

from curator.model.ids import ADigest, AJobEntryId, AnIso, ASafeId, ASessionKey
from curator.model.limits import COVERED_AT_ONCE_MAX, SOURCE_LEAVES_MAX
from curator.model.record import Integer, Items, Record, Text

AReason = Annotated[str, Text(1, 200)]


class CoverageState(enum.StrEnum):
    """What has become of a turn or a node, seen from reviews."""

    PENDING = "pending"
    LEASED = "leased"
    PROCESSED = "processed"
    EXCLUDED = "excluded"
    DAMAGED = "damaged"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settled(Record):
    """A checkpoint, apart from what was said: at some moment a session had come to rest at this node."""

    version: Literal[1] = 1
    kind: Literal["trajectory-settled"] = "trajectory-settled"
    session_key: ASessionKey
    entry_id: AJobEntryId
    leaf: ADigest
    at: AnIso | None = None
    """When the entry was written, as its source says: the same checkpoint told twice is the same line."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Coverage(Record):
    """A batch: these turns or nodes are now in this state, by the word of a plan or of a rule."""

    version: Literal[1] = 1
    kind: Literal["trajectory-coverage"] = "trajectory-coverage"
    state: CoverageState
    digests: Annotated[tuple[ADigest, ...], Items(1, COVERED_AT_ONCE_MAX)]
    by: ASafeId
    """A plan's id, or the name of a rule."""
    at: AnIso
    number: Annotated[int, Integer(1)] | None = None
    """Its place among the batches of the project; the ledger gives it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Covered:
    """In which state a turn or a node is, and by whose word."""

    state: CoverageState
    by: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone(Record):
    """A node whose text is gone, on somebody's word, and does not come back. Its parent keeps the path whole."""

    version: Literal[1] = 1
    kind: Literal["trajectory-tombstone"] = "trajectory-tombstone"
    digest: ADigest
    parent: ADigest | None = None
    reason: AReason
    at: AnIso


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Source(Record):
    """How far a session file was read: all before that byte stands in the ledger."""

    version: Literal[1] = 1
    kind: Literal["trajectory-source"] = "trajectory-source"
    session_key: ASessionKey
    path: Annotated[str, Text(1, 4_096)]
    """Where it was, as it was spelled; escapes stand for what is not Unicode."""
    byte: Annotated[int, Integer()]
    """The first byte that was not read."""
    line: Annotated[int, Integer()]
    """How many whole lines stand before it."""
    prefix_digest: ADigest
    """Of what was read: a file that was rewritten has another."""
    leaves: Annotated[tuple[ADigest, ...], Items(0, SOURCE_LEAVES_MAX)]
    nodes: Annotated[int, Integer()]
    damaged: Mapping[str, Annotated[int, Integer()]]
    """How many lines were not taken, by why."""
    unknown: Mapping[str, Annotated[int, Integer()]]
    """How many entries of each type that this release does not know."""
    read_at: AnIso
