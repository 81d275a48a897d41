"""Where one project's trajectory stands, below the folder that `Layout` gives it."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from curator.model.ids import SessionKey


@dataclasses.dataclass(frozen=True)  # without slots: what is asked for again and again is made once
class TrajectoryLayout:
    """The tree of one project's trajectory."""

    root: Path

    @cached_property
    def lock(self) -> Path:
        """Guards every change of it; held by the kernel."""
        return self.root / "trajectory.guard"

    @cached_property
    def segments(self) -> Path:
        """What was said: nodes, many to a file that is named by its content."""
        return self.root / "segments"

    @cached_property
    def settled(self) -> Path:
        """Where sessions had come to rest."""
        return self.root / "settled"

    @cached_property
    def coverage(self) -> Path:
        """What became of it in reviews."""
        return self.root / "coverage"

    @cached_property
    def forgotten(self) -> Path:
        """Tombstones."""
        return self.root / "forgotten"

    @cached_property
    def waiting(self) -> Path:
        """What came before its beginning."""
        return self.root / "waiting"

    @cached_property
    def sources(self) -> Path:
        """How far each session file was read."""
        return self.root / "sources"

    def source(self, session: SessionKey) -> Path:
        """How far one session file was read."""
        return self.sources / f"{session}.json"

    @cached_property
    def index(self) -> Path:
        """A database for looking things up; nothing is lost with it."""
        return self.root / "index.sqlite"


@dataclasses.dataclass(frozen=True)  # without slots: what is asked for again and again is made once
class InboxLayout:
    """The folder through which a package in Pi hands over what was just said."""

    root: Path

    @cached_property
    def wanted(self) -> Path:
        """What the package is asked for: beginnings that are missing."""
        return self.root / "wanted"

    def want(self, session: SessionKey) -> Path:
        """What is missing of one session."""
        return self.wanted / f"{session}.json"

    @cached_property
    def refused(self) -> Path:
        """What could not be taken, each with why."""
        return self.root / "refused"
