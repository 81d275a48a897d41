"""Watch the idle service: what it costs, what it writes, and what it never opens.

CPU is the scheduler's own count over all threads. Under strace every change of a name, every file opened for writing and
every path is seen: of the service from its start on, of `curator review --once`, and of `curator service install --print`,
in an agent folder that has Pi's sessions in it.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

from bench.common.disks import flush_figures, plain
from bench.common.figures import Figure, Report, options
from bench.common.place import Place
from bench.common.reviewer import Scripted
from bench.common.server import serving
from bench.common.service import command, cpu_s, is_up, resident_mb, running, start, stop, wait_until
from bench.common.volumes import Unflushed

CPU_PERCENT_MAX: Final = 0.1
MEGABYTES_MAX: Final = 60.0
_SETTLE_S: Final = 3.0
_CHANGES: Final = re.compile(
    r"\b(?:rename|link|unlink|mkdir|rmdir|symlink|truncate|chmod|utimens?)\w*\(|O_WRONLY|O_RDWR|O_CREAT"
)
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
_Part: TypeAlias = "tuple[int, int | None]"
"""Where in a log a time begins and ends, in bytes."""
_WHOLE: Final[_Part] = (0, None)
_BEATS: Final = ("/review-workers/", "/runtimes/")


def main() -> int:
    """Measure and print."""
    asked = options(__doc__).parse_args()
    seconds = 10 if asked.quick else 60
    report = Report(f"idle: {seconds} s of a service with nothing to do")
    with plain(asked.on) as disk, serving() as server:
        report.add(*flush_figures(disk))
        place = Place(disk.folder / "home")
        place.configure("fake")
        place.know(server.url)
        place.projects(place.open(Scripted(), Unflushed()).shop, 3)
        place.write_text(place.layout.agent / "sessions" / "--code--" / "session.jsonl", "{}\n")
        _watch(place, seconds, report)
        if shutil.which("strace") is None:
            report.note("strace is not there: nothing is said about writes and sessions")
        else:
            _trace(place, seconds, report)
    return report.show(as_json=asked.json)


def _watch(place: Place, seconds: float, report: Report) -> None:
    with running(place) as service:
        time.sleep(_SETTLE_S)
        before, began = cpu_s(service.pid), time.monotonic()
        time.sleep(seconds)
        share = (cpu_s(service.pid) - before) / (time.monotonic() - began)
        report.add(
            Figure("CPU", share * 100, "%", at_most=CPU_PERCENT_MAX),
            Figure("resident", resident_mb(service.pid), "MB", at_most=MEGABYTES_MAX),
        )


def _trace(place: Place, seconds: float, report: Report) -> None:
    with tempfile.TemporaryDirectory(dir=place.home.parent) as folder:
        logs = [Path(folder, name) for name in ("service", "once", "install")]
        idle = _trace_service(place, seconds, logs[0])
        once = command(place, "review", "--once", before=_strace(logs[1]))
        install = command(place, "service", "install", "--print", before=_strace(logs[2]))
        agent = str(place.layout.agent)
        changed = [path for path in _changed(logs[0], idle) if path.startswith(agent)]
        others = sorted({path for path in changed if not any(beat in path for beat in _BEATS)})
        opened = sorted({path for log in logs for path in _paths(log, _WHOLE) if f"{agent}/sessions" in path})
        seen = sum(1 for log in logs for _ in _paths(log, _WHOLE))
    report.add(
        Figure("changes while idle, of heartbeats", len(changed) - len(others)),
        Figure("changes while idle, of anything else", len(others), at_most=0),
        Figure("paths seen by strace in start, --once and install", seen, at_least=100),
        Figure("of them under sessions/", len(opened), at_most=0),
        Figure("exit statuses of --once and install --print", once.returncode + install.returncode, at_most=0),
    )
    for heading, lines in (("changed while idle", others), ("under sessions/", opened)):
        if lines:
            report.tables[heading] = lines


def _trace_service(place: Place, seconds: float, log: Path) -> _Part:
    """Trace the service from its start, and return where in the log the idle time begins and ends."""
    service = start(place, _strace(log))
    try:
        wait_until(lambda: is_up(place, service))
        time.sleep(2 * _SETTLE_S)
        settled = log.stat().st_size
        time.sleep(seconds)
        # What is written at the end is not written while idle.
        return settled, log.stat().st_size
    finally:
        stop(service)


def _strace(log: Path) -> list[str]:
    # The tracer stands aside, so that the process that is started, and ended, is the traced one.
    return ["strace", "-D", "-f", "-qq", "-y", "-s", "4096", "-e", "trace=%file", "-o", str(log)]


def _changed(log: Path, part: _Part) -> Iterator[str]:
    for line in _lines(log, part):
        if _CHANGES.search(line):
            yield from _QUOTED.findall(line)


def _paths(log: Path, part: _Part) -> Iterator[str]:
    for line in _lines(log, part):
        yield from _QUOTED.findall(line)


def _lines(log: Path, part: _Part) -> list[str]:
    return log.read_bytes()[slice(*part)].decode("utf-8", "replace").splitlines()


if __name__ == "__main__":
    sys.exit(main())
