"""A job is bound to its content; the spool's records say who owns it."""

import dataclasses
from typing import Final

import pytest

from curator.model.digest import Json, canonical
from curator.model.ids import ProjectKey, SessionKey, WorkerId
from curator.model.job import Acceptance, Base, DeadLetter, Finished, Job, Queued, Running, make_job
from curator.model.memory import branch_digest
from curator.model.record import Record, Violation
from tests.golden_fixtures import vectors
from tests.made_up import AT, LATER, TOKEN, branch, completed, entry, job, other_digest


def remade(transcript: str, generation: int | None = None) -> Job:
    """Bind the vector's job anew, with another text or generation."""
    given = Job.decode(vectors()["job"])
    return make_job(
        project_key=given.project_key,
        session_key=given.session_key,
        through_entry_id=given.through_entry_id,
        transcript=transcript,
        branch=given.branch,
        base_branch_digest=given.base_branch_digest,
        max_chars=given.max_chars,
        generation=generation,
    )


def test_the_vectors_job_is_read_and_made_again() -> None:
    given = Job.decode(vectors()["job"])

    assert given.id == "review_8de59ce995d4cc8a60a3dc233ef3970a2eaaef06"
    assert given.digest == "e77bf3a94247b067aff3f7c418a90d3d32691f3c51556f8f82de4ea96e5ae958"
    assert remade(given.transcript) == given


@pytest.mark.parametrize("name", ["replay", "replay2"])
def test_a_generation_gives_another_id_and_digest(name: str) -> None:
    given, vector = Job.decode(vectors()["job"]), vectors()[name]
    assert isinstance(vector, dict)
    generation = vector["generation"]
    assert isinstance(generation, int)

    again = remade(given.transcript, generation)

    assert (again.id, again.digest) == (vector["id"], vector["digest"])


def test_other_evidence_of_one_frontier_is_the_same_id_and_another_digest() -> None:
    one, other = remade("USER: a"), remade("USER: b")

    assert one.id == other.id
    assert one.digest != other.digest


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"transcript": "USER: forged"}, "has a digest that is not its content's"),
        ({"digest": "0" * 64}, "has a digest that is not its content's"),
        ({"id": "review_" + "0" * 40}, "has an id that is not its content's"),
        ({"generation": 0}, "is not within 1 and 10000"),
        ({"generation": None}, "is not an integer"),
        ({"maxChars": 0}, "is not within 1 and 64000"),
        ({"maxChars": 64_001}, "is not within 1 and 64000"),
        ({"transcript": ""}, "is not 1 to 32000 characters long"),
        ({"transcript": "x" * 32_001}, "is not 1 to 32000 characters long"),
        ({"transcript": "😀" * 16_000 + "a"}, "is not 1 to 32000 characters long"),
        ({"transcript": "USER: password: hunter22"}, "is not sanitized"),
        ({"projectKey": "826C"}, "is not a project key"),
        ({"sessionKey": "s"}, "is not a session key"),
        ({"throughEntryId": "-e"}, "is not a safe id"),
        ({"version": 2}, "is not 1"),
        ({"kind": "skill-review"}, "is not memory-review"),
        ({"projectRoot": "/home"}, "has a key that this record does not have"),
    ],
)
def test_a_job_that_breaks_a_rule_is_refused(change: dict[str, Json], rule: str) -> None:
    with pytest.raises(Violation) as caught:
        Job.decode(job().encode() | change)

    assert caught.value.rule == rule


def test_a_transcript_is_bounded_in_utf16_units() -> None:
    assert remade("😀" * 16_000).transcript


def test_a_transcript_may_hold_lone_surrogates() -> None:
    lone = remade("USER: \ud800")

    assert Job.decode(lone.encode()) == lone
    assert "\\ud800" in canonical(lone.encode())


def job_of_bytes(size: int) -> Job:
    """Return a job whose canonical text has exactly so many bytes."""
    entries = tuple(entry(f"e{number}", "漢" * 4_000) for number in range(7))
    short = make_job(
        project_key=ProjectKey("0" * 16),
        session_key=SessionKey("0" * 32),
        through_entry_id="e",
        transcript="x",
        branch=branch(*entries),
        base_branch_digest=other_digest(),
        max_chars=6_000,
    )
    missing = size - len(canonical(short.encode()).encode())
    whole, rest = divmod(missing, 3)
    return make_job(
        project_key=short.project_key,
        session_key=short.session_key,
        through_entry_id="e",
        transcript="x" + "漢" * whole + "x" * rest,
        branch=short.branch,
        base_branch_digest=short.base_branch_digest,
        max_chars=6_000,
    )


def test_the_whole_job_is_bounded_in_bytes_its_id_and_digest_included() -> None:
    assert len(canonical(job_of_bytes(131_072).encode()).encode()) == 131_072
    with pytest.raises(Violation, match="is larger than 131072 bytes"):
        job_of_bytes(131_073)


RUNNING: Final = Running(
    job=job(), attempt=1, worker_id=WorkerId("host:1"), lease_token=TOKEN, claimed_at=AT, lease_until=LATER
)
QUEUED: Final = Queued(job=job(), next_attempt=1)
OVER: Final = Finished(attempt=1, worker_id=WorkerId("host:1"), lease_token=TOKEN, outcome=completed(job()))
LETTER: Final = DeadLetter(quarantined_at=AT, existing_digest=other_digest(), job=job())
STAMP: Final = Acceptance(job_id=job().id, job_digest=job().digest, authority="external", accepted_at=AT)
BASE: Final = Base.of(job(), branch(entry("two")), other_digest())


@pytest.mark.parametrize(
    "record", [RUNNING, QUEUED, dataclasses.replace(QUEUED, available_at=AT), OVER, LETTER, STAMP, BASE]
)
def test_a_record_of_the_spool_is_read_as_it_was_written(record: Record) -> None:
    assert type(record).decode(record.encode()) == record


@pytest.mark.parametrize("record", [RUNNING, QUEUED, OVER, LETTER, STAMP, BASE])
def test_one_more_key_is_one_too_many(record: Record) -> None:
    with pytest.raises(Violation, match="has a key that this record does not have"):
        type(record).decode(record.encode() | {"acceptedAt2": AT})


@pytest.mark.parametrize(
    "change",
    [
        {"leaseUntil": AT},
        {"leaseUntil": "2026-01-02T00:00:00.000Z"},
        {"leaseToken": "short"},
        {"workerId": ":x"},
        {"attempt": 0},
        {"attempt": True},
        {"claimedAt": "2026-01-03"},
    ],
)
def test_a_lease_that_breaks_a_rule_is_refused(change: dict[str, Json]) -> None:
    with pytest.raises(Violation):
        Running.decode(RUNNING.encode() | change)


@pytest.mark.parametrize("change", [{"nextAttempt": 0}, {"availableAt": None}, {"availableAt": "soon"}])
def test_a_waiting_job_that_breaks_a_rule_is_refused(change: dict[str, Json]) -> None:
    with pytest.raises(Violation):
        Queued.decode(QUEUED.encode() | change)


def test_a_base_has_no_time_so_that_a_replay_has_equal_bytes() -> None:
    base = Base.of(job(), branch(entry("two")), branch_digest(branch(entry("two"))))

    assert set(base.encode()) == {"version", "kind", "jobId", "jobDigest", "baseBranchDigest", "branch"}
