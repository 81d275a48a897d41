"""`curator backfill`: a plan costs nothing, a run stays in the shadow, and memory changes on a person's word alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from curator.model.budget import Amount
from curator.model.proposal import Add
from curator.tracks.backfill.records import Staged, Windows
from curator.tracks.backfill.shelf import PlanShelf, plan_ids
from tests.acceptance.processes import wait_until
from tests.cli.commands import CURATOR, Home, assert_refused, environ_of, make_home, on_a_terminal
from tests.cli.test_evaluate import know, spent, tree
from tests.fakes.provider import Settings, serving
from tests.tracks.backfill.places import made_up_window

WISH = "Please always run the tests with pytest -n 2."
ADD = json.dumps({"operations": [{"action": "add", "content": "Fact {n} stands.", "importance": "high"}]})


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = make_home(tmp_path)
    made.enqueue("Remember: never commit on Fridays.")
    made.review()
    return made


def lay(home: Home, name: str, *wishes: str) -> Path:
    """Put a session where Pi keeps them."""
    folder = home.layout.agent / "sessions" / "--shop--"
    folder.mkdir(parents=True, exist_ok=True)
    return home.session(*wishes, name=f"{name}.jsonl").rename(folder / f"{name}.jsonl")


def planned(home: Home, *options: str) -> str:
    """Plan, and return the plan's id."""
    ran = home.run("backfill", "plan", "--json", *options)
    assert ran.status == 0, ran.err
    return str(ran.document["id"])


def branch(home: Home) -> bytes:
    (path,) = home.layout.root.glob("*/branches/main.json")
    return path.read_bytes()


def verified(home: Home) -> None:
    for arguments in (["verify"], ["doctor"], ["budget", "prove"]):
        ran = home.run(*arguments)
        assert ran.status == 0, ran.out


def test_a_plan_is_told_kept_and_costs_nothing(home: Home) -> None:
    lay(home, "a", WISH, "We decided to use uv.")
    with serving() as server:
        know(home, server)
        before = tree(home.layout.root)
        ran = home.run("backfill", "plan", "--project", str(home.project))
        assert server.state.requests == 0
    after = tree(home.layout.root)

    assert ran.status == 0, ran.err
    plan_id = re.search(r"plan_[0-9a-f]{16}", ran.out)
    assert plan_id is not None
    assert "2, each counted once" in ran.out
    assert {name for name in after if after[name] != before.get(name)} == {f"curator/backfill/{plan_id[0]}/plan.json"}
    assert home.run("backfill", "status", plan_id[0]).out.startswith(plan_id[0])


def test_a_run_stays_in_the_shadow_and_is_counted(home: Home) -> None:
    lay(home, "a", WISH)
    lay(home, "b", "We decided to use uv.")
    before = branch(home)
    with serving(Settings(proposal=ADD)) as server:
        know(home, server)
        plan_id = planned(home)
        ran = home.run("backfill", "run", plan_id, "--json")

        assert server.state.requests == 2
    assert ran.status == 0, ran.err
    told = ran.document
    assert (told["state"], told["windows"], told["proposals"], told["calls"]) == ("done", 2, 2, 2)
    counted = spent(home)
    assert (counted.calls, counted.tokens, counted.cost_nanousd) == (2, told["tokens"], told["costNanousd"])
    assert branch(home) == before
    assert home.run("budget", "attempts").out.count(", fake, backfill, ") == 2
    verified(home)


def test_indexing_asks_nobody(home: Home) -> None:
    lay(home, "a", WISH)
    with serving(Settings(proposal=ADD)) as server:
        know(home, server)
        plan_id = planned(home, "--max-cost", "0")
        ran = home.run("backfill", "run", plan_id, "--json")

        assert server.state.requests == 0
    assert ran.status == 0
    assert (ran.document["windows"], ran.document["halted"]) == (1, "the cap of cost was reached")
    assert spent(home) == Amount()
    assert len(list(home.layout.trajectories.glob("*/segments/*"))) == 1


def test_promote_shows_asks_and_changes_and_rollback_takes_back(home: Home) -> None:
    lay(home, "a", WISH)
    before = branch(home)
    plan_id = planned(home)
    assert home.run("backfill", "run", plan_id).status == 0

    looked = home.run("backfill", "promote", plan_id)
    assert branch(home) == before
    made = home.run("backfill", "promote", plan_id, "--yes", "--json")
    promoted = branch(home)
    back = home.run("backfill", "rollback", plan_id, "--exact")

    assert "+ Always run the tests with pytest -n 2." in looked.out
    assert "Nothing was changed." in looked.out
    assert made.document["isChanged"] is True
    assert promoted != before
    assert back.status == 0
    assert branch(home) == before
    verified(home)


def test_more_than_a_revision_holds_comes_in_parts_that_are_named(home: Home) -> None:
    plan_id = planned(home)
    shelf = PlanShelf(home.open().shop.volume, home.layout, plan_ids(home.layout)[0])
    shelf.keep_windows(Windows(plan_id=shelf.id, windows=tuple(map(made_up_window, range(1, 10)))))
    for window in range(1, 10):
        adds = tuple(Add(content=f"Fact {window}.{number}.", importance="low") for number in range(4))
        shelf.stage(Staged(plan_id=shelf.id, window=window, operations=adds))

    looked = home.run("backfill", "promote", plan_id)
    refused = home.run("backfill", "promote", plan_id, "--yes")
    wrong = home.run("backfill", "promote", plan_id, "--part", "2", "--yes")
    first = home.run("backfill", "promote", plan_id, "--part", "1", "--yes")
    again = home.run("backfill", "promote", plan_id, "--part", "1", "--yes")
    second = home.run("backfill", "promote", plan_id, "--part", "2", "--yes")

    assert "Part 1, 32 changes:" in looked.out
    assert "Part 2, 4 changes:" in looked.out
    assert_refused(refused, 65, "in 2 parts", "--part 1 --yes")
    assert_refused(wrong, 65, "part 2 is not the next one")
    assert "1 part is left." in first.out
    assert_refused(again, 65, "part 1 is in memory already")
    assert second.status == 0
    verified(home)


def test_a_daemon_in_external_mode_over_an_unpromoted_plan_changes_no_branch_byte(home: Home) -> None:
    lay(home, "a", WISH)
    plan_id = planned(home)
    assert home.run("backfill", "run", plan_id).status == 0
    before = branch(home)
    environ = environ_of(home.path, PI_CODING_AGENT_DIR=str(home.layout.agent))
    environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[2] / "service")

    with subprocess.Popen([sys.executable, "-m", "curator_service"], env=environ, cwd=home.project) as service:
        try:
            wait_until(lambda: any(b'"idle"' in each.read_bytes() for each in home.layout.workers.glob("*.json")))
        finally:
            service.terminate()
    assert service.returncode == 0
    app = home.open()
    app.maintain()

    assert branch(home) == before
    assert home.run("backfill", "status", plan_id, "--json").document["proposals"] == 1


def test_a_project_that_is_excluded_is_neither_planned_nor_run(home: Home) -> None:
    lay(home, "a", WISH)
    plan_id = planned(home)
    assert home.run("project", "exclude", str(home.project)).status == 0

    assert_refused(home.run("backfill", "plan"), 65, "excluded")
    assert_refused(home.run("backfill", "run", plan_id), 65, "excluded")


def test_a_days_limit_ends_with_75_and_says_so(home: Home) -> None:
    lay(home, "a", WISH)
    lay(home, "b", "We decided to use uv.")
    with serving(Settings(proposal=ADD)) as server:
        know(home, server, maxCallsPerDay=1)
        plan_id = planned(home)
        ran = home.run("backfill", "run", plan_id)

        assert server.state.requests == 1
    assert ran.status == 75
    assert "the day's limit of calls for fake leaves no room" in ran.err
    assert "1 of 2 windows reviewed" in ran.out


def test_what_is_wrong_with_a_plan_is_one_line_with_a_status_of_its_own(home: Home) -> None:
    path = lay(home, "a", WISH)
    plan_id = planned(home)
    shelf = PlanShelf(home.open().shop.volume, home.layout, plan_ids(home.layout)[0])

    assert_refused(home.run("backfill", "run", "plan_00"), 66, "plan_00: no such plan")
    with shelf.alone():
        assert_refused(home.run("backfill", "run", plan_id), 75, f"is already running, in process {os.getpid()}")
        assert f"running, in process {os.getpid()}" in home.run("backfill", "status", plan_id).out
        assert_refused(home.run("backfill", "cancel", plan_id), 75, "ends after its call")
        assert home.run("backfill", "list", "--json").document["faults"] == []
    assert (
        home.run("backfill", "cancel", plan_id).out
        == f"{plan_id} is cancelled; 0 files of proposals and answers went.\n"
    )
    (shelf.layout.root / "wish.json").unlink()
    assert_refused(
        home.run("backfill", "run", plan_id, "--jobs", "2", "--dask", "tcp://there"), 2, "--dask of a cluster"
    )
    session = path.read_bytes()
    path.write_bytes(session.replace(b"pytest", b"PYTEST"))
    assert_refused(home.run("backfill", "run", plan_id), 77, "a.jsonl is not what it was")
    path.write_bytes(session)
    kept = (shelf.layout.root / "plan.json").read_bytes()
    (shelf.layout.root / "plan.json").write_bytes(kept.replace(b'"version":1', b'"version":2', 1))
    assert_refused(home.run("backfill", "run", plan_id), 76, "made by another release")
    (shelf.layout.root / "plan.json").write_bytes(kept.replace(b"offline", b"inline!"))
    assert_refused(home.run("backfill", "run", plan_id), 65, "an id that is not its content's")
    (shelf.layout.root / "plan.json").write_bytes(kept)
    assert home.run("backfill", "cancel", plan_id).status == 0
    assert_refused(home.run("backfill", "run", plan_id), 65, "was cancelled")


@pytest.mark.parametrize(
    "options", [["--max-bytes", "many"], ["--since", "yesterday"], ["--max-calls", "0"], ["--max-disk", "0"]]
)
def test_a_cap_that_is_none_is_refused(home: Home, options: list[str]) -> None:
    ran = home.run("backfill", "plan", *options)

    assert (ran.status, ran.out) == (2, "")
    assert list(plan_ids(home.layout)) == []


def test_a_killed_run_goes_on_and_asks_about_nothing_twice(home: Home) -> None:
    lay(home, "a", WISH)
    lay(home, "b", "We decided to use uv.")
    with serving(Settings(proposal=ADD, review="ok,hang,ok")) as server:
        know(home, server)
        plan_id = planned(home)
        environ = environ_of(home.path, PI_CODING_AGENT_DIR=str(home.layout.agent))
        with subprocess.Popen([*CURATOR, "backfill", "run", plan_id], env=environ, cwd=home.project) as child:
            try:
                wait_until(lambda: server.state.requests == 2)
            finally:
                child.kill()
        ran = home.run("backfill", "run", plan_id, "--json")

        assert server.state.requests == 3
    assert ran.status == 0, ran.err
    assert (ran.document["staged"], ran.document["calls"]) == (2, 3)
    assert spent(home).calls == 3
    verified(home)


def test_at_a_terminal_the_diff_is_coloured_and_the_ids_are_completed(home: Home) -> None:
    lay(home, "a", WISH)
    plan_id = planned(home)
    environ = environ_of(home.path, PI_CODING_AGENT_DIR=str(home.layout.agent), TERM="xterm-256color")

    ran = on_a_terminal("backfill", "run", plan_id, environ=environ)
    shown = on_a_terminal("backfill", "promote", plan_id, environ=environ)
    completion = environ | {
        "_CURATOR_COMPLETE": "complete_bash",
        "COMP_WORDS": "curator backfill run plan_",
        "COMP_CWORD": "3",
    }
    completed = subprocess.run(CURATOR, env=completion, capture_output=True, check=False, timeout=60, text=True)

    assert re.search(r"1/1.*\d:\d\d:\d\d", ran)
    assert "\x1b[32m  + Always run the tests with pytest -n 2." in shown
    assert plan_id in completed.stdout


def test_a_purged_project_leaves_no_plan(home: Home) -> None:
    lay(home, "a", WISH)
    plan_id = planned(home)
    assert home.run("backfill", "run", plan_id).status == 0
    assert home.run("backfill", "promote", plan_id, "--yes").status == 0

    assert home.run("project", "purge", str(home.project), "--yes").status == 0

    assert list(plan_ids(home.layout)) == []
    assert list((home.layout.own / "backfill").iterdir()) == []
    assert home.run("verify").status == 0


def test_a_plan_is_in_a_backup_and_goes_on_from_it(home: Home) -> None:
    lay(home, "a", WISH)
    plan_id = planned(home)
    assert home.run("backfill", "run", plan_id).status == 0
    kept, other = home.path / "kept.tar.gz", str(home.path / "other")

    taken = home.run("backup", kept)
    restored = home.run("restore", kept, "--agent-dir", other, "--yes")
    promoted = home.run("backfill", "promote", plan_id, "--yes", "--agent-dir", other)

    assert (taken.status, taken.err) == (0, "")
    assert restored.status == 0, restored.err
    assert promoted.status == 0, promoted.err
    assert "Always run the tests with pytest -n 2." in home.run("memory", "show", "--agent-dir", other).out
    assert home.run("verify", "--agent-dir", other).status == 0
