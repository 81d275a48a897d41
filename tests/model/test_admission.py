"""What binds a mutation to its job: each digest recomputed, each part of another change refused."""

import dataclasses
from typing import Final

import pytest

from curator.model.admission import (
    Admitted,
    Completion,
    IntendedRevision,
    Intent,
    Receipt,
    Tombstone,
    binding_digest,
    completion_of,
    make_intent,
    receipt_of,
    request_digest,
    tombstone_of,
)
from curator.model.digest import Digest, Json
from curator.model.ids import RevisionId
from curator.model.job import Job
from curator.model.memory import Review, branch_digest, changes_between
from curator.model.outcome import Completed
from curator.model.record import Record, Violation
from tests.golden_fixtures import vectors
from tests.made_up import AT, LATER, MAIN, branch, completed, entry, job, other_digest

BEFORE: Final = branch(entry())
AFTER: Final = dataclasses.replace(branch(entry(), entry("two", "Run the checks.")), updated_at=LATER)
REVIEW: Final = Review(
    sequence=1,
    id=RevisionId("00000000-0000-4000-8000-000000000001"),
    branch_name=MAIN,
    committed_at=LATER,
    before_digest=branch_digest(BEFORE),
    after_digest=branch_digest(AFTER),
    changes=changes_between(BEFORE, AFTER),
)
APPLIED: Final = make_intent(
    job(), completed(job()), branch_digest(BEFORE), Admitted("applied", ("Memory added.",), AFTER, LATER, REVIEW)
)
STALE: Final = make_intent(
    job(), completed(job()), other_digest(), Admitted("stale", ("Memory changed.",), BEFORE, LATER, None)
)


def test_the_vectors_binding_and_request_come_out() -> None:
    of, outcome = Job.decode(vectors()["job"]), Completed.decode(vectors()["outcome"])

    assert binding_digest(of, outcome) == "b3e3dc312074dbc0a1072168044c987a58b045e27cc149603d703d4e3f318ea3"
    assert request_digest(of, outcome) == "2257075b312231c9ba1cffdc91bababaefffa49045617f6ca5cf84d07540e46e"


@pytest.mark.parametrize("intent", [APPLIED, STALE])
def test_an_intent_its_completion_tombstone_and_receipt_are_read_as_they_were_written(intent: Intent) -> None:
    records: tuple[Record, ...] = (
        intent,
        completion_of(intent),
        tombstone_of(intent, LATER),
        receipt_of(job(), completed(job()), intent),
    )

    for record in records:
        assert type(record).decode(record.encode()) == record


def test_the_keys_of_an_intent_stand_in_the_protocols_order() -> None:
    assert list(APPLIED.encode()) == [
        "version",
        "kind",
        "transactionId",
        "requestDigest",
        "bindingDigest",
        "branchName",
        "expectedBranchDigest",
        "status",
        "committedAt",
        "resultingBranchDigest",
        "messages",
        "afterBranch",
        "revision",
        "intentDigest",
    ]


def test_a_rebased_intent_expects_its_base_and_binds_by_the_jobs_own() -> None:
    rebased = make_intent(job(), completed(job()), other_digest(), Admitted("stale", (), AFTER, LATER, None))

    assert rebased.expected_branch_digest == other_digest()
    assert (rebased.request_digest, rebased.binding_digest) == (APPLIED.request_digest, APPLIED.binding_digest)
    assert receipt_of(job(), completed(job()), rebased).base_branch_digest == job().base_branch_digest


@pytest.mark.parametrize(
    "change",
    [
        {"status": "noop"},
        {"resultingBranchDigest": "0" * 64},
        {"expectedBranchDigest": "0" * 64},
        {"committedAt": AT},
        {"messages": ["Another word."]},
        {"intentDigest": "0" * 64},
        {"afterBranch": BEFORE.encode()},
        {"transactionId": "review_" + "0" * 40},
        {"transactionVersion": 1},
        {"messages": ["m"] * 33},
    ],
)
def test_an_intent_whose_parts_do_not_belong_together_is_refused(change: dict[str, Json]) -> None:
    with pytest.raises(Violation):
        Intent.decode(APPLIED.encode() | change)


def test_only_an_applied_intent_brings_a_revision_and_always_does() -> None:
    for admitted in (
        Admitted("applied", (), AFTER, LATER, None),
        Admitted("noop", (), AFTER, LATER, REVIEW),
    ):
        with pytest.raises(Violation, match="is applied without a revision, or has one without being applied"):
            make_intent(job(), completed(job()), branch_digest(BEFORE), admitted)


@pytest.mark.parametrize(
    ("base", "at"), [(other_digest(), LATER), (branch_digest(BEFORE), AT)], ids=["another base", "another moment"]
)
def test_a_revision_of_another_change_is_refused(base: str, at: str) -> None:
    with pytest.raises(Violation, match="has a revision of another change"):
        make_intent(
            job(),
            completed(job()),
            Digest(base),
            Admitted("applied", (), AFTER, at, REVIEW),
        )


@pytest.mark.parametrize("change", [{"filename": "000000000002-" + REVIEW.id + ".json"}, {"content": "{}\n"}])
def test_an_intended_revision_is_its_records_name_and_text(change: dict[str, Json]) -> None:
    whole = IntendedRevision.of(REVIEW)

    assert IntendedRevision.decode(whole.encode()) == whole
    with pytest.raises(Violation):
        IntendedRevision.decode(whole.encode() | change)


def test_a_tombstone_holds_digests_and_no_memory() -> None:
    text = str(tombstone_of(APPLIED, LATER).encode())

    assert "Run the checks." not in text
    assert "Package commands" not in text


def test_a_receipt_from_the_tombstone_is_the_receipt_from_the_intent() -> None:
    for intent in (APPLIED, STALE):
        from_intent = receipt_of(job(), completed(job()), intent)

        assert receipt_of(job(), completed(job()), tombstone_of(intent, AT)) == from_intent


def test_a_changed_tombstone_is_refused() -> None:
    with pytest.raises(Violation, match="has a digest that is not its content's"):
        Tombstone.decode(tombstone_of(APPLIED, LATER).encode() | {"status": "stale"})


@pytest.mark.parametrize("cls", [Intent, Completion, Tombstone, Receipt])
def test_every_record_is_closed(cls: type[Record]) -> None:
    records: dict[type[Record], Record] = {
        Intent: APPLIED,
        Completion: completion_of(APPLIED),
        Tombstone: tombstone_of(APPLIED, LATER),
        Receipt: receipt_of(job(), completed(job()), APPLIED),
    }

    with pytest.raises(Violation, match="has a key that this record does not have"):
        cls.decode(records[cls].encode() | {"extra": 1})
