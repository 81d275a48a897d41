"""A renamed or moved folder keeps its memory."""

import contextlib
import shutil
from pathlib import Path

import pytest

from curator.errors import BusyError, NotFoundError, RefusedError, UsageError
from curator.model.ids import BranchName
from curator.workflow.base import open_memory
from curator.workflow.claim import take
from curator.workflow.election import decide as elect
from curator.workflow.line import line_up
from curator.workflow.linking import link, plan_link
from curator.workflow.projects import decide
from curator.workflow.undo import undo
from tests.durable.volumes import Crash
from tests.foreign import foreground_add
from tests.workflow.moves import HELD_LATER, Fuse, Moved, job_of, make_moved, waiting_of

MAIN = BranchName("main")


@pytest.fixture
def moved(tmp_path: Path) -> Moved:
    return make_moved(tmp_path)


def do(moved: Moved) -> tuple[str, ...]:
    app = moved.open()
    return link(app.shop, plan_link(app.shop, moved.old_key, moved.new))


def test_a_plan_changes_nothing(moved: Moved) -> None:
    app = moved.open()
    before = snapshot(moved)

    plan = plan_link(app.shop, moved.old_key, moved.new)

    assert (plan.old.root, plan.new.root) == (str(moved.old), str(moved.new))
    assert [(each.name, len(each.entries)) for each in plan.branches] == [("main", 2)]
    assert len(plan.histories[MAIN]) == 2
    assert (len(plan.jobs), plan.decided, plan.is_begun) == (2, (), False)
    assert snapshot(moved) == before


def test_the_new_folder_has_the_memory_with_its_history_and_the_old_store_is_kept(moved: Moved) -> None:
    app = moved.open()
    texts, kept = moved.world.texts(app, moved.old_key), snapshot(moved, moved.old_key)

    do(moved)

    assert moved.world.texts(app, moved.new_key) == texts
    assert len(app.shop.memory(moved.new_key, "external").revisions(MAIN)) == 2
    assert {name: data for name, data in snapshot(moved, moved.old_key).items() if name in kept} == kept
    undo(app.shop, moved.new_key, MAIN)
    assert moved.world.texts(app, moved.new_key) == texts[:1]


def test_both_are_marked_and_the_old_one_s_jobs_would_wait(moved: Moved) -> None:
    do(moved)

    standings = moved.open().shop.stores.standings
    old, new = standings.find(moved.old_key), standings.find(moved.new_key)
    assert old is not None
    assert new is not None
    assert (old.begun, old.linked_to, old.is_resting) == (None, moved.new_key, True)
    assert (new.begun, new.linked_from, new.is_resting) == (None, moved.old_key, False)


def test_jobs_that_wait_go_along_and_are_reviewed_there_once(moved: Moved) -> None:
    made = do(moved)

    app = moved.open()
    assert (waiting_of(app, moved.old_key), len(made)) == ([], 2)
    assert waiting_of(app, moved.new_key) == [HELD_LATER, "frontier-waits"]
    assert app.shop.mailbox(moved.new_key).pending(job_of(app, moved.new_key, "frontier-waits").id) is not None
    assert [each.job.through_entry_id for each in app.shop.stores.spool.held()] == [HELD_LATER]
    assert app.review_once().completed == 1
    assert len(moved.world.texts(app, moved.new_key)) == 3


def test_what_is_paid_for_is_not_paid_for_again(tmp_path: Path) -> None:
    moved = make_moved(tmp_path, is_moved=False)
    app = moved.open()
    claim = take(app.shop, line_up(app.shop).ready[0])
    assert claim is not None
    elect(claim, open_memory(claim.job, app.shop), app.shop)
    app.shop.stores.spool.defer(claim, None)
    moved.old.rename(moved.new)
    asked = len(moved.reviewer.asked)
    app = moved.open()
    plan = plan_link(app.shop, moved.old_key, moved.new)
    assert plan.decided == (claim.job.id,)

    made = link(app.shop, plan)

    assert len(made) == 1
    assert len(moved.reviewer.asked) == asked
    assert len(moved.world.texts(app, moved.new_key)) == 3
    assert app.shop.stores.spool.outcome(claim.job.id) is not None


def test_a_new_folder_that_pi_has_opened_already_may_receive(moved: Moved) -> None:
    moved.world.project(moved.open(), moved.new)

    do(moved)

    assert len(moved.world.texts(moved.open(), moved.new_key)) == 2


def test_memory_of_its_own_is_never_written_over(moved: Moved) -> None:
    app = moved.open()
    moved.world.project(app, moved.new)
    foreground_add(app.layout.project(moved.new_key).root, "Pi wrote this here.")

    with pytest.raises(RefusedError, match="of its own"):
        do(moved)

    assert moved.world.texts(app, moved.new_key) == ["Pi wrote this here."]
    assert app.shop.stores.standings.find(moved.new_key) is None


def test_a_folder_that_is_still_there_was_not_moved(tmp_path: Path) -> None:
    moved = make_moved(tmp_path, is_moved=False)
    moved.new.mkdir()

    with pytest.raises(RefusedError, match="still there"):
        do(moved)


def test_a_link_left_in_its_place_is_as_good_as_gone_if_it_leads_there(moved: Moved) -> None:
    moved.old.symlink_to(moved.new)

    assert len(do(moved)) == 2


def test_one_that_leads_elsewhere_is_refused(moved: Moved, tmp_path: Path) -> None:
    (tmp_path / "third").mkdir()
    moved.old.symlink_to(tmp_path / "third")

    with pytest.raises(RefusedError, match="another project"):
        do(moved)


def test_what_is_not_known_or_the_same_is_refused(moved: Moved) -> None:
    app = moved.open()

    with pytest.raises(NotFoundError):
        plan_link(app.shop, moved.new_key, moved.new)
    with pytest.raises(NotFoundError):
        plan_link(app.shop, moved.old_key, moved.new / "none")
    moved.new.rename(moved.old)
    with pytest.raises(UsageError):
        plan_link(app.shop, moved.old_key, moved.old)


def test_a_running_job_is_waited_for(tmp_path: Path) -> None:
    moved = make_moved(tmp_path)
    app = moved.open()
    assert take(app.shop, line_up(app.shop).ready[0]) is not None

    with pytest.raises(BusyError, match="is running"):
        do(moved)


def test_a_link_that_is_over_is_not_done_again(moved: Moved) -> None:
    do(moved)

    with pytest.raises(RefusedError, match="already"):
        do(moved)


def test_a_folder_that_moves_on_is_linked_on(moved: Moved, tmp_path: Path) -> None:
    do(moved)
    third = Moved(moved.world, moved.reviewer, moved.new, tmp_path / "third")
    third.old.rename(third.new)

    do(third)

    assert len(moved.world.texts(moved.open(), third.new_key)) == 2
    with pytest.raises(RefusedError, match="went on as"):
        plan_link(moved.open().shop, moved.old_key, third.new)


def test_one_that_moves_back_is_not_given_its_old_copy(moved: Moved) -> None:
    do(moved)
    moved.new.rename(moved.old)
    back = Moved(moved.world, moved.reviewer, moved.new, moved.old)

    with pytest.raises(RefusedError, match="went on as") as refused:
        do(back)

    assert "purge" in refused.value.remedy


def test_while_a_link_is_not_over_nothing_of_both_runs_and_no_wish_is_taken(moved: Moved) -> None:
    fuse = Fuse()
    app = moved.open(fuse)
    plan = plan_link(app.shop, moved.old_key, moved.new)
    fuse.light(40)
    with pytest.raises(Crash):
        link(app.shop, plan)

    app = moved.open()

    assert {moved.old_key, moved.new_key} <= app.shop.stores.standings.resting()
    assert line_up(app.shop).ready == ()
    with pytest.raises(RefusedError, match="has begun"):
        decide(app.shop, moved.old_key, "active")


@pytest.mark.parametrize("first", range(5))
def test_a_crash_at_any_verb_is_finished_by_linking_again(moved: Moved, tmp_path: Path, first: int) -> None:
    verbs = 0
    for survive in range(first, 1_000, 5):
        life = moved.copied(tmp_path / f"life-{survive}")
        fuse = Fuse()
        app = life.open(fuse)
        plan = plan_link(app.shop, life.old_key, life.new)
        fuse.light(survive)
        try:
            link(app.shop, plan)
        except Crash:
            life.world.clock.ms += 600_000
            again = life.open()
            with contextlib.suppress(RefusedError):  # all was over, and only the word was not said
                link(again.shop, plan_link(again.shop, life.old_key, life.new))
        else:
            verbs = survive
        hold_to_the_end(life)
        shutil.rmtree(life.world.agent)
        if verbs:
            break

    assert verbs > 60


def hold_to_the_end(life: Moved) -> None:
    app = life.open()
    memory = app.shop.memory(life.new_key, "external")
    assert life.world.texts(app, life.new_key) == life.world.texts(app, life.old_key)
    assert memory.revisions(MAIN) == app.shop.memory(life.old_key, "external").revisions(MAIN)
    assert waiting_of(app, life.old_key) == []
    assert waiting_of(app, life.new_key) == [HELD_LATER, "frontier-waits"]
    assert [each.job.id for each in app.shop.stores.spool.held()] == [job_of(app, life.new_key, HELD_LATER).id]
    assert app.shop.stores.standings.resting() == {life.old_key}


def snapshot(moved: Moved, key: str | None = None) -> dict[str, bytes]:
    root = moved.world.agent / "no-forgetti" / (key or "")
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}
