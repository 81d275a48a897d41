"""`curator verify`: what it says, how it ends, and that it leaves everything as it was."""

from pathlib import Path

import pytest

from tests.cli.commands import Home, assert_refused, environ_of, make_home, run

WISH = "From now on, always run the linter before committing."


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = make_home(tmp_path)
    made.enqueue(WISH)
    made.review()
    return made


def state_of(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    found = {}
    for path in sorted([folder, *folder.rglob("*")]):
        content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (path.stat().st_mtime_ns, path.stat().st_mode, content)
    return found


def test_a_whole_folder_ends_well_and_is_left_alone(home: Home) -> None:
    before = state_of(home.layout.agent)

    ran = home.run("verify")

    assert (ran.status, ran.err) == (0, "")
    assert "records checked: nothing wrong." in ran.out
    assert state_of(home.layout.agent) == before


def test_a_copy_is_checked_where_it_lies(home: Home, tmp_path: Path) -> None:
    copy = tmp_path / "copy of it"
    copy.mkdir()
    home.layout.root.rename(copy / "no-forgetti")

    ran = home.run("verify", "--agent-dir", copy)

    assert (ran.status, ran.err) == (0, "")


def test_one_thing_wrong_is_told_by_place_and_fact_and_ends_with_65(home: Home) -> None:
    (outcome,) = home.layout.outcomes.iterdir()
    outcome.write_text('{"version": 1', "utf-8")

    plain, told = home.run("verify"), home.run("verify", "--json")

    assert (plain.status, told.status) == (65, 65)
    assert f"error    no-forgetti/review-spool/outcomes/{outcome.name} not JSON" in plain.out
    assert "1 error" in plain.out
    assert told.document["counts"] == {"error": 1, "pending": 0, "stray": 0}
    assert told.document["findings"] == [
        {
            "severity": "error",
            "path": f"no-forgetti/review-spool/outcomes/{outcome.name}",
            "fact": "not JSON at line 1, byte 13",
        }
    ]


def test_what_is_on_its_way_or_nobodys_is_told_and_ends_well(home: Home) -> None:
    (home.layout.queued / "note\x1b[31m.txt").write_text("x")
    (closing,) = home.layout.finished.rglob("*.json")
    closing.unlink()

    ran = home.run("verify")

    assert ran.status == 0
    assert "has no closing record yet" in ran.out
    assert "stray    no-forgetti/review-spool/queued/note\ufffd[31m.txt belongs to nobody" in ran.out
    assert "0 errors, 1 on the way, 1 stray name." in ran.out


def test_no_word_of_evidence_or_memory_is_shown(home: Home) -> None:
    for path in home.layout.root.rglob("*.json"):
        path.write_text(path.read_text("utf-8").replace('"version":1', '"version":2'), "utf-8")

    ran = home.run("verify")

    assert ran.status == 65
    assert "linter" not in ran.out + ran.err


def test_a_folder_without_state_is_refused(tmp_path: Path) -> None:
    ran = run("verify", "--agent-dir", tmp_path / "x", cwd=tmp_path, environ=environ_of(tmp_path))

    assert_refused(ran, 66, tmp_path / "x", "--agent-dir")
