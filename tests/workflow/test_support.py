"""Which quote an entry rests on is told by its operation while evidence is kept, and by its digest for good after."""

import json
from pathlib import Path

import pytest

from curator.durable.volume import Volume
from curator.model.decision import Evidence, Span
from curator.model.digest import digest_of_text
from curator.model.ids import EntryId, JobId, RevisionId
from curator.model.memory import Added, Removed, Review, Updated, entry_digest
from curator.model.proposal import Add, Assess, Merge, Operation, Remove
from curator.store.finished import FinishedStore
from curator.workflow.inspect.books import open_books
from curator.workflow.support import supported_by
from tests.cli.commands import make_home
from tests.made_up import AT, MAIN, attempt_of, entry, job


def review(*changes: Added | Updated | Removed) -> Review:
    digest = digest_of_text("x")
    return Review(
        sequence=1,
        id=RevisionId("0" * 36),
        branch_name=MAIN,
        committed_at=AT,
        before_digest=digest,
        after_digest=digest,
        changes=changes,
    )


def evidence(*operations: int) -> Evidence:
    spans = tuple(
        Span(operation=each, start=each, end=each + 1, digest=digest_of_text(str(each))) for each in operations
    )
    return Evidence(job_id=job().id, job_digest=job().digest, attempt_id=attempt_of(job()), spans=spans)


def test_an_addition_is_told_by_the_digest_of_what_it_made() -> None:
    others = [Add(content="Something else.", importance="normal"), Add(content="Tests run.", importance="normal")]
    made = entry("one", "Tests run.")
    whole = made.encode() | {"createdBy": "background_review", "updatedBy": "background_review"}
    digest = entry_digest(type(made).decode(whole | {"importanceAssessedAt": AT}))

    found = supported_by(review(Added(entry_id=EntryId("one"), after_digest=digest)), others, evidence(0, 1))

    assert [(each.entry_id, each.span.operation) for each in found] == [("one", 1)]


@pytest.mark.parametrize(
    "operation",
    [
        Remove(entry_id=EntryId("entry-one")),
        Assess(entry_id=EntryId("entry-one"), importance="high"),
        Merge(entry_ids=(EntryId("other"), EntryId("entry-one")), content="x", importance="high"),
    ],
)
def test_what_changes_an_entry_names_it(operation: Operation) -> None:
    gone = Removed(entry_id=EntryId("entry-one"), before=entry(), before_index=0)

    assert [each.entry_id for each in supported_by(review(gone), [operation], evidence(0))] == ["entry-one"]
    assert supported_by(review(gone), [operation], evidence(1)) == ()


def test_the_closing_record_keeps_the_digest_of_each_quote_and_no_word_of_it(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    job_id = home.enqueue("Please remember that we always use pnpm for installing packages.")
    home.review()
    layout = home.layout
    decision = open_books(layout).decisions.read(JobId(job_id))
    assert decision is not None
    sidecar = Evidence.decode(json.loads(layout.evidence_of(decision.job.id, decision.attempt_id).read_bytes()))

    closing = FinishedStore(Volume(), layout).find(decision.job.id)

    assert closing is not None
    assert [span.digest for span in closing.spans] == [span.digest for span in sidecar.spans] != []
    assert [span.entry_id for span in closing.spans] == [*closing.entry_ids]
    assert (closing.elected, closing.through_entry_id) == (decision.attempt_id, decision.job.through_entry_id)
    assert closing.revision_id is not None
    assert "pnpm" not in json.dumps(closing.encode())
