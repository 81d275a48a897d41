"""The long-lived service as a real process: it wakes, works several jobs at once, reloads, and winds up."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.acceptance.processes import Place, ended, provided, wait_until
from tests.cli.commands import Ran, environ_of
from tests.fakes.provider import Settings

SERVICE: Final = (sys.executable, "-m", "curator_service")


def start(place: Place) -> subprocess.Popen[bytes]:
    environ = environ_of(place.home, PI_CODING_AGENT_DIR=str(place.layout.agent))
    environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[2] / "service")
    pipe = subprocess.PIPE
    return subprocess.Popen(SERVICE, env=environ, cwd=place.home, stdout=pipe, stderr=pipe)


def is_up(place: Place) -> bool:
    return place.layout.instance_pid.exists()


@contextmanager
def serving(place: Place) -> Iterator[subprocess.Popen[bytes]]:
    """Run the service while the block does, and end it with TERM."""
    service = start(place)
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


def _adding(text: str) -> str:
    return json.dumps({"operations": [{"action": "add", "content": text, "importance": "normal"}]})
