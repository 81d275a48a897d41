"""Where one plan of old sessions stands, below the folder that `Layout` gives it."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclasses.dataclass(frozen=True)  # without slots: what is asked for again and again is made once
class PlanLayout:
    """The tree of one plan."""

    root: Path

    @cached_property
    def plan(self) -> Path:
        """What is to be read and asked, frozen."""
        return self.root / "plan.json"

    @cached_property
    def windows(self) -> Path:
        """What each call is to look at, frozen when the files are indexed."""
        return self.root / "windows.json"

    @cached_property
    def wish(self) -> Path:
        """What a person wants of it; the one file that is replaced."""
        return self.root / "wish.json"

    @cached_property
    def guard(self) -> Path:
        """Held by whoever works on it; by the kernel."""
        return self.root / "run.guard"

    @cached_property
    def pid(self) -> Path:
        """Which process that is: for messages, never for deciding."""
        return self.root / "run.pid"

    @cached_property
    def answers(self) -> Path:
        """What calls brought, while it is kept."""
        return self.root / "answers"

    def answer(self, window: int, attempt: int) -> Path:
        """What one call brought."""
        return self.answers / f"{window:06}.{attempt}.json"

    @cached_property
    def staged(self) -> Path:
        """What windows came to, while it is kept."""
        return self.root / "staged"

    def proposal(self, window: int) -> Path:
        """What one window came to."""
        return self.staged / f"{window:06}.json"

    @cached_property
    def promotions(self) -> Path:
        """Changes of memory that were begun."""
        return self.root / "promotions"

    def promotion(self, number: int) -> Path:
        """One of them."""
        return self.promotions / f"{number:06}.json"

    @cached_property
    def snapshots(self) -> Path:
        """The branch before each promotion, byte for byte."""
        return self.root / "snapshots"

    def snapshot(self, number: int) -> Path:
        """The branch before one promotion."""
        return self.snapshots / f"{number:06}.json"

    @cached_property
    def rollbacks(self) -> Path:
        """Which promotions were taken back."""
        return self.root / "rollbacks"

    def rollback(self, number: int) -> Path:
        """That one was."""
        return self.rollbacks / f"{number:06}.json"

    @cached_property
    def folders(self) -> tuple[Path, ...]:
        """All of its folders, effects before what they rest on."""
        return (self.rollbacks, self.promotions, self.snapshots, self.staged, self.answers)
