"""Reading the spool: one bad record costs one record."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from curator.model.digest import Json, compact
from curator.model.job import Queued
from tests.made_up import failed, job
from tests.store.spool.queues import Queue

GOOD = job("entry-good")
BAD = job("entry-bad")


@pytest.fixture
def queue(tmp_path: Path) -> Queue:
    queue = Queue(tmp_path)
    queue.spool.prepare()
    queue.spool.enqueue(GOOD)
    return queue


def changed(**changes: Json) -> bytes:
    return compact(Queued(job=BAD, next_attempt=1).encode() | changes).encode()


def job_changed(**changes: Json) -> bytes:
    return changed(job=BAD.encode() | changes)


def write(raw: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(raw)


@pytest.mark.parametrize(
    ("damage", "fact"),
    [
        (write(b""), "is empty"),
        (write(b"\0" * 512), "not JSON"),
        (write(changed()[:100]), "not JSON"),
        (write(b"\xff" + changed()), "not UTF-8"),
        (write(b"\xef\xbb\xbf" + changed()), "starts with a byte order mark"),
        (write(b"[" * 2000), "nested too deep"),
        (write(b" " * 132_097), "is larger than 132096 bytes"),
        (write(changed(version=2)), "version: is not 1"),
        (write(changed(acceptedAt="2026-01-03T00:00:00.000Z")), "has a key that this record does not have"),
        (write(changed(availableAt=None)), "availableAt: is not a string"),
        (write(b'{"version":1,"nextAttempt":1}'), "lacks job"),
        (write(job_changed(version=2)), "job.version: is not 1"),
        (write(job_changed(transcript="USER: forged")), "has a digest that is not its content's"),
        (write(job_changed(id="review_" + "0" * 40)), "has an id that is not its content's"),
        (write(job_changed(id="../../../etc/x")), "job.id: is not a job id"),
        (lambda path: path.symlink_to("/etc/hostname"), "is a symlink where a file belongs"),
        (Path.mkdir, "is not a regular file"),
        (os.mkfifo, "is not a regular file"),
    ],
    ids=[f"damage {number}" for number in range(18)],
)
def test_a_bad_record_is_named_with_its_fact_and_the_good_one_is_read(
    queue: Queue, damage: Callable[[Path], object], fact: str
) -> None:
    path = queue.file("queued", BAD.id)
    damage(path)

    (fault,) = queue.spool.faults()

    assert fault.path == path
    assert fault.fault is not None
    assert fact in fault.fault.why
    assert "forged" not in str(fault.fault)
    assert [each.job for each in queue.spool.queued()] == [GOOD]
    assert queue.spool.counts() == (2, 0)


def test_a_record_under_anothers_name_is_a_bad_one(queue: Queue) -> None:
    queue.put("queued", Queued(job=GOOD, next_attempt=1), BAD.id)

    (fault,) = queue.spool.faults()

    assert fault.fault is not None
    assert fault.fault.why == "holds another job than its name says"


@pytest.mark.parametrize(
    "name", [".DS_Store", "notes.txt", f"{BAD.id}.json.4711.aaaaaaaa.tmp", ".main.json.4711.tmp", "tmp9f2k1"]
)
def test_a_name_that_no_record_has_is_never_read(queue: Queue, name: str) -> None:
    (queue.layout.queued / name).write_bytes(b"x")

    assert queue.spool.faults() == ()
    assert queue.spool.counts() == (1, 0)


def test_a_record_is_the_same_whatever_the_order_of_its_keys(queue: Queue) -> None:
    value = Queued(job=BAD, next_attempt=1).encode()
    path = queue.file("queued", BAD.id)
    path.write_text(json.dumps(dict(reversed(value.items())), indent=4), "utf-8")

    assert {each.job_id for each in queue.spool.waiting()} == {GOOD.id, BAD.id}


def test_a_waiting_job_knows_since_when_its_file_lies_there(queue: Queue) -> None:
    path = queue.file("queued", GOOD.id)
    os.utime(path, (1_700_000_000, 1_700_000_000))

    assert queue.reopened().waiting(GOOD).queued_ms == 1_700_000_000_000


def test_outcomes_are_read_when_a_person_asks(queue: Queue) -> None:
    claim = queue.claimed(BAD)
    queue.spool.publish_outcome(claim, failed(BAD))
    queue.file("outcomes", GOOD.id).write_bytes(b"{")

    assert [each.outcome.job_id for each in queue.spool.finished()] == [BAD.id]
