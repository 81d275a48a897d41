"""Two small service managers behind the port of commands, and the real systemd as a reader of units."""

import dataclasses
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest

from curator.units.commands import QUERY_S_MAX, Ran

SYSTEMD: Final = "/lib/systemd/systemd"
NOBODY: Final = "65534"
ODD: Final = "sp ace 'q\" %h \\b$HOME ${X} [a]* 100% é日"
"""Everything that some syntax takes for its own."""


@dataclasses.dataclass(slots=True)
class FakeSystemd:
    """A user's systemd that knows the units in one folder; as the real one, it reads them when it is told to."""

    folder: Path
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    answers: bool = True
    lingers: bool | None = False
    fences: bool = True
    refuses: frozenset[str] = frozenset()
    known: set[str] = dataclasses.field(default_factory=set)
    enabled: set[str] = dataclasses.field(default_factory=set)
    active: set[str] = dataclasses.field(default_factory=set)
    asked: list[tuple[str, ...]] = dataclasses.field(default_factory=list)

    def run(self, command: Sequence[str], *, seconds: float = QUERY_S_MAX) -> Ran:
        assert seconds > 0
        self.asked.append(tuple(command))
        match tuple(command):
            case ("loginctl", "show-user", *_):
                return Ran(1) if self.lingers is None else Ran(0, "yes\n" if self.lingers else "no\n")
            case ("systemd-run", "--user", *_):
                return Ran(0 if self.fences else 217)
            case ("systemctl", "--user", *rest) if self.answers:
                return self._systemctl(rest)
            case _:
                return Ran(1, err="Failed to connect to bus: No medium found\n")

    def hand_over(self, command: Sequence[str]) -> int:
        self.asked.append(tuple(command))
        return 0

    def pause(self, seconds: float) -> None:
        raise AssertionError(seconds)

    @property
    def changes(self) -> list[str]:
        """The commands that changed something, without their common head."""
        quiet = {"show", "show-environment"}
        return [" ".join(words[2:]) for words in self.asked if words[0] == "systemctl" and words[2] not in quiet]

    def _systemctl(self, words: Sequence[str]) -> Ran:
        match words:
            case ("show-environment",):
                return Ran(0, "".join(f"{name}={value}\n" for name, value in self.environment.items()))
            case ("show", name, "--property=LoadState", "--value"):
                return Ran(0, "loaded\n" if name in self.known else "not-found\n")
            case ("show", name, _):
                return Ran(0, self._shown(name))
            case ("daemon-reload",):
                self.known = {path.name for path in self.folder.iterdir()} if self.folder.is_dir() else set()
                return Ran(0)
            case (verb, *names):
                return self._change(verb, [name for name in names if name != "--now"])
            case _:
                raise AssertionError(words)

    def _change(self, verb: str, names: Sequence[str]) -> Ran:
        if verb in self.refuses or not self.known.issuperset(names):
            return Ran(1, err=f"Job for {names[0]} failed.\nSee more.\n")
        match verb:
            case "enable":
                self.enabled.update(names)
            case "disable":
                self.enabled.difference_update(names)
                self.active.difference_update(names)
            case "start" | "restart":
                self.active.update(names)
            case "stop":
                self.active.difference_update(names)
            case _:
                return Ran(1)
        return Ran(0)

    def _shown(self, name: str) -> str:
        is_active = name in self.active
        lines = {
            "LoadState": "loaded" if name in self.known else "not-found",
            "ActiveState": "active" if is_active else "inactive",
            "SubState": "running" if is_active else "dead",
            "UnitFileState": "enabled" if name in self.enabled else "disabled",
            "MainPID": "4242" if is_active else "0",
            "NRestarts": "3",
            "ExecMainStatus": "0" if is_active else "78",
        }
        return "".join(f"{key}={value}\n" for key, value in lines.items())


@dataclasses.dataclass(slots=True)
class FakeLaunchd:
    """A launchd with a login at the screen; a process goes only some questions after it was told to."""

    answers: bool = True
    lingering_questions: int = 0
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    refuses: frozenset[str] = frozenset()
    loaded: set[str] = dataclasses.field(default_factory=set)
    disabled: set[str] = dataclasses.field(default_factory=set)
    leaving: dict[str, int] = dataclasses.field(default_factory=dict)
    asked: list[tuple[str, ...]] = dataclasses.field(default_factory=list)
    pauses: int = 0

    def run(self, command: Sequence[str], *, seconds: float = QUERY_S_MAX) -> Ran:
        assert seconds > 0
        self.asked.append(tuple(command))
        if command[0] != "launchctl" or not self.answers or command[1] in self.refuses:
            return Ran(125, err="Domain does not support specified action\n")
        match tuple(command[1:]):
            case ("print", target) if target.count("/") == 1:
                return Ran(0)
            case ("print", target):
                return self._shown(target.rsplit("/", 1)[1])
            case ("getenv", name):
                return Ran(0, self.environment.get(name, "") + "\n")
            case ("bootstrap", _, path):
                return self._bootstrap(Path(path).stem)
            case ("bootout", target):
                return self._bootout(target.rsplit("/", 1)[1])
            case ("enable" | "disable" as verb, target):
                label = target.rsplit("/", 1)[1]
                (self.disabled.add if verb == "disable" else self.disabled.discard)(label)
                return Ran(0)
            case ("kickstart", target):
                return Ran(0 if target.rsplit("/", 1)[1] in self.loaded else 113)
            case _:
                raise AssertionError(command)

    def hand_over(self, command: Sequence[str]) -> int:
        self.asked.append(tuple(command))
        return 0

    def pause(self, seconds: float) -> None:
        assert 0 < seconds <= 1
        self.pauses += 1

    @property
    def changes(self) -> list[str]:
        """The verbs that changed something."""
        return [words[1] for words in self.asked if words[0] == "launchctl" and words[1] not in {"print", "getenv"}]

    def _bootstrap(self, label: str) -> Ran:
        if label in self.loaded or label in self.leaving or label in self.disabled:
            return Ran(5, err="Bootstrap failed: 5: Input/output error\n")
        self.loaded.add(label)
        return Ran(0)

    def _bootout(self, label: str) -> Ran:
        if label not in self.loaded:
            return Ran(3, err="Boot-out failed: 3: No such process\n")
        self.loaded.discard(label)
        if self.lingering_questions:
            self.leaving[label] = self.lingering_questions
        return Ran(0)

    def _shown(self, label: str) -> Ran:
        if label in self.leaving:
            self.leaving[label] -= 1
            if not self.leaving[label]:
                del self.leaving[label]
            return Ran(0, "\tstate = running\n")
        if label not in self.loaded:
            return Ran(113, err=f'Could not find service "{label}"\n')
        return Ran(0, "\tstate = running\n\n\tpid = 4242\n\tlast exit code = 78: EX_CONFIG\n\tcorpse pid = 7\n")


def executable(path: Path, text: str = "#!/bin/sh\n") -> Path:
    """Write a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o755)
    return path


def analyze(*words: str, runtime: Path) -> subprocess.CompletedProcess[str]:
    """Run systemd-analyze on units that are files, or skip where it is missing."""
    found = shutil.which("systemd-analyze")
    if found is None:
        pytest.skip("no systemd-analyze here, so systemd's own opinion of the units was not asked")
    environ = {"PATH": os.environ["PATH"], "HOME": str(runtime), "XDG_RUNTIME_DIR": str(runtime), "LC_ALL": "C.UTF-8"}
    return subprocess.run([found, *words], env=environ, capture_output=True, encoding="utf-8", check=False)


def read_by_systemd(folder: Path, unit: str) -> str:
    """Return what systemd itself understood of a unit: it loads the folder, tells everything and starts nothing.

    It refuses to do so for root, so that root becomes nobody; skips where that cannot be done.
    """
    if not os.access(SYSTEMD, os.X_OK):
        pytest.skip("no systemd here, so it was not asked what it reads in the units")
    as_nobody: tuple[str, ...] = ()
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("no setpriv here, and systemd tells root nothing")
        as_nobody = ("setpriv", f"--reuid={NOBODY}", "--clear-groups")
    with tempfile.TemporaryDirectory() as public:
        runtime = Path(public) / "run"
        runtime.mkdir()
        runtime.chmod(0o777)
        Path(public).chmod(0o755)
        shutil.copy(folder / unit, public)
        for target in ("basic.target", "default.target", "shutdown.target"):
            (Path(public) / target).write_text("[Unit]\nDescription=none\n", "utf-8")
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "XDG_RUNTIME_DIR": str(runtime),
            "SYSTEMD_UNIT_PATH": public,
            "SYSTEMD_LOG_TARGET": "console",
            "LC_ALL": "C.UTF-8",
        }
        command = [*as_nobody, SYSTEMD, "--user", "--test", f"--unit={unit}"]
        ran = subprocess.run(command, env=environ, capture_output=True, encoding="utf-8", check=False)
    told = ran.stdout + ran.stderr
    head = f"-> Unit {unit}:"
    if head not in told:
        pytest.skip(f"systemd did not tell what it reads: {told[-200:]}")
    return told.split(head, 1)[1].split("-> Unit ", 1)[0]
