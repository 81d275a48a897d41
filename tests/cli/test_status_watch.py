"""`curator status --watch`, as a process of its own: what it shows, how it ends, and what it does not read again."""

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from curator.model.digest import Json
from tests.acceptance.processes import wait_until
from tests.cli.commands import CURATOR, Home, environ_of, make_home

WISH = "From now on, always run the linter before committing."


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path)


class Watch:
    """A watch that runs, and what it has written so far."""

    def __init__(self, child: subprocess.Popen[bytes], reading: int) -> None:
        self.child = child
        self._reading = reading
        self._written = b""

    def text(self) -> str:
        while select.select([self._reading], [], [], 0)[0]:
            part = b""
            # Linux reports the end of a terminal as an error.
            with contextlib.suppress(OSError):
                part = os.read(self._reading, 65_536)
            if not part:
                break
            self._written += part
        return self._written.decode("utf-8")

    def until(self, word: str) -> None:
        wait_until(lambda: word in self.text() or self.child.poll() is not None)
        assert word in self.text()

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        self.child.send_signal(number)
        return self.child.wait(30)


@contextlib.contextmanager
def watching(home: Home, *arguments: str, on_terminal: bool = False, **environ: str) -> Iterator[Watch]:
    """Watch while the block runs."""
    reading, writing = pty.openpty() if on_terminal else os.pipe()
    more = {"PI_CODING_AGENT_DIR": str(home.layout.agent), "TERM": "xterm", **environ}
    command = [*CURATOR, "status", "--watch", *arguments]
    stdin = writing if on_terminal else subprocess.DEVNULL
    with subprocess.Popen(
        command,
        env=environ_of(home.path, **more),
        cwd=home.project,
        stdin=stdin,
        stdout=writing,
        stderr=subprocess.PIPE,
    ) as child:
        os.close(writing)
        try:
            yield Watch(child, reading)
        finally:
            child.kill()
            os.close(reading)


def documents(text: str) -> list[dict[str, Json]]:
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def test_a_line_is_written_for_each_change_and_none_where_nothing_changes(home: Home) -> None:
    with watching(home) as watch:
        watch.until("0 queued")
        home.enqueue(WISH)
        watch.until("1 queued")
        home.review()
        watch.until("applied")
        status = watch.end()
        lines = watch.text().splitlines()

    assert status == 0
    assert len({line.split("  ", 1)[1] for line in lines}) == len(lines)
    assert all("\x1b" not in line for line in lines)


def test_a_program_reads_one_document_for_each_change(home: Home) -> None:
    with watching(home, "--json") as watch:
        watch.until("\n")
        job_id = home.enqueue(WISH)
        watch.until(job_id)
        assert watch.end(signal.SIGTERM) == 0
        first, *_, last = documents(watch.text())

    assert isinstance(first["queue"], dict)
    assert isinstance(last["queue"], dict)
    assert (first["queue"]["queued"], last["queue"]["queued"]) == (0, 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_on_a_terminal_it_is_redrawn_and_leaves_the_cursor_and_the_last_look_behind(
    home: Home, number: signal.Signals
) -> None:
    with watching(home, on_terminal=True, COLUMNS="200", LINES="40") as watch:
        watch.until("0 queued")
        home.enqueue(WISH)
        watch.until("1 queued")
        status = watch.end(number)
        shown = watch.text()
        complaint = b"" if watch.child.stderr is None else watch.child.stderr.read()

    assert (status, complaint) == (0, b"")
    assert shown.index("\x1b[?25l") < shown.rindex("\x1b[?25h"), "a hidden cursor stays hidden after the end"
    assert "1 queued" in shown.rpartition("\x1b[?25l")[2]


def test_a_terminal_that_cannot_be_redrawn_gets_lines(home: Home) -> None:
    with watching(home, on_terminal=True, TERM="dumb") as watch:
        watch.until("0 queued")
        assert watch.end() == 0
        assert "\x1b" not in watch.text()


def test_a_reader_who_went_ends_the_watch_even_where_nothing_changes(home: Home) -> None:
    reading, writing = os.pipe()
    environ = environ_of(home.path, PI_CODING_AGENT_DIR=str(home.layout.agent))
    with subprocess.Popen(
        [*CURATOR, "status", "--watch"], env=environ, stdout=writing, stderr=subprocess.PIPE, cwd=home.project
    ) as child:
        os.close(writing)
        assert os.read(reading, 1)
        os.close(reading)
        _, complaint = child.communicate(timeout=30)

    assert (child.returncode, complaint) == (1, b"")


def test_an_agent_folder_that_comes_and_goes_is_only_something_to_tell(home: Home) -> None:
    aside = home.layout.agent.with_name("aside")
    with watching(home) as watch:
        watch.until("0 queued")
        home.enqueue(WISH)
        watch.until("1 queued")
        home.layout.agent.rename(aside)
        wait_until(lambda: watch.text().splitlines()[-1].count("0 queued") == 1)
        aside.rename(home.layout.agent)
        wait_until(lambda: watch.text().splitlines()[-1].count("1 queued") == 1)
        assert watch.end() == 0
