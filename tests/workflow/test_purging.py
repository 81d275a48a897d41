"""A project is forgotten: nothing of what was said stays, everything that it cost does."""

import os
import shutil
from pathlib import Path

import pytest

from curator.app import App
from curator.errors import BusyError, NotFoundError
from curator.model.heartbeat import RuntimeBeat
from curator.model.ids import Day, file_key
from curator.model.times import day_of, iso, ms_of
from curator.store.heartbeats import HeartbeatStore
from curator.workflow.claim import take
from curator.workflow.line import line_up
from curator.workflow.projects import decide
from curator.workflow.purging import plan_purge, purge
from tests.durable.volumes import Crash
from tests.kit import HandClock
from tests.workflow.moves import Fuse, Moved, answering, make_moved

PROVIDER = "fixture-provider"


@pytest.fixture
def made(tmp_path: Path) -> Moved:
    """Two projects with reviewed and waiting jobs; the one that is called `before` is to be forgotten."""
    first = make_moved(tmp_path, is_moved=False)
    app = first.open()
    key = first.world.project(app, first.new)
    app.shop.stores.spool.enqueue(first.world.job(app, key, "frontier-other"))
    decide(app.shop, first.old_key, "paused")
    app.review_once()
    decide(app.shop, first.old_key, "active")
    return first


def spent(app: App, now: int) -> tuple[int, int]:
    total = app.shop.stores.attempts.exposure(PROVIDER, Day(day_of(now))).total
    return total.calls, total.tokens


def files_with(made: Moved, text: str) -> list[str]:
    """Return the files that hold a text."""
    root = made.world.agent
    found = [path for path in root.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]
    return sorted(str(path.relative_to(root)) for path in found)


def of_old(made: Moved) -> list[str]:
    """Return the files that speak of the project, but for figures and ids."""
    key = made.old_key
    allowed = ("no-forgetti/curator/finished/", "no-forgetti/curator/projects/", "no-forgetti/curator/jobs/")
    return [name for name in files_with(made, key) if not name.startswith(allowed)]


def test_a_plan_names_what_would_go_and_what_stays_and_changes_nothing(made: Moved) -> None:
    app = made.open()
    skill = app.layout.project(made.old_key).root / "skills" / "one.md"
    skill.parent.mkdir()
    skill.write_text("A skill.", "utf-8")
    before = files_with(made, "")

    plan = plan_purge(app.shop, made.old_key)

    assert (plan.view.waiting, plan.view.held, len(plan.jobs)) == (1, 1, 4)
    assert plan.kept == (skill.parent,)
    assert files_with(made, "") == before


def test_nothing_of_what_was_said_stays_and_everything_that_it_cost(made: Moved) -> None:
    app = made.open()
    texts = made.world.texts(app, made.old_key)
    cost = spent(app, made.world.clock.ms)
    assert files_with(made, texts[0])

    purge(app.shop, made.old_key)

    assert [files_with(made, text) for text in texts] == [[], []]
    assert of_old(made) == []
    assert not app.layout.project(made.old_key).root.exists()
    assert spent(made.open(), made.world.clock.ms) == cost
    assert cost[0] == 3


def test_the_other_projects_are_as_they_were(made: Moved) -> None:
    before = files_with(made, made.new_key)
    texts = made.world.texts(made.open(), made.new_key)

    purge(made.open().shop, made.old_key)

    assert files_with(made, made.new_key) == before
    assert made.world.texts(made.open(), made.new_key) == texts


def test_its_jobs_are_over_and_do_not_come_back(made: Moved) -> None:
    app = made.open()
    waiting = next(each.job for each in app.shop.stores.spool.queued())

    purge(app.shop, made.old_key)

    closing = app.shop.stores.finished.find(waiting.id)
    assert closing is not None
    assert closing.failure_code == "purged"
    asked = len(made.reviewer.asked)
    app.shop.stores.spool.enqueue(waiting)
    assert made.open().review_once().left == 0
    assert len(made.reviewer.asked) == asked


def test_what_was_set_aside_of_it_goes_too(made: Moved) -> None:
    app = made.open()
    waiting = next(each.job for each in app.shop.stores.spool.queued())
    letter = app.layout.dead_letter / f"{waiting.id}.{waiting.digest[:12]}.{'0' * 8}-0000-4000-8000-{'0' * 12}.json"
    shutil.copy(app.layout.queued / f"{waiting.id}.json", letter)
    assert plan_purge(app.shop, made.old_key).letters == (letter,)

    purge(app.shop, made.old_key)

    assert not letter.exists()


def test_what_is_the_extension_s_alone_stays(made: Moved) -> None:
    app = made.open()
    skill = app.layout.project(made.old_key).root / "skills" / "one.md"
    skill.parent.mkdir()
    skill.write_text("A skill.", "utf-8")

    purge(app.shop, made.old_key)

    root = app.layout.project(made.old_key).root
    assert [path.name for path in root.iterdir()] == ["skills"]


def test_the_project_may_begin_anew(made: Moved) -> None:
    purge(made.open().shop, made.old_key)
    app = made.open()
    key = made.world.project(app, made.old)
    app.shop.stores.spool.enqueue(made.world.job(app, key, "frontier-anew"))

    assert app.review_once().completed == 1
    assert len(made.world.texts(app, key)) == 1


def test_a_wish_outlives_it(made: Moved) -> None:
    app = made.open()
    decide(app.shop, made.old_key, "excluded")

    purge(app.shop, made.old_key)

    standing = app.shop.stores.standings.find(made.old_key)
    assert standing is not None
    assert (standing.wish, standing.project_root, standing.begun) == ("excluded", None, None)
    assert standing.purged_at is not None


def test_a_running_job_is_waited_for(made: Moved) -> None:
    app = made.open()
    assert take(app.shop, line_up(app.shop).ready[0]) is not None

    with pytest.raises(BusyError, match="is running"):
        plan_purge(app.shop, made.old_key)
    with pytest.raises(BusyError, match="is running"):
        purge(app.shop, made.old_key)
    assert app.shop.stores.standings.resting() == frozenset()


def test_an_open_pi_is_named(tmp_path: Path) -> None:
    clock = HandClock(ms_of("2099-01-03T12:00:00.000Z"))
    base = make_moved(tmp_path, reviewed=1, is_moved=False)
    made = Moved(base.world, answering(clock), base.old, base.new)
    made.world.clock = clock
    app = made.open()
    at = iso(clock.now())
    beat = RuntimeBeat(
        runtime_id=file_key("extension:1"),
        kind="extension",
        pid=os.getpid(),
        release_version="0.5.4",
        memory_policy_version=2,
        started_at=at,
        updated_at=at,
        state="running",
        project_root=str(made.old),
        project_key=made.old_key,
    )
    HeartbeatStore(app.shop.volume, app.layout).write(beat, is_lasting=True)

    with pytest.raises(BusyError, match=f"process {os.getpid()}"):
        plan_purge(app.shop, made.old_key)


def test_what_nobody_knows_cannot_be_forgotten(made: Moved) -> None:
    with pytest.raises(NotFoundError):
        plan_purge(made.open().shop, made.old_key.__class__("0" * 24))


@pytest.mark.parametrize("first", range(5))
def test_a_crash_at_any_verb_is_finished_by_purging_again(made: Moved, tmp_path: Path, first: int) -> None:
    cost, verbs = spent(made.open(), made.world.clock.ms), 0
    for survive in range(first, 1_000, 5):
        life = made.copied(tmp_path / f"life-{survive}")
        fuse = Fuse()
        app = life.open(fuse)
        fuse.light(survive)
        try:
            purge(app.shop, life.old_key)
        except Crash:
            life.world.clock.ms += 600_000
            after = life.open()
            assert spent(after, made.world.clock.ms) == cost
            purge(after.shop, life.old_key)
        else:
            verbs = survive
        hold_to_the_end(life, cost)
        shutil.rmtree(life.world.agent)
        if verbs:
            break

    assert verbs > 60


def hold_to_the_end(life: Moved, cost: tuple[int, int]) -> None:
    app = life.open()
    assert of_old(life) == []
    assert not app.layout.project(life.old_key).root.exists()
    assert app.shop.stores.standings.resting() == frozenset()
    assert spent(app, life.world.clock.ms) == cost
    assert len(life.world.texts(app, life.new_key)) == 1
    assert app.review_once().left == 0
