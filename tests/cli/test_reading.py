"""Commands that look change nothing on disk, and flush nothing: they work where the disk takes no more writes."""

from __future__ import annotations

import contextlib
import itertools
import json
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Final

import pytest

from curator.durable.volume import Volume
from curator.model.ids import JobId
from tests.cli.commands import Home, make_home
from tests.made_up import failed, result

CHANGING: Final = frozenset(
    {"fsync", "fdatasync", "fcntl", "flock", "mkdir", "rename", "replace", "link", "symlink", "unlink", "remove"}
    | {"rmdir", "chmod", "fchmod", "utime", "truncate", "ftruncate", "pwrite"}
)
"""Calls into the system by which a disk is changed, or asked to keep what it has."""
READING: Final = {
    "jobs list": (),
    "jobs show": ("JOB",),
    "status": (),
    "memory show": (),
    "memory log": (),
    "project list": (),
    "project show": (),
    "verify": (),
    "config check": (),
    "budget show": (),
    "budget attempts": (),
    "budget attempts --unresolved": (),
    "budget export": (),
    "budget prove": (),
}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path)


@contextlib.contextmanager
def changes_seen() -> Iterator[list[str]]:
    """Note each changing call of this thread, whoever makes it, but the one that only asks whether a flush works here."""
    seen: list[str] = []

    def note(frame: FrameType, event: str, called: object) -> None:
        name = getattr(called, "__name__", "")
        is_change = name in CHANGING and getattr(called, "__module__", "") in {"posix", "fcntl"}
        if event == "c_call" and is_change and not is_probe(frame) and not is_import(frame):
            seen.append(f"{name} in {frame.f_code.co_filename}:{frame.f_lineno}")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield seen
    finally:
        sys.setprofile(before)


def is_import(frame: FrameType) -> bool:
    """Tell whether the interpreter keeps the compiled form of a module that it loads for the first time."""
    return frame.f_code.co_filename.startswith("<frozen importlib")


def is_probe(frame: FrameType) -> bool:
    """Tell whether a folder is flushed to learn whether it can be, and not to make sure of what is in it."""
    callers = [each.f_code for each, _ in itertools.islice(traceback.walk_stack(frame), 3)]
    return Volume.can_sync_directory.__code__ in callers and Volume.sync_directory.__code__ not in callers


def leave_failed(home: Home) -> None:
    """Leave a job that waits for its next try, after one that failed."""
    job_id, stores = (
        home.enqueue("We decided that dates are stored in UTC.", name="second.jsonl"),
        home.open().shop.stores,
    )
    path = home.layout.queued / f"{job_id}.json"
    record = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(record | {"nextAttempt": 2, "availableAt": "2999-01-01T00:00:01.000Z"}), "utf-8")
    queued = stores.spool.queued_one(JobId(job_id))
    assert queued is not None
    stores.decisions.record_result(result(queued.job, failed(queued.job)))


@pytest.mark.parametrize("command", READING)
def test_a_command_that_looks_asks_the_disk_for_no_change_and_no_flush(home: Home, command: str) -> None:
    job_id = home.enqueue("From now on, always run the linter before committing.")
    home.review()
    leave_failed(home)
    more = [job_id if each == "JOB" else each for each in READING[command]]

    with changes_seen() as seen:
        ran = home.run(*command.split(), *more)

    assert (ran.status, ran.err, seen) == (0, "", [])


def test_a_command_that_changes_is_seen_to_do_so(home: Home) -> None:
    job_id = home.enqueue("From now on, always run the linter before committing.")

    with changes_seen() as seen:
        home.run("jobs", "hold", job_id)

    assert {each.split()[0] for each in seen} >= {"fsync", "link", "unlink"}
