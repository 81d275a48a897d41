"""The threads of a pool work one at a time; whoever waits for the disk, a lock or a provider lets the next one go on.

The interpreter lets one thread run at a time anyway, and changes it at every call to the system, some hundreds a job. With
sixteen threads those changes cost more than the work. Who carries the baton keeps it through all the short calls, and
lays it down only around a real wait.

INVARIANT  Nobody waits with the baton in hand for somebody who may be waiting for it: flushes, mutexes held across a
           flush, locks of other processes and providers are waited for without it.

A thread that never took the baton, like the one that renews a lease, is not held up by it.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

_BATON: Final = threading.Lock()
_MINE: Final = threading.local()


@contextlib.contextmanager
def carried() -> Iterator[None]:
    """Work with the baton, once it is this thread's turn. Not to be entered twice by one thread."""
    _BATON.acquire()
    _MINE.is_carried = True
    try:
        yield
    finally:
        _MINE.is_carried = False
        _BATON.release()


class laid_down:  # noqa: N801 - read as the words of a `with`; a generator would cost each flush a microsecond more
    """Wait for something without the baton, where this thread carries it; take it again before going on."""

    __slots__ = ("_was_carried",)

    def __enter__(self) -> None:
        """Let the next thread go on."""
        self._was_carried = getattr(_MINE, "is_carried", False)
        if self._was_carried:
            _MINE.is_carried = False
            _BATON.release()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for this thread's turn."""
        if self._was_carried:
            _BATON.acquire()
            _MINE.is_carried = True


class Mutex:
    """A mutex that may be held across a flush: it is waited for without the baton."""

    def __init__(self) -> None:
        """Make one that nobody holds."""
        self._lock = threading.Lock()

    def acquire(self, timeout_s: float = -1) -> bool:
        """Take it, or tell after so long that another thread has it; below zero, wait for ever."""
        if self._lock.acquire(blocking=False):
            return True
        if timeout_s == 0:
            return False
        with laid_down():
            return self._lock.acquire(timeout=timeout_s)

    def release(self) -> None:
        """Let it go."""
        self._lock.release()

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Hold it, however long that takes to get."""
        self.acquire()
        try:
            yield
        finally:
            self.release()
