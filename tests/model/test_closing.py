"""A closing record says that a job is over, in ids and figures."""

import pytest

from curator.model.closing import ClosedAttempt, Closing
from curator.model.digest import Json
from curator.model.ids import EntryId
from curator.model.record import Violation
from tests.made_up import AT, MAIN, attempt_of, job

CLOSING = Closing(
    job_id=job().id,
    job_digest=job().digest,
    project_key=job().project_key,
    session_key=job().session_key,
    branch_name=MAIN,
    authority="external",
    status="applied",
    finished_at=AT,
    attempts=(ClosedAttempt(id=attempt_of(job()), state="settled", tokens=160, cost_nanousd=3_100_000),),
    provider="p",
    model="m",
    entry_ids=(EntryId("entry-one"),),
)


def test_a_closing_record_is_read_as_it_was_written() -> None:
    assert Closing.decode(CLOSING.encode()) == CLOSING


def test_a_closing_record_has_no_place_for_text() -> None:
    assert set(CLOSING.encode()).isdisjoint({"transcript", "messages", "text", "content", "operations", "job"})


@pytest.mark.parametrize(
    "change",
    [{"status": "over"}, {"authority": "embedded"}, {"attempts": [{}]}, {"entryIds": ["a.b"]}, {"message": "m"}],
)
def test_a_closing_record_that_breaks_a_rule_is_refused(change: dict[str, Json]) -> None:
    with pytest.raises(Violation):
        Closing.decode(CLOSING.encode() | change)
