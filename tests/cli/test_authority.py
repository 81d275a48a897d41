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


def test_each_gate_is_shown_with_its_evidence_and_a_closed_one_refuses(home: Home) -> None:
    home.service(mode="embedded")

    ran = home.run("authority", "external")

    assert ran.status == 65
    assert "CLOSED   shadow: no shadow has reviewed anything yet" in ran.out
    assert "open     budget: offline/rules-1 may take 100 calls" in ran.out
    assert ran.err.startswith("curator: nothing was changed: ")
    assert "shadow" in ran.err
    assert home.run("authority", "--json").document["mode"] == "embedded"


def test_a_closed_gate_is_passed_by_force_with_a_reason_that_is_kept(home: Home) -> None:
    home.service(mode="embedded")
    assert_refused(home.run("authority", "external", "--force"), 2, "--reason")

    ran = home.run("authority", "external", "--force", "--reason", "The old worker is broken.")

    assert ran.status == 0
    assert "external is in force now; it was embedded" in ran.out
    (record,) = home.layout.switches.iterdir()
    assert "The old worker is broken." in record.read_text("utf-8")


def test_after_a_rehearsal_no_force_is_needed(home: Home) -> None:
    home.enqueue(WISH)
    home.review()
    assert home.run("authority", "shadow").status == 0
    home.enqueue("We decided that dates are stored in UTC.", name="second.jsonl")
    home.review()

    gates = home.run("authority", "external", "--json").document["gates"]

    assert isinstance(gates, list)
    # A test's folder may be kept in memory.
    closed = {str(each["name"]) for each in gates if isinstance(each, dict) and not each["isOpen"]}
    assert closed <= {"storage"}
    assert home.run("authority", "--json").document["mode"] == ("shadow" if closed else "external")


def test_going_back_to_the_extension_is_as_short(home: Home) -> None:
    assert home.run("authority", "embedded").status == 0
    assert "was in force already" in home.run("authority", "embedded").out
    assert home.run("review", "--once").status == 0
