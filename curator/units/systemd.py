"""systemd, for one person: units in ~/.config/systemd/user, commands of `systemctl --user`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from curator.durable.read import list_names, read_bounded
from curator.errors import InvalidRecordError, StorageError
from curator.units.commands import CHANGE_S_MAX, Ran, Runner, SupervisorError
from curator.units.quoting import command_line, glob_path, quoted, settings_of, words_of
from curator.units.supervisor import RUN, UNIT_BYTES_MAX, Kind, State, Unit, UnitFile, Wanted
from curator.units.templates import fill, load

_SYSTEMCTL: Final = ("systemctl", "--user")
_ACTIVE: Final = frozenset({"active", "activating", "reloading", "refreshing"})
_ENABLED: Final = frozenset({"enabled", "enabled-runtime", "linked", "linked-runtime"})
_UNITS_MAX: Final = 10_000
"""More names in a folder of units are somebody's accident."""
_SHARED: Final = ("/etc/systemd/user", "/usr/local/lib/systemd/user", "/usr/lib/systemd/user")
FENCE: Final = (
    ("PrivateUsers", "yes"),
    ("PrivateDevices", "yes"),
    ("ProtectClock", "yes"),
    ("ProtectHostname", "yes"),
    ("ProtectKernelLogs", "yes"),
    ("ProtectKernelModules", "yes"),
    ("ProtectKernelTunables", "yes"),
    ("ProtectControlGroups", "yes"),
    ("CapabilityBoundingSet", ""),
    ("PrivateTmp", "yes"),
    ("ProtectSystem", "strict"),
)
"""What needs a namespace of the service's own: all or nothing, as one of them alone may keep a service from starting."""
_TMP: Final = ("/tmp", "/var/tmp")  # noqa: S108 - nothing is written there: who lives there must see it
_COMMANDS: Final = ("ExecStart", "ExecStartPre", "ExecStartPost")


class Systemd:
    """The user's own systemd."""

    title = "systemd"

    def __init__(
        self, runner: Runner, environ: Mapping[str, str], home: Path, *, shared: Sequence[str] = _SHARED
    ) -> None:
        """Take who runs commands, and where the person's configuration lies; `shared` folders are everybody's."""
        self._runner = runner
        self._config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
        self._own = self._config / "systemd" / "user"
        data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
        self._folders = (self._own, data / "systemd" / "user", *map(Path, shared))

    @property
    def runs_logged_out(self) -> bool | None:
        """Whether lingering is on."""
        ran = self._runner.run(("loginctl", "show-user", str(os.getuid()), "--property=Linger", "--value"))
        return ran.out.strip() == "yes" if ran.is_good else None

    def environment_file(self, base: str) -> Path | None:
        """Return where a person puts keys for the service."""
        return self._environment_file(base)

    def render(self, wanted: Wanted) -> tuple[UnitFile, ...]:
        """Return the service, or the run with its timer."""
        agent = str(wanted.agent)
        arguments = ("--agent-dir", agent) if wanted.kind is Kind.SERVICE else (*RUN, "--agent-dir", agent)
        names = self.names(wanted.base, wanted.kind)
        words = {
            "BASE": wanted.base,
            "UNIT": names[0],
            "TRIGGERED": names[-1],
            "COMMAND": command_line(str(wanted.program), *arguments),
            "AGENT_VARIABLE": quoted(f"PI_CODING_AGENT_DIR={agent}"),
            "PATH_VARIABLE": quoted(f"PATH={wanted.path}"),
            "ENVIRONMENT_FILE": glob_path(str(self._environment_file(wanted.base))),
            # The fence is put up where the name leads, not at the name.
            "WRITABLE": quoted(os.path.realpath(agent)),
            "HAS_FENCE": "yes" if wanted.has_fence else "no",
            "HAS_OWN_TMP": "yes" if wanted.has_fence and not _lies_in_tmp(wanted) else "no",
            # Empty takes every capability away, a tilde none.
            "RIGHTS": "" if wanted.has_fence else "~",
            "SYSTEM": "strict" if wanted.has_fence else "no",
        }
        templates = (
            ("curator.service",) if wanted.kind is Kind.SERVICE else ("curator-review.timer", "curator-review.service")
        )
        return tuple(
            UnitFile(self._own / name, fill(load("systemd", template), words))
            for name, template in zip(names, templates, strict=True)
        )

    def names(self, base: str, kind: Kind) -> tuple[str, ...]:
        """Return the service, or the timer and the service that it starts."""
        return (f"{base}.service",) if kind is Kind.SERVICE else (f"{base}-review.timer", f"{base}-review.service")

    def places(self, base: str, kind: Kind) -> tuple[Path, ...]:
        """Return where the files of a kind stand."""
        return tuple(self._own / name for name in self.names(base, kind))

    def links(self, base: str, kind: Kind) -> tuple[Path, ...]:
        """Return the link by which a target wants the unit."""
        target = "default.target.wants" if kind is Kind.SERVICE else "timers.target.wants"
        return (self._own / target / self.names(base, kind)[0],)

    def is_reachable(self) -> bool:
        """Tell whether the user's systemd answers on its bus."""
        return self._systemctl("show-environment").is_good

    def can_fence(self) -> bool:
        """Try it with a command that does nothing: some systems forbid namespaces to users."""
        fence = (f"--property={key}={value}" for key, value in FENCE)
        return self._runner.run(("systemd-run", "--user", "--quiet", "--wait", "--collect", *fence, "true")).is_good

    def known_names(self, names: Sequence[str]) -> frozenset[str]:
        """Return which names the user's systemd has. Values are dropped unseen."""
        lines = self._systemctl("show-environment").out.splitlines()
        return frozenset(line.partition("=")[0] for line in lines).intersection(names)

    def take_up(self, base: str, kind: Kind) -> None:
        """Read the files, enable what they say, and start it anew."""
        name = self.names(base, kind)[0]
        self._demand(("daemon-reload",), "systemd did not read the units")
        self._demand(("enable", name), f"{name} was written, but not enabled")
        self._demand(
            ("restart", name), f"{name} was written and enabled, but did not start", "See `curator service logs`"
        )

    def lay_down(self, base: str, kind: Kind) -> None:
        """Stop and disable a kind; a unit that systemd does not know is down already."""
        for name in self.names(base, kind):
            if self._property(name, "LoadState") not in ("not-found", ""):
                self._demand(("disable", "--now", name), f"{name} was not stopped")
                # Only one that failed has something to forget, so a refusal means nothing.
                self._systemctl("reset-failed", name)

    def forget(self) -> None:
        """Notice that files are gone."""
        self._demand(("daemon-reload",), "systemd did not notice that the units are gone")

    def start(self, base: str, kind: Kind) -> None:
        """Start a kind that is installed."""
        self._act("start", base, kind, "did not start")

    def stop(self, base: str, kind: Kind) -> None:
        """Stop a kind, a run of the timer's included."""
        self._demand(("stop", *self.names(base, kind)), f"{self.names(base, kind)[0]} did not stop")

    def restart(self, base: str, kind: Kind) -> None:
        """Stop and start."""
        self._act("restart", base, kind, "did not restart")

    def state(self, name: str) -> State:
        """Return how a unit stands."""
        wanted = ("ActiveState", "SubState", "UnitFileState", "MainPID", "NRestarts", "ExecMainStatus", "LoadState")
        ran = self._systemctl("show", name, "--property=" + ",".join(wanted))
        if not ran.is_good:
            return State(is_active=False, is_enabled=False, word="not known: systemd does not answer")
        shown = dict(line.partition("=")[::2] for line in ran.out.splitlines())
        word = f"{shown.get('ActiveState', 'unknown')} ({shown.get('SubState', 'unknown')})"
        return State(
            is_active=shown.get("ActiveState") in _ACTIVE,
            is_enabled=shown.get("UnitFileState") in _ENABLED,
            word="not found" if shown.get("LoadState") == "not-found" else word,
            pid=_number(shown.get("MainPID")) or None,
            restarts=_number(shown.get("NRestarts")),
            last_exit=_number(shown.get("ExecMainStatus")),
        )

    def log(self, base: str, kind: Kind, lines: int, *, follow: bool) -> tuple[str, ...]:
        """Return journalctl's command. `--user-unit` finds the lines also where users have no journal of their own."""
        more = ("--follow",) if follow else ()
        return ("journalctl", f"--user-unit={self.names(base, kind)[-1]}", f"--lines={lines}", "--no-pager", *more)

    def units(self) -> Sequence[Unit]:
        """Return all services of this account that can be read; of two with one name the first one counts."""
        found: dict[str, Unit] = {}
        for path in self._files(".service"):
            if path.name not in found and (text := self._text(path)) is not None:
                words = tuple(
                    word for key in _COMMANDS for line in settings_of(text, "Service", key) for word in words_of(line)
                )
                found[path.name] = Unit(path.name, path, words)
        return tuple(found.values())

    def triggers(self, unit: Unit) -> tuple[str, ...]:
        """Return the timers that name the unit, or are named like it."""
        names: list[str] = []
        for path in self._files(".timer"):
            named = settings_of(self._text(path) or "", "Timer", "Unit") or (f"{path.stem}.service",)
            if named[-1] == unit.name and path.name not in names:
                names.append(path.name)
        return tuple(names)

    def end_commands(self, name: str, path: Path) -> tuple[tuple[str, ...], ...]:
        """Return the command that stops and disables a unit."""
        del path
        return ((*_SYSTEMCTL, "disable", "--now", name),)

    def undo_commands(self, name: str, path: Path) -> tuple[tuple[str, ...], ...]:
        """Return the command that enables and starts it."""
        del path
        return ((*_SYSTEMCTL, "enable", "--now", name),)

    def execute(self, command: Sequence[str]) -> Ran:
        """Run a command that changes something."""
        return self._runner.run(command, seconds=CHANGE_S_MAX)

    def _files(self, ending: str) -> Iterator[Path]:
        for folder in self._folders:
            try:
                names = list_names(folder, _UNITS_MAX)
            except (InvalidRecordError, StorageError):
                continue
            yield from (folder / name for name in names if name.endswith(ending))

    def _text(self, path: Path) -> str | None:
        """Return a unit with its drop-ins behind it, or None for one that cannot be read: a mask, say."""
        parts = [path]
        for folder in self._folders:
            try:
                names = list_names(folder / f"{path.name}.d", _UNITS_MAX)
            except (InvalidRecordError, StorageError):
                continue
            parts += [folder / f"{path.name}.d" / name for name in names if name.endswith(".conf")]
        texts = [_read(part) for part in parts]
        return None if texts[0] is None else "\n".join(text for text in texts if text is not None)

    def _environment_file(self, base: str) -> Path:
        return self._config / "curator" / f"{base}.env"

    def _act(self, verb: str, base: str, kind: Kind, failure: str) -> None:
        name = self.names(base, kind)[0]
        self._demand((verb, name), f"{name} {failure}", "See `curator service logs`")

    def _property(self, name: str, key: str) -> str:
        return self._systemctl("show", name, f"--property={key}", "--value").out.strip()

    def _systemctl(self, *arguments: str) -> Ran:
        return self._runner.run((*_SYSTEMCTL, *arguments))

    def _demand(self, arguments: tuple[str, ...], failure: str, remedy: str | None = None) -> None:
        ran = self.execute((*_SYSTEMCTL, *arguments))
        if not ran.is_good:
            raise SupervisorError(f"{failure}: {ran.reason}", remedy=remedy)


def _read(path: Path) -> str | None:
    try:
        raw = read_bounded(path, UNIT_BYTES_MAX, follow=True)
    except (InvalidRecordError, StorageError):
        return None
    return None if raw is None else raw.decode("utf-8", "replace")


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _lies_in_tmp(wanted: Wanted) -> bool:
    """Tell whether a /tmp of its own would hide from the service what it needs."""
    paths = [Path(os.path.realpath(path)) for path in (wanted.agent, wanted.program)]
    return any(path.is_relative_to(folder) for path in (*paths, wanted.agent, wanted.program) for folder in _TMP)
