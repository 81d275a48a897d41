"""`curator audit`: the questions, their scopes and forms, and what a person's own statement may do."""

import csv
import io
import os
import sqlite3
from pathlib import Path

import pytest

from curator.model.digest import Json, digest_of_text
from tests.cli.commands import Home, assert_refused, make_home, on_a_terminal, run

WISH = "Please remember that we always use pnpm for installing packages."


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = make_home(tmp_path)
    home.enqueue(WISH, name="a.jsonl")
    home.review()
    return home


def rows(value: Json) -> list[dict[str, Json]]:
    assert isinstance(value, list)
    return [each for each in value if isinstance(each, dict)]


def entry_of(home: Home) -> str:
    (entry,) = rows(home.run("memory", "show", "--json").document["entries"])
    return str(entry["id"])


def test_the_group_alone_shows_the_summary(home: Home) -> None:
    ran = home.run("audit")

    assert (ran.status, ran.err) == (0, "")
    assert ran.out == home.run("audit", "summary").out
    whats = {line.split()[0] for line in ran.out.splitlines()[1:]}
    assert whats == {"jobs", "calls", "models", "memory,", "changes", "workers"}
    told = {(row["what"], row["name"]): row["number"] for row in rows(home.run("audit", "--json").document["summary"])}
    assert told["jobs", "applied"] == 1
    assert told["calls", "actual"] == 1


def test_jobs_attempts_and_spend_are_told_as_tables_json_and_csv(home: Home) -> None:
    for name, count in (("jobs", 1), ("attempts", 1), ("spend", 1), ("timeline", 1)):
        told = rows(home.run("audit", name, "--json").document[name])
        table = list(csv.DictReader(io.StringIO(home.run("audit", name, "--csv").out)))
        lines = home.run("audit", name).out.splitlines()

        assert len(told) == len(table) == len(lines) - 1 == count
        assert {key: "" if value is None else str(value) for key, value in told[0].items()} == table[0]
    assert_refused(home.run("audit", "jobs", "--csv", "--json"), 2, "not both")


def test_the_spend_is_what_the_journal_comes_to(home: Home) -> None:
    (day,) = rows(home.run("audit", "spend", "--json").document["spend"])
    exported = rows(home.run("budget", "export", "--json").document["attempts"])

    assert day["actual_calls"] == len(exported) == 1
    assert day["provider"] == "offline"


def test_a_scope_leaves_out_what_is_not_in_it(home: Home) -> None:
    (job,) = rows(home.run("audit", "jobs", "--json").document["jobs"])
    key, day = str(job["project_key"]), str(job["finished_at"])[:10]

    def found(*options: str) -> int:
        return len(rows(home.run("audit", "jobs", "--json", *options).document["jobs"]))

    assert found("--since", day, "--project", str(home.project)) == found("--project", key) == 1
    assert found("--since", "2999-01-01") == found("--project", "0" * 24) == 0
    assert home.run("audit", "jobs", "--since", "2999-01-01").out == "Nothing is known of that.\n"
    assert rows(home.run("audit", "spend", "--project", key, "--json").document["spend"])
    assert_refused(home.run("audit", "--since", "yesterday"), 2, "--since")
    assert_refused(home.run("audit", "--project", "/nowhere/at/all"), 66, "/nowhere/at/all")


def test_why_tells_the_quote_while_it_is_kept_and_its_digest_after(home: Home) -> None:
    entry = entry_of(home)
    plain, told = home.run("audit", "why", entry[:4]).out, home.run("audit", "why", entry, "--json").document

    (change,) = rows(told["changes"])
    origin = change["origin"]
    assert isinstance(origin, dict)
    assert origin["quote"] == WISH
    assert origin["spanDigest"] == digest_of_text(WISH)
    assert (origin["model"], origin["throughEntryId"]) == ("rules-1", "a0")
    assert f'rests on: "{WISH}"' in plain
    assert str(origin["attemptId"]) in plain

    for folder in (home.layout.decisions, home.layout.evidence, home.layout.results):
        for path in [path for path in folder.rglob("*") if path.is_file()]:
            path.unlink()
    later = home.run("audit", "why", entry)

    assert (later.status, later.err) == (0, "")
    assert WISH not in later.out
    assert f"rests on words whose digest is {digest_of_text(WISH)}" in later.out
    assert str(origin["attemptId"]) in later.out
    assert "up to entry a0" in later.out


def test_why_tells_what_became_of_an_entry_later(home: Home) -> None:
    entry = entry_of(home)
    assert home.run("memory", "undo").status == 0

    ran = home.run("audit", "why", entry)

    assert "memory holds it no more" in ran.out
    assert "taken back at" in ran.out
    assert_refused(home.run("audit", "why", "no-such-entry"), 66, "no-such-entry")


def test_why_says_where_somebody_wrote_an_entry_anew(home: Home) -> None:
    entry = entry_of(home)
    (path,) = home.layout.root.glob("*/branches/main.json")
    path.write_text(path.read_text("utf-8").replace("pnpm", "yarn"), "utf-8")

    ran = home.run("audit", "why", entry)

    assert "yarn" in ran.out
    assert "Written anew since, not by a review." in ran.out


def test_a_statement_of_a_persons_own_is_answered(home: Home) -> None:
    told = home.run("audit", "sql", "SELECT state, COUNT(*) AS number FROM jobs GROUP BY state", "--json").document

    assert told == {"rows": [{"state": "finished", "number": 1}], "isCut": False}
    assert "CREATE TABLE jobs" in home.run("audit", "sql", "SELECT sql FROM sqlite_master").out.replace("\n", "")
    assert home.run("audit", "sql", "SELECT 9e999, x'00'", "--csv").out.splitlines()[1] == "inf,bytes"


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM jobs",
        "UPDATE jobs SET state = 'held'",
        "DROP TABLE jobs",
        "CREATE TABLE x (y)",
        "PRAGMA query_only = OFF",
        "PRAGMA user_version = 9",
        "ATTACH 'other.sqlite' AS other",
        "VACUUM INTO 'copy.sqlite'",
        "BEGIN",
        "SELECT load_extension('x')",
        "SELECT 1; DELETE FROM jobs",
        "SELECT writefile('x', 'y')",
        "SELECT zeroblob(100000000)",
        "nonsense",
        "",
    ],
)
def test_a_statement_that_does_more_than_read_is_refused(home: Home, statement: str) -> None:
    before = home.run("audit", "jobs", "--json").out

    ran = home.run("audit", "sql", statement)

    if statement:
        assert_refused(ran, 2)
    assert home.run("audit", "jobs", "--json").out == before
    assert not [path for name in ("other.sqlite", "copy.sqlite", "x") for path in home.project.glob(name)]


def test_rows_are_cut_and_that_is_said(home: Home) -> None:
    many = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 10001) SELECT x FROM n"

    ran = home.run("audit", "sql", many, "--csv")

    assert len(ran.out.splitlines()) == 10_001
    assert "only the first 10,000 rows" in ran.err
    assert home.run("audit", "sql", many, "--json").document["isCut"] is True


def test_a_rebuild_says_what_it_folded_and_a_terminal_shows_how_far_it_is(home: Home) -> None:
    before = home.run("audit", "jobs", "--json").out

    ran = home.run("audit", "rebuild")

    assert ran.out.endswith(f"sources folded into {home.layout.audit}.\n")
    assert home.run("audit", "jobs", "--json").out == before
    environ = {**os.environ, "HOME": str(home.path), "PI_CODING_AGENT_DIR": str(home.layout.agent), "TERM": "xterm"}
    assert "100%" in on_a_terminal("audit", "rebuild", environ=environ)


def test_a_broken_database_costs_one_line_and_the_answer_is_the_same(home: Home) -> None:
    before = home.run("audit", "jobs", "--json").out
    home.layout.audit.write_bytes(b"no database")

    ran = home.run("audit", "jobs", "--json")

    assert (ran.status, ran.out) == (0, before)
    assert ran.err.count("\n") == 1
    assert "made anew from the files" in ran.err
    sqlite3.connect(home.layout.audit).close()


def test_an_agent_folder_that_is_not_there_is_not_made_for_a_question(tmp_path: Path) -> None:
    environ = {"PATH": os.defpath, "HOME": str(tmp_path)}

    ran = run("audit", "jobs", cwd=tmp_path, environ=environ)

    assert (ran.status, ran.out, ran.err) == (0, "Nothing is known of that.\n", "")
    assert list(tmp_path.iterdir()) == []
    assert_refused(run("audit", "rebuild", cwd=tmp_path, environ=environ), 66, "nothing to fold")
