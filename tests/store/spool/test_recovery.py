"""What a crash left is put right, one record at a time, twice if need be (interop.md 4.5, RECOVER)."""

import dataclasses
import os
import stat
import time
from pathlib import Path
from typing import Final

import pytest

from curator.errors import InvalidRecordError, NotFoundError
from curator.model.digest import compact
from curator.model.job import Finished, Queued, Running
from curator.model.record import Record
from curator.store.spool import Recovery, recover
from curator.store.spool.recovery import quarantine, readmit
from tests.durable.volumes import Crash, Mortal, Recorded
from tests.golden_fixtures import golden
from tests.made_up import AT, AT_MS, TOKEN, StillClock, completed, job
from tests.store.spool.queues import WORKER, Queue

OTHER: Final = job(transcript="USER: Other evidence of the same frontier.")
QUEUED: Final = Queued(job=job(), next_attempt=1)
EXPIRED: Final = Running(
    job=job(), attempt=3, worker_id=WORKER, lease_token=TOKEN, claimed_at="2026-01-02T00:00:00.000Z", lease_until=AT
)
LIVE: Final = dataclasses.replace(EXPIRED, lease_until="2026-01-03T00:00:00.001Z")
OVER: Final = Finished(attempt=3, worker_id=WORKER, lease_token=TOKEN, outcome=completed(job()))
NOTHING: Final = Recovery(0, (), ())


@pytest.fixture
def queue(tmp_path: Path) -> Queue:
    queue = Queue(tmp_path)
    queue.spool.prepare()
    return queue


def queued(queue: Queue) -> Queued:
    return queue.reopened().record()


# --- the table of interop.md 4.5 -------------------------------------------------------------------------------------


def test_an_expired_lease_gives_the_job_back_with_the_next_number(queue: Queue) -> None:
    queue.put("running", EXPIRED)

    assert recover(queue.spool) == Recovery(1, (), ())
    assert (queue.stands(), queued(queue)) == (["queued"], Queued(job=job(), next_attempt=4))


def test_an_expired_lease_may_be_left_to_be_taken_over(queue: Queue) -> None:
    path = queue.put("running", EXPIRED)
    before = path.stat()

    assert recover(queue.spool, leave_expired=True) == NOTHING
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("beside", ["queued", "held"])
def test_an_expired_lease_that_is_left_stands_alone(queue: Queue, beside: str) -> None:
    queue.put("running", EXPIRED)
    queue.put(beside, Queued(job=job(), next_attempt=3))

    assert recover(queue.spool, leave_expired=True) == NOTHING
    assert queue.stands() == ["running"]


def test_a_live_lease_is_left_alone(queue: Queue) -> None:
    path = queue.put("running", LIVE)
    before = path.stat()

    assert recover(queue.spool) == NOTHING
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_claim_that_was_cut_off_loses_its_old_name(queue: Queue) -> None:
    queue.put("running", LIVE)
    queue.put("queued", Queued(job=job(), next_attempt=3))

    assert recover(queue.spool) == NOTHING
    assert queue.stands() == ["running"]


@pytest.mark.parametrize("running", [LIVE, EXPIRED], ids=["live", "expired"])
def test_a_deferral_that_was_cut_off_loses_its_old_name_and_keeps_its_time(queue: Queue, running: Running) -> None:
    deferred = Queued(job=job(), next_attempt=4, available_at="2026-01-03T01:00:00.000Z")
    queue.put("running", running)
    queue.put("queued", deferred)

    assert recover(queue.spool) == NOTHING
    assert (queue.stands(), queued(queue)) == (["queued"], deferred)


def test_both_names_of_an_expired_claim_become_one_with_the_next_number(queue: Queue) -> None:
    queue.put("running", EXPIRED)
    queue.put("queued", Queued(job=job(), next_attempt=3, available_at=AT))

    assert recover(queue.spool).expired == 1
    assert (queue.stands(), queued(queue)) == (["queued"], Queued(job=job(), next_attempt=4))


def test_a_job_that_is_over_beside_its_claim_is_told_and_left_for_closing(queue: Queue) -> None:
    queue.put("running", EXPIRED)
    queue.put("outcomes", OVER)
    volume = Recorded()

    assert recover(queue.reopened(volume).spool) == Recovery(0, (EXPIRED,), ())
    assert queue.stands() == ["running", "outcomes"]
    assert "flush outcomes" in volume.asked, "its writer may have died before it did"


def test_a_queued_job_that_is_over_goes(queue: Queue) -> None:
    queue.put("queued", QUEUED)
    queue.put("outcomes", OVER)

    assert recover(queue.spool) == NOTHING
    assert queue.stands() == ["outcomes"]


@pytest.mark.parametrize("where", ["queued", "running", "outcomes"])
def test_a_job_that_a_crash_left_both_held_and_elsewhere_goes_on_there(queue: Queue, where: str) -> None:
    queue.put("held", QUEUED)
    queue.put(where, {"queued": QUEUED, "running": LIVE, "outcomes": OVER}[where])

    assert recover(queue.spool) == NOTHING
    assert queue.stands() == [where]


@pytest.mark.parametrize("where", ["queued", "running", "outcomes"])
def test_a_held_name_goes_only_when_the_name_that_stays_is_flushed(queue: Queue, where: str) -> None:
    # Whoever died between the link and its flush has left a name that a power cut may still take.
    held = queue.put("held", QUEUED)
    queue.put(where, {"queued": QUEUED, "running": LIVE, "outcomes": OVER}[where])
    volume = Recorded()

    recover(queue.reopened(volume).spool)

    assert f"flush {where}" in volume.asked[: volume.asked.index(f"unlink {held.name}")]


def test_a_held_job_alone_stays_held(queue: Queue) -> None:
    queue.put("held", QUEUED)

    assert recover(queue.spool) == NOTHING
    assert queue.stands() == ["held"]


@pytest.mark.parametrize(
    ("owner", "stranger"),
    [
        ("outcomes", "running"),
        ("outcomes", "queued"),
        ("outcomes", "held"),
        ("running", "queued"),
        ("running", "held"),
        ("queued", "held"),
    ],
)
def test_another_job_of_the_id_is_set_aside_and_the_owner_stays(queue: Queue, owner: str, stranger: str) -> None:
    owners: dict[str, Record] = {"outcomes": OVER, "running": LIVE, "queued": QUEUED}
    waits = dataclasses.replace(QUEUED, job=OTHER)
    strangers: dict[str, Record] = {"running": dataclasses.replace(LIVE, job=OTHER), "queued": waits, "held": waits}
    queue.put(owner, owners[owner])
    raw = queue.put(stranger, strangers[stranger]).read_bytes()

    found = recover(queue.spool)

    assert [each.reason for each in found.set_aside] == ["another job has this id"]
    assert queue.stands() == [owner]
    assert [letter.read_bytes() for letter in queue.letters()] == [raw]


@pytest.mark.parametrize("where", ["queued", "running"])
def test_a_record_that_cannot_be_read_is_set_aside_with_its_reason_and_its_bytes(queue: Queue, where: str) -> None:
    path = queue.file(where)
    path.write_bytes(b"half of a recor")
    path.chmod(0o644)
    os.utime(path, (1, 1))

    (moved,) = recover(queue.spool).set_aside

    assert "not JSON at line 1, byte 0" in moved.reason
    assert queue.letters() == [moved.path]
    assert moved.path.name == f"{job().id}.json.{AT_MS}.00000000-0000-4000-8000-000000000001.bad"
    assert moved.path.read_bytes() == b"half of a recor"
    assert stat.S_IMODE(moved.path.stat().st_mode) == 0o600
    assert time.time() - moved.path.stat().st_mtime < 3_600, "its clock starts anew, or retention would take it at once"
    assert queue.stands() == []


def test_an_outcome_that_cannot_be_read_is_set_aside_and_its_job_goes_on(queue: Queue) -> None:
    queue.put("running", EXPIRED)
    queue.file("outcomes").write_bytes(b"{")

    found = recover(queue.spool)

    assert (found.expired, len(found.set_aside)) == (1, 1)
    assert queue.stands() == ["queued"]


def test_one_bad_record_costs_one_record(queue: Queue) -> None:
    queue.put("running", EXPIRED)
    for number in range(5):
        queue.file("queued", job(f"entry-{number}").id).write_bytes(b"")
    (queue.layout.queued / "folder.json").mkdir()
    (queue.layout.queued / "link.json").symlink_to("/etc/hostname")
    os.mkfifo(queue.layout.queued / "pipe.json")

    found = recover(queue.spool)

    assert (found.expired, len(found.set_aside)) == (1, 8)
    assert sorted(path.name for path in queue.layout.queued.iterdir()) == [f"{job().id}.json"]
    assert len(queue.letters()) == 8
    assert Path("/etc/hostname").exists()


# --- once more, and at the worst moment ------------------------------------------------------------------------------


def everything(queue: Queue) -> None:
    """Leave one of each thing that recovery has to do."""
    queue.put("running", EXPIRED)
    for number, (running, waits) in enumerate([(LIVE, 3), (LIVE, 4)]):
        each = job(f"both-{number}")
        queue.put("running", dataclasses.replace(running, job=each), each.id)
        queue.put("queued", Queued(job=each, next_attempt=waits), each.id)
    over = job("over")
    queue.put("queued", Queued(job=over, next_attempt=1), over.id)
    queue.put("outcomes", dataclasses.replace(OVER, outcome=completed(over)), over.id)
    twice = job("twice")
    queue.put("queued", Queued(job=twice, next_attempt=1), twice.id)
    queue.put("held", Queued(job=twice, next_attempt=1), twice.id)
    queue.file("queued", job("bad").id).write_bytes(b"bad")


def seen(queue: Queue) -> dict[str, list[str]]:
    frontiers = ("entry-9", "both-0", "both-1", "over", "twice", "bad")
    return {frontier: queue.stands(job(frontier)) for frontier in frontiers}


RIGHT: Final = {
    "entry-9": ["queued"],
    "both-0": ["running"],
    "both-1": ["queued"],
    "over": ["outcomes"],
    "twice": ["queued"],
    "bad": [],
}


def test_recovering_a_recovery_changes_nothing(queue: Queue) -> None:
    everything(queue)
    recover(queue.spool)
    assert seen(queue) == RIGHT

    assert recover(queue.reopened().spool) == NOTHING
    assert seen(queue) == RIGHT


@pytest.mark.parametrize("survive", range(24))
def test_a_recovery_that_dies_at_any_verb_is_finished_by_the_next(queue: Queue, survive: int) -> None:
    everything(queue)
    try:
        recover(queue.reopened(Mortal(survive)).spool)
    except Crash:
        queue.layout.spool_lock.unlink(missing_ok=True)
    assert all(stands for frontier, stands in seen(queue).items() if frontier != "bad"), "a job stands nowhere"

    recover(queue.reopened().spool)

    assert seen(queue) == RIGHT
    assert [letter.read_bytes() for letter in queue.letters()] == [b"bad"], "a dead letter was lost, or doubled"


def test_a_record_that_was_replaced_by_a_good_one_meanwhile_is_not_set_aside(queue: Queue) -> None:
    queue.file("queued").write_bytes(b"bad")
    late = queue.reopened()
    assert len(late.spool.faults()) == 1
    queue.put("queued", QUEUED)

    assert recover(late.spool) == NOTHING
    assert queue.stands() == ["queued"]


def test_the_new_name_is_flushed_before_the_old_one_goes(queue: Queue) -> None:
    queue.put("running", EXPIRED)
    volume = Recorded()

    recover(queue.reopened(volume).spool)

    name = f"{job().id}.json"
    assert volume.since(f"stage {name}") == [f"rename {name}", "flush queued", f"unlink {name}", "flush running"]


# --- setting aside ---------------------------------------------------------------------------------------------------


def test_what_is_set_aside_has_its_new_name_flushed_before_the_old_one_goes(queue: Queue) -> None:
    path = queue.put("queued", QUEUED)
    volume = Recorded()

    moved = quarantine(queue.reopened(volume).spool, path, "because")

    assert volume.since(f"link {moved.path.name}") == [
        f"restrict {moved.path.name}",
        f"touch {moved.path.name}",
        "flush dead-letter",
        f"unlink {path.name}",
        "flush queued",
    ]


def test_a_strange_name_is_made_safe_and_short(queue: Queue) -> None:
    path = queue.layout.queued / ("a b/c".replace("/", "\n") + "é" + "x" * 200 + ".json")
    path.write_bytes(b"x")

    moved = quarantine(queue.spool, path, "because")

    assert moved.path.name.startswith("a_b_c_xxx")
    assert len(moved.path.name.split(f".{AT_MS}.")[0]) == 160


def test_what_is_gone_is_set_aside_by_somebody_else(queue: Queue) -> None:
    quarantine(queue.spool, queue.file("queued"), "because")

    assert queue.letters() == []


# --- readmission -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("record", "number"), [(Queued(job=job(), next_attempt=2), 2), (LIVE, 4)])
def test_a_mended_record_comes_back_to_the_queue(queue: Queue, record: Queued | Running, number: int) -> None:
    path = queue.file("queued")
    path.write_bytes(b"bad")
    (moved,) = recover(queue.spool).set_aside
    with pytest.raises(InvalidRecordError):
        readmit(queue.spool, moved.path.name)
    moved.path.write_text(compact(record.encode()), "utf-8")

    assert readmit(queue.spool, moved.path.name) == job().id

    assert queued(queue) == Queued(job=job(), next_attempt=number)
    assert queue.letters() == []


@pytest.mark.parametrize("where", ["queued", "running", "outcomes", "held"])
def test_a_mended_record_does_not_come_back_over_another(queue: Queue, where: str) -> None:
    letter = queue.layout.dead_letter / "letter.bad"
    letter.write_text(compact(QUEUED.encode()), "utf-8")
    raw = queue.put(where, {"running": LIVE, "outcomes": OVER}.get(where, QUEUED)).read_bytes()

    with pytest.raises(InvalidRecordError, match="stands elsewhere in the spool"):
        readmit(queue.spool, letter.name)

    assert queue.file(where).read_bytes() == raw
    assert letter.exists()


@pytest.mark.parametrize("name", ["../queued/x.json", "..", "gone.bad", "", "a/b"])
def test_only_a_dead_letters_own_name_is_readmitted(queue: Queue, name: str) -> None:
    queue.put("queued", QUEUED)

    with pytest.raises((NotFoundError, InvalidRecordError)):
        readmit(queue.spool, name)
    assert queue.stands() == ["queued"]


@pytest.mark.parametrize("survive", range(7))
def test_a_readmission_that_dies_at_any_verb_never_loses_the_record(queue: Queue, survive: int) -> None:
    letter = queue.layout.dead_letter / "letter.bad"
    letter.write_text(compact(QUEUED.encode()), "utf-8")
    try:
        readmit(queue.reopened(Mortal(survive)).spool, letter.name)
    except Crash:
        queue.layout.spool_lock.unlink(missing_ok=True)

    assert queue.stands() == ["queued"] or letter.exists()


# --- what the protocol's own worker left -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "expired", "over", "stands"),
    [
        ("a", 0, 0, ["queued"]),
        ("b", 1, 0, ["queued"]),
        ("c", 1, 0, ["queued"]),
        ("h", 0, 0, ["outcomes"]),
        ("n", 0, 0, ["queued"]),
        ("o1", 1, 0, ["queued"]),
        ("o3", 0, 1, ["running", "outcomes"]),
        ("p", 0, 0, ["running"]),
    ],
)
def test_the_protocols_own_leftovers_are_put_right(
    tmp_path: Path, scenario: str, expired: int, over: int, stands: list[str]
) -> None:
    queue = Queue(golden(scenario, tmp_path), clock=StillClock(AT_MS + 365 * 86_400_000))
    (job_id,) = {
        path.stem
        for path in queue.layout.spool.glob("*/*.json")
        if path.parent.name in {"queued", "running", "outcomes"}
    }

    found = recover(queue.spool)

    assert (found.expired, len(found.over), found.set_aside) == (expired, over, ())
    folders = ("queued", "running", "outcomes")
    assert [folder for folder in folders if (queue.layout.spool / folder / f"{job_id}.json").exists()] == stands


def test_dead_letters_of_the_protocol_are_left_alone(tmp_path: Path) -> None:
    queue = Queue(golden("i3", tmp_path))
    before = [(path.name, path.read_bytes()) for path in queue.letters()]

    recover(queue.spool)

    assert before
    assert [(path.name, path.read_bytes()) for path in queue.letters()] == before
