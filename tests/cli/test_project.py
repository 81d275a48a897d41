"""`curator project`: which projects are remembered, and a person's word on one of them."""

from pathlib import Path

import pytest

from curator.model.ids import ProjectKey, project_key
from tests.cli.commands import Home, Ran, assert_refused, environ_of, make_home, run

WISH = "From now on, always run the linter before committing."


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path)


def key_of(home: Home) -> str:
    return project_key(str(home.project))


def shown(home: Home) -> dict[str, object]:
    return dict(home.run("project", "show", "--json").document)


def test_no_projects_is_said(home: Home) -> None:
    assert "curator enqueue" in home.run("project").out
    assert home.run("project", "--json").document == {"projects": []}


def test_a_project_is_shown_with_its_folder_and_its_memory_in_figures(home: Home) -> None:
    home.enqueue(WISH)
    home.review()

    told = shown(home)

    assert (told["projectKey"], told["projectRoot"], told["place"]) == (key_of(home), str(home.project), "there")
    assert told["state"] == "active"
    branches = told["branches"]
    assert isinstance(branches, list)
    assert {**branches[0], "chars": 0} == {"name": "main", "entries": 1, "chars": 0, "revisions": 1}
    assert str(home.project) in home.run("project", "list").out
    assert "linter" not in home.run("project", "show").out


def test_a_paused_project_s_jobs_wait_until_it_is_resumed(home: Home) -> None:
    home.enqueue(WISH)

    assert "is paused" in home.run("project", "pause").out
    assert "1 job left" in home.run("review", "--once").out
    assert shown(home)["state"] == "paused"
    assert "is active" in home.run("project", "resume").out
    assert "memory has changed" in home.run("review", "--once").out


def test_an_excluded_project_is_not_enqueued_for_either(home: Home) -> None:
    home.run("project", "exclude")

    assert_refused(home.run("enqueue", "--session", home.session(WISH)), 65, "excluded", "curator project resume")


def test_a_project_is_named_by_a_folder_in_it_or_by_the_head_of_its_key(home: Home) -> None:
    home.enqueue(WISH)
    (home.project / "src").mkdir()

    for name in (home.project / "src", key_of(home)[:8], str(home.project)):
        assert home.run("project", "show", name, "--json").document["projectKey"] == key_of(home)


def test_a_folder_that_is_gone_still_names_its_memory(home: Home) -> None:
    home.enqueue(WISH)
    moved = home.path / "elsewhere"
    home.project.rename(moved)
    home.project.mkdir()
    told = home.run("project", "show", key_of(home), "--json").document
    home.project.rmdir()
    gone = elsewhere(home, "project", "show", home.project, "--json").document
    assert (told["place"], gone["place"]) == ("there", "gone")
    assert gone["projectKey"] == key_of(home)


def test_a_project_of_which_nothing_is_known_is_not_found(home: Home) -> None:
    assert_refused(home.run("project", "show"), 66, f"{home.project}: nothing is known", "curator project list")
    for word in (("show",), ("purge", "--yes")):
        ran = home.run("project", *word, "my-project")
        assert_refused(ran, 66, "curator: my-project: nothing is known", "curator project list")


def test_a_decision_is_told_to_a_program_as_its_record(home: Home) -> None:
    told = home.run("project", "pause", "--json").document

    assert (told["projectKey"], told["wish"]) == (key_of(home), "paused")


def reviewed_and_moved(home: Home) -> Path:
    home.enqueue(WISH)
    home.review()
    home.enqueue("We decided that dates are stored in UTC.", name="second.jsonl")
    moved = home.path / "moved"
    home.project.rename(moved)
    return moved


def elsewhere(home: Home, *arguments: str | Path) -> Ran:
    """Run a command from a folder that is no project of anybody's."""
    environ = environ_of(home.path, PI_CODING_AGENT_DIR=str(home.layout.agent))
    return run(*arguments, cwd=home.path, environ=environ)


def test_a_moved_folder_keeps_its_memory_after_a_shown_plan(home: Home) -> None:
    moved = reviewed_and_moved(home)

    plan = elsewhere(home, "project", "link", home.project, moved)
    assert (plan.status, "Nothing was done" in plan.out) == (0, True)
    assert "branch main: 1 entry, 1 revision" in plan.out
    done = elsewhere(home, "project", "link", home.project, moved, "--yes", "--json").document

    assert (done["isDone"], len(done["madeAnew"])) == (True, 1)  # type: ignore[arg-type]  # a list of ids
    assert "linter" in elsewhere(home, "memory", "show", "--project", moved).out
    assert "memory has changed" in elsewhere(home, "review", "--once").out


def test_what_is_still_there_is_not_linked(home: Home, tmp_path: Path) -> None:
    home.enqueue(WISH)
    home.review()

    assert_refused(home.run("project", "link", home.project, tmp_path), 65, "still there")


def test_a_project_is_forgotten_after_a_shown_plan(home: Home) -> None:
    home.enqueue(WISH)
    home.review()

    plan = home.run("project", "purge", home.project)
    assert (plan.status, "cannot be undone" in plan.out) == (0, True)
    assert "every attempt and what it cost" in plan.out
    assert "linter" not in plan.out
    assert home.run("project", "purge", home.project, "--yes").out.endswith("It is forgotten.\n")

    assert shown(home)["state"] == "purged"
    assert not home.layout.project(ProjectKey(key_of(home))).root.exists()
    assert home.run("status").status == 0
    assert_refused(home.run("project", "purge", "0" * 24), 66, "nothing is known")


def test_a_purge_of_a_linked_project_says_what_the_old_one_still_holds_until_that_is_purged_too(
    home: Home, tmp_path: Path
) -> None:
    home.enqueue(WISH)
    home.review()
    old, moved = key_of(home), tmp_path / "moved"
    home.project.rename(moved)
    elsewhere(home, "project", "link", home.project, moved, "--yes")

    plan = elsewhere(home, "project", "purge", moved)
    assert f"curator project purge {old[:12]}" in plan.out
    assert elsewhere(home, "project", "purge", moved, "--json").document["linkedFrom"] == old

    elsewhere(home, "project", "purge", old[:12], "--yes")
    assert elsewhere(home, "project", "purge", moved, "--json").document["linkedFrom"] is None


def test_one_whose_standing_nobody_can_read_is_not_called_active(home: Home) -> None:
    home.enqueue(WISH)
    home.run("project", "pause")
    path = home.layout.standings / f"{key_of(home)}.json"
    path.write_bytes(b"{")

    assert shown(home)["state"] == "unreadable"
    assert "unreadable" in home.run("project", "list").out
    assert home.run("doctor").out.count(str(path)) == 1
