"""A person's change of who may change memory: from what to what, what spoke against it, and why it was done."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal

from curator.model.ids import AnIso
from curator.model.record import Items, Record, Text
from curator.model.settings import Mode
from curator.model.text import is_sanitized


def _reason_fault(text: str) -> str | None:
    return None if text.strip() and is_sanitized(text) else "is blank, or holds what may not be kept"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Switch(Record):
    """Ours, published once for each change of mode."""

    version: Literal[1] = 1
    kind: Literal["curator-authority"] = "curator-authority"
    before: Mode
    after: Mode
    switched_at: AnIso
    closed_gates: Annotated[tuple[str, ...], Items(0, 16)]
    """What spoke against it; empty where nothing did."""
    reason: Annotated[str, Text(1, 500, _reason_fault)] | None = None
    """Why it was done all the same."""
