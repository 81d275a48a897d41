"""What the protocol's own worker had begun is carried to the end that its own recovery gives it; and undone, both ways."""

from pathlib import Path
from typing import Final

import pytest

from curator.admission.undo import invert
from curator.durable.layout import Layout, ProjectLayout
from curator.durable.volume import Volume
from curator.errors import RefusedError
from curator.machine.admission import Step
from curator.model.admission import Intent, receipt_of
from curator.model.digest import pretty
from curator.model.ids import BranchName, JobId, ProjectKey, RevisionId
from curator.model.memory import Branch, Revision, Undo, branch_digest
from curator.store.decisions import DecisionStore
from curator.store.memory import ProjectStore
from tests.durable.volumes import Crash, Recorded
from tests.golden_fixtures import PROJECT_KEY, expected, golden
from tests.made_up import LATER, MAIN, StillClock, entry

KEY: Final = ProjectKey(PROJECT_KEY)
UNDONE: Final = RevisionId("00000000-0000-4000-8000-00000000000f")


def opened(layout: ProjectLayout, volume: Volume | None = None) -> ProjectStore:
    return ProjectStore(volume or Volume(), layout, StillClock())


def texts(store: ProjectStore) -> list[str]:
    branch = store.branch(MAIN)
    assert branch is not None
    return [each.text for each in branch.entries]


def _never(_branch: Branch, _sequence: int) -> Intent:
    raise AssertionError("an intent that stands is not decided again")


@pytest.mark.parametrize("scenario", ["f", "g", "g2", "g3", "g5", "j", "k", "h"])
def test_a_change_that_was_begun_ends_as_the_protocol_says(tmp_path: Path, scenario: str) -> None:
    agent = golden(scenario, tmp_path)
    layout, wanted = Layout(agent), expected(agent)
    store = opened(layout.project(KEY))
    job_id = JobId(next(layout.decisions.glob("*.json")).stem)
    decision = DecisionStore(Volume(), layout).find(job_id)
    assert decision is not None
    before = {path: path.read_bytes() for path in store.layout.root.rglob("*") if path.is_file()}

    step = store.admit(job_id, MAIN, _never)
    while step is not Step.DONE:
        done = store.intent(job_id) or store.tombstone(job_id)
        assert done is not None
        step = store.finish(receipt_of(decision.job, decision.outcome, done))

    if scenario in {"j", "k", "h"}:
        # These were over: nothing is begun, and nothing is written.
        assert {path: path.read_bytes() for path in store.layout.root.rglob("*") if path.is_file()} == before
    assert texts(store) == wanted["branchTexts"]
    receipt = store.receipt(job_id)
    assert receipt is not None
    assert receipt.status == {"j": "noop", "k": "stale"}.get(scenario, "applied")
    assert store.pending() == ()
    assert store.tombstone(job_id) is not None
    assert len(store.revisions(MAIN)) == (receipt.status == "applied")


@pytest.mark.parametrize(("scenario", "waits"), [("f", True), ("g", True), ("g2", True), ("g3", True), ("g5", False)])
def test_recovery_rolls_a_begun_change_to_its_completion_without_its_decision(
    tmp_path: Path,
    scenario: str,
    waits: bool,  # noqa: FBT001 - a case
) -> None:
    agent = golden(scenario, tmp_path)
    store = opened(Layout(agent).project(KEY))

    waiting = store.roll_pending()

    assert len(waiting) == waits
    assert texts(store) == expected(agent)["branchTexts"]


# --- undo ------------------------------------------------------------------------------------------------------------


def undoing(branch: Branch, history: tuple[Revision, ...]) -> tuple[Branch, Undo]:
    review, after = invert(branch, history, LATER)
    revision = Undo(
        sequence=len(history) + 1,
        id=UNDONE,
        branch_name=branch.name,
        committed_at=LATER,
        review_revision_id=review.id,
        before_digest=branch_digest(branch),
        after_digest=branch_digest(after),
    )
    return after, revision


@pytest.fixture
def applied(tmp_path: Path) -> ProjectStore:
    """A project in which the protocol's own worker has applied one review."""
    return opened(Layout(golden("h", tmp_path)).project(KEY))


def test_a_review_of_the_protocols_worker_is_undone(applied: ProjectStore) -> None:
    after = applied.undo(MAIN, undoing)

    assert texts(applied) == [each.text for each in after.entries]
    assert "Run pnpm check before finishing." not in texts(applied)
    assert [type(each).__name__ for each in applied.revisions(MAIN)] == ["Review", "Undo"]


def test_what_was_undone_is_not_undone_again(applied: ProjectStore) -> None:
    applied.undo(MAIN, undoing)

    with pytest.raises(RefusedError, match="there is no review to undo"):
        applied.undo(MAIN, undoing)


def test_an_undo_of_the_extension_is_an_undo_here_too(tmp_path: Path) -> None:
    store = opened(Layout(golden("r", tmp_path)).project(KEY))

    assert [type(each).__name__ for each in store.revisions(MAIN)] == ["Review", "Undo"]
    assert store.branch(BranchName("experiment")) is not None
    with pytest.raises(RefusedError, match="there is no review to undo"):
        store.undo(MAIN, undoing)


def test_an_unrelated_later_write_survives_an_undo(applied: ProjectStore) -> None:
    branch = applied.branch(MAIN)
    assert branch is not None
    later = Branch(
        name=MAIN,
        created_at=branch.created_at,
        updated_at=LATER,
        entries=(*branch.entries, entry("later", "Written by hand.")),
    )
    applied.layout.branch(MAIN).write_text(pretty(later.encode()), "utf-8")

    applied.undo(MAIN, undoing)

    assert "Written by hand." in texts(applied)
    assert "Run pnpm check before finishing." not in texts(applied)


def test_an_undo_that_is_refused_leaves_every_byte(applied: ProjectStore) -> None:
    path = applied.layout.branch(MAIN)
    path.write_text(path.read_text("utf-8").replace("Run pnpm check before", "Run pnpm check twice before"), "utf-8")
    before = path.read_bytes()

    with pytest.raises(RefusedError, match="changed since revision 1"):
        applied.undo(MAIN, undoing)

    assert (path.read_bytes(), len(applied.revisions(MAIN))) == (before, 1)


class CutBefore(Recorded):
    """Dies before the undo's revision is linked: its branch stands already."""

    def link(self, staged: Path, path: Path) -> None:
        if UNDONE in path.name:
            raise Crash(path.name)
        super().link(staged, path)


def test_an_undo_that_was_cut_off_between_branch_and_revision_is_finished_by_the_next(applied: ProjectStore) -> None:
    with pytest.raises(Crash):
        opened(applied.layout, CutBefore()).undo(MAIN, undoing)
    undone, history = texts(applied), applied.revisions(MAIN)
    assert "Run pnpm check before finishing." not in undone
    assert len(history) == 1

    applied.undo(MAIN, undoing)

    assert texts(applied) == undone
    assert [type(each).__name__ for each in applied.revisions(MAIN)] == ["Review", "Undo"]
