"""`curator memory`: what is remembered, how it came to be, and taking it back."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import Home, assert_refused, make_home

WISH = "From now on, always run the linter before committing."
KEPT = "Always run the linter before committing."


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = make_home(tmp_path)
    home.enqueue(WISH)
    home.review()
    return home


def branch_of(home: Home) -> Path:
    return next(home.layout.root.glob("*/branches/main.json"))


def test_memory_is_shown_for_the_current_folder_and_for_a_named_one(home: Home) -> None:
    here, named = home.run("memory"), home.run("memory", "show", "--project", home.project, "--json")

    assert KEPT in here.out
    assert str(branch_of(home)) in here.out
    entries = named.document["entries"]
    assert isinstance(entries, list)
    assert [entry["text"] for entry in entries if isinstance(entry, dict)] == [KEPT]


def test_a_project_that_is_not_known_is_said_to_be_so(home: Home) -> None:
    assert_refused(home.run("memory", "--project", home.path), 66, home.path, "--project")
    assert_refused(home.run("memory", "--project", home.path / "nowhere"), 66, home.path / "nowhere", "--project")
    assert_refused(home.run("memory", "--branch", "other"), 66, "branch other")


def test_the_log_tells_each_revision(home: Home) -> None:
    assert "1. review" in home.run("memory", "log").out
    assert f"  + {KEPT}" in home.run("memory", "log").out

    home.run("memory", "undo")

    revisions = home.run("memory", "log", "--json").document["revisions"]
    assert isinstance(revisions, list)
    assert [each["kind"] for each in revisions if isinstance(each, dict)] == ["review", "undo"]


def test_an_undo_takes_back_what_a_review_brought(home: Home) -> None:
    ran = home.run("memory", "undo")

    assert ran.status == 0
    assert f"  - {KEPT}" in ran.out
    assert json.loads(branch_of(home).read_text("utf-8"))["entries"] == []
    assert_refused(home.run("memory", "undo"), 65)


def test_a_text_that_is_gone_is_taken_from_the_decision_while_that_is_kept(home: Home) -> None:
    home.run("memory", "undo")

    kept = home.run("memory", "log").out
    for decision in home.layout.decisions.glob("review_*.json"):
        decision.unlink()
    gone = home.run("memory", "log").out

    assert kept.count(f"+ {KEPT}") == kept.count(f"- {KEPT}") == 1
    assert "not kept" not in kept
    assert gone.count("+ (text not kept)") == gone.count("- (text not kept)") == 1
    assert KEPT not in gone


def test_the_help_of_undo_says_that_it_is_all_or_nothing(home: Home) -> None:
    help_ = " ".join(home.run("memory", "undo", "--help").out.split())

    assert "whole or not at all" in help_
    assert "nothing is taken back and the entry is named" in help_


def test_an_entry_that_somebody_changed_since_is_not_taken_back(home: Home) -> None:
    branch = branch_of(home)
    branch.write_text(branch.read_text("utf-8").replace(KEPT, "Run the linter on Fridays."), "utf-8")
    before = branch.read_bytes()

    entry = json.loads(before)["entries"][0]["id"]

    ran = home.run("memory", "undo")

    assert_refused(ran, 65, entry)
    assert "Fridays" not in ran.err
    assert branch.read_bytes() == before


def test_a_corrupt_branch_is_named_and_kept(home: Home) -> None:
    branch_of(home).write_bytes(b"{")

    for words in (["show"], ["log"], ["undo"]):
        assert_refused(home.run("memory", *words), 65, branch_of(home), "not JSON")
    assert branch_of(home).read_bytes() == b"{"


def test_a_gap_in_the_history_is_named(home: Home) -> None:
    revision = next(home.layout.root.glob("*/revisions/main/*.json"))
    revision.rename(revision.with_name(revision.name.replace("000000000001", "000000000002")))

    assert_refused(home.run("memory", "log"), 65, "revision 1")


def test_memory_cannot_steer_the_terminal(home: Home) -> None:
    branch = branch_of(home)
    branch.write_text(branch.read_text("utf-8").replace("the linter", r"\u001b[31mred\u009b2J"), "utf-8")

    shown = home.run("memory", "show").out

    assert "red" in shown
    assert "\x1b" not in shown
    assert "\x9b" not in shown
