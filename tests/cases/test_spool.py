"""Cases A-042 to A-057: a queue that crashes, torn files, full disks, leftovers and workers that die left to it."""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path
from typing import Final

import pytest

from tests.acceptance.processes import TEXT, Place, ended, wait_until
from tests.cases.scene import Here, ask, failing, know, needs, raw, serve, text
from tests.cli.commands import assert_refused
from tests.fakes.provider import Settings, serving

ADD: Final = text("A-019/fenced.txt")
NOBODYS: Final = "review_" + "0" * 40
LONG_AGO: Final = "2026-05-01T01:00:00.000Z"
OLD_S: Final = 7_200
TORN: Final = ("zero", "nul", "half")


def aged(path: Path) -> Path:
    """Let a file be two hours old."""
    os.utime(path, (time.time() - OLD_S,) * 2)
    return path


def end_leases(place: Place) -> None:
    """Let every lease have run out long ago."""
    for running in place.layout.running.glob("*.json"):
        record = json.loads(running.read_text("utf-8"))
        assert record["leaseUntil"]
        running.write_text(
            json.dumps(record | {"claimedAt": LONG_AGO, "leaseUntil": LONG_AGO.replace("00:00", "05:00")}), "utf-8"
        )


def test_a_042_a_claim_of_a_dead_worker_is_taken_over_once_and_its_call_counted_as_unknown(tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(Settings(review="hang,ok"), place.log) as server:
        know(place, server)
        job = place.enqueue(place.project())
        command = place.start("review", "--once")
        wait_until(lambda: place.requests() == 1)
        command.kill()
        ended(command)
        end_leases(place)

        first, second = place.review(), place.review()

    assert (first.status, second.out) == (0, "Nothing to review now.\n")
    assert (place.ending(job), place.requests()) == ("applied", 2)
    assert place.states(job) == {"unknown": 1, "settled": 1}
    assert sorted(seen.latest.claim_attempt for seen in place.attempts(job)) == [1, 2]
    assert len(place.texts(job.project_key)) == 1


def test_a_043_a_job_that_kills_its_worker_each_time_ends_at_its_third_try_and_the_others_go_on(tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(Settings(review="hang"), place.log) as server:
        know(place, server)
        poison = place.enqueue(place.project("poison"))
        for turn in range(1, 4):
            command = place.start("review", "--once")
            wait_until(lambda turn=turn: place.requests() == turn)  # type: ignore[misc]  # mypy does not infer a default
            command.kill()
            ended(command)
            end_leases(place)
        good = [place.enqueue(place.project(f"good-{number}")) for number in range(5)]
        server.state.settings.review = "ok"
        place.review()
        place.review()

    assert place.requests() == 3 + len(good)
    assert place.states(poison) == {"unknown": 3}
    assert place.ending(poison) not in {"queued", "running", "applied"}
    assert {place.ending(job) for job in good} == {"applied"}


def test_a_045_jobs_that_failed_can_all_be_replayed_once_their_cause_is_mended(tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(Settings(review="http400"), place.log) as server:
        know(place, server)
        jobs = [place.enqueue(place.project(f"p{number}")) for number in range(5)]
        place.review()
        assert {place.ending(job) for job in jobs} == {"provider_error"}
        receipts = {path: path.read_bytes() for path in place.layout.root.rglob("service/commit-receipts/*")}
        server.state.settings.review = "ok"

        for job in jobs:
            assert place.run("jobs", "retry", job.id).status == 0
        ran = place.review("--json")

    assert (ran.lines[-1]["completed"], ran.lines[-1]["failed"]) == (len(jobs), 0)
    assert all(len(place.texts(job.project_key)) == 1 for job in jobs)
    assert {path: path.read_bytes() for path in receipts} == receipts


@pytest.mark.parametrize("name", TORN)
def test_a_050_a_torn_record_is_set_aside_in_every_folder_and_healthy_jobs_go_on(name: str, tmp_path: Path) -> None:
    place = Here(tmp_path)
    place.configure()
    healthy = place.enqueue(place.project())
    layout = place.layout
    paths = [folder / f"{NOBODYS[:-1]}{at}.json" for at, folder in enumerate((layout.queued, layout.running))]
    for path in paths:
        path.parent.mkdir(exist_ok=True, mode=0o700)
        path.write_bytes(raw(f"A-050/{name}.json"))
        path.chmod(0o600)

    ran = place.review()

    assert (ran.status, place.ending(healthy)) == (0, "applied")
    for path in paths:
        (letter,) = layout.dead_letter.glob(f"{path.name}.*.bad")
        assert letter.read_bytes() == raw(f"A-050/{name}.json")
        (line,) = [line for line in ran.err.splitlines() if str(letter) in line]
        assert {"zero": "is empty", "nul": "not JSON at line 1, byte 0", "half": "not JSON at line 1, byte 39"}[
            name
        ] in line


@pytest.mark.parametrize("which", ["first", "last", "all"])
@pytest.mark.parametrize("name", TORN)
def test_a_050_a_torn_attempt_of_the_day_is_named_and_still_counts(name: str, which: str, tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(Settings(), place.log) as server:
        know(place, server, maxCallsPerDay=1)
        place.enqueue(key := place.project())
        place.review()
        standing = sorted(place.layout.attempts.glob("*/*/*.json"))
        records = {"first": standing[:1], "last": standing[-1:], "all": standing}[which]
        for record in records:
            record.write_bytes(raw(f"A-050/{name}.json"))
        job = place.enqueue(key, "entry-2")

        ran = place.review()

        assert (place.requests(), place.ending(job)) == (1, "queued")
        assert [record for record in records if str(record) not in ran.err + place.run("status").out] == []
    assert {record.read_bytes() for record in records} == {raw(f"A-050/{name}.json")}


@pytest.mark.parametrize("name", TORN)
def test_a_050_a_torn_day_of_the_panel_is_named_or_written_anew_and_no_call_is_forgotten(
    name: str, tmp_path: Path
) -> None:
    place = Here(tmp_path)
    with serving(Settings(), place.log) as server:
        know(place, server, maxCallsPerDay=1)
        place.enqueue(key := place.project())
        place.review()
        (day,) = place.layout.days.iterdir()
        day.write_bytes(raw(f"A-050/{name}.json"))
        job = place.enqueue(key, "entry-2")
        ran = place.review()

        assert (place.requests(), place.ending(job)) == (1, "queued")
        assert str(day) in ran.err or json.loads(day.read_text("utf-8"))["providers"]["fake"]


def test_a_053_leftovers_of_broken_writes_are_never_read_and_swept_when_nobody_can_own_them(tmp_path: Path) -> None:
    place = Here(tmp_path)
    place.configure()
    job = place.enqueue(key := place.project())
    staged = f"{NOBODYS}.json.4711.aaaaaaaa.tmp"
    branches = place.layout.project(key).branches
    old = [place.layout.queued / staged, place.layout.queued / "tmp9f2k1", branches / ".main.json.4711.tmp"]
    for path, name in zip(old, (staged, "tmp9f2k1", ".main.json.4711.tmp"), strict=True):
        path.write_bytes(raw(f"A-053/{name}"))
        aged(path)
    living = place.layout.queued / f"{NOBODYS}.json.{os.getpid()}.{'b' * 32}.tmp"
    living.write_bytes(b'{"version":1,"jo')

    ran = place.run("review", "--once", "--maintain")

    assert (ran.status, ran.err) == (0, "")
    assert place.texts(key) == [TEXT]
    assert place.ending(job) == "applied"
    assert living.exists()
    assert not list(place.layout.dead_letter.glob("*.bad"))


@pytest.mark.skipif(needs("strace"), reason="strace is not installed")
@pytest.mark.parametrize("number", ["EPERM", "EACCES", "EOPNOTSUPP", "EXDEV"])
def test_a_055_a_disk_without_links_is_refused_before_any_work_is_taken(number: str, tmp_path: Path) -> None:
    place = Place(tmp_path)
    with serving(Settings(), place.log) as server:
        know(place, server)
        place.enqueue(place.project())
        before = place.tree()

        ran = ended(place.start("review", "--once", before=failing(f"link,linkat:error={number}")))

        assert_refused(ran, 78, place.layout.agent, "hard link")
    assert (place.requests(), place.tree()) == (0, before)


def test_a_056_an_unreadable_record_is_told_once_and_costs_itself_alone(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    blocked, healthy = place.enqueue(place.project("blocked")), place.enqueue(place.project("healthy"))
    path = place.layout.queued / f"{blocked.id}.json"
    nobody = os.geteuid() == 0
    if nobody:
        # Nothing is unreadable for root, so what stands there is no file at all.
        path.rename(path.with_suffix(".kept"))
        path.mkdir()
    else:
        path.chmod(0)
    elsewhere = tmp_path / "tmp"
    elsewhere.mkdir()

    first = ended(place.start("review", "--once", TMPDIR=str(elsewhere)))
    second = ended(place.start("review", "--once", TMPDIR=str(elsewhere)))

    assert (first.status, place.ending(healthy)) == (0, "applied")
    assert sum(path.name in line for line in first.err.splitlines()) == 1
    assert not nobody or path.name not in second.err
    assert list(elsewhere.iterdir()) == [], "what is staged stands beside what it becomes"


@pytest.mark.parametrize("seed", range(2))
def test_a_057_wherever_the_worker_is_killed_every_job_ends_once(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    place = Here(tmp_path)
    with serving(
        Settings(proposal='{"operations":[{"action":"add","content":"Fact {n}.","importance":"low"}]}'), place.log
    ) as server:
        know(place, server)
        key = place.project()
        jobs = [place.enqueue(key, f"entry-{number}", f"USER: fact {number}") for number in range(3)]
        command = place.start("review", "--once")
        wait_until(lambda: place.requests() >= 1)
        time_left = time.monotonic() + dice.random() * 0.2
        wait_until(lambda: time.monotonic() > time_left)
        command.kill()
        ended(command)
        for lock in place.layout.root.rglob("*.lock"):
            aged(lock)
        place.review_later()

    assert {place.ending(job) for job in jobs} == {"applied"}
    texts = place.texts(key)
    assert len(texts) == len(set(texts)) == len(jobs)
    assert len(place.shop().memory(key, "external").revisions(job_branch := jobs[0].branch.name)) == len(jobs), (
        job_branch
    )


def test_a_044_a_queue_that_waits_is_not_called_empty(tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(None, place.log) as server:
        asked = ask(place, server, {"never": ""})

    assert "1 job left" in place.review().out
    assert "empty_model_output" in place.run("status").out
    assert asked.ending("never") == "queued"


def test_a_046_of_many_services_that_start_at_once_one_serves_and_the_others_say_so(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    services = [serve(place) for _ in range(4)]
    wait_until(lambda: sum(each.poll() is None for each in services) == 1 and place.layout.instance_pid.exists())
    (owner,) = [each for each in services if each.poll() is None]

    refused = [ended(each) for each in services if each is not owner]
    owner.terminate()
    last = ended(owner)

    assert [ran.status for ran in refused] == [75] * 3
    assert all(f"process {owner.pid}" in ran.err or "another" in ran.err for ran in refused)
    assert last.status == 0
