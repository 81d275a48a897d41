"""`curator report`: where the page goes, whose it is, and what it tells of."""

import shlex
import signal
import subprocess
import sys
import tarfile
import urllib.request
from pathlib import Path

import pytest

from tests.acceptance.processes import wait_until
from tests.cli.commands import CURATOR, Home, assert_refused, environ_of, make_home, run, run_process

WISH = "Please remember that we always use pnpm for installing packages."


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = make_home(tmp_path)
    home.enqueue(WISH, name="a.jsonl")
    home.review()
    return home


def environ(home: Home, **more: str) -> dict[str, str]:
    return environ_of(home.path, PI_CODING_AGENT_DIR=str(home.layout.agent), **more)


def browser(seen: Path) -> str:
    """Return what stands in BROWSER for one that writes down what it is to open."""
    script = "import os, sys; open(sys.argv[1] + '.new', 'w').write(sys.argv[2]); os.rename(sys.argv[1] + '.new', sys.argv[1])"
    return f"{sys.executable} -c {shlex.quote(script)} {seen} %s"


def test_the_page_is_private_in_the_agent_folder_and_everything_else_stays_clean(home: Home) -> None:
    ran = home.run("report")

    path = home.layout.report
    assert (ran.status, ran.out, ran.err) == (0, f"The page is {path}\n", "")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    written = path.read_text("utf-8")
    assert written.startswith("<!DOCTYPE html>")
    assert "pnpm" in written
    assert home.run("verify").status == 0
    assert home.run("report").status == 0
    assert [each.name for each in path.parent.iterdir()] == ["report.html"]


def test_verify_says_who_may_read_the_page(home: Home) -> None:
    home.run("report")
    home.layout.report.chmod(0o644)

    ran = home.run("verify")

    assert ran.status == 65
    assert "curator/report/report.html may be read by others" in ran.out


def test_a_file_or_standard_output_can_be_named(home: Home) -> None:
    ran = home.run("report", "-o", "page.html")

    assert ran.out == f"The page is {home.project / 'page.html'}\n"
    assert (home.project / "page.html").stat().st_mode & 0o777 == 0o600
    shown = home.run("report", "--output", "-").out
    assert shown.startswith("<!DOCTYPE html>")
    assert shown.endswith("</html>\n")
    assert not home.layout.report.exists()
    assert_refused(home.run("report", "-o", "nowhere/page.html"), 74, "nowhere/page.html")


def test_a_scope_leaves_out_what_is_not_in_it(home: Home) -> None:
    of_project = home.run("report", "-o", "-", "--project", ".").out
    of_nobody = home.run("report", "-o", "-", "--project", "0" * 24).out
    later = home.run("report", "-o", "-", "--since", "2999-01-01").out

    assert "pnpm" in of_project
    assert str(home.project) in of_project
    assert "Set aside" not in of_project
    assert "pnpm" not in of_nobody
    assert "pnpm" not in later
    assert "since 2999-01-01" in later
    assert_refused(home.run("report", "--since", "yesterday"), 2, "--since")


def test_what_does_not_go_together_is_refused_and_nothing_is_made(home: Home, tmp_path: Path) -> None:
    assert_refused(home.run("report", "--port", "8000"), 2, "--serve")
    assert_refused(home.run("report", "--serve", "-o", "x"), 2, "--serve")
    assert_refused(home.run("report", "--open", "-o", "-"), 2, "--open")
    bare = tmp_path / "bare"
    bare.mkdir()
    assert_refused(run("report", cwd=bare, environ=environ_of(bare)), 66, "nothing to tell of")
    assert list(bare.iterdir()) == []


def test_the_browser_is_shown_the_file(home: Home) -> None:
    seen = home.path / "seen"

    ran = run_process("report", "--open", cwd=home.project, environ=environ(home, BROWSER=browser(seen)))

    assert (ran.status, ran.err) == (0, "")
    assert seen.read_text("utf-8") == home.layout.report.as_uri()


def test_without_the_library_that_draws_the_page_has_its_figures_and_that_is_said(home: Home) -> None:
    script = (
        "import sys; sys.modules['vl_convert'] = None\nfrom curator.cli.main import main\nsys.exit(main(['report']))"
    )

    ran = subprocess.run(
        [sys.executable, "-c", script],
        env=environ(home),
        cwd=home.project,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert "pip install 'pi-curator[report]'" in ran.stdout
    assert "<svg" not in home.layout.report.read_text("utf-8")


def test_a_backup_leaves_the_page_out_and_a_purge_takes_it(home: Home) -> None:
    home.run("report")
    staged = home.layout.report.with_name(f"report.html.1.{'0' * 8}-0000-4000-8000-{'0' * 12}.tmp")
    staged.write_text("pnpm", "utf-8")

    home.run("backup", "all.backup")
    with tarfile.open(home.project / "all.backup") as archive:
        copied = archive.getnames()
    assert [name for name in copied if "curator/jobs/" in name]
    assert not [name for name in copied if "report" in name]
    assert home.run("project", "purge", ".", "--yes").status == 0

    assert list(home.layout.report.parent.iterdir()) == []


def test_a_served_page_is_live_until_it_is_ended_and_ends_well(home: Home) -> None:
    seen = home.path / "seen"
    with subprocess.Popen(
        [*CURATOR, "report", "--serve", "--open"],
        env=environ(home, BROWSER=browser(seen)),
        cwd=home.project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as child:
        assert child.stdout is not None
        url = child.stdout.readline().split()[5]
        with urllib.request.urlopen(url) as answer:  # noqa: S310 - the address is ours
            shown = answer.read().decode()
        wait_until(seen.exists)
        with urllib.request.urlopen(seen.read_text("utf-8")) as answer:  # noqa: S310 - as above
            opened = answer.url
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=20)

    assert "pnpm" in shown
    assert opened == url
    assert seen.read_text("utf-8") != url
    assert url.startswith("http://127.0.0.1:")
    assert (child.returncode, out, err) == (0, "", "")
    assert not home.layout.report.exists()


def test_a_port_that_somebody_has_is_said(home: Home) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert_refused(home.run("report", "--serve", "--port", str(taken.getsockname()[1])), 75, "--port")
