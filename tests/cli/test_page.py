"""How things are shown."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from curator.cli.page import clean, counted, document, dollars, moment, recite, say, short, span, warn
from tests.cli.commands import environ_of, run


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nin two lines", "plain\ttext\nin two lines"),
        ("\x1b[31mred", "\ufffd[31mred"),
        ("\x9b2J", "\ufffd2J"),
        ("a\rb\x00\x7f", "a\ufffdb\ufffd\ufffd"),
        ("\u202eturned", "\ufffdturned"),
        ("Grüße 😀", "Grüße 😀"),
    ],
)
def test_nothing_shown_can_steer_a_terminal(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_a_complaint_is_one_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    warn("first\nsecond \x1b[2J")

    assert capsys.readouterr() == ("", "curator: first second \ufffd[2J\n")


def test_an_answer_goes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    say("yes")

    assert capsys.readouterr() == ("yes\n", "")


def test_a_document_is_ascii_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    document({"text": "ü\n\ud800", "n": 1})

    shown = capsys.readouterr().out
    assert shown.isascii()
    assert shown.count("\n") == 1
    assert json.loads(shown) == {"text": "ü\n\ud800", "n": 1}


@pytest.mark.parametrize(
    ("ms", "shown"),
    [
        (-5, "0 s"),
        (999, "0 s"),
        (1_000, "1 s"),
        (59_999, "59 s"),
        (60_000, "1 min"),
        (7_200_000, "2 h"),
        (172_800_000, "2 d"),
    ],
)
def test_a_span_is_told_in_its_largest_unit(ms: int, shown: str) -> None:
    assert span(ms) == shown


def test_a_moment_is_told_by_the_clock_on_the_wall() -> None:
    os.environ["TZ"] = "EST5"
    time.tzset()

    assert moment("2026-01-02T03:04:05.678Z") == "2026-01-01 22:04:05 EST"


def test_a_command_is_named_so_that_it_works_from_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = tmp_path / "bin"
    found.mkdir()
    (found / "curator").touch(0o755)

    named = run("status", cwd=tmp_path, environ=environ_of(tmp_path) | {"PATH": str(found)})
    placed = run("status", cwd=tmp_path, environ=environ_of(tmp_path) | {"PATH": "/nowhere"})

    assert "run `curator config init`" in named.out
    words = placed.out.split("run `")[1].split("`")[0].split()
    assert shutil.which(words[0]) == words[0]
    assert words[-2:] == ["config", "init"]
    recite("what `curator status` said")
    assert capsys.readouterr().out == "what `curator status` said\n"


def test_figures_read_well() -> None:
    assert (counted(1, "job"), counted(1_234, "job"), counted(0, "entry", "entries")) == (
        "1 job",
        "1,234 jobs",
        "0 entries",
    )
    assert (dollars(0), dollars(9), dollars(1_234_567)) == ("$0", "less than $0.0001", "$0.0012")
    assert dollars(2_345_600_000_000) == "$2,345.60"
    assert moment("2026-01-02T03:04:05.678Z") == "2026-01-02 03:04:05 UTC"
    assert moment("2999-13-01") == "2999-13-01"
    assert short("review_" + "a" * 40) == "review_aaaaaaaa"
