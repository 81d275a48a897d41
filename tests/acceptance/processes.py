"""The command as real processes on a real folder, beside a provider that fails on command.

What stands on disk is read back through the stores, so whatever a test looks at is also a record that decodes.
"""

import dataclasses
import json
import os
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from curator.app import App, open_app
from curator.durable.clock import SystemClock
from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.model.decision import ProviderResult
from curator.model.digest import Json
from curator.model.feedback import Pending, Ready
from curator.model.ids import BranchName, ProjectKey, project_key, session_key
from curator.model.job import Job, make_job
from curator.model.memory import branch_digest
from curator.model.ports import Clock
from curator.model.project import Project
from curator.model.times import iso
from curator.store.attempts import Seen
from curator.workflow.shop import Shop
from tests.cli.commands import CURATOR, Ran, environ_of
from tests.fakes.provider import Server, Settings, serving
from tests.kit import CountingChance, HandClock, Listening
from tests.workflow.shops import open_shop

KEY: Final = "made-up-canary-of-the-key"
MAIN: Final = BranchName("main")
WISH: Final = "USER: From now on, always run the linter before committing."
TEXT: Final = "Always run the linter before committing."
"""What the offline reviewer makes of that wish."""
_PATIENCE_S: Final = 30.0
_LATER_MS: Final = 600_000
"""Every lease of a dead worker has run out by then."""


def wait_until(is_so: Callable[[], bool]) -> None:
    """Look again and again until it is so."""
    deadline, pause = time.monotonic() + _PATIENCE_S, threading.Event()
    while not is_so():
        assert time.monotonic() < deadline, "it never came to that"
        pause.wait(0.005)


def _whole(clock: Clock) -> Volume:
    del clock
    return Volume()


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A home with an agent folder in it."""

    home: Path
    disk: Callable[[Clock], Volume] = _whole
    """What this process is given for a disk, by the clock that it goes by."""
    more: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """What the environment of each command has besides."""

    @property
    def layout(self) -> Layout:
        return Layout(self.home / "agent")

    @property
    def log(self) -> Path:
        return self.home / "requests.jsonl"

    def shop(self) -> Shop:
        """Look at everything with stores that have read nothing yet."""
        clock = SystemClock()
        return open_shop(self.layout.agent, iso(clock.now()), volume=self.disk(clock)).shop

    def open_later(self, turn: int = 1) -> App:
        """Open the folder in this process, when every lease of the dead has run out; each `turn` is later than the one before."""
        clock = HandClock(time.time_ns() // 1_000_000 + turn * _LATER_MS)
        return open_app(
            self.layout.agent,
            environ={"HOME": str(self.home)},
            listener=Listening(),
            clock=clock,
            chance=CountingChance(turn),
            volume=self.disk(clock),
        )

    def review_later(self, turn: int = 1) -> None:
        """Review all of it then."""
        assert self.open_later(turn).review_once().left == 0

    # What a person and Pi lay there.

    def configure(self, mode: str = "external", provider: str = "offline", **reviewer: Json) -> None:
        """Write service.json."""
        model = "rules-1" if provider == "offline" else "fake-1"
        profile: Json = {"provider": provider, "model": model, **reviewer}
        self.write(self.layout.service_json, {"version": 1, "mode": mode, "reviewer": profile})

    def know(self, server: Server) -> None:
        """Write models.json with the fake provider in it, and make it the reviewer."""
        model: Json = {
            "id": "fake-1",
            "reasoning": False,
            "contextWindow": 64_000,
            "maxTokens": 4_096,
            "cost": {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0},
        }
        block: Json = {"baseUrl": server.url, "api": "openai-completions", "apiKey": KEY, "models": [model]}
        self.write(self.layout.agent / "models.json", {"providers": {"fake": block}})
        self.configure(provider="fake")

    def write(self, path: Path, value: Json) -> None:
        """Write a private file of JSON."""
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_text(json.dumps(value), "utf-8")
        path.chmod(0o600)

    def project(self, name: str = "code") -> ProjectKey:
        """Make a project's folder and its memory."""
        root = self.home / name
        root.mkdir()
        key = project_key(str(root))
        self.shop().memory(key, "external").initialise(Project(str(root), key))
        return key

    def job(self, key: ProjectKey, frontier: str = "entry-1", transcript: str = WISH) -> Job:
        """Make a job of a project as its branch stands."""
        branch = self.shop().memory(key, "external").branch(MAIN)
        assert branch is not None
        return make_job(
            project_key=key,
            session_key=session_key("session"),
            through_entry_id=frontier,
            transcript=transcript,
            branch=branch.sanitized(),
            base_branch_digest=branch_digest(branch),
            max_chars=6000,
        )

    def enqueue(self, key: ProjectKey, frontier: str = "entry-1", transcript: str = WISH) -> Job:
        """Queue a job as the extension does: who waits for it first."""
        job, shop = self.job(key, frontier, transcript), self.shop()
        shop.mailbox(key).register(Pending(job_id=job.id, job_digest=job.digest))
        shop.stores.spool.enqueue(job)
        return job

    def let_go_on(self, job: Job) -> None:
        """Take away a back-off, as if its time had passed."""
        spool = self.shop().stores.spool
        spool.hurry(next(each for each in spool.waiting() if each.job_id == job.id))

    # The command.

    def start(self, *arguments: str, before: Sequence[str] = (), **more: str) -> subprocess.Popen[bytes]:
        """Start a command on the agent folder, by another one `before` it, with `more` in its environment."""
        environ = self.environ(**more)
        argv, pipe = [*before, *CURATOR, *arguments], subprocess.PIPE
        return subprocess.Popen(argv, env=environ, cwd=self.home, stdout=pipe, stderr=pipe)

    def environ(self, **more: str) -> dict[str, str]:
        """Return what a command on the agent folder runs in."""
        return environ_of(self.home, PI_CODING_AGENT_DIR=str(self.layout.agent), **self.more, **more)

    def run(self, *arguments: str) -> Ran:
        """Run a command to its end."""
        return ended(self.start(*arguments))

    def review(self, *arguments: str) -> Ran:
        """Run `curator review --once` to its end."""
        return self.run("review", "--once", *arguments)

    # What came of it.

    def requests(self) -> int:
        """Return how many reviews the provider was asked for."""
        return len(self.log.read_text("utf-8").splitlines()) if self.log.exists() else 0

    def attempts(self, job: Job | None = None) -> list[Seen]:
        """Return the journal's attempts, of one job or of all."""
        store = self.shop().stores.attempts
        assert store.faults() == ()
        found = [seen for day in store.days() for seen in store.of_day(day)]
        return [seen for seen in found if job is None or seen.latest.job_id == job.id]

    def result(self, job: Job) -> ProviderResult:
        """Return the one result that a job's attempts brought."""
        (result,) = self.shop().stores.decisions.results(job.id)
        return result

    def states(self, job: Job | None = None) -> Counter[str]:
        """Count the states of the journal's attempts."""
        return Counter(seen.state.value for seen in self.attempts(job))

    def texts(self, key: ProjectKey) -> list[str]:
        """Return what a project remembers."""
        branch = self.shop().memory(key, "external").branch(MAIN)
        assert branch is not None
        return [entry.text for entry in branch.entries]

    def ending(self, job: Job) -> str:
        """Return how a job ended, by its closing record, or where it stands."""
        stores = self.shop().stores
        closing = stores.finished.find(job.id)
        if closing is not None:
            assert stores.spool.outcome(job.id) is not None
            return closing.failure_code or closing.status
        folders = (self.layout.queued, self.layout.running, self.layout.held)
        return "+".join(folder.name for folder in folders if (folder / f"{job.id}.json").exists())

    def cards(self, key: ProjectKey) -> dict[str, Ready]:
        """Return a project's cards by job."""
        mailbox = self.shop().mailbox(key)
        found = {job_id: mailbox.ready(job_id) for job_id in mailbox.pending_ids()}
        return {job_id: card for job_id, card in found.items() if card is not None}

    def tree(self, *without: str) -> dict[str, bytes]:
        """Return every file under the agent folder but signs of life, by path."""
        apart = {"review-workers", "runtimes", *without}
        files = [path for path in sorted(self.layout.agent.rglob("*")) if path.is_file() and not path.is_symlink()]
        return {str(path): path.read_bytes() for path in files if not apart & set(path.parts)}


@contextmanager
def provided(
    tmp_path: Path, settings: Settings | None = None, place: Place | None = None
) -> Iterator[tuple[Place, Server]]:
    """Give a place whose reviewer is the fake provider, which runs while the block does."""
    place = place or Place(tmp_path)
    with serving(settings, place.log) as server:
        place.know(server)
        yield place, server


def ended(command: subprocess.Popen[bytes]) -> Ran:
    """Wait for a command's end."""
    try:
        out, err = command.communicate(timeout=_PATIENCE_S)
    finally:
        command.kill()
    return Ran(command.returncode, out.decode("utf-8"), err.decode("utf-8"))


def go_on(worker: subprocess.Popen[bytes]) -> Ran:
    """Wake a worker that was stopped, and wait for its end."""
    worker.send_signal(signal.SIGCONT)
    return ended(worker)


def arguments_of(pid: int) -> bytes:
    """Return what everybody on the machine can read of how a process was started."""
    return Path(f"/proc/{pid}/cmdline").read_bytes() if Path("/proc").is_dir() else os.fsencode(_by_ps(pid))


def _by_ps(pid: int) -> str:
    return subprocess.run(["ps", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=True).stdout
