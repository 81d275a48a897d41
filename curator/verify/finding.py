"""What the checker found: a place, a fact, and how much it weighs. Never a word of evidence or memory."""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Severity(enum.StrEnum):
    """How much a finding weighs."""

    ERROR = "error"
    """No order of steps and no crash leads here."""
    PENDING = "pending"
    """A legal state in between: the next run of a worker, or Pi, ends it."""
    STRAY = "stray"
    """A name that the protocol passes over."""


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """One fact about one place."""

    path: Path
    fact: str
    severity: Severity


def error(path: Path, fact: str) -> Finding:
    """Say that something is provably wrong."""
    return Finding(path, fact, Severity.ERROR)


def pending(path: Path, fact: str) -> Finding:
    """Say that something is still on its way."""
    return Finding(path, fact, Severity.PENDING)


def stray(path: Path, fact: str) -> Finding:
    """Say that a name belongs to nobody."""
    return Finding(path, fact, Severity.STRAY)


def sure(check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """Yield what a check finds; an error only if a second look finds it too, for a worker may be writing meanwhile."""
    first = list(check())
    if any(finding.severity is Severity.ERROR for finding in first):
        yield from (each for each in check() if each.severity is not Severity.ERROR or each in first)
    else:
        yield from first
