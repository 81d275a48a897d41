"""`curator authority`: who changes memory, and how the shadow compares."""

from pathlib import Path

import pytest

from tests.cli.commands import Home, assert_refused, environ_of, make_home, run

WISH = "From now on, always run the linter before committing."


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path)


@pytest.mark.parametrize("mode", ["embedded", "shadow", "external"])
def test_the_mode_is_shown_with_its_meaning(home: Home, mode: str) -> None:
    home.service(mode=mode)

    assert home.run("authority", "show").out.startswith(f"{mode}: ")
    assert home.run("authority", "--json").document["mode"] == mode


def test_without_a_configuration_there_is_no_mode(tmp_path: Path) -> None:
    ran = run("authority", cwd=tmp_path, environ=environ_of(tmp_path))

    assert_refused(ran, 78, "curator config init")


def test_without_a_shadow_there_is_nothing_to_compare(home: Home) -> None:
    assert "No shadow yet" in home.run("authority", "compare").out
    assert home.run("authority", "compare", "--json").document == {"branches": []}


def test_what_only_one_side_remembers_is_told(home: Home) -> None:
    home.enqueue(WISH)
    home.review()
    home.service(mode="shadow")
    home.enqueue("We decided that dates are stored in UTC.", name="second.jsonl")
    home.review()

    branches = home.run("authority", "compare", "--json").document["branches"]

    assert isinstance(branches, list)
    assert isinstance(branches[0], dict)
    assert (branches[0]["shared"], branches[0]["onlyReal"]) == (1, [])
    assert branches[0]["onlyShadow"] == ["We decided that dates are stored in UTC."]
