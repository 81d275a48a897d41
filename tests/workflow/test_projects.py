"""Projects as a person speaks of them."""

from pathlib import Path

import pytest

from curator.app import App
from curator.errors import NotFoundError, RefusedError, UsageError
from curator.model.ids import ProjectKey, project_key
from curator.workflow.line import line_up
from curator.workflow.projects import decide, find_key, list_projects, refuse_excluded, show_project
from tests.kit import ScriptedReviewer, World, adding


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path / "agent")
    made.configure()
    return made


@pytest.fixture
def app(world: World) -> App:
    return world.open(ScriptedReviewer(adding("The build runs on Linux."), clock=world.clock))


@pytest.fixture
def key(world: World, app: App, tmp_path: Path) -> ProjectKey:
    return world.project(app, tmp_path / "project")


def ready(app: App) -> list[str]:
    ready = {each.job_id for each in line_up(app.shop).ready}
    return [each.job.through_entry_id for each in app.shop.stores.spool.queued() if each.job.id in ready]


def test_a_project_at_rest_is_passed_over_and_the_others_go_on(
    world: World, app: App, key: ProjectKey, tmp_path: Path
) -> None:
    other = world.project(app, tmp_path / "other")
    for each, frontier in ((key, "resting"), (other, "going")):
        app.shop.stores.spool.enqueue(world.job(app, each, frontier))

    decide(app.shop, key, "paused")
    assert ready(app) == ["going"]
    decide(app.shop, key, "active")
    assert sorted(ready(app)) == ["going", "resting"]


def test_what_another_process_decided_counts_at_once(world: World, app: App, key: ProjectKey) -> None:
    app.shop.stores.spool.enqueue(world.job(app, key, "one"))
    assert ready(app) == ["one"]

    decide(world.open(ScriptedReviewer("", clock=world.clock)).shop, key, "excluded")

    assert ready(app) == []


def test_the_same_decision_again_keeps_its_time(app: App, key: ProjectKey) -> None:
    first = decide(app.shop, key, "paused")

    assert decide(app.shop, key, "paused") == first


def test_an_excluded_project_refuses_what_a_paused_one_takes(app: App, key: ProjectKey) -> None:
    decide(app.shop, key, "paused")
    refuse_excluded(app.shop, key)
    decide(app.shop, key, "excluded")

    with pytest.raises(RefusedError, match="is excluded"):
        refuse_excluded(app.shop, key)


def test_a_project_is_shown_in_figures_and_with_what_cannot_be_read(world: World, app: App, key: ProjectKey) -> None:
    app.shop.stores.spool.enqueue(world.job(app, key, "one"))
    app.review_once()
    app.shop.stores.spool.enqueue(world.job(app, key, "two"))
    view = show_project(app.layout, key)
    assert [(each.name, each.entries, each.revisions) for each in view.branches] == [("main", 1, 1)]
    assert (view.place, view.word, view.waiting, view.faults) == ("there", "active", 1, ())

    app.layout.project(key).branch(view.branches[0].name).write_bytes(b"{")

    assert len(show_project(app.layout, key).faults) == 1
    assert [each.key for each in list_projects(app.layout)] == [key]


def test_one_of_which_nothing_is_known_is_not_found(app: App) -> None:
    with pytest.raises(NotFoundError):
        show_project(app.layout, ProjectKey("0" * 24))


def test_a_folder_that_is_gone_or_leads_elsewhere_still_names_its_memory(
    app: App, key: ProjectKey, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    assert find_key(app.layout, str(folder)) == key
    folder.rename(tmp_path / "moved")
    assert find_key(app.layout, str(folder)) == key
    folder.symlink_to(tmp_path / "moved")
    assert find_key(app.layout, str(folder)) == key
    assert find_key(app.layout, str(tmp_path / "moved")) == project_key(str(tmp_path / "moved"))


def test_the_head_of_a_key_names_one_project_or_is_refused(app: App, key: ProjectKey) -> None:
    assert find_key(app.layout, key[:8]) == key
    twin = ProjectKey(key[:12] + ("0" if key[12] != "0" else "1") * 12)
    (app.layout.root / twin).mkdir()

    with pytest.raises(UsageError, match="2 projects"):
        find_key(app.layout, key[:8])
