"""The long-lived service as a real process: it wakes, works several jobs at once, reloads, and winds up."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import curator_service
import pytest

import curator
from curator.model.job import Job
from tests.acceptance.processes import Place, ended, provided, wait_until
from tests.cli.commands import Ran, environ_of
from tests.fakes.provider import Settings

SERVICE: Final = (sys.executable, "-m", "curator_service")


def start(place: Place, *before: str, stderr: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    environ = environ_of(place.home, PI_CODING_AGENT_DIR=str(place.layout.agent))
    environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[2] / "service")
    pipe = subprocess.PIPE
    return subprocess.Popen([*before, *SERVICE], env=environ, cwd=place.home, stdout=pipe, stderr=stderr)


def is_up(place: Place) -> bool:
    return place.layout.instance_pid.exists()


@contextlib.contextmanager
def serving(place: Place, *before: str, stderr: int = subprocess.PIPE) -> Iterator[subprocess.Popen[bytes]]:
    """Run the service while the block does, and end it with TERM."""
    service = start(place, *before, stderr=stderr)
    try:
        wait_until(lambda: is_up(place) or service.poll() is not None)
        yield service
    finally:
        if service.poll() is None:
            service.send_signal(signal.SIGTERM)
            ended(service)


def lines(ran: Ran) -> list[dict[str, object]]:
    return [json.loads(line) for line in ran.err.splitlines()]


def test_a_job_is_reviewed_as_soon_as_its_file_appears(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    key = place.project()
    with serving(place) as service:
        job = place.enqueue(key)
        wait_until(lambda: place.ending(job) == "applied")
        service.send_signal(signal.SIGTERM)
        ran = ended(service)

    assert ran.status == 0
    events = [line["event"] for line in lines(ran)]
    assert events.count("claimed") == events.count("completed") == 1
    assert not is_up(place)
    assert place.review().status == 0


def test_a_second_service_is_refused_and_told_which_process_is_the_first(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    with serving(place) as service:
        second = ended(start(place))

        assert second.status == 75
        assert f"process {service.pid}" in second.err
        assert len(second.err.splitlines()) == 1


def test_several_jobs_go_at_once_but_never_two_of_one_branch(tmp_path: Path) -> None:
    with provided(tmp_path, Settings(review="slow", slow_s=0.02, proposal=_adding("Fact {n}."))) as (place, server):
        keys = [place.project(f"code-{index}") for index in range(4)]
        jobs = [place.enqueue(key, f"entry-{turn}") for turn in range(3) for key in keys]
        with serving(place):
            wait_until(lambda: all(place.ending(job) == "applied" for job in jobs))

        assert 2 <= server.state.max_live <= 4
        assert place.requests() == len(jobs), "two of one branch at once would have cost a rebase"
        assert all(len(place.texts(key)) == 3 for key in keys)


def test_a_wish_to_stop_lets_the_call_that_is_under_way_finish(tmp_path: Path) -> None:
    with provided(tmp_path, Settings(review="slow", slow_s=0.1)) as (place, _):
        job = place.enqueue(place.project())
        with serving(place) as service:
            wait_until(lambda: place.requests() == 1)
            service.send_signal(signal.SIGTERM)
            ran = ended(service)

        assert ran.status == 0
        assert (place.ending(job), place.states()) == ("applied", {"settled": 1})


def test_a_second_wish_hurries_and_gives_the_claim_back(tmp_path: Path) -> None:
    with provided(tmp_path, Settings(review="hang,ok")) as (place, _):
        job = place.enqueue(place.project())
        with serving(place) as service:
            wait_until(lambda: place.requests() == 1)
            service.send_signal(signal.SIGTERM)
            service.send_signal(signal.SIGINT)
            ran = ended(service)

        assert ran.status == 0
        assert (place.ending(job), place.states()) == ("queued", {"unknown": 1})


def test_an_invalid_configuration_keeps_the_old_one_and_is_told(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    key = place.project()
    with serving(place) as service:
        place.layout.service_json.write_text("{", "utf-8")
        service.send_signal(signal.SIGHUP)
        job = place.enqueue(key)
        wait_until(lambda: place.ending(job) == "applied")
        service.send_signal(signal.SIGTERM)
        ran = ended(service)

    told = [line for line in lines(ran) if line["event"] == "stopped"]
    assert [line["subject"] for line in told] == ["configuration"]
    assert str(place.layout.service_json) in str(told[0]["fact"])


def test_an_edit_in_place_is_taken_over_at_once_and_the_same_mistake_made_twice_is_told_twice(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    heard = tmp_path / "heard"
    told: list[str] = []

    def is_told(count: int, word: str) -> bool:
        told[:] = [json.loads(line)["event"] for line in heard.read_text("utf-8").splitlines()]
        return told.count(word) == count

    with serving(place, "/bin/sh", "-c", f'exec "$@" 2>"{heard}"', "sh"):
        whole = place.layout.service_json.read_text("utf-8")
        for turn in (1, 2):
            place.layout.service_json.write_text("{", "utf-8")
            wait_until(lambda turn=turn: is_told(turn, "stopped"))  # type: ignore[misc]  # a lambda of no type of its own
            place.layout.service_json.write_text(whole, "utf-8")
            wait_until(lambda turn=turn: is_told(turn + 1, "serving"))  # type: ignore[misc]  # as above

    assert is_told(1, "leaving")


def test_an_invalid_curator_toml_keeps_the_way_in_which_models_are_asked(tmp_path: Path) -> None:
    with provided(tmp_path, Settings(review="ok")) as (place, _):
        key = place.project()
        with serving(place) as service:
            place.layout.curator_toml.write_text("concurrency = \n", "utf-8")
            service.send_signal(signal.SIGHUP)
            job = place.enqueue(key)
            wait_until(lambda: place.ending(job) == "applied")
            service.send_signal(signal.SIGTERM)
            ran = ended(service)

    assert [line["subject"] for line in lines(ran) if line["event"] == "stopped"] == ["configuration"]


@pytest.mark.parametrize("closed", ["2>&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_a_service_without_streams_reviews_all_the_same(tmp_path: Path, closed: str) -> None:
    place = Place(tmp_path)
    place.configure()
    job = place.enqueue(place.project())
    with serving(place, "/bin/sh", "-c", f'exec "$@" {closed}', "sh") as service:
        wait_until(lambda: place.ending(job) == "applied" or service.poll() is not None)
        service.send_signal(signal.SIGTERM)

        assert ended(service).status == 0
    assert place.ending(job) == "applied"


def test_a_log_that_nobody_reads_stops_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    job = place.enqueue(place.project())
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while os.write(writing, b"x" * 4_096):
            pass
    os.set_blocking(writing, True)
    try:
        with serving(place, stderr=writing) as service:
            wait_until(lambda: place.ending(job) == "applied")
            service.send_signal(signal.SIGTERM)

            service.communicate(timeout=30)
            assert service.returncode == 0
    finally:
        os.close(reading)
        os.close(writing)


def test_a_wrong_command_line_is_one_line(tmp_path: Path) -> None:
    place = Place(tmp_path)
    ran = subprocess.run([*SERVICE, "--bogus"], env=environ_of(tmp_path), capture_output=True, check=False)

    assert (ran.returncode, ran.stderr.count(b"\n")) == (2, 1)
    assert not place.layout.agent.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_that_comes_while_the_service_starts_is_heeded_and_no_traceback(
    tmp_path: Path, number: signal.Signals
) -> None:
    place = Place(tmp_path)
    place.configure()
    service = start(place)
    wait_until(lambda: _listens(service, number))
    service.send_signal(number)
    if number is signal.SIGHUP:
        wait_until(lambda: is_up(place))
        service.send_signal(signal.SIGTERM)
    ran = ended(service)

    assert ran.status == 0
    assert "Traceback" not in ran.err


def test_a_person_at_a_terminal_reads_no_json_wherever_the_terminal_itself_came_from(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    ours, theirs = pty.openpty()
    managed = ("/usr/bin/env", "INVOCATION_ID=0123456789abcdef", "XPC_SERVICE_NAME=0", "TERM=xterm")
    with serving(place, *managed, "/bin/sh", "-c", f'exec "$@" 2>"{os.ttyname(theirs)}"', "sh"):
        wait_until(lambda: bool(select.select([ours], [], [], 0)[0]))
        said = os.read(ours, 65_536).decode("utf-8")
    os.close(theirs)
    os.close(ours)

    assert "serving" in said
    assert "{" not in said


def test_a_package_that_is_taken_away_under_a_running_service_is_not_missed(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    key = place.project()
    package = tmp_path / "package"
    for source in (Path(curator.__file__).parent, Path(curator_service.__file__).parent):
        shutil.copytree(source, package / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    listens = tmp_path / "notified"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(listens))
        manager.settimeout(30)
        with serving(place, "/usr/bin/env", f"PYTHONPATH={package}", f"NOTIFY_SOCKET={listens}") as service:
            assert b"READY=1" in manager.recv(4096)
            package.rename(tmp_path / "upgraded")
            job = place.enqueue(key)
            wait_until(lambda: place.ending(job) == "applied" or service.poll() is not None)
            service.send_signal(signal.SIGHUP)
            second = place.enqueue(key, "entry-2")
            wait_until(lambda: place.ending(second) == "noop" or service.poll() is not None)
            service.send_signal(signal.SIGTERM)
            ran = ended(service)

    assert ran.status == 0
    assert [line["event"] for line in lines(ran)].count("completed") == 2
    assert "unexpected" not in ran.err


def test_all_of_ours_is_loaded_before_the_first_job_but_what_brings_a_vendor_s_client(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    script = (
        "import os, pkgutil, sys, curator\n"
        "from curator.app import LATE, open_app\n"
        "open_app(environ=os.environ, listener=None).load()\n"
        "rooms = ('admission', 'durable', 'machine', 'model', 'pi', 'reviewer', 'store', 'workflow')\n"
        "names = {each.name for each in pkgutil.walk_packages(curator.__path__, 'curator.')}\n"
        "ours = {name for name in names if name.split('.')[1] in rooms and not name.endswith('__main__')}\n"
        "assert ours - set(sys.modules) == LATE, ours - set(sys.modules)\n"
        "heavy = {'openai', 'anthropic', 'httpx2', 'genai_prices', 'rich', 'typer'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    environ = environ_of(place.home, PI_CODING_AGENT_DIR=str(place.layout.agent))
    ran = subprocess.run([sys.executable, "-c", script], env=environ, cwd=place.home, capture_output=True, check=False)

    assert (ran.returncode, ran.stderr) == (0, b"")


def test_a_signal_forwarded_twice_is_one_wish(tmp_path: Path) -> None:
    with provided(tmp_path, Settings(review="slow", slow_s=0.1)) as (place, _):
        job = place.enqueue(place.project())
        with serving(place) as service:
            wait_until(lambda: place.requests() == 1)
            service.send_signal(signal.SIGINT)
            service.send_signal(signal.SIGINT)
            ran = ended(service)

        assert ran.status == 0
        assert (place.ending(job), place.states()) == ("applied", {"settled": 1})


def test_a_changed_mode_is_taken_over_without_a_restart(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure("embedded")
    key = place.project()
    job = place.enqueue(key)
    with serving(place) as service:
        place.configure("external")
        service.send_signal(signal.SIGHUP)
        wait_until(lambda: place.ending(job) == "applied")

        assert service.poll() is None


def waits_for_midnight(place: Place, job: Job) -> bool:
    """Tell whether a job waits for the next day's budget."""
    queued = place.shop().stores.spool.queued_one(job.id)
    return queued is not None and (queued.available_at or "").endswith("T00:00:00.000Z")


def test_limits_are_read_again_without_a_restart_and_what_waits_for_them_goes_on(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure(maxCallsPerDay=1)
    keys = [place.project(name) for name in ("one", "two", "three")]
    with serving(place) as service:
        first = place.enqueue(keys[0])
        wait_until(lambda: place.ending(first) == "applied")
        second = place.enqueue(keys[1])
        wait_until(lambda: waits_for_midnight(place, second))

        place.configure(maxCallsPerDay=2)
        wait_until(lambda: place.ending(second) == "applied")

        place.configure(maxCallsPerDay=1)
        third = place.enqueue(keys[2])
        wait_until(lambda: waits_for_midnight(place, third))
        service.send_signal(signal.SIGTERM)
        ended(service)

    assert place.states() == {"settled": 2}


def test_a_person_who_settles_a_call_beside_the_service_lets_it_go_on(tmp_path: Path) -> None:
    with provided(tmp_path, Settings(review="reset,ok")) as (place, _):
        keys = [place.project(name) for name in ("one", "two")]
        place.configure(provider="fake", maxCallsPerDay=1)
        with serving(place):
            lost = place.enqueue(keys[0])
            wait_until(lambda: place.states() == {"unknown": 1})
            second = place.enqueue(keys[1])
            wait_until(lambda: waits_for_midnight(place, second))
            (seen,) = place.attempts(lost)

            ran = place.run("budget", "reconcile", seen.id, "--not-billed", "--reason", "It is not on the bill.")

            assert ran.status == 0
            wait_until(lambda: place.states() == {"settled": 2})


def test_a_bad_record_costs_one_record_and_the_service_lives_on(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    key = place.project()
    with serving(place) as service:
        bad = place.layout.queued / f"review_{'0' * 40}.json"
        bad.write_text("{", "utf-8")
        job = place.enqueue(key)
        wait_until(lambda: place.ending(job) == "applied")

        assert service.poll() is None


def test_a_folder_that_was_deleted_and_made_again_is_watched_again(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    key = place.project()
    with serving(place) as service:
        place.layout.queued.rmdir()
        job = place.enqueue(key)
        service.send_signal(signal.SIGHUP)
        wait_until(lambda: place.ending(job) == "applied")
        second = place.enqueue(key, "entry-2")
        wait_until(lambda: place.ending(second) != "queued")

        assert service.poll() is None


def _listens(service: subprocess.Popen[bytes], number: signal.Signals) -> bool:
    """Tell whether a process has set up its own answer to a signal, or is over."""
    if service.poll() is not None or sys.platform == "darwin":
        return True
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)$", Path(f"/proc/{service.pid}/status").read_text("ascii"), re.MULTILINE)
    # Python itself catches INT from its start on; ours stands as soon as TERM is caught too.
    return caught is not None and bool(int(caught.group(1), 16) >> (signal.SIGTERM - 1) & 1) and bool(number)


def _adding(text: str) -> str:
    return json.dumps({"operations": [{"action": "add", "content": text, "importance": "normal"}]})
