"""Everything that uses memory and is alive, or was: the extension in each Pi, and the workers (interop.md 11).

Compared by release, policy, process and project root; each is current, mismatched, stale or stopped.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from curator.doctor.finding import Finding
from curator.durable.lock import is_alive
from curator.durable.read import list_names
from curator.durable.records import read_record
from curator.durable.volume import Volume
from curator.errors import CuratorError, InvalidRecordError
from curator.model.heartbeat import RuntimeBeat
from curator.model.limits import (
    DIRECTORY_NAMES_MAX,
    MEMORY_CHARS_MAX,
    MEMORY_POLICY_VERSION,
    RUNTIME_BYTES_MAX,
    RUNTIMES_MAX,
)
from curator.model.times import ms_of
from curator.pi.project import find_project
from curator.pi.runtimes import extension_release, is_fresh
from curator.store.heartbeats import HeartbeatStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from curator.doctor.live import Pi
    from curator.durable.layout import Layout
    from curator.model.heartbeat import WorkerBeat

Bucket: TypeAlias = Literal["current", "mismatched", "stale", "stopped"]

_NAME: Final = re.compile(r"[0-9a-f]{24}\.json")
_STOPPED_SHOWN: Final = 5
_OURS: Final = "curator:"


@dataclasses.dataclass(frozen=True, slots=True)
class Runtime:
    """One sign of life, judged."""

    beat: RuntimeBeat
    bucket: Bucket
    why: str


def look_at_fleet(layout: Layout, now: int, release: str, pis: Sequence[Pi]) -> Iterator[Finding]:
    """Name every runtime and every Pi process with how it stands; `release` counts where no extension runs."""
    beats: list[RuntimeBeat] = []
    for path in _paths(layout):
        try:
            beat = read_record(path, RuntimeBeat, RUNTIME_BYTES_MAX)
        except InvalidRecordError as error:
            # The extension's own reading of the fleet fails at it.
            yield Finding("error", "runtimes", error.fact, f"Remove it: rm '{path}'")
            continue
        beats += [] if beat is None else [beat]
    judged = judge(beats, now, release)
    yield from _told(judged)
    yield from _look_at_pis(pis, judged)


def judge(beats: Sequence[RuntimeBeat], now: int, release: str) -> tuple[Runtime, ...]:
    """Put each runtime into its bucket, the newest first."""
    fresh = [beat for beat in beats if is_fresh(beat, now)]
    wanted = extension_release(fresh) or release
    ordered = sorted(beats, key=lambda beat: (beat.updated_at, beat.runtime_id), reverse=True)
    return tuple(_judged(beat, now, wanted) for beat in ordered)


def look_at_workers(layout: Layout, now: int) -> Iterator[Finding]:
    """Name workers that died without a word, and one for whose policy the extension refuses to enqueue."""
    standing = [beat for beat in HeartbeatStore(Volume(), layout).workers() if beat.state != "stopped"]
    for beat in standing:
        yield _worker(beat, now)
    if standing and (standing[0].memory_policy_version, standing[0].max_memory_chars) != (
        MEMORY_POLICY_VERSION,
        MEMORY_CHARS_MAX,
    ):
        fact = f"{standing[0].worker_id} beat last, by another memory policy: the extension enqueues nothing"
        yield Finding("error", "worker", fact, "Stop it; if its process is gone, run `curator review --once`")


def _judged(beat: RuntimeBeat, now: int, release: str) -> Runtime:
    if beat.state == "stopped":
        return Runtime(beat, "stopped", "")
    if not is_alive(beat.pid, ms_of(beat.updated_at)):
        return Runtime(beat, "stale", "its process is gone")
    if not is_fresh(beat, now):
        return Runtime(beat, "stale", f"its process lives and beat last at {beat.updated_at}")
    if beat.release_version != release:
        return Runtime(beat, "mismatched", f"others are of release {release}")
    if beat.memory_policy_version != MEMORY_POLICY_VERSION:
        return Runtime(beat, "mismatched", f"curator keeps policy {MEMORY_POLICY_VERSION}")
    return Runtime(beat, "current", "")


def _told(judged: Sequence[Runtime]) -> Iterator[Finding]:
    stopped = [each for each in judged if each.bucket == "stopped"]
    for each in judged:
        if each.bucket != "stopped" or each in stopped[:_STOPPED_SHOWN]:
            yield _runtime(each)
    if len(stopped) > _STOPPED_SHOWN:
        yield Finding("ok", "runtimes", f"{len(stopped) - _STOPPED_SHOWN:,} more have stopped")


def _runtime(each: Runtime) -> Finding:
    beat = each.beat
    root = "" if beat.project_root is None else f", {beat.project_root}"
    who = f"{beat.kind}, process {beat.pid}, release {beat.release_version}, policy {beat.memory_policy_version}{root}"
    fact = f"{who}: {each.bucket}" + (f", {each.why}" if each.why else "")
    if each.bucket == "mismatched":
        remedy = "Restart that Pi" if beat.kind == "extension" else "Update that worker, and restart it"
        return Finding("warning", "runtimes", fact, remedy)
    if each.bucket == "stale":
        lives = "lives" in each.why
        remedy = f"See what it does: ps -p {beat.pid}" if lives else "It goes by itself a day after it died"
        return Finding("warning" if lives else "note", "runtimes", fact, remedy)
    return Finding("ok", "runtimes", fact)


def _look_at_pis(pis: Sequence[Pi], judged: Sequence[Runtime]) -> Iterator[Finding]:
    known = {each.beat.pid: each for each in judged if each.beat.kind == "extension" and each.bucket != "stopped"}
    for pi in pis:
        each = known.get(pi.pid)
        if each is None:
            where = "" if pi.folder is None else f" in {pi.folder}"
            fact = f"Pi, process {pi.pid}{where}, shows no sign of the extension in this agent folder"
            yield Finding("warning", "Pi", fact, "Restart it, if it is to use this memory")
        elif pi.folder is not None and each.beat.project_root is not None and not _is_in(pi.folder, each.beat):
            fact = f"Pi, process {pi.pid}, works in {pi.folder} and says that its project is {each.beat.project_root}"
            yield Finding("warning", "Pi", fact, "Restart it in its project's folder")


def _is_in(folder: Path, beat: RuntimeBeat) -> bool:
    try:
        return str(find_project(folder).root) == beat.project_root
    except CuratorError:
        # A folder that is gone, or may not be looked at, contradicts nobody.
        return True


def _worker(beat: WorkerBeat, now: int) -> Finding:
    seconds = max(0, now - ms_of(beat.updated_at)) // 1_000
    who = f"{beat.worker_id}, process {beat.pid}, {beat.state}, {seconds:,} s ago"
    if not is_alive(beat.pid, ms_of(beat.updated_at)):
        remedy = "Run `curator review --once`, which says of dead workers that they stopped"
        return Finding("warning", "worker", f"{who}: its process is gone", remedy)
    if not beat.is_fresh(now):
        fact = f"{who}: its process lives, and Pi takes it for offline"
        return Finding("warning", "worker", fact, f"See what it does: ps -p {beat.pid}")
    if not beat.worker_id.startswith(_OURS):
        fact = f"{who}: a worker of another kind; curator reviews nothing while it runs"
        return Finding("warning", "worker", fact, f"Stop it (its service unit, or: kill {beat.pid})")
    return Finding("ok", "worker", f"{who}: alive")


def _paths(layout: Layout) -> list[Path]:
    names = [name for name in list_names(layout.runtimes, DIRECTORY_NAMES_MAX) if _NAME.fullmatch(name)]
    return [layout.runtimes / name for name in names[:RUNTIMES_MAX]]
