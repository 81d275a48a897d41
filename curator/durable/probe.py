"""The storage probe: what curator's promises need of the disk is tried once at each start, not believed.

Tried are hard links, atomic rename, exclusive creation, private modes, flushes of files and folders, and that both
kinds of lock exclude; and everything must stand on one device. Whatever correctness needs is refused where it is
missing. A missing folder flush only weakens the promise, from power loss to the crash of a process. Places that are
risky though they pass (a network, a stick, a synced folder) are warned about.

INVARIANT  Nothing is left behind, and nothing that was there is touched.
CRASH      Files named like staged leftovers stay; the sweep removes them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import re
import stat
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from curator.durable.lock import try_kernel_lock, try_protocol_lock
from curator.durable.mounts import Ground, Mount, ground_of, read_mounts
from curator.durable.volume import FILE_MODE
from curator.errors import StorageError, UnsupportedStorageError
from curator.model.event import Degraded

if TYPE_CHECKING:
    from curator.durable.layout import Layout
    from curator.durable.volume import Volume

_LACKING: Final = frozenset(
    {errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.EBADF, errno.ENOLCK}
)
"""How a filesystem says that it lacks something; a full or a failing disk says something else."""
_FORBIDDEN: Final = _LACKING | {errno.EACCES}
"""How a system says that it lets nobody do something, where a file was made just before: Android so forbids links."""

_SYNCED: Final = re.compile(
    r"dropbox( \(.+\))?|onedrive( ?- ?.+)?|google ?drive(-.+)?|my drive|icloud( ?drive)?(~.+)?|mobile documents"
    r"|com~apple~clouddocs|cloudstorage|nextcloud|owncloud|pcloud ?drive|megasync",
    re.IGNORECASE,
)


class _Held(Protocol):
    def release(self) -> None:
        """Let go of the lock."""


TryLock: TypeAlias = Callable[[Path], _Held | None]
"""Takes a lock at once and returns it, or None where another holder has it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Probe:
    """What this storage can promise."""

    is_power_safe: bool
    """Whether what curator flushed survives power loss; without it, only the crash of a process."""
    warnings: tuple[Degraded, ...]


def probe(
    volume: Volume,
    layout: Layout,
    projects: Sequence[Path] = (),
    *,
    require_power_safe: bool = False,
    mounts: tuple[Mount, ...] | None = None,
    kernel_lock: TryLock = try_kernel_lock,
    protocol_lock: TryLock = try_protocol_lock,
) -> Probe:
    """Try the storage under the agent folder, the spool, curator's own folder and each project's.

    Raises `UnsupportedStorageError`, naming path and filesystem, for what correctness needs and is not there; also for
    a missing folder flush where `require_power_safe`. Raises `StorageError` where the disk is full or refuses.
    """
    mounts = read_mounts() if mounts is None else mounts
    home = ground_of(layout.root, mounts)
    _refuse_second_device(home, (*_own_folders(layout), *projects), mounts)
    trial = _Trial(volume, ground_of(layout.own, mounts))
    trial.try_verbs()
    trial.try_lock("an exclusively created file", protocol_lock)
    trial.try_lock("a kernel lock", kernel_lock)
    warnings = list(_place_warnings(home))
    can_flush = trial.can_flush_folder()
    if not can_flush:
        fact = f"{_named(home)} cannot flush a folder: what was accepted survives a crash, but not power loss"
        warnings.append(Degraded(fact, UnsupportedStorageError.remedy))
    is_power_safe = can_flush and not home.mount.is_memory
    if require_power_safe and not is_power_safe:
        fact = f"{_named(home)} does not keep what was flushed through power loss, and require_power_safe is set"
        raise UnsupportedStorageError(fact)
    return Probe(is_power_safe, tuple(warnings))


class _Trial:
    """One round of every verb in one folder, under names of its own that the sweep knows."""

    def __init__(self, volume: Volume, ground: Ground) -> None:
        self.ground = ground
        self._volume = volume
        # The name of a staged leftover, so that a crash between two verbs leaves nothing that the sweep does not find.
        self._path = ground.path / f"probe.{os.getpid()}.{uuid.uuid4()}.tmp"

    def try_verbs(self) -> None:
        with self._needing("write a private file and flush it"):
            staged = self._volume.stage(self._path, b"first\n")
        second = staged
        try:
            self._check_mode(staged)
            with self._needing("make a hard link", _FORBIDDEN):
                self._volume.link(staged, self._path)
            self._check_link_is_exclusive(staged)
            # Over another name of the same file a rename does nothing, so it takes a second one.
            second = self._volume.stage(self._path, b"second\n", flush=False)
            with self._needing("rename over a file", _FORBIDDEN):
                self._volume.rename(second, self._path)
            if self._path.read_bytes() != b"second\n":
                raise self._lacking("rename over a file")
        finally:
            for path in (staged, second, self._path):
                self._volume.unlink(path)

    def try_lock(self, what: str, try_lock: TryLock) -> None:
        path = self._path.with_name(f"lock-{self._path.name}")
        held: list[_Held] = []
        try:
            for _ in range(2):
                lock = try_lock(path)
                if lock is not None:
                    held.append(lock)
        except OSError as error:
            if error.errno in _LACKING:
                raise self._lacking(f"hold {what}") from error
            raise StorageError(path, error) from error
        finally:
            for lock in held:
                lock.release()
            self._volume.unlink(path)
        if len(held) != 1:
            raise UnsupportedStorageError(f"{_named(self.ground)} lets {len(held)} at a time hold {what}")

    def can_flush_folder(self) -> bool:
        return self._volume.can_sync_directory(self.ground.path)

    def _check_mode(self, staged: Path) -> None:
        mode = stat.S_IMODE(os.lstat(staged).st_mode)
        if mode != FILE_MODE:
            raise UnsupportedStorageError(f"{_named(self.ground)} makes a private file {mode:04o}, not {FILE_MODE:04o}")

    def _check_link_is_exclusive(self, staged: Path) -> None:
        try:
            self._volume.link(staged, self._path)
        except FileExistsError:
            if self._path.read_bytes() == b"first\n":
                return
        raise self._lacking("make a hard link only where no name stands")

    @contextlib.contextmanager
    def _needing(self, what: str, lacking: frozenset[int] = _LACKING) -> Iterator[None]:
        try:
            yield
        except StorageError as error:
            if error.errno in lacking:
                raise self._lacking(what) from error
            raise

    def _lacking(self, what: str) -> UnsupportedStorageError:
        return UnsupportedStorageError(f"{_named(self.ground)} cannot {what}")


def _own_folders(layout: Layout) -> tuple[Path, ...]:
    """Return the folders between which files move, and those that somebody may have put elsewhere."""
    spool = (layout.queued, layout.running, layout.outcomes, layout.dead_letter, layout.results, layout.decisions)
    accounting = (layout.accounting, layout.days, layout.identities)
    own = (layout.own, layout.attempts, layout.jobs, layout.bases, layout.held, layout.evidence, layout.finished)
    return (layout.spool, *spool, *accounting, *own, layout.shadow, layout.workers, layout.runtimes)


def _refuse_second_device(home: Ground, folders: Sequence[Path], mounts: tuple[Mount, ...]) -> None:
    for folder in folders:
        ground = ground_of(folder, mounts)
        if not ground.is_one_with(home):
            fact = (
                f"{folder} stands on another device ({ground.mount.kind} at {ground.mount.point}) than {_named(home)}"
            )
            remedy = "Bring both onto one local disk: a file cannot be linked or renamed from one to the other"
            raise UnsupportedStorageError(fact, remedy=remedy)


def _place_warnings(ground: Ground) -> Iterator[Degraded]:
    mount, remedy = ground.mount, UnsupportedStorageError.remedy
    if mount.is_network:
        yield Degraded(f"{_named(ground)} is kept by a network or a program: locks and flushes may not hold", remedy)
    if mount.is_removable():
        yield Degraded(f"{_named(ground)} is removable", remedy)
    if mount.is_memory:
        yield Degraded(f"{_named(ground)} is kept in memory: nothing survives power loss", remedy)
    for folder in (ground.path, *ground.path.parents):
        if _SYNCED.fullmatch(folder.name):
            fact = f"{ground.path} is synced to a cloud ({folder.name}): files may change, vanish or come twice"
            yield Degraded(fact, remedy)
            return


def _named(ground: Ground) -> str:
    return f"{ground.path} ({ground.mount.kind} at {ground.mount.point})"
