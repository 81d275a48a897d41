"""Volumes for tests: one that writes down what it is asked, one that dies at a verb, one whose disk is full."""

import errno
import os
from pathlib import Path

from curator.durable.volume import Volume
from curator.errors import StorageError
from curator.model.ports import Clock


class Crash(BaseException):
    """The process died; nothing after this verb was done."""


class Unflushed(Volume):
    """Asks nothing of the disk's own cache: for histories of many files in a test that cuts no power."""

    def _flush_file(self, descriptor: int) -> None:
        pass

    def _flush_directory(self, descriptor: int) -> None:
        pass


class Recorded(Volume):
    """Writes down every change and every flush, in order, by the names of files without what is unique in them."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def _note(self, verb: str, path: Path) -> None:
        name = "staged" if path.name.endswith(".tmp") else path.name
        self.asked.append(f"{verb} {name}")

    def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
        self._note("stage" if flush else "stage unflushed", path)
        return super().stage(path, data, hidden=hidden, flush=flush)

    def link(self, staged: Path, path: Path) -> None:
        self._note("link", path)
        super().link(staged, path)

    def rename(self, source: Path, target: Path) -> None:
        self._note("rename", target)
        super().rename(source, target)

    def unlink(self, path: Path) -> bool:
        self._note("unlink", path)
        return super().unlink(path)

    def sync_directory(self, path: Path) -> None:
        self._note("flush", path)
        super().sync_directory(path)

    def make_directory(self, path: Path) -> bool:
        self._note("make", path)
        return super().make_directory(path)

    def remove_directory(self, path: Path) -> bool:
        self._note("remove", path)
        return super().remove_directory(path)

    def restrict(self, path: Path, mode: int) -> None:
        self._note("restrict", path)
        super().restrict(path, mode)

    def touch(self, path: Path) -> None:
        self._note("touch", path)
        super().touch(path)

    def since(self, mark: str) -> list[str]:
        """Return what was asked after the first asking of `mark`."""
        return self.asked[self.asked.index(mark) + 1 :]


class Mortal(Recorded):
    """Dies before the verb of that number, counted from 0, and does nothing ever after."""

    def __init__(self, survive: int) -> None:
        super().__init__()
        self._survive = survive

    def _note(self, verb: str, path: Path) -> None:
        if len(self.asked) >= self._survive:
            raise Crash(verb)
        super()._note(verb, path)


class Full(Recorded):
    """Refuses one verb as a full disk does."""

    def __init__(self, verb: str) -> None:
        super().__init__()
        self._verb = verb

    def _note(self, verb: str, path: Path) -> None:
        super()._note(verb, path)
        if verb == self._verb:
            raise StorageError(path, OSError(errno.ENOSPC, "No space left on device"))


class Stamped(Volume):
    """Gives what is staged and touched the time of a clock that a test moves."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ticks = 0

    def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
        staged = super().stage(path, data, hidden=hidden, flush=flush)
        self._stamp(staged)
        return staged

    def touch(self, path: Path) -> None:
        super().touch(path)
        self._stamp(path)

    def _stamp(self, path: Path) -> None:
        # Two files of one moment must differ, or an index would take the second for the first.
        self._ticks += 1
        at = self._clock.now() * 1_000_000 + self._ticks
        os.utime(path, ns=(at, at))
