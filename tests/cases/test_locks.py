"""Cases A-058 to A-065: locks that are left or do nothing, workers that sleep, and memory that two write at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Final

import pytest

from tests.acceptance.processes import MAIN, TEXT, ended, go_on, wait_until
from tests.cases.scene import RELEASE, REMEMBERED, Here, failing, know, needs, raw, remember, text
from tests.cli.commands import assert_refused
from tests.fakes.provider import Settings, serving
from tests.foreign import add_entry, foreground_add
from tests.session_lines import assistant, header, user, write

ADD: Final = text("A-019/fenced.txt")


@pytest.mark.parametrize("name", ["pid1", "self", "empty", "garbage"])
def test_a_058_a_lock_whose_owner_is_gone_is_taken_over_whatever_process_has_its_number_now(
    name: str, tmp_path: Path
) -> None:
    place = Here(tmp_path)
    place.configure()
    job = place.enqueue(place.project())
    lock = place.layout.spool_lock
    # The number is a living process's, which began long after the lock was made.
    lock.write_bytes(raw(f"A-058/{name}.lock").replace(b"@SELF_PID@", str(os.getpid()).encode()))
    os.utime(lock, (1_700_000_000,) * 2)

    ran = place.review()

    assert (ran.status, ran.err) == (0, "")
    assert (place.ending(job), lock.exists()) == ("applied", False)
    assert not list(lock.parent.glob(f"{lock.name}.*"))


def test_a_058_a_lock_of_a_living_owner_is_never_broken_however_old_it_is(tmp_path: Path) -> None:
    lived_s = int(subprocess.run(["ps", "-o", "etimes=", "-p", "1"], capture_output=True, text=True, check=True).stdout)
    if lived_s < 90:
        pytest.skip("the first process of this machine is too young to have held a lock for a minute")
    place = Here(tmp_path)
    place.configure()
    job = place.enqueue(place.project())
    lock = place.layout.spool_lock
    lock.write_text("1:22222222-2222-4222-8222-222222222222\n", "utf-8")
    before = lock.read_bytes()
    os.utime(lock, (time.time() - 60,) * 2)

    ran = place.review()

    assert_refused(ran, 75, lock, "is held")
    assert (lock.read_bytes(), place.ending(job)) == (before, "queued")


def test_a_059_a_worker_that_slept_past_its_lease_is_fenced_and_its_result_counted_but_not_elected(
    tmp_path: Path,
) -> None:
    place = Here(tmp_path)
    with serving(Settings(review="slow,ok", slow_s=0.3), place.log) as server:
        know(place, server)
        job = place.enqueue(key := place.project())
        sleeper = place.start("review", "--once")
        wait_until(lambda: place.requests() == 1)
        sleeper.send_signal(signal.SIGSTOP)

        place.review_later()
        after = place.texts(key)
        ran = go_on(sleeper)

    assert "Traceback" not in ran.err
    assert (place.ending(job), place.texts(key), len(after)) == ("applied", after, 1)
    assert len(place.shop().memory(key, "external").revisions(MAIN)) == 1
    assert (len(place.cards(key)), place.requests()) == (1, 2)
    assert sum(place.states(job).values()) == 2
    assert sum(seen.exposure.total.calls for seen in place.attempts(job)) == 2


def test_a_060_no_lock_is_held_while_a_provider_is_asked(tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(Settings(review="hang"), place.log) as server:
        know(place, server)
        place.enqueue(key := place.project())
        command = place.start("review", "--once")
        wait_until(lambda: place.requests() == 1)

        standing = [
            path for name in ("*.lock", ".lock") for path in place.layout.root.rglob(name) if path.stat().st_size
        ]
        begun = time.monotonic()
        foreground_add(place.layout.project(key).root, "Written meanwhile.")
        place.enqueue(key, "entry-2")
        took = time.monotonic() - begun
        command.kill()
        ended(command)

    assert standing == []
    assert took < 4
    assert place.texts(key) == ["Written meanwhile."]


@pytest.mark.skipif(needs("strace"), reason="strace is not installed")
@pytest.mark.parametrize("number", ["ENOLCK", "EBADF", "EOPNOTSUPP"])
def test_a_061_a_disk_that_cannot_lock_is_refused_by_its_kind_before_any_work_is_taken(
    number: str, tmp_path: Path
) -> None:
    place = Here(tmp_path)
    place.configure()
    job = place.enqueue(place.project())

    ran = ended(place.start("review", "--once", before=failing(f"flock:error={number}")))

    assert_refused(ran, 78, place.layout.agent, "lock", "at /")
    assert (place.ending(job), place.attempts()) == ("queued", [])


@pytest.mark.skipif(needs("strace"), reason="strace is not installed")
def test_a_061_a_disk_whose_locks_do_nothing_is_refused_too(tmp_path: Path) -> None:
    place = Here(tmp_path)
    place.configure()
    job = place.enqueue(place.project())

    ran = ended(place.start("review", "--once", before=failing("flock:retval=0")))

    assert_refused(ran, 78, place.layout.agent, "lets 2 at a time hold a kernel lock")
    assert place.ending(job) == "queued"


def test_a_062_a_write_in_the_foreground_under_way_makes_the_review_stale_where_that_is_asked_for(
    tmp_path: Path,
) -> None:
    operation = {"action": "replace", "entryId": "mem_aaaa0002", "content": "Prefer commits.", "importance": "low"}
    place = Here(tmp_path)
    place.write(place.layout.curator_toml, {})
    place.layout.curator_toml.write_text('on_stale = "report"\n', "utf-8")
    proposal = json.dumps({"operations": [operation]})
    with serving(Settings(review="slow", slow_s=0.1, proposal=proposal), place.log) as server:
        know(place, server)
        key, path = remember(place, "code")
        job = place.enqueue(key)
        command = place.start("review", "--once")
        wait_until(lambda: place.requests() == 1)
        foreground_add(place.layout.project(key).root, "Added meanwhile.")
        before = path.read_bytes()

        ran = ended(command)

    assert (ran.status, place.ending(job)) == (0, "stale")
    assert path.read_bytes() == before
    assert place.texts(key) == [*REMEMBERED, "Added meanwhile."]
    assert [card.status for card in place.cards(key).values()] == ["stale"]


def test_a_062_by_default_it_is_judged_anew_and_both_stand(tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(Settings(proposal=ADD), place.log) as server:
        know(place, server)
        key, _ = remember(place, "code")
        job = place.enqueue(key)
        add_entry(place.layout.project(key).root, "Added meanwhile.")
        place.review()

    assert place.ending(job) == "applied"
    assert place.texts(key) == [*REMEMBERED, "Added meanwhile.", RELEASE]


def test_a_063_many_writers_and_kills_leave_a_memory_that_parses_with_all_that_was_accepted(tmp_path: Path) -> None:
    place = Here(tmp_path)
    fact = '{"operations":[{"action":"add","content":"Reviewed {n}.","importance":"low"}]}'
    with serving(Settings(proposal=fact), place.log) as server:
        know(place, server)
        key = place.project()
        root, branch = place.layout.project(key).root, place.layout.project(key).branches / "main.json"
        jobs = [place.enqueue(key, f"entry-{number}", f"USER: fact {number}") for number in range(4)]
        workers = [place.start("review", "--once", "--worker-id", f"w{number}") for number in range(3)]
        written = 0
        for turn in range(60):
            if turn == 20:
                workers[0].kill()
            try:
                foreground_add(root, f"By hand {turn}.")
            except FileExistsError:
                continue
            written += 1
            json.loads(branch.read_text("utf-8"))
        for worker in workers:
            ended(worker)
        for lock in root.rglob(".lock"):
            os.utime(lock, (time.time() - 60,) * 2)
        place.review_later()

    texts = place.texts(key)
    assert sum(each.startswith("By hand") for each in texts) == written > 0
    assert sum(each.startswith("Reviewed") for each in texts) == sum(place.ending(job) == "applied" for job in jobs)
    assert len(texts) == len(set(texts))


@pytest.mark.skipif(needs("strace"), reason="strace is not installed")
@pytest.mark.parametrize(
    "publication", range(12, 18), ids=["intent", "revision", "completion", "card", "receipt", "tombstone"]
)
def test_a_064_a_change_that_was_begun_is_rolled_forward_to_one_effect_however_often(
    publication: int, tmp_path: Path
) -> None:
    place = Here(tmp_path)
    place.configure()
    job = place.enqueue(key := place.project())
    killing = failing(f"link,linkat:signal=KILL:when={publication}")
    assert ended(place.start("review", "--once", before=killing)).status == -signal.SIGKILL
    for lock in place.layout.root.rglob("*.lock"):
        os.utime(lock, (time.time() - 60,) * 2)
    for turn in (1, 2):
        place.review_later(turn)

    assert (place.ending(job), place.texts(key)) == ("applied", [TEXT])
    receipts = list(place.layout.root.rglob("service/commit-receipts/*.json"))
    revisions = place.shop().memory(key, "external").revisions(MAIN)
    assert (len(receipts), len(revisions), len(place.cards(key))) == (1, 1, 1)
    digests = [revision.after_digest for revision in revisions]
    after = place.tree()
    place.review_later(3)
    assert place.tree() == after
    assert [revision.after_digest for revision in place.shop().memory(key, "external").revisions(MAIN)] == digests


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("truncated", "not JSON at line 1, byte 299"),
        ("empty", "is empty"),
        ("array", "is not an object"),
        ("dup_ids", "two entries of one id"),
    ],
)
def test_a_065_a_memory_that_cannot_be_read_is_never_taken_for_an_empty_one(
    name: str, fact: str, tmp_path: Path
) -> None:
    place = Here(tmp_path)
    place.configure()
    job = place.enqueue(key := place.project())
    place.review()
    waiting = place.enqueue(key, "entry-2", "USER: We decided that dates are stored in UTC.")
    branch = place.layout.project(key).branches / "main.json"
    branch.write_bytes(raw(f"A-065/{name}.json"))
    session = write(tmp_path / "s.jsonl", header(), user("u1", None, "Hello."), assistant("a1", "u1", "Hi."))

    ran = place.review()
    refused = place.run("enqueue", "--session", str(session), "--project", str(tmp_path / "code"))

    (line,) = ran.err.splitlines()
    assert (str(branch) in line, fact in line) == (True, True), line
    assert "revision" in line, "the last good state is named"
    assert_refused(refused, 65, branch, fact)
    assert branch.read_bytes() == raw(f"A-065/{name}.json")
    assert (place.ending(job), place.ending(waiting)) == ("applied", "queued")
