"""Measure the start of `curator review --once` on an empty queue beside bare Python, interleaved, in one run.

Exit status 0 means within the promise: at most 0.4 s and 60 MB on a quiet machine, or, as a busy machine slows both alike,
at most 30 times bare Python. Runs with any Python; it starts the curator installed for the Python that runs it.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

SECONDS_MAX: Final = 0.4
MEGABYTES_MAX: Final = 60.0
RATIO_MAX: Final = 30.0
RUNS: Final = 15

SERVICE: Final = {"version": 1, "mode": "external", "reviewer": {"provider": "offline", "model": "rules-1"}}
RSS_UNIT: Final = 1 if sys.platform == "darwin" else 1024  # bytes on macOS, KiB elsewhere


class Run(NamedTuple):
    """One child from its start to its end."""

    seconds: float
    megabytes: float
    status: int


class Figure(NamedTuple):
    """Median time and highest memory of one command's runs."""

    seconds: float
    megabytes: float
    failures: int


def main() -> int:
    """Print the table, or one JSON object, and return 0 if the promise holds."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("-n", "--runs", type=int, default=RUNS, help="runs of each command (default %(default)s)")
    options.add_argument("--json", action="store_true", help="print one JSON object")
    asked = options.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        agent_dir = _empty_agent_dir(Path(folder))
        bare_argv = [sys.executable, "-c", "pass"]
        once_argv = [sys.executable, "-m", "curator", "review", "--once", "--agent-dir", str(agent_dir)]
        # An installed package has its bytecode; a checkout has it after the first run. So both may keep it, elsewhere.
        environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environ["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "bytecode")
        bare, once = _measure(bare_argv, once_argv, environ, runs=asked.runs)

    ratio = once.seconds / bare.seconds
    quick = once.seconds <= SECONDS_MAX and once.megabytes <= MEGABYTES_MAX
    holds = once.failures == 0 and (quick or ratio <= RATIO_MAX)
    if asked.json:
        figures = {"bare": bare._asdict(), "once": once._asdict(), "ratio": ratio, "runs": asked.runs, "holds": holds}
        print(json.dumps(figures))
    else:
        print(f"{'command':<24}{'median s':>10}{'peak MB':>10}{'failed':>8}")
        for name, figure in (("python3 -c pass", bare), ("curator review --once", once)):
            print(f"{name:<24}{figure.seconds:>10.3f}{figure.megabytes:>10.1f}{figure.failures:>8}")
        print(f"ratio {ratio:.1f}; {'holds' if holds else 'does not hold'}: at most {SECONDS_MAX} s and ", end="")
        print(f"{MEGABYTES_MAX:.0f} MB, or {RATIO_MAX:.0f} times bare Python ({asked.runs} runs each)")
    return 0 if holds else 1


def _empty_agent_dir(folder: Path) -> Path:
    """Lay out the least that makes curator look for work: external mode and the built-in reviewer."""
    folder.chmod(0o700)
    state = folder / "no-forgetti"
    state.mkdir(mode=0o700)
    service = state / "service.json"
    service.write_text(json.dumps(SERVICE) + "\n", "utf-8")
    service.chmod(0o600)
    return folder


def _measure(
    bare_argv: list[str], once_argv: list[str], environ: dict[str, str], *, runs: int
) -> tuple[Figure, Figure]:
    """Run both in turn, so that a load on the machine falls on both; the first of each, which warms the caches, is left out."""
    bare: list[Run] = []
    once: list[Run] = []
    for _ in range(runs + 1):
        bare.append(_run(bare_argv, environ))
        once.append(_run(once_argv, environ))
    return _figure(bare[1:]), _figure(once[1:])


def _run(argv: list[str], environ: dict[str, str]) -> Run:
    """Start one child and wait for it alone; its peak memory is never told lower than that of this small process."""
    nowhere = [(os.POSIX_SPAWN_OPEN, descriptor, os.devnull, os.O_RDWR, 0) for descriptor in (0, 1)]
    started = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, environ, file_actions=nowhere)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - started
    return Run(seconds, usage.ru_maxrss * RSS_UNIT / 1e6, os.waitstatus_to_exitcode(status))


def _figure(runs: Sequence[Run]) -> Figure:
    return Figure(
        seconds=statistics.median(run.seconds for run in runs),
        megabytes=max(run.megabytes for run in runs),
        failures=sum(run.status != 0 for run in runs),
    )


if __name__ == "__main__":
    sys.exit(main())
