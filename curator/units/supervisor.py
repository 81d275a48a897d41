"""What curator wants of a service manager: the words that systemd and launchd share."""

from __future__ import annotations

import dataclasses
import enum
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

from curator.units.commands import Ran

MARK: Final = "Written by `curator service install"
"""Stands in each file of ours; a file without it is a person's."""
UNIT_BYTES_MAX: Final = 1_048_576
"""What systemd itself reads of a unit."""
RUN: Final = ("review", "--once", "--maintain")
"""What a timer or cron runs: where no daemon is, nobody else lets go what is old."""
_SUFFIX_CHARS: Final = 8


class Kind(enum.Enum):
    """The two ways of running: always there, or once every few minutes."""

    SERVICE = "service"
    TIMER = "timer"


@dataclasses.dataclass(frozen=True, slots=True)
class Wanted:
    """What a unit is written from. Every path is absolute; `path` is the value of PATH."""

    base: str
    kind: Kind
    agent: Path
    program: Path
    path: str
    has_fence: bool = True


@dataclasses.dataclass(frozen=True, slots=True)
class UnitFile:
    """A file to write."""

    path: Path
    text: str


@dataclasses.dataclass(frozen=True, slots=True)
class State:
    """How a unit stands. What the service manager does not tell is absent."""

    is_active: bool
    is_enabled: bool
    word: str
    pid: int | None = None
    restarts: int | None = None
    last_exit: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Unit:
    """A unit of the person's, whoever wrote it: its name, its file and the words of its commands."""

    name: str
    path: Path
    words: tuple[str, ...]


class Supervisor(Protocol):
    """systemd or launchd, for the account that runs the command. What it refuses is a `SupervisorError`."""

    @property
    def title(self) -> str:
        """Its name."""
        ...

    @property
    def runs_logged_out(self) -> bool | None:
        """Whether services go on while nobody is logged in; None if that cannot be had."""
        ...

    def render(self, wanted: Wanted) -> tuple[UnitFile, ...]:
        """Return the files that make up what is wanted."""
        ...

    def places(self, base: str, kind: Kind) -> tuple[Path, ...]:
        """Return where the files of a kind stand."""
        ...

    def links(self, base: str, kind: Kind) -> tuple[Path, ...]:
        """Return the links by which the service manager remembers that a kind is enabled."""
        ...

    def names(self, base: str, kind: Kind) -> tuple[str, ...]:
        """Return the names under which the service manager knows a kind: first the one that is started."""
        ...

    def is_reachable(self) -> bool:
        """Tell whether the service manager of this account answers."""
        ...

    def can_fence(self) -> bool:
        """Try whether the system lets an unprivileged service have a view of the disk of its own."""
        ...

    def environment_file(self, base: str) -> Path | None:
        """Return where a person puts keys for the service; None if that cannot be had."""
        ...

    def known_names(self, names: Sequence[str]) -> frozenset[str]:
        """Return which of these names a service would find in its environment, beside those in its unit."""
        ...

    def take_up(self, base: str, kind: Kind) -> None:
        """Read the files, and start what they say now and at each login; restart what runs."""
        ...

    def lay_down(self, base: str, kind: Kind) -> None:
        """Stop a kind, and start it no more."""
        ...

    def forget(self) -> None:
        """Notice that files are gone."""
        ...

    def start(self, base: str, kind: Kind) -> None:
        """Start a kind that is installed."""
        ...

    def stop(self, base: str, kind: Kind) -> None:
        """Stop a kind until it is started, or until the next login."""
        ...

    def restart(self, base: str, kind: Kind) -> None:
        """Stop and start."""
        ...

    def state(self, name: str) -> State:
        """Return how a unit stands, by its name."""
        ...

    def log(self, base: str, kind: Kind, lines: int, *, follow: bool) -> tuple[str, ...]:
        """Return the command that shows the last lines of the log."""
        ...

    def units(self) -> Sequence[Unit]:
        """Return all units of this account that can be read."""
        ...

    def triggers(self, unit: Unit) -> tuple[str, ...]:
        """Return the names of timers that start a unit."""
        ...

    def end_commands(self, name: str, path: Path) -> tuple[tuple[str, ...], ...]:
        """Return the commands that stop somebody's unit for good."""
        ...

    def undo_commands(self, name: str, path: Path) -> tuple[tuple[str, ...], ...]:
        """Return the commands that take that back."""
        ...

    def execute(self, command: Sequence[str]) -> Ran:
        """Run one of those commands."""
        ...


def base_of(agent: Path, home: Path) -> str:
    """Return the name of the units for an agent folder: plain for the usual folder, so that two never share one."""
    if agent == home / ".pi" / "agent":
        return "curator"
    digest = hashlib.sha256(str(agent).encode("utf-8", "surrogateescape")).hexdigest()
    return f"curator-{digest[:_SUFFIX_CHARS]}"
