"""A finding: what was looked at, what is so, what to do, and what the doctor can do itself."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

    from curator.workflow.stuck import Begun

Level: TypeAlias = Literal["ok", "note", "warning", "error"]
"""note: so, and right. warning: a promise is weaker, or something waits for somebody. error: something does not work."""


@dataclasses.dataclass(frozen=True, slots=True)
class Restrict:
    """Give files or folders the modes that keep them private."""

    paths: tuple[Path, ...]
    mode: int


@dataclasses.dataclass(frozen=True, slots=True)
class Reap:
    """Remove a lock of the protocol whose owner is dead."""

    path: Path


@dataclasses.dataclass(frozen=True, slots=True)
class Drop:
    """Remove what a dead process left of its own writing: staged files, or breakers and moved-away locks."""

    paths: tuple[Path, ...]
    are_locks: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class GiveUp:
    """Set a begun change aside that nobody can finish. Only on a person's word, after it was shown."""

    begun: Begun


Mend: TypeAlias = Restrict | Reap | Drop | GiveUp


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    level: Level
    subject: str
    fact: str
    remedy: str | None = None
    mend: Mend | None = None


def is_healthy(findings: tuple[Finding, ...]) -> bool:
    """Tell whether nothing is broken; warnings are for a person to weigh."""
    return all(finding.level != "error" for finding in findings)
