"""What a trajectory's ledger keeps beside its nodes: ends that were settled, what reviews covered, what is forgotten.

Each is one line of canonical JSON in a file of many, or one small file; only a delta holds what was said.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Annotated, Literal

from curator.model.ids import ADigest, AJobEntryId, AnIso, ASafeId, ASessionKey
from curator.model.limits import COVERED_AT_ONCE_MAX, DELTA_ENTRIES_MAX, NODE_CHARS_MAX, SOURCE_LEAVES_MAX
from curator.model.record import Integer, Items, Record, Text, Violation
from curator.model.trajectory import Progress, Role, Tip

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
    """How far a session file was read: all before that stands in the ledger."""

    version: Literal[1] = 1
    kind: Literal["trajectory-source"] = "trajectory-source"
    session_key: ASessionKey
    path: Annotated[str, Text(1, 4_096)]
    """Where it was, as it was spelled; escapes stand for what is not Unicode."""
    progress: Progress
    leaves: Annotated[tuple[Tip, ...], Items(0, SOURCE_LEAVES_MAX)]
    nodes: Annotated[int, Integer()]
    damaged: Mapping[str, Annotated[int, Integer()]]
    """How many lines were not taken, by why."""
    unknown: Mapping[str, Annotated[int, Integer()]]
    """How many entries of each type that this release does not know."""
    read_at: AnIso


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Payload(Record):
    """What may be kept of one entry, before it is known on which node it follows."""

    entry_id: AJobEntryId
    after: AJobEntryId | None = None
    """The entry that it follows, in the same delta; None for the delta's predecessor."""
    at: AnIso | None = None
    role: Role
    text: Annotated[str, Text(0, NODE_CHARS_MAX)]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Delta(Record):
    """What a session said after one of its entries, cleaned: nodes that lack their parent's digest."""

    version: Literal[1] = 1
    kind: Literal["trajectory-delta"] = "trajectory-delta"
    session_id: Annotated[str, Text(1, 512)]
    predecessor: AJobEntryId | None = None
    """The entry before the first; None where that is the session's root."""
    entries: Annotated[tuple[Payload, ...], Items(0, DELTA_ENTRIES_MAX)]
    """Each after the one that it follows."""
    settled_leaf: AJobEntryId | None = None
    """The entry with which the session came to rest, in the delta or its predecessor."""
    settled_at: AnIso | None = None

    def check(self, where: str = "") -> None:
        """Check that each entry follows one before it, and that the leaf is one of them or the predecessor."""
        known: set[str] = set()
        for entry in self.entries:
            if entry.entry_id in known:
                raise Violation(where, "has an entry twice")
            if entry.after is not None and entry.after not in known:
                raise Violation(where, "has an entry that follows none before it")
            known.add(entry.entry_id)
        if self.settled_leaf is not None and self.settled_leaf not in {*known, self.predecessor}:
            raise Violation(where, "has a settled leaf that is none of its entries")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Wanted(Record):
    """What Pi is asked for: a delta that ends with this entry, because what follows it has come without it."""

    version: Literal[1] = 1
    kind: Literal["trajectory-wanted"] = "trajectory-wanted"
    project_root: Annotated[str, Text(1, 4_096)]
    session_id: Annotated[str, Text(1, 512)]
    entry_id: AJobEntryId
    entries_max: Annotated[int, Integer(1)]
    bytes_max: Annotated[int, Integer(1)]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Refusal(Record):
    """Why a file of the inbox was set aside."""

    version: Literal[1] = 1
    kind: Literal["trajectory-refusal"] = "trajectory-refusal"
    name: Annotated[str, Text(1, 1_024)]
    code: ASafeId
    fact: Annotated[str, Text(1, 8_192)]
    remedy: Annotated[str, Text(1, 8_192)]
    at: AnIso
