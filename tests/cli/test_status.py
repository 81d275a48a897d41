"""`curator status`: everything at one look, and nothing changed by looking."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import Home, environ_of, make_home, run

WISH = "From now on, always run the linter before committing."


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path)


def tree(home: Home) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in home.layout.agent.rglob("*") if path.is_file()}


def test_a_fresh_machine_is_told_what_to_run(tmp_path: Path) -> None:
    ran = run("status", cwd=tmp_path, environ=environ_of(tmp_path))

    assert (ran.status, ran.err) == (0, "")
    assert "curator config init" in ran.out
    assert not (tmp_path / ".pi").exists()


def test_queue_worker_budget_storage_and_results_are_told(home: Home) -> None:
    home.enqueue(WISH)
    home.run("review", "--once", "--worker-id", "made-up")
    home.enqueue("We decided that dates are stored in UTC.", name="second.jsonl")

    plain, told = home.run("status").out, home.run("status", "--json").document

    assert "external, offline/rules-1" in plain
    assert "1 queued, 0 waiting, 0 running, 0 held" in plain
    assert "none runs; curator:made-up was here" in plain
    assert "offline today: 1 call" in plain
    assert "applied" in plain
    assert (told["workers"], told["stoppedWorkers"]) == ([], 1)
    queue, budgets = told["queue"], told["budgets"]
    assert isinstance(queue, dict)
    assert isinstance(budgets, list)
    assert queue["queued"] == 1
    assert isinstance(budgets[0], dict)
    assert budgets[0]["actual"] == {"calls": 1, "tokens": 0, "costNanodollars": 0}
    assert budgets[0]["limits"] == {"calls": 100, "tokens": 500_000, "costNanodollars": 10_000_000_000}


def test_looking_changes_nothing_and_shows_no_evidence(home: Home) -> None:
    home.enqueue(WISH)
    before = tree(home)

    ran = home.run("status")
    home.run("status", "--json")
    home.run("jobs")

    assert tree(home) == before
    assert "linter" not in ran.out


def test_what_cannot_be_read_is_one_line_of_the_answer(home: Home) -> None:
    home.enqueue(WISH)
    home.review()
    beat = next(home.layout.workers.glob("*.json"))
    beat.write_bytes(b"{")
    project = next(home.layout.root.glob("*/project.json"))
    project.write_bytes(b"{")
    home.layout.service_json.write_bytes(b"{")

    ran = home.run("status")

    assert ran.status == 0
    for path in (beat, project, home.layout.service_json):
        assert f"Attention: {path}" in ran.out


def test_a_broken_configuration_is_told_and_not_taken_for_a_missing_one(home: Home) -> None:
    home.layout.own.mkdir(exist_ok=True)
    home.layout.curator_toml.write_text("concurrency = \n", "utf-8")
    home.layout.service_json.write_bytes(b"{")

    ran = home.run("status")

    assert f"Attention: {home.layout.curator_toml}: is not TOML at line 1" in ran.out
    assert f"Attention: {home.layout.service_json}: not JSON" in ran.out
    assert "mode      unknown, see above" in ran.out
    assert "not configured" not in ran.out


@pytest.mark.parametrize("name", ["queued", "running", "dead_letter", "workers"])
def test_a_part_that_cannot_be_looked_at_is_one_line_of_the_answer(home: Home, name: str) -> None:
    folders = {"queued": home.layout.queued, "running": home.layout.running, "workers": home.layout.workers}
    folder = folders.get(name, home.layout.dead_letter)
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_bytes(b"in the way")

    ran = home.run("status")

    assert ran.status == 0
    assert f"Attention: {folder}: is not a folder" in ran.out
    assert "external, offline/rules-1" in ran.out


def test_what_jobs_wait_for_is_told_as_in_the_list(home: Home) -> None:
    first = home.enqueue(WISH)
    second = home.enqueue("We decided that dates are stored in UTC.", name="second.jsonl")

    plain, told = home.run("status").out, home.run("status", "--json").document["waitsFor"]

    assert "  1 waits for the next review.\n" in plain
    assert f"  1 waits for an older job of its branch, {first[:15]}.\n" in plain
    assert isinstance(told, dict)
    assert told[first] == {"cause": "turn", "text": "the next review"}
    assert isinstance(told[second], dict)


def test_a_change_that_has_begun_is_told_first(home: Home) -> None:
    job_id = home.enqueue(WISH)
    home.review()
    tombstone = next(home.layout.root.glob("*/review-admissions/retired/*.json"))
    intent = tombstone.parent.parent / f"{job_id}.intent.json"
    intent.write_bytes(tombstone.read_bytes())

    first = home.run("status").out.splitlines()[0]
    admitting = home.run("status", "--json").document["admitting"]

    assert str(home.project) in first
    assert isinstance(admitting, list)
    assert isinstance(admitting[0], dict)
    assert admitting[0]["jobs"] == [job_id]


def test_a_held_job_and_a_dead_letter_are_counted(home: Home) -> None:
    job_id = home.enqueue(WISH)
    home.run("jobs", "hold", job_id)
    letter = home.layout.dead_letter / f"{job_id}.json.1.bad"
    letter.write_text(json.dumps({}), "utf-8")

    told = home.run("status", "--json").document

    assert told["held"] == [job_id]
    assert told["setAside"] == [letter.name]
    assert "1 held, 1 set aside" in home.run("status").out


def test_each_project_with_jobs_is_told_and_each_result_names_its_own(home: Home) -> None:
    home.enqueue(WISH)
    home.review()
    home.enqueue("We decided that dates are stored in UTC.", name="second.jsonl")

    plain, told = home.run("status").out, home.run("status", "--json").document

    assert f"project   {home.project}: 1 queued\n" in plain
    assert f" in {home.project.name}: applied, " in plain
    projects = told["projects"]
    assert isinstance(projects, list)
    assert isinstance(projects[0], dict)
    assert (projects[0]["projectRoot"], projects[0]["queued"]) == (str(home.project), 1)


def test_a_bar_shows_what_is_spent_however_little_it_is(home: Home) -> None:
    home.enqueue(WISH)
    home.review()

    assert "calls   [#............................." in home.run("status").out


def test_a_folder_that_may_not_be_looked_into_is_one_line_of_the_answer(home: Home) -> None:
    home.layout.agent.rename(home.layout.agent.with_name("aside"))
    home.layout.agent.symlink_to(home.layout.agent)

    ran = home.run("status")

    assert ran.status == 0
    assert "Traceback" not in ran.err
