"""Who may change a domain: both kinds of lock behind one door, and the rule that nobody holds two.

A `KernelLock` guards what is ours alone: the kernel frees it when its owner dies. A `ProtocolLock` is the exclusively
created file that Pi's extension knows too (interop.md 3): a crash leaves it behind, so it has rules for staleness and a
breaker that serializes those who would reap it.

INVARIANT  One domain at a time: entering a second one raises, also in production. Nobody reaps the lock of a live owner.
CRASH      A protocol lock left by a dead owner is reaped 30 seconds later by whoever wants it; nothing else is lost.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
import re
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from filelock import FileLock, Timeout

from curator.durable.baton import Mutex, laid_down
from curator.durable.volume import FILE_MODE, refusal
from curator.errors import BusyError
from curator.model.limits import LOCK_BREAKER_STALE_MS, LOCK_BYTES_MAX, LOCK_STALE_MS, LOCK_WAIT_MS

if TYPE_CHECKING:
    from collections.abc import Iterator

_HELD: Final = threading.local()
_FIRST_RETRIES_MS: Final = (1, 2, 4, 8)
"""Most holders are done within a few flushes, so the first looks come soon."""
_RETRY_MS: Final = 25
_RETRY_SPREAD_MS: Final = 24
_OWNER: Final = re.compile(rb"(\d+):")
"""The protocol reads the number alone, so whatever a live owner wrote behind it keeps its lock."""


class NestedLockError(AssertionError):
    """A second lock domain was entered: a defect that could deadlock with Pi."""


class Lock(Protocol):
    """A lock between processes."""

    path: Path

    def acquire(self, timeout_s: float) -> bool:
        """Take it, or tell after so long that another has it. Raises `OSError`."""

    def release(self) -> None:
        """Let it go."""


class Domain:
    """One lock domain: a file lock, and a mutex before it for the threads of this process."""

    def __init__(self, name: str, lock: Lock, wait_ms: int = LOCK_WAIT_MS) -> None:
        """Guard `name`, a word for messages, by `lock`."""
        self._name = name
        self._lock = lock
        self._wait_ms = wait_ms
        self._mutex = Mutex()

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the domain. Raises `BusyError` after the wait, `NestedLockError` inside any other domain."""
        inside = getattr(_HELD, "domain", None)
        if inside is not None:
            message = f"the {self._name} lock was asked for inside the {inside} lock"
            raise NestedLockError(message)
        deadline = time.monotonic() + self._wait_ms / 1000
        if not self._mutex.acquire(self._wait_ms / 1000):
            raise self._busy()
        try:
            self._acquire(max(0.0, deadline - time.monotonic()))
            _HELD.domain = self._name
            try:
                yield
            finally:
                _HELD.domain = None
                self._lock.release()
        finally:
            self._mutex.release()

    def _acquire(self, timeout: float) -> None:
        try:
            is_ours = self._lock.acquire(timeout)
        except OSError as error:
            raise refusal(self._lock.path, error) from error
        if not is_ours:
            raise self._busy()

    def _busy(self) -> BusyError:
        fact = f"the {self._name} lock is held: {self._lock.path}"
        remedy = "Try again in a moment"
        if isinstance(self._lock, ProtocolLock):
            # Only this kind can be left behind. To remove a kernel's lock file would let two in.
            remedy += "; if no curator and no Pi runs, remove that file"
        return BusyError(fact, remedy=remedy)


def kernel_domain(name: str, path: Path) -> Domain:
    """Return a domain of our own, freed by the kernel when its owner dies. The lock file stays."""
    return Domain(name, KernelLock(path))


def protocol_domain(name: str, path: Path) -> Domain:
    """Return a domain that is shared with Pi's extension."""
    return Domain(name, ProtocolLock(path))


def try_kernel_lock(path: Path) -> Lock | None:
    """Take a lock for the life of the process, like the one of a single instance; None if another has it."""
    lock = KernelLock(path)
    return lock if lock.acquire(0) else None


def try_protocol_lock(path: Path) -> Lock | None:
    """Take a lock of the protocol's kind without waiting; None if another has it."""
    lock = ProtocolLock(path)
    return lock if lock.acquire(0) else None


class KernelLock:
    """A lock that the kernel frees when its owner dies."""

    def __init__(self, path: Path) -> None:
        """Lock `path`, which stays when the lock is let go."""
        self.path = path
        self._lock = FileLock(path, mode=FILE_MODE, thread_local=False, poll_interval=0.005, fallback_to_soft=False)

    def acquire(self, timeout_s: float) -> bool:
        """Take it, or tell after so long that another has it. Raises `OSError`."""
        if not self.path.parent.is_dir():
            # The library would make it, open to others and not flushed.
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return self._try(0) or (timeout_s > 0 and self._await(timeout_s))

    def release(self) -> None:
        """Let it go."""
        self._lock.release()

    def _await(self, timeout_s: float) -> bool:
        with laid_down():
            return self._try(timeout_s)

    def _try(self, timeout_s: float) -> bool:
        try:
            self._lock.acquire(timeout=timeout_s)
        except Timeout:
            return False
        return True


class ProtocolLock:
    """The protocol's exclusively created lock file: `<pid>:<uuid>` and the time it was taken."""

    def __init__(self, path: Path) -> None:
        """Lock by the existence of `path`."""
        self.path = path
        self._owner = b""

    def acquire(self, timeout_s: float) -> bool:
        """Take it, or tell after so long that another has it. Raises `OSError`."""
        deadline, retries = time.monotonic() + timeout_s, iter(_FIRST_RETRIES_MS)
        while not self._take():
            delay_ms = next(retries, None) or _RETRY_MS + random.randint(0, _RETRY_SPREAD_MS)  # noqa: S311 - a wait, not a secret
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return False
            with laid_down():
                time.sleep(min(delay_ms / 1000, left_s))
        return True

    def release(self) -> None:
        """Let it go, if it is still ours."""
        standing = _read(self.path)
        if standing is not None and standing.startswith(self._owner):
            _forget(self.path)

    def _take(self) -> bool:
        descriptor = _create(self.path)
        if descriptor is None:
            reap_if_stale(self.path)
            descriptor = _create(self.path)
            if descriptor is None:
                return False
        owner = f"{os.getpid()}:{uuid.uuid4()}\n".encode()
        try:
            os.write(descriptor, owner + f"{time.time_ns() // 1_000_000}\n".encode())
        except OSError:
            # An empty lock would keep everybody out for 30 seconds (W30).
            _forget(self.path)
            raise
        finally:
            os.close(descriptor)
        self._owner = owner
        return True


def reap_if_stale(lock: Path) -> bool:
    """Remove a lock whose owner is dead and that is older than 30 seconds; tell whether it is gone.

    Reaping is serialized by a breaker file, so that nobody removes the lock that somebody else has just taken.
    """
    content = _read(lock)
    if content is None or not _is_stale(lock, content, LOCK_STALE_MS):
        return content is None
    breaker = lock.with_name(f"{lock.name}.breaker")
    descriptor = _create(breaker)
    if descriptor is None:
        _drop_dead_breaker(breaker)
        return False
    try:
        os.write(descriptor, f"{os.getpid()}:{uuid.uuid4()}".encode())
        if _read(lock) != content or not _is_stale(lock, content, LOCK_STALE_MS):
            return False
        stale = lock.with_name(f"{lock.name}.stale.{uuid.uuid4()}")
        os.rename(lock, stale)
        _forget(stale)
    except FileNotFoundError:
        return True
    finally:
        os.close(descriptor)
        _forget(breaker)
    return True


def is_alive(pid: int, since_ms: int | None = None) -> bool:
    """Tell whether a process lives on this host and, given the time of its mark, may be the one that made it.

    A process that started after the mark is another one with a reused number (a reboot does that).
    """
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    except OverflowError:
        return False
    started = _started_ms(pid)
    # Two seconds of grace: boot time and start ticks are rounded, and the clock may have been set since.
    return since_ms is None or started is None or started <= since_ms + 2_000


def _started_ms(pid: int) -> int | None:
    """Return when a process started, in UTC milliseconds, or None where the system does not say."""
    if sys.platform == "darwin":
        return _started_ms_by_ps(pid)
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        boot = next(
            int(line.split()[1]) for line in Path("/proc/stat").read_text("ascii").splitlines() if line[:5] == "btime"
        )
        return boot * 1000 + int(fields[19]) * 1000 // os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, StopIteration):
        return None


def _started_ms_by_ps(pid: int) -> int | None:
    try:
        shown = subprocess.run(  # noqa: S603 - a fixed command and a number
            ["/bin/ps", "-o", "etimes=", "-p", str(pid)], capture_output=True, text=True, timeout=5, check=False
        ).stdout
        return time.time_ns() // 1_000_000 - int(shown) * 1000
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def _is_stale(path: Path, content: bytes, age_ms: int) -> bool:
    try:
        mtime_ms = os.lstat(path).st_mtime_ns // 1_000_000
    except OSError:
        return False
    if time.time_ns() // 1_000_000 - mtime_ms <= age_ms:
        return False
    match = _OWNER.match(content)
    return match is None or not is_alive(int(match.group(1)), mtime_ms)


def _drop_dead_breaker(breaker: Path) -> None:
    content = _read(breaker)
    if content is not None and _is_stale(breaker, content, LOCK_BREAKER_STALE_MS) and _read(breaker) == content:
        _forget(breaker)


def _create(path: Path) -> int | None:
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)
    except FileExistsError:
        return None


def _read(path: Path) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        # What cannot be read is not ours to judge: it counts as an unowned lock and goes by its age alone.
        return None if error.errno == errno.ENOENT else b""
    try:
        return os.read(descriptor, LOCK_BYTES_MAX)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _forget(path: Path) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
