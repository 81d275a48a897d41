"""`curator doctor`: what is not as it should be, and what to do about it."""

from pathlib import Path

import pytest

from tests.cli.commands import Home, assert_refused, environ_of, make_home, run

WISH = "From now on, always run the linter before committing."


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path)


def test_a_healthy_folder_is_said_to_be_so(home: Home) -> None:
    home.enqueue(WISH)
    home.review()

    ran = home.run("doctor")

    assert ran.status == 0
    assert ran.out.splitlines()[-1].startswith("Nothing is broken")
    assert "ok       reviewer: offline/rules-1" in ran.out


def test_a_folder_that_is_not_there_is_an_error_with_the_next_command(tmp_path: Path) -> None:
    ran = run("doctor", cwd=tmp_path, environ=environ_of(tmp_path))

    assert ran.status == 1
    assert "ERROR    service.json" in ran.out
    assert "curator config init" in ran.out


def test_a_program_is_told_every_finding(home: Home) -> None:
    home.enqueue(WISH)
    home.layout.queued.chmod(0o755)

    ran = home.run("doctor", "--json")

    assert (ran.status, ran.document["isHealthy"]) == (1, False)
    findings = ran.document["findings"]
    assert isinstance(findings, list)
    assert [each["subject"] for each in findings if isinstance(each, dict) and each["level"] == "error"] == ["modes"]
    assert "done" not in ran.document


def test_what_is_safe_is_mended_and_said(home: Home) -> None:
    home.enqueue(WISH)
    home.layout.queued.chmod(0o755)

    ran = home.run("doctor", "--fix")

    assert ran.status == 0
    assert ran.out.startswith(f"Gave {home.layout.queued} the mode 0700")
    assert home.layout.queued.stat().st_mode & 0o777 == 0o700
    assert home.run("doctor", "--fix", "--json").document["done"] == []


def test_a_word_of_agreement_without_anything_to_agree_to_is_refused(home: Home) -> None:
    assert_refused(home.run("doctor", "--yes"), 2, "--fix --yes")


def test_no_text_of_anybody_is_shown(home: Home) -> None:
    home.enqueue(WISH)
    home.review()

    assert "linter" not in home.run("doctor", "--json").out
