"""Signs of life that Pi's panel and its doctor read (interop.md 11)."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal, TypeAlias

from curator.model.ids import AJobId, AnIso, AProjectKey
from curator.model.limits import (
    MEMORY_CHARS_MAX,
    MEMORY_POLICY_VERSION,
    WORKER_FRESH_MS,
    WORKER_WORKING_FRESH_MS,
)
from curator.model.record import Integer, Pattern, Record, Text, Violation
from curator.model.times import ms_of

WorkerState: TypeAlias = Literal["starting", "idle", "working", "waiting-retry", "budget-exhausted", "stopped"]
_Positive = Annotated[int, Integer(1)]
Release = Annotated[str, Pattern(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,63}", "a release")]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class WorkerBeat(Record):
    """One worker's state. The extension enqueues only while policy and maximum are what it knows."""

    version: Literal[1] = 1
    worker_id: Annotated[str, Text(1, 128)]
    pid: _Positive
    started_at: AnIso
    updated_at: AnIso
    state: WorkerState
    memory_policy_version: _Positive | None = MEMORY_POLICY_VERSION
    max_memory_chars: _Positive | None = MEMORY_CHARS_MAX
    job_id: AJobId | None = None
    attempt: _Positive | None = None

    def is_fresh(self, now: int) -> bool:
        """Tell whether the extension would take this worker for alive."""
        if self.state == "stopped":
            return False
        limit = WORKER_WORKING_FRESH_MS if self.state == "working" else WORKER_FRESH_MS
        return now - ms_of(self.updated_at) <= limit


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeBeat(Record):
    """One process that uses memory: an extension inside Pi, or a worker."""

    version: Literal[1] = 1
    runtime_id: Annotated[str, Pattern(r"[0-9a-f]{24}", "a runtime id")]
    kind: Literal["extension", "worker"]
    pid: _Positive
    release_version: Release
    memory_policy_version: _Positive
    started_at: AnIso
    updated_at: AnIso
    state: Literal["running", "stopped"]
    project_root: Annotated[str, Text(1)] | None = None
    project_key: AProjectKey | None = None

    def check(self, where: str = "") -> None:
        """A beat comes after the start."""
        if self.updated_at < self.started_at:
            raise Violation(where, "was updated before it started")
