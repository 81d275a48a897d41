"""Who works on the spool at once: `review --once` in a loop, the service, and the stranger; and how one of them dies.

What a dead process leaves is believed for a while: its locks for half a minute, its leases for five. Here that while is
made to have passed, for what it left alone: its locks and its leases become old, under the protocol's own lock.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from curator.durable.read import list_names
from curator.model.limits import SPOOL_NAMES_MAX
from curator.model.times import iso, ms_of
from faults.contention.foreground import held, owner_of, replace
from faults.model.tape import Tape, mark_death
from tests.acceptance.processes import arguments_of
from tests.cli.commands import CURATOR, environ_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import IO

    from tests.acceptance.processes import Place

ROOT: Final = Path(__file__).resolve().parents[3]
REVIEWERS: Final = 4
SERVICE: Final = "service"
_OLD_S: Final = 60
_LOOK_S: Final = 0.3
_ENDS: Final = (0, 75, 78)
"""How a review ends: done; kept out by a lock; or by a reviewer or a budget that it has to wait for."""


@dataclasses.dataclass(slots=True)
class Crowd:
    """The processes on one spool. `source` is where the curator lies that they are to run, which writes tapes."""

    place: Place
    folder: Path
    dice: random.Random
    source: Path
    tapes: Path
    living: dict[str, subprocess.Popen[bytes]] = dataclasses.field(default_factory=dict)
    rounds: int = 0
    killed: set[int] = dataclasses.field(default_factory=set)
    """The numbers of the dead."""
    leases_left: int = 0
    locks_left: int = 0
    arguments: set[bytes] = dataclasses.field(default_factory=set)
    """How they were started, as everybody on the machine can read."""
    ends: list[tuple[str, int]] = dataclasses.field(default_factory=list)
    """How those ended that nobody killed."""

    def keep_going(self) -> None:
        """Start whoever is not there: a worker whose run is over, or the service that was killed."""
        for name, process in list(self.living.items()):
            if process.poll() is not None:
                self.ends.append((name, self.living.pop(name).returncode))
        stand_by = {name.partition("-")[0] for name in self.living}
        for role in (SERVICE, *(f"review{number}" for number in range(REVIEWERS))):
            if role not in stand_by:
                self.rounds += 1
                self._start(role, f"{role}-{self.rounds}")

    def kill(self) -> None:
        """Kill one of them, and let as much time pass as its leases and locks are believed.

        The dice choose among all of them, among those that have a job, or whoever is seen to hold a lock.
        """
        self.keep_going()
        aim = self.dice.choice((self._anybody, self._busy, self._holding))
        name = self.dice.choice(aim() or self._anybody())
        victim = self.living.pop(name)
        with contextlib.suppress(OSError):
            self.arguments.add(arguments_of(victim.pid))
        victim.kill()
        if victim.wait() != -signal.SIGKILL:
            # It was quicker.
            self.ends.append((name, victim.returncode))
            return
        mark_death(self.tapes, victim.pid)
        self.killed.add(victim.pid)
        self.locks_left += self._age_locks()
        self.leases_left += self._age_leases(f"curator:{name}")

    def _anybody(self) -> list[str]:
        return sorted(self.living)

    def _busy(self) -> list[str]:
        """Return who of them has a job under a lease."""
        found: set[str] = set()
        for path in self.place.layout.running.glob("*.json"):
            with contextlib.suppress(FileNotFoundError):
                found.add(json.loads(path.read_bytes())["workerId"].removeprefix("curator:"))
        return sorted(found & self.living.keys())

    def _holding(self) -> list[str]:
        """Return who of them holds a lock of the protocol now, or does within a moment."""
        layout, until = self.place.layout, time.monotonic() + _LOOK_S
        watched = [*(path / ".lock" for path in layout.root.glob("[0-9a-f]" * 24)), layout.spool_lock]
        names = {process.pid: name for name, process in self.living.items()}
        while time.monotonic() < until:
            for lock in watched:
                name = names.get(owner_of(lock) or 0)
                if name is not None:
                    return [name]
        return []

    def end(self) -> None:
        """Let everybody come to an end, the service by a signal."""
        for name, process in self.living.items():
            if name.startswith(SERVICE):
                process.send_signal(signal.SIGTERM)
        for name, process in self.living.items():
            self.ends.append((name, process.wait(60)))
        self.living.clear()

    @property
    def kills(self) -> int:
        """How many of them were killed."""
        return len(self.killed)

    def put_away(self) -> None:
        """Leave nobody behind, whatever has happened."""
        for process in self.living.values():
            process.kill()
            process.wait()

    def strange_ends(self) -> list[tuple[str, int]]:
        """Return the ends that nothing here accounts for."""
        return [end for end in self.ends if end[1] not in _ENDS]

    def curator(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        """Run a command to its end."""
        return subprocess.run(
            [*CURATOR, *arguments],
            env=self.environ(),
            cwd=self.place.home,
            capture_output=True,
            timeout=60,
            check=False,
        )

    def environ(self) -> dict[str, str]:
        """Return what they all run in."""
        paths = [self.source, ROOT / "service", ROOT, ROOT / "fault-injection"]
        more = {"PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1"}
        return environ_of(self.place.home, PI_CODING_AGENT_DIR=str(self.place.layout.agent), **more)

    def told(self) -> Iterator[dict[str, object]]:
        """Yield every event that any of them told, whether on its output or in its log."""
        for path in sorted(self.folder.glob("*.out")):
            for line in path.read_text("utf-8").splitlines():
                # Who is killed may have told half a line.
                with contextlib.suppress(json.JSONDecodeError):
                    fields = json.loads(line)
                    yield {"type": fields.get("type") or fields.get("event"), **fields}

    def said(self) -> dict[str, bytes]:
        """Return all that they wrote and how they were started, by where it stands."""
        written = {path.name: path.read_bytes() for path in self.folder.iterdir()}
        return written | {"arguments": b"\n".join(sorted(self.arguments))}

    def _start(self, role: str, name: str) -> None:
        if role == SERVICE:
            command: Sequence[str] = (sys.executable, "-m", "curator_service", "--worker-id", name)
        else:
            limit = str(self.dice.randint(3, 9))
            command = (*CURATOR, "review", "--once", "--json", "--worker-id", name, "--limit", limit)
        with self._output(f"{name}.out") as out:
            self.living[name] = subprocess.Popen(
                command, env=self.environ(), cwd=self.place.home, stdout=out, stderr=subprocess.STDOUT
            )

    def _output(self, name: str) -> IO[bytes]:
        return (self.folder / name).open("wb")

    def is_left(self, lock: Path) -> bool:
        """Tell whether a lock is of one who was killed; one that says no owner is given a moment to say it."""
        if owner_of(lock) is None:
            threading.Event().wait(0.02)
        owner = owner_of(lock)
        return lock.exists() and (owner is None or owner in self.killed)

    def _age_locks(self) -> int:
        """Make every lock old that a dead owner left, and count them."""
        left = [path for path in locks(self.place) if self.is_left(path)]
        for path in left:
            with contextlib.suppress(FileNotFoundError):
                os.utime(path, (time.time() - _OLD_S,) * 2)
        return len(left)

    def _age_leases(self, worker_id: str) -> int:
        """Let the leases of one worker have run out, and count them."""
        running, tape, count = self.place.layout.running, Tape(self.tapes), 0
        with held(self.place.layout.spool_lock):
            for name in list_names(running, SPOOL_NAMES_MAX):
                path = running / name
                record = json.loads(path.read_bytes()) if path.suffix == ".json" else {}
                if record.get("workerId") == worker_id:
                    ends = max(ms_of(record["claimedAt"]) + 1, time.time_ns() // 1_000_000 - 1)
                    replace(path, json.dumps(record | {"leaseUntil": iso(ends)}, separators=(",", ":")))
                    tape.aged(path, iso(ends))
                    count += 1
        return count


def locks(place: Place) -> list[Path]:
    """Return the locks of the protocol that stand, with what serializes their reaping."""
    root = place.layout.root
    found = [path for path in root.rglob("*.lock*") if "curator" not in path.relative_to(root).parts]
    return [path for path in found if path.is_file()]
