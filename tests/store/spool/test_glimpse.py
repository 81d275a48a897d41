"""A look tells what the whole record tells, and what it cannot tell is told exactly."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from curator.errors import InvalidRecordError
from curator.model.digest import Json, compact
from curator.model.job import Queued, Running
from curator.model.record import Record
from curator.model.times import ms_of
from curator.store.spool.glimpse import Glimpse, glimpse_queued, glimpse_running
from curator.store.spool.records import read_queued, read_running
from tests.made_up import AT, TOKEN, job
from tests.store.spool.queues import WORKER

LATER: Final = "2026-01-03T00:05:00.000Z"
QUEUED: Final = Queued(job=job(), next_attempt=3, available_at=LATER)
RUNNING: Final = Running(job=job(), attempt=3, worker_id=WORKER, lease_token=TOKEN, claimed_at=AT, lease_until=LATER)


def put(tmp_path: Path, raw: bytes) -> Path:
    path = tmp_path / f"{job().id}.json"
    path.write_bytes(raw)
    return path


def bytes_of(record: Record) -> bytes:
    return compact(record.encode()).encode()


def changed(record: Record, **keys: Json) -> bytes:
    return json.dumps(record.encode() | keys).encode()


def test_a_look_at_a_queued_record_tells_whose_it_is_and_from_when_it_may_be_taken(tmp_path: Path) -> None:
    seen = glimpse_queued(put(tmp_path, bytes_of(QUEUED)))

    made = job()
    assert seen == Glimpse(
        made.id, made.project_key, made.session_key, made.branch.name, made.max_chars, 3, ms_of(LATER), None
    )


def test_one_that_waits_for_no_time_may_be_taken_at_once(tmp_path: Path) -> None:
    seen = glimpse_queued(put(tmp_path, bytes_of(Queued(job=job(), next_attempt=1))))

    assert seen is not None
    assert (seen.due_ms, seen.next_attempt) == (0, 1)


def test_a_look_at_a_running_record_tells_the_next_number_and_when_its_lease_ends(tmp_path: Path) -> None:
    seen = glimpse_running(put(tmp_path, bytes_of(RUNNING)))

    assert seen is not None
    assert (seen.next_attempt, seen.due_ms, seen.lease_token) == (4, ms_of(LATER), TOKEN)


def test_where_nothing_stands_nothing_is_seen(tmp_path: Path) -> None:
    path = tmp_path / f"{job().id}.json"

    assert (glimpse_queued(path), glimpse_running(path)) == (None, None)


def test_a_number_that_is_only_spelled_otherwise_is_the_same(tmp_path: Path) -> None:
    seen = glimpse_queued(put(tmp_path, changed(QUEUED, nextAttempt=3.0)))

    assert seen is not None
    assert seen.next_attempt == 3


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b"[" * 10_000,
        changed(QUEUED, nextAttempt=0),
        changed(QUEUED, nextAttempt=True),
        changed(QUEUED, nextAttempt="3"),
        changed(QUEUED, availableAt="soon"),
        changed(QUEUED, availableAt=None),
        changed(QUEUED, job=None),
        changed(QUEUED, job=job().encode() | {"id": 7}),
        changed(QUEUED, job=job().encode() | {"branch": "main"}),
        changed(QUEUED, job=job().encode() | {"branch": {"name": "Not A Branch"}}),
        changed(QUEUED, job=job("another").encode()),
    ],
)
def test_what_a_look_cannot_tell_is_told_as_the_whole_record_tells_it(tmp_path: Path, raw: bytes) -> None:
    path = put(tmp_path, raw)

    assert fault_of(glimpse_queued, path) == fault_of(read_queued, path)


@pytest.mark.parametrize("raw", [changed(RUNNING, leaseToken=None), changed(RUNNING, leaseUntil=7), bytes_of(QUEUED)])
def test_the_same_holds_of_a_running_record(tmp_path: Path, raw: bytes) -> None:
    path = put(tmp_path, raw)

    assert fault_of(glimpse_running, path) == fault_of(read_running, path)


def fault_of(read: Callable[[Path], object], path: Path) -> str:
    with pytest.raises(InvalidRecordError) as caught:
        read(path)
    return str(caught.value)
