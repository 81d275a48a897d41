"""The real service as a process of its own, over a place, and the command beside it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from bench.common.place import Place

_ROOT: Final = Path(__file__).resolve().parents[2]
_PATIENCE_S: Final = 60.0


def environ_of(place: Place) -> dict[str, str]:
    """Return an environment that knows no other agent folder, and no service manager."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    path = os.pathsep.join((str(_ROOT), str(_ROOT / "service")))
    home = str(place.home)
    return {**kept, "HOME": home, "PI_CODING_AGENT_DIR": str(place.layout.agent), "PYTHONPATH": path, "TZ": "UTC"}


def start(place: Place, before: Sequence[str] = (), told: Told | None = None) -> subprocess.Popen[bytes]:
    """Start the service; its log goes to a file beside the agent folder, or to who listens."""
    with (place.home / "service.log").open("ab") as log:
        argv = [*before, sys.executable, "-m", "curator_service"]
        heard = log.fileno() if told is None else told.mouth
        return subprocess.Popen(argv, env=environ_of(place), cwd=place.home, stdout=log, stderr=heard)


class Told:
    """The log of a service, line by line, with the time at which each event came for a job."""

    def __init__(self, event: str) -> None:
        """Listen for one event."""
        ear, self.mouth = os.pipe()
        self._event = event
        self._heard: dict[str, float] = {}
        self._news = threading.Condition()
        threading.Thread(target=self._listen, args=(ear,), daemon=True).start()

    def wait_for(self, job_id: str, seconds: float) -> float:
        """Wait for the event of a job and return when it came. Raises `TimeoutError`."""
        with self._news:
            if not self._news.wait_for(lambda: job_id in self._heard, seconds):
                raise TimeoutError(f"{self._event} of {job_id} did not come")
            return self._heard[job_id]

    def _listen(self, ear: int) -> None:
        with open(ear, "rb") as lines:
            for line in lines:
                now, told = time.perf_counter(), json.loads(line)
                if told.get("event") == self._event:
                    with self._news:
                        self._heard[told["job_id"]] = now
                        self._news.notify_all()


def command(place: Place, *arguments: str, before: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """Run `curator` to its end."""
    argv = [*before, sys.executable, "-m", "curator", *arguments]
    return subprocess.run(
        argv, env=environ_of(place), cwd=place.home, capture_output=True, text=True, timeout=600, check=False
    )


def wait_until(is_so: Callable[[], bool], seconds: float = _PATIENCE_S) -> bool:
    """Look again and again until it is so, or the time is over; tell which."""
    until = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    return True


def is_up(place: Place, service: subprocess.Popen[bytes]) -> bool:
    """Tell whether this process is the one service of the folder; only its own number says so."""
    pid = place.layout.instance_pid
    return pid.exists() and str(service.pid) in pid.read_text("utf-8")


@contextlib.contextmanager
def running(place: Place, told: Told | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Run the service while the block does, up when it begins; end it with TERM."""
    service = start(place, told=told)
    try:
        if not wait_until(lambda: is_up(place, service)):
            raise TimeoutError((place.home / "service.log").read_text("utf-8"))
        yield service
    finally:
        stop(service)


def stop(service: subprocess.Popen[bytes]) -> None:
    """End a service in order."""
    if service.poll() is None:
        service.send_signal(signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        service.wait(30)
    service.kill()
    service.wait()


def resident_mb(pid: int) -> float:
    """Return a process's resident memory in megabytes."""
    fields = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    kib = next(int(line.split()[1]) for line in fields if line.startswith("VmRSS:"))
    return kib * 1024 / 1e6


def cpu_s(pid: int) -> float:
    """Return the seconds that all threads of a process have run, by the scheduler's own nanoseconds."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):
            total += int((task / "schedstat").read_text("utf-8").split()[0])
    return total / 1e9
