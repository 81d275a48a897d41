"""The stranger: a client of the protocol that writes memory in the foreground, with locks of its own (interop.md 3 and 9).

    python -m faults.contention.foreground AGENT SEED LOG TAPES EACH PAUSE_MS

adds up to EACH entries to every branch that stands at its start, in an order drawn by SEED, with pauses of up to PAUSE_MS,
until its standard input ends. Under a project's lock it first rolls forward what was begun there, as Pi does at its every read; a line of LOG
stands for a write that was accepted, and in TAPES it writes down each name that it gave.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import random
import re
import select
import sys
import threading
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from faults.model.tape import Tape
from tests.foreign import add_entry
from tests.other_worker import digest, pretty

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCK_WAIT_S: Final = 5.0
LOCK_STALE_S: Final = 30.0
BREAKER_STALE_S: Final = 1.0
_RETRY_S: Final = 0.025
_ROLLS: Final = "store/memory: the stranger rolls forward"
"""Who is said to ask where a begun change is carried on."""
_OWNER: Final = re.compile(rb"([0-9]+):")
_PROJECT: Final = re.compile(r"[0-9a-f]{24}")


@dataclasses.dataclass(frozen=True, slots=True)
class Written:
    """One write that was accepted, and how many begun changes were rolled forward before it."""

    project: str
    branch: str
    text: str
    rolled: int


def written(log: Path) -> list[Written]:
    """Return what the stranger was told is done."""
    return [Written(**json.loads(line)) for line in log.read_text("utf-8").splitlines()] if log.exists() else []


@contextlib.contextmanager
def held(lock: Path) -> Iterator[None]:
    """Hold a lock of the protocol. Raises `TimeoutError` where another has it for too long."""
    owner = f"{os.getpid()}:{uuid.uuid4()}\n".encode()
    deadline, pause = time.monotonic() + LOCK_WAIT_S, threading.Event()
    while not _create(lock, owner + f"{int(time.time() * 1000)}\n".encode()):
        _reap(lock)
        if time.monotonic() > deadline:
            raise TimeoutError(lock)
        pause.wait(_RETRY_S + random.random() * _RETRY_S)
    try:
        yield
    finally:
        if _read(lock).startswith(owner):
            lock.unlink()


def owner_of(lock: Path) -> int | None:
    """Return whose a lock is, by its number; None where it says none."""
    found = _OWNER.match(_read(lock))
    return None if found is None else int(found[1])


def write(project: Path, branch: str, text: str, tape: Tape) -> int:
    """Add an entry in the foreground; return how many begun changes were rolled forward before it."""
    path = project / "branches" / f"{branch}.json"
    with held(project / ".lock"):
        rolled = _roll_forward(project, tape)
        staged = path.with_name(f"{path.name}.{os.getpid()}.{uuid.uuid4()}.tmp")
        # Whoever holds the lock is alone with the branch: what stands there afterwards is what was given the name.
        with tape.asked("rename", path, staged, [], _now_ms()) as done:
            add_entry(project, text, branch)
            tape.staged(staged, path.read_bytes())
            done[0] = True
    return rolled


def replace(path: Path, text: str, tape: Tape | None = None) -> None:
    """Replace a file as the protocol does."""
    staged = _stage(path, text)
    if tape is None:
        staged.rename(path)
        return
    tape.staged(staged, text.encode())
    with tape.asked("rename", path, staged, [_ROLLS], _now_ms()) as done:
        staged.rename(path)
        done[0] = True


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def main(agent: Path, seed: int, log: Path, tapes: Path, each: int, pause_ms: int) -> None:
    """Write until nobody holds the other end of the standard input, or all is written."""
    dice, tape = random.Random(seed), Tape(tapes)
    branches = sorted(path for path in (agent / "no-forgetti").glob("*/branches/*.json") if _is_memory(path))
    left = Counter(dict.fromkeys(branches, each))
    while left and not select.select([sys.stdin], [], [], dice.uniform(0, pause_ms / 1000))[0]:
        path = dice.choice(sorted(left))
        text = f"By hand {seed}-{left.total():04d}."
        project, branch = path.parent.parent, path.stem
        try:
            rolled = write(project, branch, text, tape)
        except TimeoutError as error:
            print(f"waited in vain for {error}", file=sys.stderr)
            continue
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(dataclasses.asdict(Written(project.name, branch, text, rolled))) + "\n")
        left -= Counter([path])


def _is_memory(path: Path) -> bool:
    return _PROJECT.fullmatch(path.parent.parent.name) is not None


def _roll_forward(project: Path, tape: Tape) -> int:
    """Carry begun changes to their completion: branch, revision, completion (interop.md 9, ROLL FORWARD)."""
    rolled = 0
    for path in sorted((project / "review-admissions").glob("*.intent.json")):
        completion = path.with_name(path.name.replace(".intent.", ".complete."))
        if completion.exists():
            continue
        intent = json.loads(path.read_bytes())
        branch = project / "branches" / f"{intent['branchName']}.json"
        stands = digest(json.loads(branch.read_bytes()))
        if stands not in (intent["expectedBranchDigest"], intent["resultingBranchDigest"]):
            message = f"{path}: memory stands at neither digest"
            raise RuntimeError(message)
        if stands != intent["resultingBranchDigest"]:
            replace(branch, pretty(intent["afterBranch"]), tape)
        if "revision" in intent:
            _publish(
                project / "revisions" / intent["branchName"] / intent["revision"]["filename"],
                intent["revision"]["content"],
                tape,
            )
        facts = {"transactionId": intent["transactionId"], "intentDigest": intent["intentDigest"]}
        _publish(completion, pretty({"version": 1, "kind": "review-admission-complete"} | facts), tape)
        rolled += 1
    return rolled


def _publish(path: Path, text: str, tape: Tape) -> None:
    """Create a file, or prove that it holds exactly that."""
    staged = _stage(path, text)
    tape.staged(staged, text.encode())
    try:
        with tape.asked("link", path, staged, [_ROLLS], _now_ms()) as done:
            path.hardlink_to(staged)
            done[0] = True
    except FileExistsError:
        assert path.read_text("utf-8") == text, path
    finally:
        staged.unlink()


def _stage(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    staged = path.with_name(f"{path.name}.{os.getpid()}.{uuid.uuid4()}.tmp")
    assert _create(staged, text.encode())
    return staged


def _reap(lock: Path) -> None:
    """Take away the lock of a dead owner, behind a breaker."""
    content = _read(lock)
    if not _is_left(lock, LOCK_STALE_S):
        return
    breaker = lock.with_name(f"{lock.name}.breaker")
    if not _create(breaker, f"{os.getpid()}:{uuid.uuid4()}".encode()):
        if _is_left(breaker, BREAKER_STALE_S):
            breaker.unlink(missing_ok=True)
        return
    try:
        if _is_left(lock, LOCK_STALE_S) and _read(lock) == content:
            lock.rename(lock.with_name(f"{lock.name}.stale.{uuid.uuid4()}")).unlink()
    finally:
        breaker.unlink(missing_ok=True)


def _is_left(lock: Path, stale_s: float) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return time.time() - lock.stat().st_mtime > stale_s and not _is_alive(owner_of(lock))
    return False


def _is_alive(pid: int | None) -> bool:
    if not pid:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _read(path: Path) -> bytes:
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()
    return b""


def _create(path: Path, raw: bytes) -> bool:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return False
    os.write(descriptor, raw)
    os.close(descriptor)
    return True


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]), *map(int, sys.argv[5:]))
