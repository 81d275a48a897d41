"""The disk under a real process fills, runs out of names, turns read-only, fails to flush, or lies about it, in mid-call."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from faults.block.mounts import LOGFLUSH, NOLOGFLUSH, shut_down, why_not
from faults.surroundings.ground import EXT4, TMPFS, Ground, ground
from faults.surroundings.watched import watched

from curator.model.ids import ProjectKey
from curator.model.job import Job
from tests.acceptance.processes import ended, go_on, provided, wait_until
from tests.cli.commands import Ran
from tests.fakes.provider import Settings

FACTS: Final = '{"operations": [{"action": "add", "content": "Fact number {n}.", "importance": "normal"}]}'
SLOW: Final = Settings(review="slow,ok", proposal=FACTS, slow_s=0.3, chunk=1_000)
"""The first call lasts long enough to be interrupted."""
FILL: Final = "cat /dev/zero > {ballast} 2> /dev/null; true"
WHOLE: Final = TMPFS.format(options="size=4m,nr_inodes=400")


@pytest.fixture(autouse=True)
def mounts() -> None:
    reason = why_not(needs_fuse=False)
    if reason:
        pytest.skip(f"no disk of its own can be mounted here: {reason}")


@contextlib.contextmanager
def in_mid_call(tmp_path: Path, mount: str) -> Iterator[tuple[Ground, Job, ProjectKey, subprocess.Popen[bytes]]]:
    """Give a worker that stands still while its call runs; SIGCONT lets it go on."""
    with watched(tmp_path) as watch, provided(tmp_path, SLOW, watch.place) as (place, _):
        job = place.enqueue(key := place.project())
        with ground(watch, mount) as disk, disk.start("review", "--once") as worker:
            try:
                wait_until(lambda: place.requests() == 1 or worker.poll() is not None)
                assert worker.poll() is None, ended(worker).err
                worker.send_signal(signal.SIGSTOP)
                yield disk, job, key, worker
            finally:
                worker.kill()


def assert_recovers(disk: Ground, job: Job, key: ProjectKey, *, calls: int) -> None:
    """Recover on the mended disk: the job is applied once, every call is counted, and a second recovery changes nothing."""
    disk.inside.review_later()
    assert disk.inside.ending(job) == "applied"
    assert len(disk.inside.texts(key)) == 1
    states = disk.inside.states()
    assert (states["settled"] + states["unknown"], disk.place.requests()) == (calls, calls)
    before = disk.inside.tree()
    disk.inside.review_later(2)
    assert disk.inside.tree() == before


def assert_told(ran: Ran, fact: str) -> None:
    assert (ran.status, "Traceback" in ran.err) == (74, False), ran.err
    assert fact in ran.err


# --- full, and out of names ------------------------------------------------------------------------------------------


def test_a_disk_that_fills_in_mid_call_ends_the_run_and_its_call_stays_counted(tmp_path: Path) -> None:
    with in_mid_call(tmp_path, WHOLE) as (disk, job, key, worker):
        disk.shell(FILL.format(ballast="ballast"))
        assert "No space left on device" in disk.refuses()

        ran = go_on(worker)

        assert_told(ran, "No space left on device")
        assert disk.shell("rm ballast").returncode == 0
        assert_recovers(disk, job, key, calls=2)


NAMES: Final = "i=0; while true 2> /dev/null > ballast.$i; do i=$((i+1)); done"


def test_a_disk_without_free_names_in_mid_call_ends_the_run_and_its_call_stays_counted(tmp_path: Path) -> None:
    with in_mid_call(tmp_path, WHOLE) as (disk, job, key, worker):
        disk.shell(NAMES)
        assert "No space left on device" in disk.refuses()
        assert int(disk.shell("stat -f -c %f .").stdout) > 100, "there is room, but no name"

        ran = go_on(worker)

        assert_told(ran, "No space left on device")
        disk.shell("rm ballast.*")
        assert_recovers(disk, job, key, calls=2)


@pytest.mark.parametrize("free", [0, 2, 10])
def test_a_disk_with_all_but_no_free_names_ends_the_run_before_anything_is_paid_for(free: int, tmp_path: Path) -> None:
    with watched(tmp_path) as watch, provided(tmp_path, Settings(proposal=FACTS), watch.place) as (place, _):
        job = place.enqueue(key := place.project())
        with ground(watch, WHOLE) as disk:
            disk.shell(f"{NAMES}; j=0; while [ $j -lt {free} ]; do rm ballast.$j; j=$((j+1)); done")
            assert int(disk.shell("stat -f -c %d .").stdout) == free

            ran = ended(disk.start("review", "--once"))

            assert_told(ran, "No space left on device")
            assert place.requests() == 0
            disk.shell("rm ballast.*")
            assert_recovers(disk, job, key, calls=1)


# --- read-only -------------------------------------------------------------------------------------------------------


def test_a_disk_that_turns_read_only_in_mid_call_ends_the_run_and_its_call_stays_counted(tmp_path: Path) -> None:
    mount = EXT4.format(room="40m", features="", options="errors=remount-ro")
    with in_mid_call(tmp_path, mount) as (disk, job, key, worker):
        # What the kernel does with a filesystem that it finds damaged.
        disk.shell("echo 1 > /sys/fs/ext4/$(basename $(findmnt -n -o SOURCE -T .))/trigger_fs_error")
        assert "Read-only file system" in disk.refuses()

        ran = go_on(worker)

        assert_told(ran, "Read-only file system")
        disk.mend()
        assert_recovers(disk, job, key, calls=2)


# --- a flush that fails, and one that lies ---------------------------------------------------------------------------

TWICE: Final = f"""
{sys.executable} -c '
import os
file = os.open("proof", os.O_WRONLY | os.O_CREAT)
os.write(file, bytes(1 << 20))
for _ in range(2):
    try:
        os.fsync(file)
        print("flushed")
    except OSError as error:
        print(error.strerror)
'
"""
"""Flush the same file twice, and say what came of it."""


def test_a_flush_that_fails_in_mid_call_ends_the_run_and_nothing_is_built_on_what_it_lost(tmp_path: Path) -> None:
    # A sparse disk without a journal takes every write, and finds only at the flush that nothing is left beneath it.
    mount = EXT4.format(room="12m", features="-O ^has_journal", options="")
    with in_mid_call(tmp_path, mount) as (disk, job, key, worker):
        ballast = disk.place.home / "under" / "ballast"
        disk.shell(FILL.format(ballast=ballast))
        first, second = disk.shell(TWICE).stdout.splitlines()
        assert first != "flushed"
        assert second == "flushed", "a second flush of the same file says that all is well"

        ran = go_on(worker)

        assert_told(ran, first)
        disk.shell(f"rm -f proof {ballast}")
        disk.mend()
        assert disk.inside.tree() != {}
        assert_recovers(disk, job, key, calls=2)


@contextlib.contextmanager
def after_lies(tmp_path: Path, how: int) -> Iterator[tuple[Ground, Job, dict[str, bytes]]]:
    """Give a disk on which a job was done while no flush did anything, and which then lost its power; and what is left."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed: it makes the flushes lie")
    trace = tmp_path / "trace"
    mount = EXT4.format(room="40m", features="", options="commit=900")
    with watched(tmp_path) as watch, provided(tmp_path, Settings(proposal=FACTS), watch.place) as (place, _):
        job = place.enqueue(place.project())
        with ground(watch, mount) as disk:
            lies = ("strace", "-f", "-qq", "-o", str(trace), "-e", "inject=fsync,fdatasync:retval=0")
            ran = ended(disk.start("review", "--once", before=lies))
            assert (ran.status, disk.inside.ending(job)) == (0, "applied")
            assert trace.read_text("utf-8").count("(INJECTED)") > 20
            whole = disk.inside.tree()
            shut_down(disk.inside.layout.agent, how)
            disk.mend()
            left = disk.inside.tree()
            assert left != whole, "the power took what was never flushed"
            yield disk, job, left


def test_a_disk_that_lied_about_every_flush_and_lost_all_is_as_if_nothing_had_been_done(tmp_path: Path) -> None:
    with after_lies(tmp_path, NOLOGFLUSH) as (disk, job, _):
        assert disk.inside.ending(job) == "queued"

        ran = ended(disk.start("review", "--once"))

        assert (ran.status, ran.err, disk.inside.ending(job)) == (0, "", "applied")
        assert disk.place.requests() == 2, "of the first call nothing is known any more: this is what cannot be claimed"


def test_what_a_disk_that_lied_left_empty_is_named_and_neither_believed_nor_replaced(tmp_path: Path) -> None:
    with after_lies(tmp_path, LOGFLUSH) as (disk, job, left):
        empty = {path for path, raw in left.items() if raw == b"" and path.endswith(".json")}
        assert [path for path in empty if job.id in path] != []

        ran = ended(disk.start("review", "--once"))

        after = disk.inside.tree()
        assert "Traceback" not in ran.err
        assert "is empty" in ran.err
        assert disk.place.requests() == 1
        assert {path for path in empty if after.get(path) != b""} == set()
        found = ended(disk.start("verify"))
        assert (found.status, found.err) == (65, "")
        assert [path for path in empty if path.partition("/agent/")[2] not in found.out] == []
