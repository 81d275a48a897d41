"""What a scenario needs around curator: a clock moved by hand, and chance that is the same in every run."""

from __future__ import annotations

import hashlib
import uuid
from typing import Final

MORNING: Final = 1_767_344_400_000
"""Where the hand-moved clock starts: 2026-01-02, 09:00 UTC."""


class HandClock:
    """A clock that stands until somebody moves it."""

    def __init__(self, now: int = MORNING) -> None:
        """Stand at `now`, in UTC milliseconds."""
        self._now = now

    def now(self) -> int:
        """Return UTC milliseconds."""
        return self._now

    def monotonic(self) -> int:
        """Return milliseconds that only grow."""
        return self._now

    def move(self, ms: int) -> None:
        """Let time pass."""
        self._now += ms


class CountedChance:
    """Ids that nobody can guess, except whoever knows which life of the process asks."""

    def __init__(self, life: str) -> None:
        """Count from nothing for one life of the process: two lives never draw the same."""
        self._life = life
        self._drawn = 0

    def uuid(self) -> str:
        """Return the next version 4 UUID."""
        return str(uuid.UUID(hex=self._draw(), version=4))

    def token(self) -> str:
        """Return the next 32 hex characters."""
        return self._draw()

    def _draw(self) -> str:
        self._drawn += 1
        return hashlib.sha256(f"{self._life}/{self._drawn}".encode()).hexdigest()[:32]
