"""Projects side by side on one spool: their jobs, and the processes that carry them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from curator.model.digest import pretty
from curator.model.ids import BranchName, ProjectKey, session_key
from curator.model.job import Job, make_job
from curator.model.memory import branch_digest, empty_branch
from tests.acceptance.processes import MAIN, Place, ended, wait_until
from tests.cli.commands import CURATOR, environ_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Running: TypeAlias = "subprocess.Popen[bytes]"
ROOT: Final = Path(__file__).resolve().parents[2]
SERVICE: Final = (sys.executable, "-m", "curator_service")
REVIEW: Final = (*CURATOR, "review", "--once", "--json")
FEATURE: Final = BranchName("feature")
FACTS: Final = '{"operations": [{"action": "add", "content": "Fact number {n}.", "importance": "normal"}]}'


def start(place: Place, before: Sequence[str], command: Sequence[str], source: Path | None = None) -> Running:
    """Start a command on a place, `before` being what runs it, and `source` where a changed copy of curator lies."""
    paths = [*([] if source is None else [source]), ROOT / "service", ROOT]
    more = {"PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1"}
    environ = environ_of(place.home, PI_CODING_AGENT_DIR=str(place.layout.agent), **more)
    pipe = subprocess.PIPE
    return subprocess.Popen([*before, *command], env=environ, cwd=place.home, stdout=pipe, stderr=pipe)


@contextlib.contextmanager
def serving(place: Place, *before: str, source: Path | None = None) -> Iterator[Running]:
    """Run the service while the block does, and let it come to its end after; where the block fails, kill it."""
    service, is_well = start(place, before, SERVICE, source), False
    try:
        wait_until(lambda: place.layout.instance_pid.exists() or service.poll() is not None)
        yield service
        is_well = True
    finally:
        if service.poll() is None:
            # Its own process: what runs it forwards no signal.
            pid = int(place.layout.instance_pid.read_text("ascii").split()[0])
            os.kill(pid, signal.SIGTERM if is_well else signal.SIGKILL)
        if not is_well:
            ended(service)


def queue(place: Place, keys: Sequence[ProjectKey], names: Sequence[BranchName] = (MAIN,), each: int = 1) -> list[Job]:
    """Queue jobs round by round, one a branch of each project, the first ones the oldest."""
    return [enqueue(place, key, name, f"entry-{turn}") for turn in range(each) for name in names for key in keys]


def enqueue(place: Place, key: ProjectKey, name: BranchName = MAIN, frontier: str = "entry-0") -> Job:
    """Queue a job of a branch, which is made if it is not there, a second older than the next."""
    shop = place.shop()
    path = shop.layout.project(key).branch(name)
    if not path.exists():
        path.write_text(pretty(empty_branch(name, "2026-01-03T00:00:00.000Z").encode()), "utf-8")
    branch = shop.memory(key, "external").branch(name)
    assert branch is not None
    job = make_job(
        project_key=key,
        session_key=session_key(f"session-{name}"),
        through_entry_id=frontier,
        transcript=f"USER: about {key}",
        branch=branch.sanitized(),
        base_branch_digest=branch_digest(branch),
        max_chars=6000,
    )
    shop.stores.spool.enqueue(job)
    stands = place.layout.queued / f"{job.id}.json"
    age_s = 3_600 - len(list(place.layout.queued.iterdir()))
    os.utime(stands, (stands.stat().st_mtime - age_s,) * 2)
    return job
