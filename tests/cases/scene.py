"""What the cases of the table share: their inputs, and short ways to lay them down and to look at what came of them."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from curator.model.digest import Json
from curator.model.ids import ProjectKey
from curator.model.job import Job
from curator.model.outcome import Failed, Failure
from curator.store.attempts import Seen
from tests.acceptance.processes import KEY, Place
from tests.cli.commands import Ran, environ_of, run
from tests.fakes.provider import Server

INPUTS: Final = Path(__file__).with_name("inputs")
"""The files of the reports, by id; all that looks like a secret in them is made up."""
CHAT: Final = "openai-completions"
MESSAGES: Final = "anthropic-messages"
COST: Final[Json] = {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0}


def raw(name: str) -> bytes:
    """Return an input as it is: `A-019/fenced.txt`."""
    return (INPUTS / name).read_bytes()


def text(name: str) -> str:
    """Return an input as text, its line ends untouched."""
    return raw(name).decode("utf-8")


@dataclasses.dataclass(frozen=True, slots=True)
class Here(Place):
    """A place whose commands run in this process, where nothing is to be killed; `start` still makes a real one."""

    def run(self, *arguments: str) -> Ran:
        """Run a command to its end, with the streams and the environment of a process of its own."""
        return run(*arguments, cwd=self.home, environ=environ_of(self.home, PI_CODING_AGENT_DIR=str(self.layout.agent)))


@dataclasses.dataclass(frozen=True, slots=True)
class Sessions:
    """A place whose project is asked to remember sessions."""

    place: Place
    project: Path

    def lay(self, name: str, content: bytes | None = None) -> Path:
        """Put a session where Pi keeps them: an input, or other content."""
        folder = self.place.layout.agent / "sessions" / "--home-user-proj-a--"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / Path(name).name
        path.write_bytes(raw(name) if content is None else content)
        return path

    def enqueue(self, path: Path, *more: str) -> Ran:
        """Run `curator enqueue` on a session."""
        return self.place.run("enqueue", "--session", str(path), "--project", str(self.project), *more)

    def queued(self) -> list[Job]:
        """Return the jobs that wait, in no order."""
        return [record.job for record in self.place.shop().stores.spool.queued()]

    def transcript(self) -> str:
        """Return the evidence of the one job that waits."""
        (job,) = self.queued()
        return job.transcript


def sessions(tmp_path: Path) -> Sessions:
    """Make such a place: the offline reviewer, external mode."""
    place = Here(tmp_path)
    place.configure()
    project = tmp_path / "project"
    project.mkdir()
    return Sessions(place, project)


def remember(place: Place, name: str, branch: Mapping[str, Json] | None = None) -> tuple[ProjectKey, Path]:
    """Make a project that remembers the three entries of the reports, or another branch; return its key and file."""
    key = place.project(name)
    path = place.layout.project(key).branches / "main.json"
    path.write_text(json.dumps(branch, ensure_ascii=False) if branch else text("branch_main.json"), "utf-8")
    return key, path


def failing(*rules: str) -> tuple[str, ...]:
    """Return the command before a command whose calls of the system are to fail: `link:error=EPERM`, as strace has it."""
    calls = ",".join(rule.partition(":")[0] for rule in rules)
    return (
        "strace",
        "-D",
        "-f",
        "-qqq",
        "-o",
        "/dev/null",
        "-e",
        f"trace={calls}",
        *(f"-einject={rule}" for rule in rules),
    )


def serve(place: Place, *before: str, **more: str) -> subprocess.Popen[bytes]:
    """Start the long-lived service on an agent folder."""
    environ = environ_of(place.home, PI_CODING_AGENT_DIR=str(place.layout.agent), **more)
    environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[2] / "service")
    argv, pipe = [*before, sys.executable, "-m", "curator_service"], subprocess.PIPE
    return subprocess.Popen(argv, env=environ, cwd=place.home, stdout=pipe, stderr=pipe)


def needs(program: str) -> bool:
    """Say whether a program is missing here."""
    return shutil.which(program) is None


RELEASE: Final = "Release tags are cut from the `stable` branch."
"""What the reports' model wants to remember."""
REMEMBERED: Final = tuple(str(entry["text"]) for entry in json.loads(text("branch_main.json"))["entries"])


def exchange(name: str) -> Json:
    """Return an HTTP exchange of the reports, for the fake provider to replay."""
    if name.endswith(".sse"):
        return {"sse": text(name)}
    value: dict[str, Json] = json.loads(text(name))
    return {"status": value["status"], "headers": value["headers"], "body": value["body"]}


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """One run over jobs of projects of their own, each answered in its own way."""

    place: Place
    jobs: Mapping[str, Job]
    keys: Mapping[str, ProjectKey]
    ran: Ran

    def texts(self, name: str) -> list[str]:
        """Return what the project of a job remembers."""
        return self.place.texts(self.keys[name])

    def ending(self, name: str) -> str:
        """Return how a job ended, or where it stands."""
        return self.place.ending(self.jobs[name])

    def attempt(self, name: str) -> Seen:
        """Return the one attempt of a job."""
        (seen,) = self.place.attempts(self.jobs[name])
        return seen

    def failure(self, name: str) -> Failure:
        """Return what the one result of a job says of its failure."""
        (result,) = self.place.shop().stores.decisions.results(self.jobs[name].id)
        assert isinstance(result.outcome, Failed)
        return result.outcome.error

    def files(self, word: str) -> list[str]:
        """Return the files of the agent folder in which a word stands."""
        return [path for path, content in self.place.tree().items() if word.encode() in content]


def ask(place: Place, server: Server, answers: Mapping[str, Json | list[Json]], api: str = CHAT) -> Asked:
    """Review one job for each answer, all in one run; the first of a list is told first, and the last for ever."""
    listed: dict[str, Json] = {
        f"[[{name}]]": said if isinstance(said, list) else [said] for name, said in answers.items()
    }
    server.state.settings.marked = json.dumps(listed)
    know(place, server, api)
    keys = {name: remember(place, name.replace("/", "-"))[0] for name in answers}
    jobs = {name: place.enqueue(key, transcript=f"USER: How do we release? [[{name}]]") for name, key in keys.items()}
    return Asked(place, jobs, keys, place.review("--json"))


def know(place: Place, server: Server, api: str = CHAT, **reviewer: Json) -> None:
    """Make the fake provider the reviewer, by one of its APIs, within wide limits."""
    model: Json = {"id": "fake-1", "contextWindow": 64_000, "maxTokens": 4_096, "cost": COST}
    base = server.url.removesuffix("/v1") if api == MESSAGES else server.url
    block: Json = {"baseUrl": base, "api": api, "models": [model], "apiKey": KEY}
    place.write(place.layout.agent / "models.json", {"providers": {"fake": block}})
    place.configure("external", "fake", **{"maxCallsPerDay": 1_000, "maxTokensPerDay": 100_000_000, **reviewer})
