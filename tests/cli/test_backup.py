"""`curator backup` and `curator restore`: what they say, and that nothing is restored by mistake."""

from pathlib import Path

import pytest

from curator.model.digest import Json
from tests.cli.commands import Home, Ran, assert_refused, make_home

WISH = "From now on, always run the linter before committing."


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = make_home(tmp_path)
    made.enqueue(WISH)
    made.review()
    made.enqueue("We decided that dates are stored in UTC.", name="second.jsonl")
    return made


def test_a_backup_is_taken_and_comes_back_elsewhere(home: Home, tmp_path: Path) -> None:
    file, new = tmp_path / "my backup.tar.gz", tmp_path / "new agent"

    taken = home.run("backup", file)
    restored = home.run("restore", file, "--agent-dir", new, "--yes")
    checked = home.run("verify", "--agent-dir", new)

    assert (taken.status, taken.err) == (0, "")
    assert f"files in {file}" in taken.out
    assert (restored.status, restored.err) == (0, "")
    assert "The backup of 20" in restored.out
    assert "is whole" in restored.out
    assert f"files restored to {new}/no-forgetti." in restored.out
    where = f"--agent-dir '{new}'"
    assert f"curator verify {where}`, then `" in restored.out
    assert f"curator review --once {where}`." in restored.out
    assert (checked.status, checked.err) == (0, "")
    assert ids_of(home.run("jobs", "--agent-dir", new, "--json")) == ids_of(home.run("jobs", "--json"))


def ids_of(listed: Ran) -> list[tuple[Json, Json]]:
    """Which jobs there are, and where they stand."""
    jobs = listed.document["jobs"]
    assert isinstance(jobs, list)
    return [(job["jobId"], job["state"]) for job in jobs if isinstance(job, dict)]


def test_without_a_yes_a_restore_tells_what_it_would_do_and_does_nothing(home: Home, tmp_path: Path) -> None:
    home.run("backup", tmp_path / "b")

    ran = home.run("restore", tmp_path / "b", "--agent-dir", tmp_path / "new")

    assert ran.status == 2
    assert "is whole" in ran.out
    assert "--yes" in ran.err
    assert not (tmp_path / "new").exists()


def test_what_stands_is_never_overwritten(home: Home, tmp_path: Path) -> None:
    home.run("backup", tmp_path / "b")

    assert_refused(home.run("backup", tmp_path / "b"), 65, tmp_path / "b")
    assert_refused(home.run("restore", tmp_path / "b", "--yes"), 65, "holds something already", "curator/attempts")


def test_what_is_no_backup_is_refused(home: Home, tmp_path: Path) -> None:
    (tmp_path / "b").write_text("x")

    assert_refused(home.run("restore", tmp_path / "b", "--agent-dir", tmp_path / "new", "--yes"), 65, tmp_path / "b")
    assert_refused(home.run("restore", tmp_path / "none", "--agent-dir", tmp_path / "new"), 66, tmp_path / "none")


def test_the_help_says_what_is_promised_and_what_is_not(home: Home) -> None:
    told = " ".join(home.run("restore", "--help").out.split())

    assert "What was spent after the backup, it cannot know" in told
    assert "curator/attempts" in told
