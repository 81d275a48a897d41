"""Locks of the protocol that dead processes left, and what is left of reaping them (interop.md 3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from curator.doctor.finding import Drop, Finding, Reap
from curator.durable.lock import is_alive
from curator.durable.read import list_names, read_bounded, stamp_of
from curator.errors import InvalidRecordError
from curator.model.ids import PROJECT_KEY_PATTERN, ProjectKey
from curator.model.limits import DIRECTORY_NAMES_MAX, LOCK_BREAKER_STALE_MS, LOCK_BYTES_MAX, LOCK_STALE_MS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.durable.layout import Layout

_BREAKER: Final = ".lock.breaker"
_OWNER: Final = re.compile(rb"(\d{1,10}):")
_LEFT: Final = re.compile(r".+\.stale\.[0-9a-f-]{36}")
_LONG_MS: Final = 60_000
"""Whoever holds a lock does a few flushes under it; the extension gives up after five seconds."""
_AGAIN: Final = "Run `curator doctor --fix`"


def look_at_locks(layout: Layout, now: int) -> Iterator[Finding]:
    """Name every lock that nobody alive holds, and every one that is held for long."""
    found = [finding for path in _locks(layout) for finding in _look_at_lock(path, now)]
    found += [finding for folder in _folders(layout) for finding in _look_at_leftovers(folder, now)]
    yield from found
    if not found:
        yield Finding("ok", "locks", "none was left behind")


def is_abandoned(path: Path, now: int) -> bool:
    """Tell whether a breaker, or a lock that was moved away, has no living maker."""
    stamp = stamp_of(path)
    if stamp is None:
        return False
    mtime_ms, pid = stamp.mtime_ns // 1_000_000, _pid_of(path)
    return now - mtime_ms > LOCK_BREAKER_STALE_MS and (pid is None or not is_alive(pid, mtime_ms))


def _look_at_lock(path: Path, now: int) -> Iterator[Finding]:
    stamp = stamp_of(path)
    if stamp is None:
        return
    mtime_ms = stamp.mtime_ns // 1_000_000
    age, pid = now - mtime_ms, _pid_of(path)
    if pid is not None and is_alive(pid, mtime_ms):
        if age > _LONG_MS:
            fact = f"{path}: held by process {pid} for {age // 1_000:,} s"
            yield Finding("warning", "locks", fact, f"See what it does: ps -p {pid}")
    elif age > LOCK_STALE_MS:
        owner = "its owner cannot be told" if pid is None else f"process {pid} is gone"
        yield Finding("warning", "locks", f"{path}: left behind, {owner}", _AGAIN, Reap(path))
    else:
        fact = f"{path}: its owner is gone; others wait until it is {LOCK_STALE_MS // 1_000} s old"
        yield Finding("note", "locks", fact)


def _look_at_leftovers(folder: Path, now: int) -> Iterator[Finding]:
    """Name breakers and moved-away locks whose makers are dead."""
    names = [
        name for name in list_names(folder, DIRECTORY_NAMES_MAX) if name.endswith(_BREAKER) or _LEFT.fullmatch(name)
    ]
    left = [folder / name for name in names if is_abandoned(folder / name, now)]
    if left:
        fact = f"{', '.join(str(path) for path in left)}: left by the reaping of a lock"
        yield Finding("warning", "locks", fact, _AGAIN, Drop(tuple(left), are_locks=True))


def _locks(layout: Layout) -> Iterator[Path]:
    yield from (layout.spool_lock, layout.accounting_lock)
    yield layout.legacy_budget.with_name(f"{layout.legacy_budget.name}.lock")
    for name in list_names(layout.decision_locks, DIRECTORY_NAMES_MAX):
        if name.endswith(".lock"):
            yield layout.decision_locks / name
    for project in _projects(layout):
        yield from (layout.project(project).lock, layout.shadow_project(project).lock)
        yield layout.project(project).mailbox / ".lock"


def _folders(layout: Layout) -> Iterator[Path]:
    yield from (layout.root, layout.spool, layout.accounting, layout.decision_locks)
    for project in _projects(layout):
        yield from (layout.project(project).root, layout.shadow_project(project).root, layout.project(project).mailbox)


def _projects(layout: Layout) -> list[ProjectKey]:
    names = list_names(layout.root, DIRECTORY_NAMES_MAX)
    return [ProjectKey(name) for name in names if PROJECT_KEY_PATTERN.fullmatch(name)]


def _pid_of(path: Path) -> int | None:
    try:
        raw = read_bounded(path, LOCK_BYTES_MAX)
    except InvalidRecordError:
        return None
    match = None if raw is None else _OWNER.match(raw)
    return None if match is None else int(match.group(1))
