"""Signs of life: what the extension reads, and how long it believes it."""

import dataclasses

import pytest

from curator.model.digest import Json
from curator.model.heartbeat import RuntimeBeat, WorkerBeat, WorkerState
from curator.model.record import Violation
from tests.made_up import AT, AT_MS, LATER

WORKER = WorkerBeat(worker_id="curator:host:1", pid=1, started_at=AT, updated_at=AT, state="idle")
RUNTIME = RuntimeBeat(
    runtime_id="fa6f1d05ce2c59ce24e2ba1e",
    kind="worker",
    pid=1,
    release_version="0.5.4",
    memory_policy_version=2,
    started_at=AT,
    updated_at=LATER,
    state="running",
)


def test_a_worker_says_the_two_numbers_that_let_the_extension_enqueue() -> None:
    told = WORKER.encode()

    assert (told["memoryPolicyVersion"], told["maxMemoryChars"]) == (2, 6000)


@pytest.mark.parametrize(
    ("state", "age_ms", "is_fresh"),
    [
        ("idle", 30_000, True),
        ("idle", 30_001, False),
        ("working", 360_000, True),
        ("working", 360_001, False),
        ("waiting-retry", 30_001, False),
        ("stopped", 0, False),
    ],
)
def test_a_worker_is_believed_for_a_while(state: WorkerState, age_ms: int, is_fresh: bool) -> None:  # noqa: FBT001 - a case
    assert dataclasses.replace(WORKER, state=state).is_fresh(AT_MS + age_ms) is is_fresh


@pytest.mark.parametrize(
    "change",
    [{"state": "asleep"}, {"pid": 0}, {"workerId": ""}, {"workerId": "w" * 129}, {"jobId": None}, {"host": "h"}],
)
def test_a_workers_beat_that_breaks_a_rule_is_refused(change: dict[str, Json]) -> None:
    assert WorkerBeat.decode(WORKER.encode()) == WORKER
    with pytest.raises(Violation):
        WorkerBeat.decode(WORKER.encode() | change)


@pytest.mark.parametrize(
    "change",
    [
        {"updatedAt": "2026-01-02T00:00:00.000Z"},
        {"releaseVersion": "v 1"},
        {"kind": "pi"},
        {"runtimeId": "x"},
        {"pid": True},
    ],
)
def test_a_runtimes_beat_that_breaks_a_rule_is_refused(change: dict[str, Json]) -> None:
    assert RuntimeBeat.decode(RUNTIME.encode()) == RUNTIME
    with pytest.raises(Violation):
        RuntimeBeat.decode(RUNTIME.encode() | change)
