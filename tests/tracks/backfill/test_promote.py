"""What was staged becomes memory on a person's word alone: once, in order, within bounds, and as one review's change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curator.durable.read import read_bounded
from curator.errors import RefusedError
from curator.model.ids import RevisionId
from curator.model.limits import REVISION_CHANGES_MAX
from curator.model.memory import Review, branch_digest
from curator.tracks.backfill.fold import fold
from curator.tracks.backfill.promote import finish_begun, promote, promotions, propose
from curator.tracks.backfill.records import Promotion, new_entry_id
from curator.workflow.projects import decide
from curator.workflow.recovery import recover
from curator.workflow.undo import undo
from tests.tracks.backfill.places import MAIN, Planned, add, remove, replace

BUILD = "The build runs on Linux."


@pytest.fixture
def planned(tmp_path: Path) -> Planned:
    return Planned(tmp_path)


def test_proposals_are_folded_in_order_into_one_revision(planned: Planned) -> None:
    first = new_entry_id(planned.plan.id, 1, 0)
    planned.stage((add("Tests run with pytest."),), (replace(first, "Tests run with pytest -n 2."),), (add("Use uv."),))

    done = planned.promote()

    assert planned.texts == [BUILD, "Tests run with pytest -n 2.", "Use uv."]
    (review,) = planned.shop.memory(planned.key, "external").revisions(MAIN)
    assert isinstance(review, Review)
    assert (review.id, len(review.changes)) == (done.promotion.revision_id, 2)
    assert done.holds
    assert planned.findings() == []
    assert planned.reviewer.asked == []


def test_looking_at_the_diff_changes_nothing(planned: Planned) -> None:
    planned.stage((add("Tests run with pytest."),))
    before = planned.file.read_bytes()

    (part,) = propose(planned.plan, planned.shelf, planned.shop).parts

    assert [entry.text for entry in part.after.entries] == [BUILD, "Tests run with pytest."]
    assert planned.file.read_bytes() == before
    assert planned.shelf.all_promotions() == ()


def test_what_is_promoted_is_not_proposed_again(planned: Planned) -> None:
    planned.stage((add("Tests run with pytest."),))
    planned.promote()
    planned.stage((add("Use uv."),))

    proposal = propose(planned.plan, planned.shelf, planned.shop)

    assert [part.windows for part in proposal.parts] == [(2,)]
    assert [done.promotion.windows for done in proposal.promoted] == [(1,)]


def test_a_revision_takes_no_more_changes_than_it_may_and_the_rest_is_another_part(planned: Planned) -> None:
    planned.stage(*[tuple(add(f"{window} {number}") for number in range(4)) for window in range(10)])

    parts = propose(planned.plan, planned.shelf, planned.shop).parts

    assert [part.changes for part in parts] == [REVISION_CHANGES_MAX, 8]
    assert [part.windows for part in parts] == [tuple(range(1, 9)), (9, 10)]
    planned.promote()
    planned.promote()
    assert len(planned.texts) == 41
    assert planned.findings() == []


def test_what_memory_cannot_hold_is_left_out_by_name(planned: Planned) -> None:
    planned.stage(*[(add(f"{window} " + "x" * 790),) for window in range(7)])

    proposal = propose(planned.plan, planned.shelf, planned.shop)

    assert [part.changes for part in proposal.parts] == [5]
    assert [reason.split(":")[0] for reason in proposal.left_out] == ["window 6", "window 7"]
    assert "beyond its target" in proposal.left_out[0]


def test_an_entry_that_was_written_since_is_not_overwritten(planned: Planned) -> None:
    own = planned.branch.entries[0].id
    planned.stage((replace(own, "The build runs on macOS."),), (add("Use uv."),))
    text = planned.file.read_text("utf-8").replace(BUILD, "The build runs on FreeBSD.")
    planned.file.write_text(text, "utf-8")

    proposal = propose(planned.plan, planned.shelf, planned.shop)
    planned.promote()

    assert proposal.left_out == (f"window 1: changed since it was reviewed: {own}",)
    assert planned.texts == ["The build runs on FreeBSD.", "Use uv."]


def test_a_write_between_the_diff_and_the_promotion_refuses(planned: Planned) -> None:
    planned.stage((add("Tests run with pytest."),))
    (part,) = propose(planned.plan, planned.shelf, planned.shop).parts
    planned.foreground("Written meanwhile.")

    with pytest.raises(RefusedError, match="memory changed while this was promoted"):
        promote(planned.plan, planned.shelf, planned.shop, part)

    assert planned.texts == [BUILD, "Written meanwhile."]
    planned.promote()
    assert planned.texts == [BUILD, "Written meanwhile.", "Tests run with pytest."]
    assert planned.findings() == []


def test_a_promotion_that_was_put_down_before_memory_moved_ends_stale_and_another_is_made(planned: Planned) -> None:
    planned.stage((add("Tests run with pytest."),))
    (part,) = propose(planned.plan, planned.shelf, planned.shop).parts
    planned.shelf.keep_snapshot(1, planned.file.read_bytes())
    planned.shelf.keep_promotion(
        Promotion(
            plan_id=planned.plan.id,
            number=1,
            windows=part.windows,
            committed_at=planned.plan.created_at,
            base_digest=branch_digest(part.before),
            after=part.after,
            revision_id=RevisionId(planned.shop.chance.uuid()),
        )
    )
    planned.foreground("Written meanwhile.")

    assert finish_begun(planned.plan, planned.shelf, planned.shop) == 1
    planned.promote()

    done = promotions(planned.plan, planned.shelf, planned.shop)
    assert [each.closing.status for each in done if each.closing is not None] == ["stale", "applied"]
    assert planned.texts == [BUILD, "Written meanwhile.", "Tests run with pytest."]
    assert planned.findings() == []


def test_the_branch_is_kept_as_it_was_byte_for_byte(planned: Planned) -> None:
    planned.stage((add("Tests run with pytest."),))
    strange = json.dumps(json.loads(planned.file.read_bytes()) | {"later": "key"}).encode()
    planned.file.write_bytes(strange)

    done = planned.promote()

    assert read_bounded(planned.shelf.layout.snapshots / f"{done.promotion.number:06}.json", 10_000) == strange


def test_an_undo_takes_a_promotion_back_whole_and_it_may_be_promoted_again(planned: Planned) -> None:
    planned.stage((add("Tests run with pytest."),), (remove(planned.branch.entries[0].id),))
    planned.promote()
    assert planned.texts == ["Tests run with pytest."]

    undo(planned.shop, planned.key, MAIN)

    assert planned.texts == [BUILD]
    planned.promote()
    assert planned.texts == ["Tests run with pytest."]
    assert planned.findings() == []


def test_recovery_and_retention_leave_a_promotion_alone(planned: Planned) -> None:
    planned.stage((add("Tests run with pytest."),))
    planned.promote()
    before = planned.file.read_bytes()

    recover(planned.shop)
    # What stands was written by the machine's clock, and goes by its age.
    planned.world.clock.ms = planned.file.stat().st_mtime_ns // 1_000_000 + 9 * 86_400_000
    planned.app.maintain()

    assert not any(planned.memory.receipts.iterdir())
    assert not any(planned.layout.decisions.glob("*.json"))
    assert planned.file.read_bytes() == before
    (done,) = promotions(planned.plan, planned.shelf, planned.shop)
    assert done.holds
    assert planned.findings() == []


def test_a_project_that_is_excluded_is_not_promoted_into(planned: Planned) -> None:
    planned.stage((add("Tests run with pytest."),))
    decide(planned.shop, planned.key, "excluded")

    with pytest.raises(RefusedError, match="excluded"):
        planned.promote()

    assert planned.texts == [BUILD]


def test_folding_is_the_same_whenever_it_is_done(planned: Planned) -> None:
    planned.stage((add("Tests run with pytest."),), (add("Use uv."),))

    one, other = (fold(planned.branch, planned.shelf.proposals(), planned.plan.created_at) for _ in range(2))

    assert one == other


def test_an_entry_that_no_job_can_carry_keeps_no_promotion_from_being_made(planned: Planned) -> None:
    planned.stage((add("Tests run with pytest."),))
    content = json.loads(planned.file.read_bytes())
    content["entries"][0]["id"] = "-odd"
    planned.file.write_text(json.dumps(content), "utf-8")

    planned.promote()

    assert planned.texts == [BUILD, "Tests run with pytest."]
    assert planned.findings() == []
