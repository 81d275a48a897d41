"""`curator trajectory`: what a person sees of what was indexed, and what a program does."""

import json
import subprocess
from pathlib import Path

import pytest

from curator.durable.volume import Volume
from curator.model.ids import project_key
from curator.model.ledger import Coverage, CoverageState
from curator.tracks.trajectory.ledger import Ledger
from tests.cli.commands import CURATOR, Home, assert_refused, environ_of, make_home, run
from tests.kit import HandClock
from tests.tracks.trajectory.ledgers import AT, delta, entry


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path)


def handed(home: Home, *numbers: int) -> Path:
    path = home.path / f"delta-{numbers[0]}.json"
    path.write_bytes(delta(home.project, numbers))
    return path


def ledger_of(home: Home) -> Ledger:
    return Ledger(home.layout.trajectory(project_key(str(home.project))), Volume(), HandClock())


def test_what_is_pushed_is_shown_searched_and_verified(home: Home) -> None:
    pushed = home.run("trajectory", "push", handed(home, 0, 1))
    shown = home.run("trajectory")
    node = home.run("trajectory", "search", "said 1", "--json").document["nodes"]

    assert (pushed.status, pushed.out) == (0, "2 new nodes, 0 known before.\n")
    assert "nodes      2, from 1 root to 1 leaf" in shown.out
    assert "none yet: indexing implies no review" in shown.out
    assert "settled" in shown.out
    assert isinstance(node, list)
    assert isinstance(node[0], dict)
    digest = str(node[0]["digest"])
    path = home.run("trajectory", "show", digest[:8], "--path")
    assert path.out.index("USER: p said 0") < path.out.index("USER: p said 1")
    assert "p said 0" not in home.run("trajectory", "show", digest).out
    assert home.run("trajectory", "verify").out == "3 lines checked: nothing wrong.\n"


def test_a_delta_comes_from_standard_input_too(home: Home) -> None:
    environ = environ_of(home.path, PI_CODING_AGENT_DIR=str(home.layout.agent))
    told = subprocess.run(
        [*CURATOR, "trajectory", "push", "-", "--json"],
        input=delta(home.project, (0,)),
        cwd=home.project,
        env=environ,
        capture_output=True,
        check=True,
    )

    assert json.loads(told.stdout)["deltas"] == [
        {"status": "taken", "projectKey": project_key(str(home.project)), "dropped": 0, "new": 1, "known": 0}
    ]


def test_the_inbox_is_taken_in_and_what_is_bad_in_it_is_named_from_then_on(home: Home) -> None:
    inbox = home.layout.trajectory_inbox.root
    inbox.mkdir(parents=True, mode=0o700)
    (inbox / "good.json").write_bytes(delta(home.project, (0,)))
    (inbox / "bad.json").write_text("{")
    for path in inbox.iterdir():
        path.chmod(0o600)

    ran = home.run("trajectory", "push")

    assert ran.status == 65
    assert "1 new node" in ran.out
    assert "Refused: bad.json: the delta is not JSON" in ran.out
    assert "bad.json" in home.run("trajectory", "verify").out
    assert "bad.json was refused: the delta is not JSON" in home.run("doctor").out
    assert home.run("trajectory", "push").out.startswith("The inbox is empty")
    assert "stray" not in home.run("verify").out


def test_a_snapshot_ends_with_its_fault_and_what_to_do(home: Home) -> None:
    large = home.path / "large.json"
    large.write_bytes(delta(home.project, (0,), entries=[entry(0)] * 2_000))

    assert_refused(home.run("trajectory", "push", large), 65, "it is a snapshot", "what came since the last delta")


def test_what_is_missing_is_said(home: Home) -> None:
    waits = home.run("trajectory", "push", handed(home, 3))

    assert waits.out == "It waits for its beginning, which is asked for now.\n"
    assert "1 piece without a beginning" in home.run("trajectory", "show").out


def test_forgetting_shows_first_and_then_leaves_no_word(home: Home) -> None:
    home.run("trajectory", "push", handed(home, 0, 1))

    plan = home.run("trajectory", "forget", "--matching", '"said 1"')
    kept = home.run("trajectory", "search", "said").out
    done = home.run("trajectory", "forget", "--matching", '"said 1"', "--yes")

    assert "1 node would be forgotten. Run it again with --yes" in plan.out
    assert "USER: p said 1" in plan.out
    assert kept.count("USER:") == 2
    assert done.out == "1 node forgotten.\n"
    assert "said 1" not in home.run("trajectory", "search", "said").out
    assert home.run("trajectory", "push", handed(home, 0, 1)).out == "0 new nodes, 2 known before.\n"


def test_coverage_is_shown_by_state_and_by_whose_word(home: Home) -> None:
    empty = home.run("trajectory", "coverage")
    batch = Coverage(state=CoverageState.EXCLUDED, digests=("a" * 64, "b" * 64), by="cursor", at=AT)  # type: ignore[arg-type]  # any digests do
    ledger_of(home).cover(batch)

    assert "indexing implies no review" in empty.out
    assert home.run("trajectory", "coverage").out == "excluded          2  cursor\n"
    assert home.run("trajectory", "coverage", "--json").document["coverage"] == [
        {"state": "excluded", "by": "cursor", "digests": 2}
    ]


def test_the_index_is_made_anew(home: Home) -> None:
    home.run("trajectory", "push", handed(home, 0, 1))
    index = ledger_of(home).layout.index
    index.write_bytes(b"nothing that SQLite knows" * 100)

    assert home.run("trajectory", "rebuild").out == "The index is made anew: 2 nodes.\n"
    assert home.run("trajectory", "search", "said").out.count("USER:") == 2


@pytest.mark.parametrize(
    ("arguments", "status", "fact"),
    [
        (("show", "zz"), 2, "is no node's digest"),
        (("show", "abcdef"), 66, "no such node"),
        (("search", "***"), 2, "no word"),
        (("forget",), 2, "nothing is named"),
        (("push", "/nowhere.json"), 66, "no such file"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_what_cannot_be_is_said_in_one_line(home: Home, arguments: tuple[str, ...], status: int, fact: str) -> None:
    home.run("trajectory", "push", handed(home, 0))

    ran = home.run("trajectory", *arguments)

    assert ran.status == status
    assert fact in ran.err
    assert ran.err.count("\n") == 1


def test_a_project_that_is_purged_loses_what_was_said_in_it(home: Home) -> None:
    home.run("trajectory", "push", handed(home, 0, 1))
    home.run("trajectory", "search", "said")
    inbox = home.layout.trajectory_inbox.root
    inbox.mkdir(exist_ok=True)
    (inbox / "later.json").write_bytes(delta(home.project, (2,)))
    (inbox / "torn.json").write_bytes(delta(home.project / "below", (3,))[:-40])
    (inbox / "other.json").write_bytes(delta(home.path, (4,)))

    assert "what was indexed of its sessions" in home.run("project", "purge", home.project).out
    home.run("project", "purge", home.project, "--yes")

    left = [path for path in home.layout.own.rglob("*") if path.is_file() and b"said" in path.read_bytes()]
    assert left == [inbox / "other.json"]
    assert "Nothing is indexed yet" in home.run("trajectory").out


def test_a_backup_holds_the_trajectory_and_not_its_index(home: Home) -> None:
    home.run("trajectory", "push", handed(home, 0, 1))
    copy = home.path / "copy.tar.gz"
    home.run("backup", copy)

    other = environ_of(home.path, PI_CODING_AGENT_DIR=str(home.path / "other"))
    (home.path / "other").mkdir()
    restored = run("restore", copy, "--yes", cwd=home.project, environ=other)
    index = home.path / "other/no-forgetti/curator/trajectory" / project_key(str(home.project)) / "index.sqlite"
    has_index = index.exists()

    assert (restored.status, has_index) == (0, False)
    assert "nodes      2" in run("trajectory", cwd=home.project, environ=other).out
    assert run("trajectory", "verify", cwd=home.project, environ=other).status == 0
