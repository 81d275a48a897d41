"""Volumes that watch, die or fail. Each is handed to curator's stores in place of the real one; nothing is patched.

A verb of `Volume` is one or more primitives: staging creates a name, writes bytes, flushes the file. Dying and failing
count primitives, so that a fault also falls inside a verb; recording counts verbs and says which of their parts happened.
"""

from __future__ import annotations

import errno
import os
import threading
import uuid
from typing import TYPE_CHECKING, Final

from curator.durable.volume import Volume
from curator.errors import StorageError
from faults.recording import Asked, Mark, Recording, Verb, stack_here
from faults.tree import read_tree

if TYPE_CHECKING:
    from pathlib import Path

    from curator.model.ports import Clock
    from faults.tree import Tree

ERRORS: Final = (errno.ENOSPC, errno.EIO, errno.EDQUOT)


class Crash(BaseException):
    """The process is gone. Not an `Exception`: nothing in curator may catch it and go on."""


class TimedVolume(Volume):
    """A whole disk whose files bear the time of a hand-moved clock, each a nanosecond after the one before."""

    def __init__(self, clock: Clock) -> None:
        """Stamp what is staged and touched by `clock`."""
        self._clock = clock
        self._ticks = 0

    def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
        """Stage, and stamp."""
        staged = super().stage(path, data, hidden=hidden, flush=flush)
        self._stamp(staged)
        return staged

    def touch(self, path: Path) -> None:
        """Stamp anew."""
        super().touch(path)
        self._stamp(path)

    def _stamp(self, path: Path) -> None:
        # Two files of one moment must differ, or an index would take the second for the first.
        self._ticks += 1
        mtime_ns = self._clock.now() * 1_000_000 + self._ticks
        os.utime(path, ns=(mtime_ns, mtime_ns))


class RecordingVolume(TimedVolume):
    """A whole disk that remembers every verb, its caller and its effect."""

    def __init__(self, root: Path, clock: Clock, life: int = 0) -> None:
        """Record what changes under `root` from now on; lives that are to be joined have different numbers."""
        super().__init__(clock)
        self._root = root
        self._first = life << 32
        self._start: Tree = read_tree(root)
        self._asked: list[Asked] = []
        self._names: dict[str, str] = {}
        self._mutex = threading.Lock()

    def recording(self) -> Recording:
        """Return what was recorded so far."""
        return Recording(self._start, tuple(self._asked))

    def mark(self, mark: Mark) -> None:
        """Note that somebody outside has been told something."""
        self._note(Verb.MARK, "", mark=mark)

    def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
        staged = super().stage(path, data, hidden=hidden, flush=flush)
        name = self._relative(staged)
        # The recorded name is the same in every run, so that equal states are equal.
        number = self._first + len(self._names)
        stem = f".{uuid.UUID(int=number)}" if hidden else f"{path.name}.1.{uuid.UUID(int=number)}"
        self._names[name] = f"{name.rpartition('/')[0]}/{stem}.tmp".removeprefix("/")
        mtime_ns = staged.stat().st_mtime_ns
        self._note(Verb.STAGE, name, content=bytes(data), is_flushed=flush, mtime_ns=mtime_ns)
        return staged

    def link(self, staged: Path, path: Path) -> None:
        try:
            super().link(staged, path)
        except FileExistsError:
            self._note(Verb.LINK, self._relative(path), source=self._relative(staged), is_done=False)
            raise
        self._note(Verb.LINK, self._relative(path), source=self._relative(staged))

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        self._note(Verb.RENAME, self._relative(target), source=self._relative(source))

    def unlink(self, path: Path) -> bool:
        was_there = super().unlink(path)
        self._note(Verb.UNLINK, self._relative(path), is_done=was_there)
        return was_there

    def sync_directory(self, path: Path) -> None:
        super().sync_directory(path)
        if path.is_relative_to(self._root):
            # What lies above the root stands for ever.
            self._note(Verb.SYNC, self._relative(path))

    def make_directory(self, path: Path) -> bool:
        is_new = super().make_directory(path)
        self._note(Verb.MKDIR, self._relative(path), is_done=is_new)
        return is_new

    def remove_directory(self, path: Path) -> bool:
        stood = path.is_dir()
        is_gone = super().remove_directory(path)
        self._note(Verb.RMDIR, self._relative(path), is_done=stood and is_gone)
        return is_gone

    def restrict(self, path: Path, mode: int) -> None:
        super().restrict(path, mode)
        self._note(Verb.RESTRICT, self._relative(path))

    def touch(self, path: Path) -> None:
        super().touch(path)
        self._note(Verb.TOUCH, self._relative(path), mtime_ns=path.stat().st_mtime_ns)

    def keep_time(self, path: Path, mtime_ns: int) -> None:
        super().keep_time(path, mtime_ns)
        self._note(Verb.KEEP_TIME, self._relative(path), mtime_ns=mtime_ns)

    def _relative(self, path: Path) -> str:
        name = path.relative_to(self._root).as_posix()
        return self._names.get(name, "" if name == "." else name)

    def _note(
        self,
        verb: Verb,
        name: str,
        *,
        source: str = "",
        content: bytes = b"",
        is_flushed: bool = True,
        is_done: bool = True,
        mtime_ns: int = 0,
        mark: Mark | None = None,
    ) -> None:
        asked = Asked(
            verb,
            self._names.get(name, name),
            stack_here(),
            source=source,
            content=content,
            mtime_ns=mtime_ns,
            is_flushed=is_flushed,
            is_done=is_done,
            mark=mark,
            now=self._clock.now(),
        )
        with self._mutex:
            self._asked.append(asked)


class CountingVolume(TimedVolume):
    """A whole disk that lets a fault fall on any one primitive."""

    def __init__(self, clock: Clock) -> None:
        """Count from nothing."""
        super().__init__(clock)
        self.count = 0
        self._mutex = threading.Lock()

    def before(self, path: Path | None) -> None:
        """Decide the fate of the next primitive; `path` is None inside a verb, where the file is only a descriptor."""

    def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
        self._count(path)
        return super().stage(path, data, hidden=hidden, flush=flush)

    def link(self, staged: Path, path: Path) -> None:
        self._count(path)
        super().link(staged, path)

    def rename(self, source: Path, target: Path) -> None:
        self._count(target)
        super().rename(source, target)

    def unlink(self, path: Path) -> bool:
        self._count(path)
        return super().unlink(path)

    def sync_directory(self, path: Path) -> None:
        self._count(path)
        super().sync_directory(path)

    def make_directory(self, path: Path) -> bool:
        self._count(path)
        return super().make_directory(path)

    def remove_directory(self, path: Path) -> bool:
        self._count(path)
        return super().remove_directory(path)

    def restrict(self, path: Path, mode: int) -> None:
        self._count(path)
        super().restrict(path, mode)

    def touch(self, path: Path) -> None:
        self._count(path)
        super().touch(path)

    def keep_time(self, path: Path, mtime_ns: int) -> None:
        self._count(path)
        super().keep_time(path, mtime_ns)

    def _write(self, descriptor: int, data: bytes) -> None:
        try:
            self._count(None)
        except OSError:
            super()._write(descriptor, data[: len(data) // 2])
            raise
        super()._write(descriptor, data)

    def _flush_file(self, descriptor: int) -> None:
        self._count(None)
        super()._flush_file(descriptor)

    def _count(self, path: Path | None) -> None:
        with self._mutex:
            self.count += 1
            self.before(path)


class CrashingVolume(CountingVolume):
    """A disk under a process that dies after its N-th primitive. Once dead it changes nothing more, whoever cleans up."""

    def __init__(self, clock: Clock, survive: int) -> None:
        """Die when more than `survive` primitives are asked for."""
        super().__init__(clock)
        self._survive = survive

    @property
    def is_dead(self) -> bool:
        """Whether the crash has come."""
        return self.count > self._survive

    def before(self, path: Path | None) -> None:
        del path
        if self.is_dead:
            raise Crash


class FailingVolume(CountingVolume):
    """A disk that refuses its N-th primitive, and, if it is full, every later one that needs room."""

    def __init__(self, clock: Clock, succeed: int, error: int, *, for_good: bool = False) -> None:
        """Refuse the primitive after `succeed` with the system's `error`; `for_good` goes on refusing."""
        super().__init__(clock)
        self._succeed = succeed
        self._error = error
        self._for_good = for_good

    @property
    def has_failed(self) -> bool:
        """Whether the refusal has come."""
        return self.count > self._succeed

    def unlink(self, path: Path) -> bool:
        if self._for_good and self.has_failed:
            # A full disk still lets go of names.
            return TimedVolume.unlink(self, path)
        return super().unlink(path)

    def before(self, path: Path | None) -> None:
        if self.count == self._succeed + 1 or (self._for_good and self.has_failed):
            refusal = OSError(self._error, os.strerror(self._error))
            if path is None:
                raise refusal
            raise StorageError(path, refusal)
