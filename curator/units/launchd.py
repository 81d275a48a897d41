"""launchd, for one person: agents in ~/Library/LaunchAgents, commands of `launchctl` in the domain of the login."""

from __future__ import annotations

import os
import plistlib
import re
import xml.parsers.expat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from curator.durable.read import list_names, read_bounded
from curator.errors import InvalidRecordError, StorageError
from curator.model.digest import Json
from curator.units.commands import CHANGE_S_MAX, Ran, Runner, SupervisorError
from curator.units.quoting import checked
from curator.units.supervisor import MARK, UNIT_BYTES_MAX, Kind, State, Unit, UnitFile, Wanted
from curator.units.templates import fill_plist, load

_AGENTS_MAX: Final = 10_000
"""More names in a folder of agents are somebody's accident."""
_SHARED: Final = ("/Library/LaunchAgents",)
_PID: Final = re.compile(r"^\s*pid = (\d+)\s*$", re.MULTILINE)
_EXIT: Final = re.compile(r"^\s*last exit code = (\d+)", re.MULTILINE)
_TRIES: Final = 20
_PAUSE_S: Final = 0.5
"""bootout returns before the process is gone, and bootstrap fails until then; 10 s, then the failure is told."""


class Launchd:
    """The launchd of the person's login at the screen."""

    title = "launchd"
    runs_logged_out = None

    def __init__(self, runner: Runner, home: Path, *, shared: Sequence[str] = _SHARED) -> None:
        """Take who runs commands, and the person's home; `shared` folders are everybody's."""
        self._runner = runner
        self._home = home
        self._own = home / "Library" / "LaunchAgents"
        self._folders = (self._own, *map(Path, shared))
        self._domain = f"gui/{os.getuid()}"

    def render(self, wanted: Wanted) -> tuple[UnitFile, ...]:
        """Return the agent: kept alive, or started every few minutes."""
        words = {
            "LABEL": self.names(wanted.base, wanted.kind)[0],
            "PROGRAM": checked(str(wanted.program)),
            "AGENT": checked(str(wanted.agent)),
            "PATH": checked(wanted.path),
            "LOG": checked(str(self.log_file(wanted.base))),
        }
        template = "curator.plist" if wanted.kind is Kind.SERVICE else "curator-review.plist"
        text = plistlib.dumps(_dictionary(fill_plist(load("launchd", template), words)), sort_keys=False).decode()
        marked = text.replace("<plist", f"<!-- {MARK}`, which writes it anew each time. -->\n<plist", 1)
        return (UnitFile(self.places(wanted.base, wanted.kind)[0], marked),)

    def names(self, base: str, kind: Kind) -> tuple[str, ...]:
        """Return the agent's label."""
        return (f"pi-{base}.{'service' if kind is Kind.SERVICE else 'review'}",)

    def places(self, base: str, kind: Kind) -> tuple[Path, ...]:
        """Return where the agent's file stands."""
        return tuple(self._own / f"{name}.plist" for name in self.names(base, kind))

    def links(self, base: str, kind: Kind) -> tuple[Path, ...]:
        """Return nothing: launchd keeps no links."""
        del base, kind
        return ()

    def log_file(self, base: str) -> Path:
        """Return where the service's output goes; its folder is always there on macOS."""
        return self._home / "Library" / "Logs" / f"pi-{base}.log"

    def is_reachable(self) -> bool:
        """Tell whether there is a login at the screen; agents live in it."""
        return self._runner.run(("launchctl", "print", self._domain)).is_good

    def can_fence(self) -> bool:
        """Say no: an agent sees the disk as the person does."""
        return False

    def environment_file(self, base: str) -> Path | None:
        """Return nothing: an agent takes its environment from its file and from launchd alone."""
        del base
        return None

    def known_names(self, names: Sequence[str]) -> frozenset[str]:
        """Return which names launchd has; their values are dropped unseen."""
        return frozenset(name for name in names if self._runner.run(("launchctl", "getenv", name)).out.strip())

    def take_up(self, base: str, kind: Kind) -> None:
        """Load the agent anew."""
        label = self.names(base, kind)[0]
        self.lay_down(base, kind)
        self._demand(("enable", f"{self._domain}/{label}"), f"{label} was written, but not enabled")
        self._load(base, kind)

    def lay_down(self, base: str, kind: Kind) -> None:
        """Unload the agent; one that is not loaded is down already."""
        target = self._target(base, kind)
        if self._is_loaded(target):
            self._demand(("bootout", target), f"{target} was not stopped")
            for _ in range(_TRIES):
                if not self._is_loaded(target):
                    break
                self._runner.pause(_PAUSE_S)

    def forget(self) -> None:
        """Do nothing: launchd reads a file when it is told to."""

    def start(self, base: str, kind: Kind) -> None:
        """Start the agent, and load it first where it is not."""
        target = self._target(base, kind)
        if self._is_loaded(target):
            self._demand(("kickstart", target), f"{target} did not start")
        else:
            self._load(base, kind)

    def stop(self, base: str, kind: Kind) -> None:
        """Unload the agent until it is started, or until the next login."""
        self.lay_down(base, kind)

    def restart(self, base: str, kind: Kind) -> None:
        """Stop and start."""
        self.lay_down(base, kind)
        self._load(base, kind)

    def state(self, name: str) -> State:
        """Return how an agent stands: loaded is enabled, with a process it is active."""
        ran = self._runner.run(("launchctl", "print", f"{self._domain}/{name}"))
        if not ran.is_good:
            return State(is_active=False, is_enabled=False, word="not loaded")
        pid, last = _PID.search(ran.out), _EXIT.search(ran.out)
        return State(
            is_active=pid is not None,
            is_enabled=True,
            word="loaded, not running" if pid is None else "running",
            pid=None if pid is None else int(pid[1]),
            last_exit=None if last is None else int(last[1]),
        )

    def log(self, base: str, kind: Kind, lines: int, *, follow: bool) -> tuple[str, ...]:
        """Return tail's command."""
        del kind
        return ("tail", "-n", str(lines), *(("-F",) if follow else ()), str(self.log_file(base)))

    def units(self) -> Sequence[Unit]:
        """Return all agents that can be read."""
        found: list[Unit] = []
        for folder in self._folders:
            try:
                names = list_names(folder, _AGENTS_MAX)
            except (InvalidRecordError, StorageError):
                continue
            found += [unit for name in names if name.endswith(".plist") and (unit := _unit(folder / name)) is not None]
        return tuple(found)

    def triggers(self, unit: Unit) -> tuple[str, ...]:
        """Return nothing: an agent carries its own times."""
        del unit
        return ()

    def end_commands(self, name: str, path: Path) -> tuple[tuple[str, ...], ...]:
        """Return the commands that unload an agent and keep it so."""
        del path
        target = f"{self._domain}/{name}"
        return (("launchctl", "disable", target), ("launchctl", "bootout", target))

    def undo_commands(self, name: str, path: Path) -> tuple[tuple[str, ...], ...]:
        """Return the commands that take that back."""
        target = f"{self._domain}/{name}"
        return (("launchctl", "enable", target), ("launchctl", "bootstrap", self._domain, str(path)))

    def execute(self, command: Sequence[str]) -> Ran:
        """Run a command that changes something."""
        return self._runner.run(command, seconds=CHANGE_S_MAX)

    def _load(self, base: str, kind: Kind) -> None:
        command = ("launchctl", "bootstrap", self._domain, str(self.places(base, kind)[0]))
        ran = self.execute(command)
        for _ in range(_TRIES):
            if ran.is_good:
                return
            self._runner.pause(_PAUSE_S)
            ran = self.execute(command)
        if not ran.is_good:
            raise SupervisorError(
                f"{self._target(base, kind)} did not start: {ran.reason}", remedy="See `curator service logs`"
            )

    def _target(self, base: str, kind: Kind) -> str:
        return f"{self._domain}/{self.names(base, kind)[0]}"

    def _is_loaded(self, target: str) -> bool:
        return self._runner.run(("launchctl", "print", target)).is_good

    def _demand(self, arguments: tuple[str, ...], failure: str) -> None:
        ran = self.execute(("launchctl", *arguments))
        if not ran.is_good:
            raise SupervisorError(f"{failure}: {ran.reason}")


def _unit(path: Path) -> Unit | None:
    """Return what an agent runs, or None for a file that is none."""
    try:
        raw = read_bounded(path, UNIT_BYTES_MAX, follow=True)
        value: Json = plistlib.loads(raw or b"")
    except (InvalidRecordError, StorageError, plistlib.InvalidFileException, xml.parsers.expat.ExpatError, ValueError):
        return None
    if not isinstance(value, dict) or not isinstance(label := value.get("Label"), str):
        return None
    listed = value.get("ProgramArguments")
    arguments = listed if isinstance(listed, list) else []
    words = [value.get("Program"), *arguments]
    return Unit(label, path, tuple(word for word in words if isinstance(word, str)))


def _dictionary(value: Json) -> dict[str, Json]:
    assert isinstance(value, dict), "a template of launchd is a dictionary"
    return value
