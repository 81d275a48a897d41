"""What there is to say of one session file without saying what stands in it: counts, times, damage, coverage."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping

from curator.model.digest import Digest
from curator.model.ids import BranchName, ProjectKey
from curator.model.trajectory import Progress, Role, Tip
from curator.pi.stream import Damage, Head


class DateQuality(enum.StrEnum):
    """How far an entry's own time can be believed."""

    GOOD = "good"
    FUTURE = "in the future"
    ANCIENT = "before there was Pi"
    ODD = "not a time in Pi's spelling"
    MISSING = "missing"


@dataclasses.dataclass(frozen=True, slots=True)
class Cursor:
    """Where a No Forgetti review ended. It covered at most twelve turns, so what lies before is uncertain, not done."""

    project_key: ProjectKey
    branch: BranchName
    through: Digest | None
    """The node that it reached, or None if its entry is not in the file."""


@dataclasses.dataclass(frozen=True, slots=True)
class Facts:
    """One file, as far as it was read this time: all of it, or what came since `resume`."""

    head: Head
    lines: int
    roles: Mapping[Role, int]
    """How many nodes of each role; those of `user` are the turns. A prefix that forks share is counted in each file."""
    usage_known: int
    usage_unknown: int
    """Answers of a model that say how many tokens they took, and that do not: unknown is not nothing."""
    tokens: int
    """The sum of what is known."""
    dates: Mapping[DateQuality, int]
    first_ms: int | None
    last_ms: int | None
    """The earliest and the latest good time of an entry."""
    disorder: int
    """Good times that lie before the good time of the entry written before."""
    injected: int
    """Entries that hold memory which the extension put in; they became nodes without a text."""
    cursors: tuple[Cursor, ...]
    missing_parents: int
    """Entries whose parent was not written before them; each became a root."""
    unknown: Mapping[str, int]
    """Entries of a type, or messages of a role, that this release does not know; they keep their place in the tree."""
    damage: tuple[Damage, ...]
    """The first hundred; `damage_count` counts all."""
    damage_count: int


@dataclasses.dataclass(frozen=True, slots=True)
class Ended:
    """The last event of reading a file."""

    path: str
    progress: Progress
    facts: Facts
    leaves: tuple[Tip, ...]
    """The ends of branches in the file, the one written last being last; at most `LEAVES_MAX`, the latest."""
    size: int
    """How many bytes the file had for this reading, with a last line that may be torn: read `until` it, and it is the
    same file."""
    content_digest: Digest | None
    """SHA-256 of those bytes, where it was asked for and the file was read from its first byte."""
    is_whole: bool
    """Whether the file was read from its first byte: not asked to go on, or unable to."""
