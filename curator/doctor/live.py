"""Which Pi processes run on this machine, asked of the system: their numbers and folders, nothing of what they do."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME: Final = "pi"
_RUNTIMES: Final = frozenset({"node", "bun"})
_SECONDS: Final = 10


@dataclasses.dataclass(frozen=True, slots=True)
class Pi:
    """One process of Pi."""

    pid: int
    folder: Path | None
    """Where it works; None where the system does not tell."""


def live_pi() -> tuple[Pi, ...]:
    """Return the Pi processes of this account, by number; nothing where the system does not tell."""
    found = _by_ps() if sys.platform == "darwin" else _by_proc(Path("/proc"))
    return tuple(sorted(found, key=lambda each: each.pid))


def is_pi(words: list[str]) -> bool:
    """Tell whether a command line is Pi's: by the title that it gives itself, or by the program that node runs."""
    if not words:
        return False
    names = [word.rsplit("/", 1)[-1] for word in words[:2]]
    return names[0] == _NAME or (len(names) > 1 and names[0] in _RUNTIMES and names[1] == _NAME)


def _by_proc(proc: Path) -> Iterator[Pi]:
    try:
        folders = [each for each in proc.iterdir() if each.name.isdigit()]
    except OSError:
        return
    for folder in folders:
        try:
            if folder.stat().st_uid != os.geteuid():
                continue
            # A title that a process gives itself ends in spaces, not in a zero.
            words = [part.strip() for part in (folder / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")]
            if is_pi([word for word in words if word]):
                yield Pi(int(folder.name), _folder_of(folder))
        except OSError:
            # It ended meanwhile, or belongs to somebody else.
            continue


def _folder_of(process: Path) -> Path | None:
    try:
        return (process / "cwd").readlink()
    except OSError:
        return None


def _by_ps() -> Iterator[Pi]:
    command = ["/bin/ps", "-x", "-o", "pid=,command="]
    try:
        shown = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False).stdout  # noqa: S603 - a fixed command
    except (OSError, subprocess.TimeoutExpired):
        return
    for line in shown.splitlines():
        pid, _, command_line = line.strip().partition(" ")
        if pid.isdigit() and is_pi(command_line.split()):
            yield Pi(int(pid), None)
