"""Running the command with an environment that knows no real agent folder: in this process, or in one of its own.

What a command line does shows without a process of its own, in a tenth of the time. A test takes a process where that is
the point: signals, terminals, closed streams, limits of the system, what is loaded.
"""

import contextlib
import dataclasses
import io
import json
import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Final

from curator.app import App, open_app
from curator.cli.main import main
from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.model.digest import Json
from curator.model.event import Event
from curator.workflow.demo import Demo, lay_out
from curator.workflow.producer import enqueue_session
from tests.session_lines import assistant, header, user, write

CURATOR: Final = (sys.executable, "-m", "curator")


@dataclasses.dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended, and what it wrote."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Json]:
        """The one JSON document on stdout."""
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value

    @property
    def lines(self) -> list[dict[str, Json]]:
        """The JSON lines on stdout."""
        return [json.loads(line) for line in self.out.splitlines()]


def environ_of(home: Path, **more: str) -> dict[str, str]:
    """Return an environment whose home is `home`: nothing of the machine's own Pi is in reach."""
    kept = {name: os.environ[name] for name in ("LANG", "PYTHONPATH") if name in os.environ}
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(each for each in folders if not Path(each, "pi").exists())
    return {**kept, "PATH": path, "HOME": str(home), "TZ": "UTC", **more}


@dataclasses.dataclass(frozen=True, slots=True)
class Home:
    """A person's home with an agent folder and a project in it."""

    path: Path
    laid: Demo

    @property
    def layout(self) -> Layout:
        return self.laid.layout

    @property
    def project(self) -> Path:
        return self.laid.project

    def run(self, *arguments: str | Path, environ: Mapping[str, str] | None = None) -> Ran:
        """Run a command in the project's folder, on this agent folder."""
        more = {"PI_CODING_AGENT_DIR": str(self.layout.agent), **(environ or {})}
        return run(*arguments, cwd=self.project, environ=environ_of(self.path, **more))

    def session(self, *wishes: str, name: str = "other.jsonl") -> Path:
        """Write a session in which the user says these things."""
        entries: list[dict[str, Json]] = [header(cwd=str(self.project), id=f"session-{name}")]
        parent: str | None = None
        for number, wish in enumerate(wishes):
            entries += [user(f"u{number}", parent, wish), assistant(f"a{number}", f"u{number}", "Understood.")]
            parent = f"a{number}"
        return write(self.path / name, *entries)

    def enqueue(self, *wishes: str, name: str = "other.jsonl") -> str:
        """Enqueue such a session, without a process of its own, and return its job's id."""
        production = enqueue_session(self.open().shop, self.session(*wishes, name=name))
        return production.jobs[0].job_id

    def review(self) -> None:
        """Review what waits, without a process of its own."""
        assert self.open().review_once().left == 0

    def open(self) -> App:
        """Open the agent folder, as a command would."""
        environ = environ_of(self.path, PI_CODING_AGENT_DIR=str(self.layout.agent))
        return open_app(environ=environ, listener=_Deaf())

    def service(self, **changes: Json) -> None:
        """Change service.json by hand."""
        path = self.layout.service_json
        path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}), "utf-8")


class _Deaf:
    """Somebody who does not listen: what is told is not what such a test is about."""

    def tell(self, event: Event) -> None:
        del event


def make_home(tmp_path: Path) -> Home:
    """Lay out a home: external mode and the offline reviewer."""
    return Home(tmp_path, lay_out(Volume(), tmp_path / "demo"))


def run(*arguments: str | Path, cwd: Path, environ: Mapping[str, str]) -> Ran:
    """Run a command line to its end, in this process."""
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        _environment(environ),
        contextlib.chdir(cwd),
        _written_to(1, out, environ) as stdout,
        _written_to(2, err, environ) as stderr,
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
    ):
        status = main([str(argument) for argument in arguments])
        return Ran(status, *(_text(file) for file in (out, err)))


@contextlib.contextmanager
def _environment(environ: Mapping[str, str]) -> Iterator[None]:
    """Be in another environment for a while; pytest's own variables stay."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update({name: value for name, value in before.items() if name.startswith("PYTEST_")}, **environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def _written_to(number: int, file: IO[bytes], environ: Mapping[str, str]) -> Iterator[io.TextIOWrapper]:
    """Have what this process and its children write to a descriptor in a file."""
    before = os.dup(number)
    os.dup2(file.fileno(), number)
    try:
        encoding = environ.get("PYTHONIOENCODING", "utf-8")
        yield io.TextIOWrapper(io.FileIO(number, "w", closefd=False), encoding=encoding, write_through=True)
    finally:
        os.dup2(before, number)
        os.close(before)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8")


def run_process(*arguments: str | Path, cwd: Path, environ: Mapping[str, str]) -> Ran:
    """Run a command to its end, in a process of its own."""
    ran = subprocess.run(
        [*CURATOR, *map(str, arguments)], cwd=cwd, env=dict(environ), capture_output=True, check=False, timeout=60
    )
    return Ran(ran.returncode, ran.stdout.decode("utf-8"), ran.stderr.decode("utf-8"))


def on_a_terminal(*arguments: str, environ: Mapping[str, str]) -> str:
    """Run a command at a terminal and return what it showed."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*CURATOR, *arguments], env=dict(environ), stdin=theirs, stdout=theirs, stderr=theirs
    ) as child:
        os.close(theirs)
        parts: list[bytes] = []
        # Linux reports the end of a terminal as an error.
        with contextlib.suppress(OSError):
            while part := os.read(ours, 65_536):
                parts.append(part)
    os.close(ours)
    assert child.returncode == 0
    return b"".join(parts).decode("utf-8")


def assert_refused(ran: Ran, status: int, *words: str | Path) -> None:
    """Hold an expected failure to its form: a status, and one line on stderr with path, fact and remedy."""
    assert (ran.status, ran.out) == (status, ""), ran.err
    assert ran.err.startswith("curator: ")
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err
    for word in words:
        assert str(word) in ran.err
