"""Cases A-015 to A-017, A-041, A-047, A-048, A-080, A-082 and A-085: workers, services and what Pi's windows do meanwhile."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from curator.model.digest import Json
from tests.acceptance.processes import TEXT, WISH, Place, ended, wait_until
from tests.cases.scene import Here, failing, know, needs, remember, serve, text
from tests.cli.commands import Ran, environ_of
from tests.cli.commands import run as run_here
from tests.fakes.pis import EACH_PI
from tests.fakes.provider import Settings, serving
from tests.session_lines import assistant, header, user, write

ADD: Final = text("A-019/fenced.txt")


def events(ran: Ran) -> list[dict[str, object]]:
    """Return the lines of a service's log."""
    return [json.loads(line) for line in ran.err.splitlines()]


@pytest.mark.skipif(needs("strace"), reason="strace is not installed")
@pytest.mark.parametrize("publication", range(1, 5))
def test_a_015_whoever_is_killed_while_it_queues_has_queued_a_whole_job_or_none(
    publication: int, tmp_path: Path
) -> None:
    place = Here(tmp_path)
    place.configure()
    key = place.project()
    said = (header(), user("u1", None, WISH.removeprefix("USER: ")), assistant("a1", "u1", "Yes."))
    session = write(tmp_path / "s.jsonl", *said)
    argv = ("enqueue", "--session", str(session), "--project", str(tmp_path / "code"))

    ended(place.start(*argv, before=failing(f"link,linkat:signal=KILL:when={publication}")))

    for path in (*place.layout.root.rglob("*.tmp"), *place.layout.root.rglob("*.lock")):
        os.utime(path, (1_700_000_000,) * 2)
    first = place.run("review", "--once", "--maintain")
    again = place.run(*argv)
    last = place.run("review", "--once", "--maintain")
    assert [(ran.status, ran.err) for ran in (first, again, last)] == [(0, "")] * 3
    assert place.texts(key) == [TEXT]
    assert len(place.attempts()) == 1
    assert not list(place.layout.root.rglob("*.tmp")) + list(place.layout.dead_letter.glob("*"))


def test_a_016_a_card_stays_in_the_mailbox_until_a_window_of_its_project_takes_it(tmp_path: Path) -> None:
    place = Here(tmp_path)
    place.configure()
    job, other = place.enqueue(key := place.project()), place.project("other")
    place.review()

    for _ in range(3):
        assert place.run("review", "--once", "--maintain").status == 0

    assert list(place.cards(key)) == [job.id]
    assert place.cards(other) == {}
    ready = place.layout.project(key).ready / f"{job.id}.json"
    pending = place.layout.project(key).pending / f"{job.id}.json"
    # The window has shown it: it takes both away, and nobody lays them there again.
    ready.unlink()
    pending.unlink()
    place.run("review", "--once", "--maintain")
    assert (ready.exists(), pending.exists()) == (False, False)


@pytest.mark.parametrize("pi", EACH_PI)
def test_a_017_a_review_through_pi_leaves_no_process_and_no_session_behind(pi: str, tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(Settings(), place.log) as server:
        know(place, server)
        place.write(place.layout.curator_toml, {})
        place.layout.curator_toml.write_text(f'via = "pi"\npi = "{pi}"\n', "utf-8")
        place.enqueue(place.project())
        command = place.start("review", "--once")
        ran = ended(command)

    assert (ran.status, place.requests()) == (0, 1)
    listed = subprocess.run(["ps", "-o", "args=", "-A"], capture_output=True, text=True, check=True).stdout
    assert [line for line in listed.splitlines() if str(tmp_path) in line] == []
    assert not list((place.layout.agent / "sessions").rglob("*.jsonl"))


def test_a_017_a_service_that_ends_takes_all_it_started_with_it(tmp_path: Path) -> None:
    place = Here(tmp_path)
    place.configure()
    job = place.enqueue(place.project())
    service = serve(place)
    wait_until(lambda: place.ending(job) == "applied")
    service.terminate()
    assert ended(service).status == 0

    listed = subprocess.run(["ps", "-o", "ppid=,args=", "-A"], capture_output=True, text=True, check=True).stdout
    assert [line for line in listed.splitlines() if line.split()[0] == str(service.pid)] == []


def falls_silent(supervisor: socket.socket) -> bool:
    """Listen until nothing is said for as long as the socket waits; what was said before is taken."""
    deadline = time.monotonic() + 6
    while time.monotonic() < deadline:
        try:
            supervisor.recv(4_096)
        except TimeoutError:
            return True
    return False


@pytest.mark.skipif(needs("strace"), reason="strace is not installed")
def test_a_041_a_service_whose_loop_stands_still_feeds_no_watchdog_though_its_heart_beats(tmp_path: Path) -> None:
    place = Here(tmp_path)
    place.configure()
    job = place.job(key := place.project())
    record = place.layout.queued / f"{job.id}.json"
    # Its main thread alone is held, for as long as it takes to look, when it opens that one job.
    held = ("strace", "-D", "-qqq", "-o", "/dev/null", "-P", str(record), "-e", "inject=openat:delay_enter=8000000")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
        supervisor.bind(str(tmp_path / "notified"))
        supervisor.settimeout(20)
        told = ("env", f"NOTIFY_SOCKET={tmp_path / 'notified'}", "WATCHDOG_USEC=400000")
        service = serve(place, *told, *held)
        while not supervisor.recv(4_096).startswith(b"WATCHDOG=1"):
            pass
        place.enqueue(key)
        supervisor.settimeout(1.5)
        assert falls_silent(supervisor)
        assert (service.poll(), place.ending(job)) == (None, "queued")
        shown = place.run("status").out
        service.kill()
        ended(service)

    assert "curator:" in shown
    unit = (Path(__file__).resolve().parents[2] / "systemd" / "curator.service").read_text("utf-8")
    assert ("WatchdogSec=120" in unit, "Restart=on-failure" in unit) == (True, True)
    assert "its process is gone" in place.run("status").out


@pytest.mark.skipif(needs("strace"), reason="strace is not installed")
def test_a_041_where_nobody_watches_a_service_whose_loop_stands_still_ends_by_itself(tmp_path: Path) -> None:
    place = Here(tmp_path)
    place.configure()
    job = place.job(key := place.project())
    record = place.layout.queued / f"{job.id}.json"
    held = (
        "strace",
        "-D",
        "-f",
        "-qqq",
        "-o",
        "/dev/null",
        "-P",
        str(record),
        "-e",
        "inject=openat:delay_enter=2000000",
    )
    service = serve(place, "env", "WATCHDOG_USEC=400000", *held)
    wait_until(place.layout.instance_pid.exists)
    place.enqueue(key)
    ran = ended(service)

    assert ran.status == 70
    assert '"code": "stalled"' in ran.err
    assert "the loop stands still" in ran.err
    assert place.ending(job) == "queued"
    plist = (Path(__file__).resolve().parents[2] / "launchd" / "curator.plist").read_text("utf-8")
    assert "<key>KeepAlive</key>" in plist
    assert place.review().status == 0
    assert place.ending(job) == "applied"


@pytest.mark.skipif(needs("systemd-analyze"), reason="systemd is not installed")
def test_a_047_a_unit_from_an_odd_home_is_valid_and_names_everything_absolutely(tmp_path: Path) -> None:
    home = tmp_path / "a home & 100%"
    folder = home / "tools & 5%d"
    folder.mkdir(parents=True)
    place = Place(home)
    place.configure()
    environ = environ_of(home, PI_CODING_AGENT_DIR=str(place.layout.agent))
    environ["PATH"] = f"{folder}:{environ['PATH']}"

    ran = run_here("service", "install", "--print", cwd=home, environ=environ)

    assert ran.status == 0, ran.err
    unit = tmp_path / "curator.service"
    unit.write_text("[Unit]" + ran.out.partition("[Unit]")[2].partition("\n\n\n")[0], "utf-8")
    (line,) = [line for line in ran.out.splitlines() if line.startswith("ExecStart=")]
    assert re.match(r'ExecStart="?/', line)
    assert "100%%" in ran.out
    found = subprocess.run(
        ["systemd-analyze", "--user", "verify", str(unit)], capture_output=True, text=True, check=False
    )
    assert [line for line in found.stderr.splitlines() if unit.name in line and "Unknown" in line] == []


def test_a_047_without_any_environment_the_command_finds_home_and_says_where_it_looks(tmp_path: Path) -> None:
    place = Here(tmp_path)
    place.configure()
    python = shutil.which("python3", path=os.fspath(Path(sys.executable).parent)) or sys.executable
    argv = ["env", "-i", python, "-m", "curator", "status", "--agent-dir", str(place.layout.agent)]

    ran = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=tmp_path)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert f"agent     {place.layout.agent}" in ran.stdout


@pytest.mark.parametrize(
    ("broken", "status"), [('{"version":1,"mode":"extern', 78), ('{"version":1,"mode":"external"}', None)]
)
def test_a_048_a_broken_configuration_ends_in_a_status_that_the_unit_does_not_restart(
    broken: str, status: int | None, tmp_path: Path
) -> None:
    place = Here(tmp_path)
    place.configure()
    place.enqueue(place.project())
    place.layout.service_json.write_text(broken, "utf-8")
    unit = (Path(__file__).resolve().parents[2] / "systemd" / "curator.service").read_text("utf-8")

    service = serve(place)
    if status is None:
        wait_until(lambda: service.poll() is not None or place.layout.instance_pid.exists())
        shown = place.run("status").out
        service.terminate()
        ran = ended(service)
        assert ran.status in {0, 78}
        assert "reviewer" in shown + ran.err
    else:
        ran = ended(service)
        assert ran.status == status
        assert str(place.layout.service_json) in ran.err
    assert "RestartPreventExitStatus=2 78" in unit
    assert "StartLimitIntervalSec=0" in unit


def tried_again(place: Place, service: subprocess.Popen[bytes]) -> int:
    """Let all that waits go on, and tell how often a call was given up before it left."""
    place.run("jobs", "retry", "--all")
    # A wish to read the configuration again ends the pause of all.
    service.send_signal(signal.SIGHUP)
    return place.states()["cancelled"]


def test_a_080_the_same_trouble_is_told_once_and_not_at_every_try(tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(Settings(), place.log) as server:
        know(place, server)
    # Nobody listens there any more.
    for number in range(4):
        place.enqueue(place.project(f"p{number}"))
    service = serve(place)
    wait_until(lambda: place.states()["cancelled"] >= 1)
    wait_until(lambda: tried_again(place, service) >= 5)
    service.terminate()
    ran = ended(service)

    told = [each for each in events(ran) if each["event"] == "stopped"]
    assert [each["code"] for each in told] == ["provider_unreachable"]
    assert (place.requests(), len(ran.err) < 20_000) == (0, True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_080_a_full_log_stops_no_review(tmp_path: Path) -> None:
    place = Here(tmp_path)
    place.configure()
    job = place.enqueue(place.project())
    with Path("/dev/full").open("wb") as full:
        environ = environ_of(place.home, PI_CODING_AGENT_DIR=str(place.layout.agent))
        environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[2] / "service")
        argv = [sys.executable, "-m", "curator_service"]
        service = subprocess.Popen(argv, env=environ, cwd=place.home, stdout=full, stderr=full)
        wait_until(lambda: place.ending(job) == "applied")
        service.terminate()

    assert service.wait(30) == 0


def test_a_082_another_release_of_the_extension_changes_no_job_and_starts_nothing(tmp_path: Path) -> None:
    place = Here(tmp_path)
    place.configure()
    job = place.enqueue(key := place.project())
    newer: Json = {
        "version": 1,
        "runtimeId": "r1",
        "pid": os.getpid(),
        "extensionVersion": "9.9.9",
        "memoryPolicyVersion": 3,
        "startedAt": "2026-05-01T00:00:00.000Z",
        "updatedAt": "2026-05-01T00:00:00.000Z",
        "state": "running",
    }
    place.write(place.layout.runtimes / f"{'a' * 24}.json", newer)

    first, second = place.review(), place.review()

    assert (first.status, second.out) == (0, "Nothing to review now.\n")
    assert (place.ending(job), place.texts(key)) == ("applied", [TEXT])
    assert [path.name for path in place.layout.dead_letter.glob("*")] == []


def test_a_085_each_review_lays_down_one_card_under_one_id_and_never_again(tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(
        Settings(proposal='{"operations":[{"action":"add","content":"Fact {n}.","importance":"low"}]}'), place.log
    ) as server:
        know(place, server)
        key, _ = remember(place, "code")
        jobs = [place.enqueue(key, f"entry-{number}", f"USER: fact {number}") for number in range(12)]
        workers = [place.start("review", "--once", "--worker-id", f"w{number}") for number in range(2)]
        taken: list[str] = []
        wait_until(
            lambda: take(place.layout.project(key).ready, taken) or all(each.poll() is not None for each in workers)
        )
        for worker in workers:
            ended(worker)
        place.review()
        take(place.layout.project(key).ready, taken)

    assert sorted(taken) == sorted(job.id for job in jobs)


def take(ready: Path, taken: list[str]) -> bool:
    """Take every card as a window does: by moving it away, which only one can."""
    for path in sorted(ready.glob("*.json")):
        mine = path.with_suffix(".taken")
        try:
            path.rename(mine)
        except FileNotFoundError:
            continue
        taken.append(json.loads(mine.read_text("utf-8"))["jobId"])
        mine.unlink()
        path.parent.with_name("pending").joinpath(path.name).unlink(missing_ok=True)
    return len(taken) >= 12
