"""Where a process writes down what it does to names, so that what many real processes did can be read as one trace.

Each process has a file of its own. A line stands in it before a verb is asked for and another one after it, both with the
machine's monotonic time: between them the verb took effect, if it did. Only the verbs that give or take a name are noted,
with what was staged for them.

CRASH  A line is in the kernel's hands before the verb is, so nothing is done of which none stands, whoever is killed.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SUFFIX: Final = ".tape"


class Tape:
    """What one process did, line by line; whoever is forked goes on in a file of its own."""

    def __init__(self, folder: Path) -> None:
        """Write into a file in `folder` that is named by the process."""
        self._folder = folder
        self._mutex = threading.Lock()
        self._file = (0, -1)
        self._count = 0

    @contextlib.contextmanager
    def asked(self, verb: str, path: Path, source: Path | None, by: list[str], now: int) -> Iterator[list[bool]]:
        """Note a verb around the block; whether it did anything is what the block leaves in the list."""
        with self._mutex:
            self._count += 1
            number = self._count
        told = {"verb": verb, "path": str(path), "source": "" if source is None else str(source), "by": by, "now": now}
        self._write({"n": number, "at": time.monotonic_ns()} | told)
        done = [False]
        try:
            yield done
        finally:
            self._write({"n": number, "at": time.monotonic_ns(), "done": done[0]})

    def staged(self, path: Path, content: bytes) -> None:
        """Note what stands under a name that no reader looks at."""
        body = base64.b64encode(content).decode("ascii")
        self._write({"n": 0, "at": time.monotonic_ns(), "verb": "stage", "path": str(path), "content": body})

    def aged(self, running: Path, until: str) -> None:
        """Note that a lease was made to have run out, by a hand from outside."""
        self._write({"n": 0, "at": time.monotonic_ns(), "verb": "mark", "path": str(running), "until": until})

    def _write(self, line: dict[str, object]) -> None:
        pid, descriptor = self._file
        if pid != os.getpid():
            pid = os.getpid()
            # A number comes back: in another namespace of processes, or in time.
            name = self._folder / f"{pid}-{time.monotonic_ns()}{_SUFFIX}"
            descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            self._file = (pid, descriptor)
        os.write(descriptor, json.dumps(line).encode() + b"\n")


def mark_death(tapes: Path, pid: int) -> None:
    """Note that a process is dead, and of what it was about to do whether it came to pass: nobody has touched it yet."""
    path = max(tapes.glob(f"{pid}-*{_SUFFIX}"), default=None)
    if path is None:
        return
    begun: dict[int, dict[str, str]] = {}
    for line in path.read_bytes().splitlines():
        told = json.loads(line)
        if "done" in told:
            begun.pop(told["n"], None)
        elif told["n"]:
            begun[told["n"]] = told
    at = time.monotonic_ns()
    ends = [{"n": number, "at": at, "done": _CAME[told["verb"]](told)} for number, told in begun.items()]
    with path.open("ab") as file:
        file.write(b"".join(json.dumps(line).encode() + b"\n" for line in (*ends, {"n": 0, "at": at, "verb": "death"})))


def _is_linked(told: dict[str, str]) -> bool:
    path, staged = Path(told["path"]), Path(told["source"])
    return path.exists() and staged.exists() and path.samefile(staged)


_CAME: Final[dict[str, Callable[[dict[str, str]], bool]]] = {
    "link": _is_linked,
    "rename": lambda told: not Path(told["source"]).exists(),
    "unlink": lambda told: not Path(told["path"]).exists(),
}
