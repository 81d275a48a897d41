"""What a provider said binds job, outcome and digest together; a decision is always a completed one."""

import pytest

from curator.model.decision import Decision, Evidence, ProviderResult, Span
from curator.model.digest import Json
from curator.model.record import Violation
from tests.made_up import attempt_of, completed, failed, job, other_digest, result


def test_a_failed_result_has_the_protocols_only_null() -> None:
    record = result(job(), failed(job()))

    assert record.encode()["proposalDigest"] is None
    assert ProviderResult.decode(record.encode()) == record


def test_a_completed_result_makes_a_decision() -> None:
    value = result(job()).encode() | {"kind": "review-proposal-decision"}

    assert Decision.decode(value).encode() == value


@pytest.mark.parametrize(
    "value",
    [
        result(job()).encode() | {"proposalDigest": None},
        result(job()).encode() | {"proposalDigest": "0" * 64},
        result(job()).encode() | {"outcome": completed(job("entry-8")).encode()},
        result(job()).encode() | {"attemptId": "review_attempt_"},
        {key: item for key, item in result(job()).encode().items() if key != "proposalDigest"},
        result(job(), failed(job())).encode() | {"proposalDigest": "0" * 64},
        {key: item for key, item in result(job(), failed(job())).encode().items() if key != "proposalDigest"},
        None,
    ],
)
def test_a_result_whose_parts_do_not_belong_together_is_refused(value: Json) -> None:
    with pytest.raises(Violation):
        ProviderResult.decode(value)


def test_a_failed_outcome_decides_nothing() -> None:
    with pytest.raises(Violation):
        Decision.decode(result(job(), failed(job())).encode() | {"kind": "review-proposal-decision"})


def test_a_decision_has_no_null() -> None:
    with pytest.raises(Violation):
        Decision.decode(result(job()).encode() | {"kind": "review-proposal-decision", "proposalDigest": None})


def test_evidence_is_places_and_digests_and_no_word() -> None:
    span = Span(operation=0, start=6, end=14, digest=other_digest())
    record = Evidence(job_id=job().id, job_digest=job().digest, attempt_id=attempt_of(job()), spans=(span,))

    assert Evidence.decode(record.encode()) == record
    assert set(span.encode()) == {"operation", "start", "end", "digest"}
    with pytest.raises(Violation):
        Evidence.decode(record.encode() | {"spans": [span.encode() | {"operation": 4}]})
