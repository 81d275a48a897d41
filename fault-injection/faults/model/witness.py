"""One review through a volume that writes down what it did: `python -m faults.model.witness AGENT LOG [BUG]`.

It is the composition root with another volume, so it does what `curator review --once` does. A bug of `BUGS` is planted on
request: something that changes the disk past the volume, or a flush of which only the volume speaks.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from curator.app import open_app
from curator.durable.volume import Volume
from faults.model.seam import Change, is_apart

if TYPE_CHECKING:
    from collections.abc import Callable

    from curator.model.event import Event


class WitnessVolume(Volume):
    """A real disk that remembers what it was asked and did, with the thread that asked."""

    def __init__(self, root: Path) -> None:
        """Remember what changes below `root`."""
        self._root = root
        self._mutex = threading.Lock()
        self.changes: list[Change] = []

    def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
        staged = super().stage(path, data, hidden=hidden, flush=flush)
        for verb in ("open", "chmod", "write", "fsync") if flush else ("open", "chmod", "write"):
            self._note(verb, staged)
        return staged

    def link(self, staged: Path, path: Path) -> None:
        super().link(staged, path)
        self._note("link", path)

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        self._note("rename", target)

    def unlink(self, path: Path) -> bool:
        was_there = super().unlink(path)
        if was_there:
            self._note("unlink", path)
        return was_there

    def can_sync_directory(self, path: Path) -> bool:
        can = super().can_sync_directory(path)
        self._note("fsync", path)
        return can

    def make_directory(self, path: Path) -> bool:
        is_new = super().make_directory(path)
        if is_new:
            self._note("mkdir", path)
        return is_new

    def remove_directory(self, path: Path) -> bool:
        stood = path.is_dir()
        is_gone = super().remove_directory(path)
        if stood and is_gone:
            self._note("rmdir", path)
        return is_gone

    def restrict(self, path: Path, mode: int) -> None:
        super().restrict(path, mode)
        self._note("chmod", path)

    def touch(self, path: Path) -> None:
        super().touch(path)
        self._note("utime", path)

    def keep_time(self, path: Path, mtime_ns: int) -> None:
        super().keep_time(path, mtime_ns)
        self._note("utime", path)

    def _note(self, verb: str, path: Path) -> None:
        if not path.is_relative_to(self._root):
            return
        change = Change(threading.get_native_id(), verb, path.relative_to(self._root).as_posix())
        if not is_apart(change.path):
            with self._mutex:
                self.changes.append(change)


class LazyVolume(WitnessVolume):
    """One that says it flushed."""

    def _flush_file(self, descriptor: int) -> None:
        del descriptor


def _append(agent: Path) -> None:
    with (agent / "no-forgetti" / "service.json").open("a") as file:
        file.write(" ")


def _write(agent: Path) -> None:
    (agent / "no-forgetti" / "past.json").write_text("{}")


def _rename(agent: Path) -> None:
    path = agent / "no-forgetti" / "service.json"
    path.rename(path)


def _unlink(agent: Path) -> None:
    next((agent / "no-forgetti" / "review-spool" / "outcomes").iterdir()).unlink()


BUGS: Final[dict[str, Callable[[Path], object]]] = {
    "append": _append,
    "write": _write,
    "rename": _rename,
    "unlink": _unlink,
    "mkdir": lambda agent: (agent / "no-forgetti" / "past").mkdir(),
    "chmod": lambda agent: (agent / "no-forgetti" / "service.json").chmod(0o600),
    "utime": lambda agent: os.utime(agent / "no-forgetti" / "service.json"),
    "truncate": lambda agent: os.truncate(agent / "no-forgetti" / "service.json", 1),
    "link": lambda agent: (agent / "no-forgetti" / "past").hardlink_to(agent / "no-forgetti" / "service.json"),
}
"""What may be done past the volume, each by another call."""
LAZY: Final = "lazy"
"""The bug of a volume that speaks of flushes it did not ask for."""


class _Nobody:
    """A listener to whom nothing matters."""

    def tell(self, told: Event) -> None:
        """Hear."""


def main(agent: Path, log: Path, bug: str) -> None:
    """Review once, and write down what went through the volume."""
    volume = LazyVolume(agent) if bug == LAZY else WitnessVolume(agent)
    app = open_app(agent, environ=dict(os.environ), listener=_Nobody(), worker_id="witness", volume=volume)
    app.review_once()
    if bug in BUGS:
        BUGS[bug](agent)
    log.write_text("".join(f"{change.thread} {change.verb} {change.path}\n" for change in volume.changes))


def read_log(log: Path) -> list[Change]:
    """Return what a run wrote down."""
    rows = (line.split(" ", 2) for line in log.read_text().splitlines())
    return [Change(int(thread), verb, path) for thread, verb, path in rows]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "")
