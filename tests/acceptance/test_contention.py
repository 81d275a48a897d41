"""Several real processes on one folder, killed at any moment: every job ends once, and every call is accounted."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from curator.durable.layout import Layout
from curator.model.ids import ProjectKey
from curator.model.job import Job
from tests.acceptance.processes import MAIN, Place, ended, provided, wait_until
from tests.fakes.provider import Server, Settings
from tests.foreign import foreground_add
from tests.session_lines import assistant, header, user, write

PROJECTS: Final = 5
JOBS_EACH: Final = 8
COUNT: Final = PROJECTS * JOBS_EACH
KILLS: Final = 5
FACTS: Final = json.dumps({"operations": [{"action": "add", "content": "Fact number {n}.", "importance": "normal"}]})


def locks(layout: Layout) -> list[Path]:
    """Return the locks of the protocol that stand."""
    return [path for name in ("*.lock", ".lock") for path in layout.root.rglob(name)]


def age(lock: Path) -> None:
    """Let a lock be as old as if its owner had died a minute ago."""
    os.utime(lock, (time.time() - 60,) * 2)


def write_by_hand(place: Place, key: ProjectKey, text: str) -> bool:
    """Write memory as the extension does; tell whether a dead worker's lock did not keep it out."""
    deadline, root, done = time.monotonic() + 1, place.layout.project(key).root, [False]

    def is_over() -> bool:
        try:
            foreground_add(root, text)
        except FileExistsError:
            return time.monotonic() > deadline
        done[0] = True
        return True

    wait_until(is_over)
    return done[0]


@pytest.mark.parametrize("seed", [1])
def test_three_workers_and_kills_end_every_job_once(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    with provided(tmp_path, Settings(proposal=FACTS)) as (place, server):
        keys = [place.project(f"code-{number}") for number in range(PROJECTS)]
        order = [(key, f"entry-{number:04d}") for number in range(JOBS_EACH) for key in keys]
        jobs = [place.enqueue(key, frontier, f"USER: {frontier}") for key, frontier in order]
        workers = [place.start("review", "--once", "--json", "--worker-id", f"w{number}") for number in range(3)]
        by_hand: list[ProjectKey] = []
        for kill in range(KILLS):
            due = (kill + 1) * 4 + dice.randrange(3)
            _wait_for(due, server, workers)
            by_hand += [keys[kill]] if write_by_hand(place, keys[kill], "Written by hand.") else []
            victim = workers.pop(dice.randrange(3))
            victim.kill()
            assert ended(victim).err.count("Traceback") == 0
            workers.append(place.start("review", "--once", "--json", "--worker-id", f"again-{kill}"))
        for command in workers:
            ran = ended(command)
            # The lock of a killed worker keeps everybody out until it is old enough.
            assert ran.status in (0, 75), ran.err
        for lock in locks(place.layout):
            age(lock)

        place.review_later()

        assert_all_ended_once(place, keys, jobs, by_hand)
        asked, before = server.state.requests, place.tree()
        assert place.review().status == 0
        assert (server.state.requests, place.tree()) == (asked, before)


def _wait_for(requests: int, server: Server, workers: Sequence[subprocess.Popen[bytes]]) -> None:
    """Wait until the provider was asked so often, or nobody works any more."""
    wait_until(lambda: server.state.requests >= requests or all(each.poll() is not None for each in workers))


def assert_all_ended_once(place: Place, keys: list[ProjectKey], jobs: list[Job], by_hand: list[ProjectKey]) -> None:
    layout = place.layout
    assert Counter(place.ending(job) for job in jobs) == {"applied": COUNT}
    assert [list(folder.iterdir()) for folder in (layout.queued, layout.running, layout.dead_letter)] == [[], [], []]
    assert by_hand
    for key in keys:
        texts = place.texts(key)
        assert len(texts) == len(set(texts)) == JOBS_EACH + (key in by_hand)
        assert ("Written by hand." in texts) is (key in by_hand)
        assert sorted(place.cards(key)) == sorted(job.id for job in jobs if job.project_key == key)
        assert len(place.shop().memory(key, "external").revisions(MAIN)) == JOBS_EACH
    states = place.states()
    assert set(states) <= {"settled", "unknown", "cancelled"}
    # Who was killed between its dispatch record and its first byte is counted though the provider never saw it.
    assert 0 <= states["settled"] + states["unknown"] - place.requests() <= KILLS
    assert states["unknown"] <= KILLS
    days = [json.loads(path.read_text("utf-8"))["providers"]["fake"] for path in layout.days.iterdir()]
    projected = Counter(attempt["state"] for day in days for attempt in day)
    assert projected["settled"] + projected["unknown"] == states["settled"] + states["unknown"]


def test_two_that_enqueue_the_same_session_enqueue_it_once(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    root = tmp_path / "code"
    root.mkdir()
    for number in range(4):
        entries = [
            header(cwd=str(root), id=f"session-{number}"),
            user("u", None, "Always run the linter first."),
            assistant("a", "u", "Understood."),
        ]
        session = str(write(tmp_path / f"{number}.jsonl", *entries))
        commands = [place.start("enqueue", "--session", session, "--json") for _ in range(2)]

        rans = [ended(command) for command in commands]

        assert [(ran.status, ran.err) for ran in rans] == [(0, "")] * 2
        assert sorted(str(ran.document["result"]) for ran in rans) == ["duplicate", "enqueued"]
        assert len(list(place.layout.queued.iterdir())) == number + 1
        assert len(list(place.layout.root.glob("*/service/review-feedback/pending/*.json"))) == number + 1


def dead_pid() -> int:
    """Return the number of a process that is over."""
    ran = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    return int(ran.stdout)


def lay_lock(path: Path, pid: int) -> None:
    """Lay a lock as the protocol writes it."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.write_text(f"{pid}:00000000-0000-4000-8000-000000000000\n{time.time_ns() // 1_000_000}\n", "ascii")
    path.chmod(0o600)


def test_old_locks_of_the_dead_are_reaped_in_every_domain(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    job = place.enqueue(key := place.project())
    layout, pid = place.layout, dead_pid()
    laid = [layout.spool_lock, layout.accounting_lock, layout.decision_lock(job.id), layout.project(key).lock]
    for lock in laid:
        lay_lock(lock, pid)
        age(lock)

    ran = place.review()

    assert (ran.status, ran.err) == (0, "")
    assert place.ending(job) == "applied"
    assert locks(layout) == []


def test_a_young_lock_is_respected_and_named(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    jobs = [place.enqueue(place.project(name)) for name in ("code", "other")]
    lay_lock(place.layout.spool_lock, dead_pid())

    ran = place.review()

    assert ran.status == 75
    assert str(place.layout.spool_lock) in ran.err
    assert [place.ending(job) for job in jobs] == ["queued", "queued"]
    assert place.layout.spool_lock.exists()


def test_the_lock_of_a_living_process_is_never_taken_however_old(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    job = place.enqueue(key := place.project())
    lock = place.layout.project(key).lock
    # The first process of a machine is older than the lock: a younger one could not have made it.
    lay_lock(lock, 1)
    age(lock)
    before = lock.read_bytes()

    ran = place.review()

    assert ran.status == 0
    assert str(lock) in ran.err
    assert lock.read_bytes() == before
    assert place.ending(job) == "queued"
    assert place.attempts() == []


def test_a_worker_that_slept_over_its_lease_changes_nothing_and_its_call_is_counted(tmp_path: Path) -> None:
    with provided(tmp_path, Settings(review="slow,ok", proposal=FACTS, slow_s=0.5, chunk=1_000)) as (place, _):
        job = place.enqueue(key := place.project())
        sleeper = place.start("review", "--once", "--json", "--worker-id", "sleeper")
        wait_until(lambda: place.requests() == 1)
        sleeper.send_signal(signal.SIGSTOP)
        place.review_later()
        before = {path: raw for path, raw in place.tree().items() if f"/{key}/" in path or "/outcomes/" in path}

        sleeper.send_signal(signal.SIGCONT)

        ran = ended(sleeper)
        assert (ran.status, ran.err) == (0, "")
        assert {path: raw for path, raw in place.tree().items() if path in before} == before
        assert place.texts(key) == ["Fact number 2."]
        assert (place.ending(job), place.requests()) == ("applied", 2)
        assert place.states() == {"unknown": 1, "settled": 1}
        place.review()
        assert place.states() == {"settled": 2}, "its answer came after all, and says what it cost"
