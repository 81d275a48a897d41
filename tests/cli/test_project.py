"""`curator project`: which projects are remembered, and a person's word on one of them."""

from pathlib import Path

import pytest

from curator.model.ids import project_key
from tests.cli.commands import Home, assert_refused, make_home

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
    (home.path / "stand").mkdir()

    from tests.cli.commands import environ_of, run

    environ = environ_of(home.path, PI_CODING_AGENT_DIR=str(home.layout.agent))
    gone = run("project", "show", home.project, "--json", cwd=home.path / "stand", environ=environ).document
    assert (told["place"], gone["place"]) == ("there", "gone")
    assert gone["projectKey"] == key_of(home)


def test_a_project_of_which_nothing_is_known_is_not_found(home: Home) -> None:
    assert_refused(home.run("project", "show"), 66, "nothing is known", "curator project list")


def test_a_decision_is_told_to_a_program_as_its_record(home: Home) -> None:
    told = home.run("project", "pause", "--json").document

    assert (told["projectKey"], told["wish"]) == (key_of(home), "paused")
