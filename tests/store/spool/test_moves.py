"""Moving a job through the spool, sentence by sentence (interop.md 4.5)."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from curator.durable.volume import Volume
from curator.errors import BusyError, ConflictError, InvalidRecordError, LeaseLostError, NotFoundError, RefusedError
from curator.model.digest import compact
from curator.model.ids import WorkerId
from curator.model.job import DeadLetter, Queued, Running
from curator.model.limits import QUEUED_MAX
from curator.model.outcome import Outcome
from curator.store.spool import Claim, Enqueued
from tests.durable.volumes import Crash, Mortal, Recorded
from tests.made_up import AT, AT_MS, completed, failed, job
from tests.store.spool.queues import WORKER, Queue

OTHER: Final = job(transcript="USER: Other evidence of the same frontier.")
MINUTE: Final = 60_000


@pytest.fixture
def queue(tmp_path: Path) -> Queue:
    return Queue(tmp_path)


# --- enqueue ---------------------------------------------------------------------------------------------------------


def test_a_new_job_is_enqueued_as_one_compact_line_without_a_newline(queue: Queue) -> None:
    assert queue.spool.enqueue(job()) is Enqueued.ENQUEUED

    path = queue.file("queued")
    assert path.read_text("utf-8") == compact(Queued(job=job(), next_attempt=1).encode())
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_enqueued_job_is_flushed_before_it_is_told(tmp_path: Path) -> None:
    volume = Recorded()

    Queue(tmp_path, volume).spool.enqueue(job())

    name = f"{job().id}.json"
    assert volume.since(f"stage {name}") == [f"link {name}", "unlink staged", "flush queued"]


@pytest.mark.parametrize("where", ["queued", "running", "outcomes", "held"])
def test_the_same_job_again_is_a_duplicate_wherever_it_stands(queue: Queue, where: str) -> None:
    claim = queue.claimed()
    if where == "outcomes":
        queue.spool.publish_outcome(claim, completed(job()))
        queue.spool.retire(job().id)
    elif where != "running":
        queue.spool.defer(claim, None)
        if where == "held":
            queue.spool.hold(job().id)
    before = queue.file(where).read_bytes()

    assert queue.spool.enqueue(job()) is Enqueued.DUPLICATE

    assert (queue.stands(), queue.file(where).read_bytes(), queue.letters()) == ([where], before, [])


def test_other_evidence_of_the_same_frontier_is_buried_with_both_digests(queue: Queue) -> None:
    queue.spool.enqueue(job())

    assert queue.spool.enqueue(OTHER) is Enqueued.QUARANTINED

    (letter,) = queue.letters()
    assert letter.name == f"{OTHER.id}.{OTHER.digest[:12]}.00000000-0000-4000-8000-000000000001.json"
    buried = DeadLetter.decode(json.loads(letter.read_text("utf-8")))
    assert (buried.existing_digest, buried.job, buried.quarantined_at) == (job().digest, OTHER, AT)
    assert queue.record().job == job()


def test_a_full_queue_refuses_before_pi_itself_would_fail(queue: Queue) -> None:
    queue.spool.prepare()
    for number in range(QUEUED_MAX):
        (queue.layout.queued / f"review_{number:040x}.json").touch()

    with pytest.raises(BusyError, match="the queue holds 9000 jobs already"):
        queue.spool.enqueue(job())
    assert not queue.file("queued").exists()


@pytest.mark.parametrize("survive", range(9))
def test_an_enqueueing_that_dies_leaves_the_job_or_nothing_and_can_be_repeated(tmp_path: Path, survive: int) -> None:
    Queue(tmp_path).spool.prepare()
    dying = Queue(tmp_path, Mortal(survive))
    try:
        dying.spool.enqueue(job())
    except Crash:
        dying.layout.spool_lock.unlink(missing_ok=True)  # as half a minute would

    assert Queue(tmp_path).spool.enqueue(job()) in (Enqueued.ENQUEUED, Enqueued.DUPLICATE)
    assert Queue(tmp_path).record() == Queued(job=job(), next_attempt=1)


# --- claim -----------------------------------------------------------------------------------------------------------


def test_a_claim_is_a_lease_with_a_fresh_token(queue: Queue) -> None:
    claim = queue.claimed()

    running = Running.decode(json.loads(queue.file("running").read_text("utf-8")))
    assert running == claim.running
    assert (running.attempt, running.worker_id, running.claimed_at) == (1, WORKER, AT)
    assert (running.lease_until, running.lease_token) == ("2026-01-03T00:05:00.000Z", f"{1:032x}")
    assert queue.stands() == ["running"]


def test_the_new_name_is_flushed_before_the_old_one_goes(tmp_path: Path) -> None:
    Queue(tmp_path).spool.enqueue(job())
    volume = Recorded()
    queue = Queue(tmp_path, volume)

    queue.spool.claim(queue.waiting(), WORKER)

    name = f"{job().id}.json"
    assert volume.asked == [
        f"stage {name}",
        f"link {name}",
        "flush running",
        f"unlink {name}",
        "unlink staged",
    ]


def test_two_workers_claim_a_job_once(queue: Queue) -> None:
    queue.spool.enqueue(job())
    rival = queue.reopened()
    seen, seen_by_rival = queue.waiting(), rival.waiting()

    claims = [queue.spool.claim(seen, WORKER), rival.spool.claim(seen_by_rival, WorkerId("other:1"))]

    assert [claim is None for claim in claims] == [False, True]
    assert queue.stands() == ["running"]


CLAIMER: Final = """
import sys
from pathlib import Path
from tests.store.spool.queues import WORKER, Queue
queue = Queue(Path(sys.argv[1]))
print(sum(queue.spool.claim(each, WORKER) is not None for each in queue.spool.waiting()))
"""


def test_two_processes_claim_each_of_many_jobs_once(queue: Queue) -> None:
    for number in range(12):
        queue.spool.enqueue(job(f"entry-{number}"))
    claimers = [
        subprocess.Popen(
            [sys.executable, "-c", CLAIMER, str(queue.layout.agent)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[3],
        )
        for _ in range(2)
    ]

    assert sum(int(claimer.communicate()[0]) for claimer in claimers) == 12
    assert (len(queue.reopened().spool.running()), queue.reopened().spool.counts()) == (12, (0, 12))


def test_what_was_seen_is_claimed_or_nothing(queue: Queue) -> None:
    queue.spool.enqueue(job())
    seen = queue.waiting()
    queue.put("queued", Queued(job=job(), next_attempt=5))

    assert queue.spool.claim(seen, WORKER) is None
    assert queue.stands() == ["queued"]


@pytest.mark.parametrize("where", ["running", "outcomes", "held"])
def test_a_job_that_stands_elsewhere_too_is_not_claimed(queue: Queue, where: str) -> None:
    queue.spool.enqueue(job())
    path = queue.file(where)
    path.write_bytes(b"whatever it is")

    assert queue.spool.claim(queue.waiting(), WORKER) is None
    assert path.read_bytes() == b"whatever it is"


@pytest.mark.parametrize("survive", range(5))
def test_a_claim_that_dies_at_any_verb_never_loses_the_job(queue: Queue, survive: int) -> None:
    queue.spool.enqueue(job())
    dying = queue.reopened(Mortal(survive))

    with pytest.raises(Crash):
        dying.spool.claim(dying.waiting(), WORKER)

    assert queue.stands() in (["queued"], ["queued", "running"], ["running"])


# --- the lease -------------------------------------------------------------------------------------------------------


def test_a_renewed_lease_ends_later_and_is_the_same_otherwise(queue: Queue) -> None:
    claim = queue.claimed()
    queue.clock.ms += MINUTE

    renewed = queue.spool.renew(claim)

    assert renewed.running == dataclasses.replace(claim.running, lease_until="2026-01-03T00:06:00.000Z")
    assert queue.spool.running() == (renewed.running,)


def test_a_clock_that_was_set_back_never_shortens_a_lease(queue: Queue) -> None:
    claim = queue.claimed()
    queue.clock.ms -= 60 * MINUTE

    renewed = queue.spool.renew(claim)

    assert renewed.running.lease_until == claim.running.lease_until
    assert queue.reopened().spool.running() == (renewed.running,)


def test_a_reclaim_is_the_next_attempt_in_place_under_a_fresh_token(queue: Queue) -> None:
    claim = queue.claimed()

    again = queue.spool.reclaim(claim)

    assert (again.attempt, again.running.lease_token) == (2, f"{2:032x}")
    assert queue.stands() == ["running"]
    with pytest.raises(LeaseLostError, match="belongs to somebody else"):
        queue.spool.check_lease(claim)


def _ask(queue: Queue, verb: str, claim: Claim) -> None:
    match verb:
        case "renew":
            queue.spool.renew(claim)
        case "reclaim":
            queue.spool.reclaim(claim)
        case "defer":
            queue.spool.defer(claim, None)
        case "finish":
            queue.spool.publish_outcome(claim, completed(job()))
        case _:
            queue.spool.check_lease(claim)


@pytest.mark.parametrize(
    "theirs",
    [
        {"lease_token": "f" * 32},
        {"attempt": 2},
        {"worker_id": "other:1"},
        {"job": OTHER},
        {"lease_until": "2026-01-03T00:00:00.001Z"},
        None,
    ],
    ids=["token", "attempt", "worker", "digest", "expired", "gone"],
)
@pytest.mark.parametrize("verb", ["renew", "reclaim", "defer", "finish", "prove"])
def test_a_lease_that_is_no_longer_ours_stops_every_write(
    queue: Queue, theirs: dict[str, object] | None, verb: str
) -> None:
    claim = queue.claimed()
    path = queue.file("running")
    if theirs is None:
        path.unlink()
    else:
        queue.put("running", dataclasses.replace(claim.running, **theirs))  # type: ignore[arg-type]  # one field by name
    before = path.read_bytes() if path.exists() else None
    queue.clock.ms += 1

    with pytest.raises(LeaseLostError):
        _ask(queue, verb, claim)

    assert (path.read_bytes() if path.exists() else None) == before
    assert not queue.file("queued").exists()
    assert not queue.file("outcomes").exists()
    assert not list(queue.layout.spool.rglob("*.tmp"))


@pytest.mark.parametrize(("late_ms", "is_ours"), [(299_999, True), (300_000, False)])
def test_a_lease_has_run_out_at_the_moment_it_names(queue: Queue, late_ms: int, is_ours: bool) -> None:  # noqa: FBT001 - a case
    claim = queue.claimed()
    queue.clock.ms += late_ms

    if is_ours:
        queue.spool.check_lease(claim)
    else:
        with pytest.raises(LeaseLostError, match="the lease ran out"):
            queue.spool.check_lease(claim)
    assert queue.stands() == ["running"]


# --- defer -----------------------------------------------------------------------------------------------------------


def test_a_deferred_job_waits_for_its_time_with_the_next_number(queue: Queue) -> None:
    queue.spool.defer(queue.claimed(), AT_MS + MINUTE)

    assert queue.stands() == ["queued"]
    assert queue.record() == Queued(job=job(), next_attempt=2, available_at="2026-01-03T00:01:00.000Z")


def test_a_job_deferred_for_no_time_may_be_taken_at_once(queue: Queue) -> None:
    queue.spool.defer(queue.claimed(), None)

    assert queue.record() == Queued(job=job(), next_attempt=2)


def test_a_deferral_flushes_the_new_name_before_the_old_one_goes(queue: Queue) -> None:
    claim = queue.claimed()
    volume = Recorded()

    queue.reopened(volume).spool.defer(claim, None)

    name = f"{job().id}.json"
    assert volume.asked[:4] == [f"stage {name}", f"rename {name}", "flush queued", f"unlink {name}"]
    assert volume.asked[-1] == "flush running"


@pytest.mark.parametrize("survive", range(6))
def test_a_deferral_that_dies_at_any_verb_never_loses_the_job(queue: Queue, survive: int) -> None:
    claim = queue.claimed()

    with pytest.raises(Crash):
        queue.reopened(Mortal(survive)).spool.defer(claim, None)

    assert queue.stands() in (["running"], ["queued", "running"], ["queued"])


def test_a_claim_is_given_back_by_whoever_holds_it(queue: Queue) -> None:
    queue.claimed()

    queue.spool.put_back(job().id, WorkerId("other:1"), AT_MS)
    assert queue.stands() == ["running"]
    queue.spool.put_back(job().id, WORKER, AT_MS)
    assert queue.stands() == ["queued"]
    queue.spool.put_back(job().id, WORKER, AT_MS)
    assert queue.stands() == ["queued"]


@pytest.mark.parametrize("damage", ["expired", "damaged"])
def test_giving_back_what_cannot_be_given_back_is_no_failure(queue: Queue, damage: str) -> None:
    queue.claimed()
    if damage == "expired":
        queue.clock.ms += 10 * MINUTE
    else:
        queue.file("running").write_bytes(b"{")

    queue.spool.put_back(job().id, WORKER, AT_MS)

    assert queue.stands() == ["running"]


# --- finish ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", [completed(job()), failed(job())])
def test_an_outcome_stands_beside_the_claim_until_it_is_retired(queue: Queue, outcome: Outcome) -> None:
    claim = queue.claimed()

    queue.spool.publish_outcome(claim, outcome)
    assert queue.stands() == ["running", "outcomes"]
    queue.spool.retire(job().id)

    assert queue.stands() == ["outcomes"]
    (over,) = queue.spool.finished()
    assert (over.outcome, over.lease_token, over.attempt) == (outcome, claim.running.lease_token, 1)
    assert not queue.file("outcomes").read_bytes().endswith(b"\n")


def test_the_same_outcome_again_is_a_replay_also_after_the_lease_ran_out(queue: Queue) -> None:
    claim = queue.claimed()
    queue.spool.publish_outcome(claim, completed(job()))
    queue.clock.ms += 10 * MINUTE
    volume = Recorded()

    queue.reopened(volume).spool.publish_outcome(claim, completed(job()))

    assert "flush outcomes" in volume.asked


def test_another_outcome_is_a_conflict_and_the_first_stays(queue: Queue) -> None:
    claim = queue.claimed()
    queue.spool.publish_outcome(claim, completed(job()))
    before = queue.file("outcomes").read_bytes()

    with pytest.raises(ConflictError):
        queue.spool.publish_outcome(claim, failed(job()))
    with pytest.raises(ConflictError):
        queue.spool.publish_outcome(Claim(dataclasses.replace(claim.running, attempt=2)), completed(job()))
    assert queue.file("outcomes").read_bytes() == before


def test_a_damaged_outcome_is_not_overwritten(queue: Queue) -> None:
    claim = queue.claimed()
    queue.file("outcomes").write_bytes(b"{")

    with pytest.raises(InvalidRecordError):
        queue.spool.publish_outcome(claim, completed(job()))


def test_retiring_removes_the_queued_name_too(queue: Queue) -> None:
    claim = queue.claimed()
    queue.put("queued", Queued(job=job(), next_attempt=1))
    queue.spool.publish_outcome(claim, completed(job()))

    queue.spool.retire(job().id)
    queue.spool.retire(job().id)

    assert queue.stands() == ["outcomes"]


# --- hold, release, hurry --------------------------------------------------------------------------------------------


def test_a_held_job_waits_until_a_person_lets_it_go(queue: Queue) -> None:
    queue.spool.enqueue(job())

    queue.spool.hold(job().id)
    assert (queue.stands(), queue.spool.waiting(), len(queue.spool.held())) == (["held"], (), 1)
    queue.spool.release(job().id)

    assert (queue.stands(), queue.record()) == (["queued"], Queued(job=job(), next_attempt=1))


def test_a_released_job_waits_for_no_later_time(queue: Queue) -> None:
    queue.spool.defer(queue.claimed(), AT_MS + MINUTE)
    queue.spool.hold(job().id)

    queue.spool.release(job().id)

    assert queue.record() == Queued(job=job(), next_attempt=2)


def test_only_what_waits_can_be_held(queue: Queue) -> None:
    for prepare in (queue.spool.prepare, queue.claimed):
        prepare()
        with pytest.raises(NotFoundError, match="does not wait in the queue"):
            queue.spool.hold(job().id)


def test_only_what_is_held_can_be_released(queue: Queue) -> None:
    queue.spool.enqueue(job())

    with pytest.raises(NotFoundError, match="is not held"):
        queue.spool.release(job().id)


@pytest.mark.parametrize("where", ["queued", "running", "outcomes"])
def test_a_held_job_that_stands_elsewhere_too_is_not_released_over_it(queue: Queue, where: str) -> None:
    queue.spool.enqueue(job())
    queue.spool.hold(job().id)
    queue.file(where).write_bytes(b"whatever it is")

    with pytest.raises(RefusedError, match="stands elsewhere in the spool too"):
        queue.spool.release(job().id)
    assert queue.file(where).read_bytes() == b"whatever it is"


@pytest.mark.parametrize("verb", ["hold", "release"])
@pytest.mark.parametrize("survive", range(9))
def test_holding_and_releasing_never_lose_the_job_wherever_they_die(queue: Queue, verb: str, survive: int) -> None:
    queue.spool.enqueue(job())
    if verb == "release":
        queue.spool.hold(job().id)
    dying = queue.reopened(Mortal(survive)).spool
    try:
        (dying.hold if verb == "hold" else dying.release)(job().id)
    except Crash:
        queue.layout.spool_lock.unlink(missing_ok=True)

    assert queue.stands() in (["queued"], ["held"], ["queued", "held"])


def test_a_job_that_waits_for_a_later_time_can_be_hurried(queue: Queue) -> None:
    queue.spool.defer(queue.claimed(), AT_MS + MINUTE)

    queue.spool.hurry(queue.waiting())

    assert queue.record() == Queued(job=job(), next_attempt=2)


def test_hurrying_what_changed_meanwhile_changes_nothing(queue: Queue) -> None:
    queue.spool.defer(queue.claimed(), AT_MS + MINUTE)
    seen = queue.waiting()
    newer = Queued(job=job(), next_attempt=7, available_at=AT)
    queue.put("queued", newer)

    queue.spool.hurry(seen)

    assert queue.record() == newer


def test_a_volume_without_a_fault_is_the_default(queue: Queue) -> None:
    assert isinstance(queue.spool.volume, Volume)
