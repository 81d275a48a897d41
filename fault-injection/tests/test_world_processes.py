"""A real process is killed for want of memory, has no network, or finds a lock whose owner's number has another owner."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from faults.surroundings.memory import cage, why_no_cage
from faults.surroundings.watched import watched

from curator.model.budget import Exposure
from tests.acceptance.processes import KEY, Place, ended, provided, wait_until
from tests.cli.commands import CURATOR, Ran
from tests.fakes.provider import Settings

FACTS: Final = '{"operations": [{"action": "add", "content": "Fact number {n}.", "importance": "normal"}]}'


def test_a_worker_that_is_killed_for_want_of_memory_in_mid_call_loses_nothing_and_its_call_stays_counted(
    tmp_path: Path,
) -> None:
    if why_no_cage():
        pytest.skip(f"memory cannot run out here: {why_no_cage()}")
    settings = Settings(review="hang,ok", proposal=FACTS)
    with watched(tmp_path) as watch, provided(tmp_path, settings, watch.place) as (place, _), cage() as room:
        job = place.enqueue(key := place.project())
        command = [*room.enter(), *CURATOR, "review", "--once"]
        with subprocess.Popen(command, env=place.environ(), cwd=place.home) as worker:
            try:
                wait_until(lambda: place.requests() == 1)

                room.fill()

                assert worker.wait() == -signal.SIGKILL
                watch.dies(worker.pid)
            finally:
                worker.kill()
        assert room.kills() == 1
        assert (place.ending(job), place.states()) == ("running", {"dispatched": 1})
        for turn in (1, 2):
            place.review_later(turn)
            assert (place.ending(job), place.texts(key)) == ("applied", ["Fact number 2."])
            assert (place.states(), place.requests()) == ({"unknown": 1, "settled": 1}, 2)


# --- no network at all -----------------------------------------------------------------------------------------------

PROOF: Final = 'import socket; socket.create_connection(("127.0.0.1", {port}), 5)'


def without_network(place: Place, *command: str) -> Ran:
    """Run a command where there is no network, not even the machine's own."""
    tried = subprocess.run(["unshare", "-n", "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"the network cannot be taken away here: {tried.stderr}")
    pipe = subprocess.PIPE
    return ended(
        subprocess.Popen(["unshare", "-n", *command], env=place.environ(), cwd=place.home, stdout=pipe, stderr=pipe)
    )


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not installed: it takes the network away")
def test_without_any_network_the_jobs_wait_and_burn_nothing(tmp_path: Path) -> None:
    with watched(tmp_path) as watch, provided(tmp_path, Settings(proposal=FACTS), watch.place) as (place, server):
        job = place.enqueue(key := place.project())
        proof = PROOF.format(port=server.server_address[1])
        assert "Network is unreachable" in without_network(place, sys.executable, "-c", proof).err

        ran = without_network(place, *CURATOR, "review", "--once")

        assert (ran.status, "Traceback" in ran.err) == (78, False)
        assert "provider_unreachable" in ran.out
        assert KEY not in ran.out + ran.err
        assert (place.ending(job), place.requests()) == ("queued", 0)
        assert [seen.exposure for seen in place.attempts() if seen.exposure != Exposure()] == []
        place.let_go_on(job)
        assert place.review().status == 0
        assert (place.ending(job), place.texts(key)) == ("applied", ["Fact number 1."])


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not installed: it takes the network away")
def test_without_any_network_the_offline_reviewer_reviews(tmp_path: Path) -> None:
    with watched(tmp_path) as watch:
        place = watch.place
        place.configure()
        job = place.enqueue(place.project())

        ran = without_network(place, *CURATOR, "review", "--once")

    assert (ran.status, ran.err, place.ending(job)) == (0, "", "applied")


# --- a number that has two owners ------------------------------------------------------------------------------------

REUSE: Final = """
set -e
echo {number} > /proc/sys/kernel/ns_last_pid
{python} -c '
import os, sys
from pathlib import Path
from curator.durable.lock import protocol_domain
with protocol_domain("test", Path(sys.argv[1])).hold():
    os.kill(os.getpid(), 9)
' {lock} || true
[ "$(cut -d: -f1 {lock} | head -n 1)" = {owner} ]
sleep 1.1
echo {number} > /proc/sys/kernel/ns_last_pid
sleep 60 & other=$!
[ $other = {owner} ]
touch -d '-60 seconds' {lock}
{python} -m curator review --once; status=$?
kill -0 $other
[ ! -e {lock} ]
exit $status
"""


def test_a_lock_of_the_dead_is_taken_although_another_process_has_its_number_now(tmp_path: Path) -> None:
    if not Path("/proc/sys/kernel/ns_last_pid").exists() or os.geteuid() != 0:
        pytest.skip("the next process's number can only be chosen by root, on a kernel with ns_last_pid")
    with watched(tmp_path) as watch:
        place = watch.place
        place.configure()
        job = place.enqueue(place.project())
        script = REUSE.format(number=4_999, owner=5_000, lock=place.layout.spool_lock, python=sys.executable)
        command = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-xc", script]

        ran = subprocess.run(command, env=place.environ(), capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stderr
    assert place.ending(job) == "applied"
