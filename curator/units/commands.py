"""The one door to the commands of the system: systemctl, loginctl, journalctl and launchctl, each within its time.

What such a command prints may hold secrets (an environment with its values), so nothing here repeats its output. What it
says on stderr, when it fails, is its own explanation and is told.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from curator.errors import CuratorError

QUERY_S_MAX: Final = 20
"""A question to a service manager; one that starts up answers within seconds."""
CHANGE_S_MAX: Final = 240
"""A start waits until the service says that it is ready (180 s in the unit), a restart stops it first (90 s)."""
_REASON_CHARS: Final = 300
_NOT_THERE: Final = 127
_NOT_RUN: Final = 126


class SupervisorError(CuratorError):
    """The system's service manager is not there, does not answer, or refuses."""

    code = "supervisor"
    exit_status = 69
    remedy = "See `curator service status`"


@dataclasses.dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended. As in a shell, 127 means that there is no such command."""

    status: int
    out: str = dataclasses.field(default="", repr=False)
    err: str = ""

    @property
    def is_good(self) -> bool:
        """Whether the command did what it was asked."""
        return self.status == 0

    @property
    def reason(self) -> str:
        """The command's own first words about its failure, on one line."""
        for line in self.err.splitlines():
            if line.strip():
                return line.strip()[:_REASON_CHARS].rstrip(".")
        return f"it ended with status {self.status}"


class Runner(Protocol):
    """Who runs a command: the system, or a test's own."""

    def run(self, command: Sequence[str], *, seconds: float = QUERY_S_MAX) -> Ran:
        """Run a command without input, and return how it ended. Raises `SupervisorError` if it takes too long."""
        ...

    def hand_over(self, command: Sequence[str]) -> int:
        """Let a command have the terminal until it ends, and return its exit status."""
        ...

    def pause(self, seconds: float) -> None:
        """Wait a moment before asking again."""
        ...


class SystemRunner:
    """The system itself."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Take the environment that commands get."""
        self._environ = _with_runtime_folder(environ)

    def run(self, command: Sequence[str], *, seconds: float = QUERY_S_MAX) -> Ran:
        """Run a command without input, and return how it ended. Raises `SupervisorError` if it takes too long."""
        try:
            ran = subprocess.run(  # noqa: S603 - a fixed command of the system, its arguments are never a shell's
                list(command),
                env=self._environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise SupervisorError(f"{command[0]} {command[-1]} did not answer within {seconds:g} s") from None
        except FileNotFoundError:
            return Ran(_NOT_THERE, err=f"there is no command {command[0]}")
        except OSError as error:
            return Ran(_NOT_RUN, err=f"{command[0]}: {error.strerror}")
        return Ran(ran.returncode, ran.stdout.decode("utf-8", "replace"), ran.stderr.decode("utf-8", "replace"))

    def hand_over(self, command: Sequence[str]) -> int:
        """Let a command have the terminal until it ends, and return its exit status."""
        try:
            return subprocess.run(list(command), env=self._environ, check=False).returncode  # noqa: S603 - as above
        except OSError as error:
            raise SupervisorError(
                f"{command[0]}: {error.strerror}", remedy="Install it, or read the log by hand"
            ) from None

    def pause(self, seconds: float) -> None:
        """Wait a moment before asking again."""
        time.sleep(seconds)


def _with_runtime_folder(environ: Mapping[str, str]) -> dict[str, str]:
    """Name the folder of the user's bus where a login by su or ssh left it unnamed and it is there all the same."""
    folder = Path(f"/run/user/{os.getuid()}")
    found = {"XDG_RUNTIME_DIR": str(folder)} if folder.is_dir() else {}
    return {**found, **environ}
