"""The command itself: help, version, wrong command lines, and how light it is."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from curator import __version__
from curator.cli.main import app
from tests.cli.commands import CURATOR, assert_refused, environ_of, make_home, run

HEAVY = ("sqlalchemy", "watchdog", "openai", "anthropic", "httpx", "httpx2", "structlog", "rich", "tomllib")


def test_the_version_is_told(tmp_path: Path) -> None:
    ran = run("--version", cwd=tmp_path, environ=environ_of(tmp_path))

    assert (ran.status, ran.out, ran.err) == (0, f"curator {__version__}\n", "")


def test_without_a_command_the_help_is_shown(tmp_path: Path) -> None:
    bare = run(cwd=tmp_path, environ=environ_of(tmp_path))

    assert bare.status == 0
    for command in ("review", "enqueue", "jobs", "memory", "status", "config", "demo", "authority"):
        assert f"\n  {command} " in bare.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["bogus"], ["bogus", "curator --help"]),
        (["--bogus"], ["--bogus", "curator --help"]),
        (["review", "--bogus"], ["--bogus", "curator review --help"]),
        (["review", "--once", "--limit", "0"], ["--limit"]),
        (["review", "--once", "--limit", "many"], ["--limit"]),
        (["review"], ["curator service install", "curator review --once"]),
        (["enqueue"], ["--session", "curator enqueue --help"]),
        (["jobs", "show"], ["JOB", "curator jobs show --help"]),
        (["jobs", "bogus"], ["bogus", "curator jobs --help"]),
        (["memory", "show", "--branch", "Not A Branch"], ["branch"]),
        (["config", "init", "--mode", "sideways"], ["--mode"]),
    ],
)
def test_a_wrong_command_line_is_one_line_and_status_2(tmp_path: Path, arguments: list[str], words: list[str]) -> None:
    ran = run(*arguments, cwd=tmp_path, environ=environ_of(tmp_path))

    assert_refused(ran, 2, *words)


def test_a_group_alone_does_its_first_duty(tmp_path: Path) -> None:
    home = make_home(tmp_path)

    assert home.run("jobs").out == home.run("jobs", "list").out
    assert home.run("config", "--json").document["isGood"] is True
    assert home.run("authority").out.startswith("external:")
    assert "Usage: curator jobs" in home.run("jobs", "--help").out


@pytest.mark.parametrize("arguments", [["--version"], ["status"], ["review", "--once"], ["jobs"]])
def test_light_commands_load_nothing_heavy(tmp_path: Path, arguments: list[str]) -> None:
    home = make_home(tmp_path)
    code = "import json, sys\nfrom curator.cli.main import main\nstatus = main(sys.argv[1:])\n"
    code += "print(json.dumps([status, sorted(sys.modules)]))"
    environ = environ_of(tmp_path, PI_CODING_AGENT_DIR=str(home.layout.agent))

    ran = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=environ, capture_output=True, check=True, encoding="utf-8"
    )

    status, modules = json.loads(ran.stdout.splitlines()[-1])
    assert status == 0
    assert [name for name in modules if name.split(".")[0] in HEAVY] == []


def test_a_reader_who_goes_away_is_no_failure_to_talk_about(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    environ = environ_of(tmp_path, PI_CODING_AGENT_DIR=str(home.layout.agent))

    with subprocess.Popen([*CURATOR, "status"], env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        command.stdout.close()
        said = command.stderr.read()

    assert said == b""
    assert command.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("command", [["review", "--once", "--json"], ["jobs", "--json"], ["status"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_answer_that_cannot_be_written_is_named_and_what_was_done_stays(
    tmp_path: Path, command: list[str], unbuffered: str
) -> None:
    home = make_home(tmp_path)
    home.enqueue("From now on, always run the linter before committing.")
    environ = environ_of(tmp_path, PI_CODING_AGENT_DIR=str(home.layout.agent), PYTHONUNBUFFERED=unbuffered)

    with Path("/dev/full").open("w") as full:
        ran = subprocess.run([*CURATOR, *command], env=environ, stdout=full, stderr=subprocess.PIPE, check=False)

    is_review = command[0] == "review"
    assert ran.returncode in ({0, 74} if is_review else {74})
    assert len(ran.stderr.decode().splitlines()) == (ran.returncode == 74)
    assert len(list(home.layout.outcomes.glob("*.json"))) == is_review


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["status", "review --once", "jobs --json"])
def test_a_closed_stdout_is_a_reader_who_went_away(tmp_path: Path, command: str, closed: str) -> None:
    home = make_home(tmp_path)
    job_id = home.enqueue("From now on, always run the linter before committing.")
    environ = environ_of(tmp_path, PI_CODING_AGENT_DIR=str(home.layout.agent))
    line = f'"$@" {command} {closed}'

    ran = subprocess.run(["sh", "-c", line, "sh", *CURATOR], env=environ, capture_output=True, check=False)

    assert (ran.returncode, ran.stdout, ran.stderr) == (1, b"", b"")
    assert (home.layout.outcomes / f"{job_id}.json").exists() is command.startswith("review")


@pytest.mark.parametrize("group", [[], ["jobs"], ["memory"], ["config"], ["authority"], ["service"], ["project"]])
def test_no_summary_is_cut(tmp_path: Path, group: list[str]) -> None:
    shown = run(*group, "--help", cwd=tmp_path, environ=environ_of(tmp_path)).out.split("Commands:")[1]

    assert [line for line in shown.splitlines() if line.endswith("...")] == []


def test_a_usage_line_spells_its_arguments_as_its_options(tmp_path: Path) -> None:
    for words in (["jobs", "show"], ["jobs", "release"], ["enqueue"], ["review"]):
        help_ = run(*words, "--help", cwd=tmp_path, environ=environ_of(tmp_path)).out

        assert [mark for mark in "{<" if mark in help_] == []


def test_a_suggestion_ends_as_a_question(tmp_path: Path) -> None:
    ran = run("stauts", cwd=tmp_path, environ=environ_of(tmp_path))

    assert_refused(ran, 2, "No such command 'stauts'. Did you mean 'status'? See `", "curator --help`")


def test_a_narrow_locale_ends_nothing(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    home.enqueue("From now on, always greet with Grüß Gott.")
    environ = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    home.review()

    assert "Gr\\xfc\\xdf" in home.run("memory", "show", environ=environ).out
    entries = home.run("memory", "show", "--json", environ=environ).document["entries"]
    assert isinstance(entries, list)
    assert "Grüß Gott" in str(entries[0])


def test_no_usage_line_has_braces(tmp_path: Path) -> None:
    usages: list[str] = []
    groups = {group.name: group.typer_instance for group in app.registered_groups}
    for name, group in [(None, app), *groups.items()]:
        assert group is not None
        for command in group.registered_commands:
            called = command.name or getattr(command.callback, "__name__", "")
            words = [word for word in (name, called) if word]
            usages.append(run(*words, "--help", cwd=tmp_path, environ=environ_of(tmp_path)).out.splitlines()[0])

    assert len(usages) > 30
    assert [usage for usage in usages if not usage.startswith("Usage: curator ") or "{" in usage] == []
