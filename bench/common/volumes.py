"""Volumes that know what they do: one that flushes nothing, for laying out, and one that counts and remembers.

What is counted is what the product asks the disk for; who asked is the nearest frames of curator above its primitives.
"""

from __future__ import annotations

import collections
import dataclasses
import inspect
import re
import threading
from pathlib import Path
from typing import Final, Literal, TypeAlias

from curator.durable.volume import Volume

_PACKAGE: Final = str(Path(__file__).resolve().parents[2] / "curator")
_PRIMITIVES: Final = str(Path(_PACKAGE, "durable"))
_FRAMES: Final = 3
_CHANGING: Final = re.compile(r"\d{4}-\d\d-\d\d|(?:review_|review_attempt_)?[0-9a-f]{12,}|^[0-9a-f]{2}$")
_BEATS: Final = frozenset({"review-workers", "runtimes"})


class Unflushed(Volume):
    """A volume for laying out: what it writes is not durable, and costs no flush."""

    def _flush_file(self, descriptor: int) -> None:
        pass

    def _flush_directory(self, descriptor: int) -> None:
        pass


@dataclasses.dataclass(frozen=True, slots=True)
class Verb:
    """One change that was asked of the disk."""

    name: Literal["stage", "link", "rename", "unlink", "sync", "mkdir", "time"]
    path: Path
    other: Path | None = None
    size: int = 0


Sites: TypeAlias = "collections.Counter[str]"


class Counting(Volume):
    """Counts flushes; with `is_watching` remembers who asked for each, and with `is_tracing` every verb in order."""

    def __init__(self, *, is_watching: bool = False, is_tracing: bool = False) -> None:
        """Count from nothing."""
        self._is_watching = is_watching
        self._is_tracing = is_tracing
        self._mutex = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Forget what was counted."""
        self.flushes = 0
        self.sites: Sites = collections.Counter()
        self.folders: Sites = collections.Counter()
        self.verbs: list[Verb] = []

    def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
        """Write a file; one flush where one is asked for."""
        staged = super().stage(path, data, hidden=hidden, flush=flush)
        if flush:
            self._count("file", path.parent)
        self._trace(Verb("stage", staged, size=len(data)))
        return staged

    def can_sync_directory(self, path: Path) -> bool:
        """Flush a folder: one flush."""
        self._count("folder", path)
        self._trace(Verb("sync", path))
        return super().can_sync_directory(path)

    def link(self, staged: Path, path: Path) -> None:
        """Link."""
        super().link(staged, path)
        self._trace(Verb("link", staged, path))

    def rename(self, source: Path, target: Path) -> None:
        """Rename."""
        super().rename(source, target)
        self._trace(Verb("rename", source, target))

    def unlink(self, path: Path) -> bool:
        """Unlink."""
        self._trace(Verb("unlink", path))
        return super().unlink(path)

    def make_directory(self, path: Path) -> bool:
        """Make a folder."""
        self._trace(Verb("mkdir", path))
        return super().make_directory(path)

    def keep_time(self, path: Path, mtime_ns: int) -> None:
        """Set a time."""
        self._trace(Verb("time", path))
        super().keep_time(path, mtime_ns)

    def _count(self, what: str, folder: Path) -> None:
        if not self._is_watching:
            with self._mutex:
                self.flushes += 1
            return
        place = f"{what:<7}{_general(folder)}"
        site = f"{what:<7}{_asked_by()}"
        with self._mutex:
            self.flushes += 1
            self.sites[site] += 1
            self.folders[place] += 1

    def _trace(self, verb: Verb) -> None:
        if self._is_tracing and verb.path.parent.name not in _BEATS:
            with self._mutex:
                self.verbs.append(verb)


class CountingUnflushed(Counting, Unflushed):
    """Counts what would be flushed."""


def _general(folder: Path) -> str:
    """Return a folder's place under the agent's, with ids and days as stars."""
    parts = folder.parts
    start = parts.index("no-forgetti") + 1 if "no-forgetti" in parts else 0
    return "/".join(_CHANGING.sub("*", part) for part in parts[start:]) or "."


def _asked_by() -> str:
    """Return the nearest frames of curator above its primitives, the nearest first."""
    found: list[str] = []
    frame = inspect.currentframe()
    while frame is not None and len(found) < _FRAMES:
        name = frame.f_code.co_filename
        if name.startswith(_PACKAGE) and not name.startswith(_PRIMITIVES):
            module = Path(name).relative_to(_PACKAGE).with_suffix("").as_posix().replace("/", ".")
            found.append(f"{module}:{frame.f_code.co_name}")
        frame = frame.f_back
    return " < ".join(found)
