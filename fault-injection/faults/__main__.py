"""The whole campaign, layer by layer, with progress and a summary: `make faults`, or `python -m faults LAYER...`.

Each layer is a part of the tests in its long form. What they count comes back through `figures`; what fails is shown by the
command that runs it again. Exits with 1 if anything failed, or if a layer tried less than `floors` asks of its long form.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from faults.figures import FILE, read
from faults.floors import below, closing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faults.figures import Figures

_TESTS: Final = Path(__file__).resolve().parents[1] / "tests"
_ROOT: Final = _TESTS.parents[1]
_ORACLES: Final = ("oracles", "trajectory_oracles")
LAYERS: Final = {
    "model": ("model", "model_people", "model_replay", "model_tapes"),
    "crash": (
        "second_lives",
        "campaign",
        "sequences",
        "lying",
        "backfill",
        "coverage",
        "volumes",
        "disk",
        "courses",
        *_ORACLES,
        "strace",
    ),
    "kill": ("live", "world_kills"),
    "block": ("block",),
    "world": ("world_clocks", "world_disks", "world_frozen", "world_processes"),
    "contention": ("contention", "isolation", "neglect"),
    "mutants": ("mutants", "verb_mutants", "source_mutants", "guards"),
}
"""By layer, the tests that are it."""
LISTED: Final = ("call site", "arrow", "row")
"""Figures of which there are many, shown in lists of their own after the table."""
_DONE: Final = re.compile(r"^(?:\[gw\d\] \[ *(\d+)%\] )?.*\b(PASSED|FAILED|SKIPPED|ERROR|XFAIL)\b")
_ENDS: Final = re.compile(r"^(FAILED|ERROR|SKIPPED) (.*)$")


@dataclasses.dataclass
class Ended:
    """How one layer ended."""

    layer: str
    seconds: float = 0.0
    tests: int = 0
    closing: str = ""
    broken: list[str] = dataclasses.field(default_factory=list)
    skipped: list[str] = dataclasses.field(default_factory=list)


def main(argv: Sequence[str] | None = None) -> int:
    """Run what was asked for, and tell."""
    parser = argparse.ArgumentParser(prog="faults", description=__doc__)
    parser.add_argument("layers", nargs="*", metavar="LAYER", help=f"one of {', '.join(LAYERS)} (default: all)")
    parser.add_argument("--short", action="store_true", help="the samples that every run of the tests takes")
    asked = parser.parse_args(argv)
    unknown = [layer for layer in asked.layers if layer not in LAYERS]
    if unknown:
        parser.error(f"no layer is called {unknown[0]}: {', '.join(LAYERS)}")
    console = Console()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "figures")
        ended = list(_run_all(asked.layers or [*LAYERS], file, console, is_long=not asked.short))
        figures = read(file)
    _lists(console, figures)
    console.print(_table(ended, figures))
    for each in ended:
        for reason in each.skipped:
            console.print(f"skipped: {reason}", highlight=False, soft_wrap=True)
        for test in each.broken:
            mode = "" if asked.short else "CURATOR_FAULTS=long "
            console.print(f"again: {mode}{sys.executable} -m pytest '{test}' -s", highlight=False, soft_wrap=True)
    for line in closing(figures):
        console.print(line, highlight=False, soft_wrap=True)
    # What this machine cannot do has skipped and said why; the floors are for what ran.
    missed = (
        []
        if asked.short
        else below(figures, {each.layer for each in ended if each.layer in figures or not each.skipped})
    )
    for line in missed:
        console.print(f"too little: {line}", highlight=False, soft_wrap=True)
    failed = sum(bool(each.broken) or not each.closing for each in ended)
    console.print(f"{len(ended)} layers in {(time.monotonic() - began) / 60:.1f} minutes, {failed} of them broken")
    return int(failed > 0 or missed != [])


def _run_all(layers: Sequence[str], file: Path, console: Console, *, is_long: bool) -> Iterator[Ended]:
    columns = (TextColumn("{task.description:12}"), BarColumn(), TextColumn("{task.fields[told]}"), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        for number, layer in enumerate(layers, 1):
            task = progress.add_task(layer, total=100, told="")
            ended = _run(layer, file, progress, task, is_long=is_long)
            shown = f"[{number}/{len(layers)}] {layer}: {ended.closing or 'did not come to its end'}"
            console.print(shown, highlight=False)
            yield ended


def _run(layer: str, file: Path, progress: Progress, task: TaskID, *, is_long: bool) -> Ended:
    """Run one layer's tests in a process of their own, and follow them line by line."""
    paths = os.pathsep.join(str(_ROOT / each) for each in (".", "service", "fault-injection"))
    environ = os.environ | {FILE: str(file), "PYTHONPATH": paths} | ({"CURATOR_FAULTS": "long"} if is_long else {})
    tests = [str(_TESTS / f"test_{name}.py") for name in LAYERS[layer]]
    argv = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "worksteal", "-v", "-rfEs", "--no-header", *tests]
    ended, began, minutes = Ended(layer), time.monotonic(), 0
    with subprocess.Popen(argv, cwd=_ROOT, env=environ, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            _follow(line.rstrip(), ended)
            done = _DONE.match(line)
            if done is not None and done[1]:
                progress.update(task, completed=int(done[1]), told=f"{ended.tests} tests")
                if progress.disable and (minute := int((time.monotonic() - began) / 60)) > minutes:
                    minutes = minute
                    progress.console.print(f"  {layer}: {done[1]} %, {minute} min", highlight=False)
    ended.seconds = time.monotonic() - began
    progress.update(task, completed=100, told=ended.closing)
    return ended


def _follow(line: str, ended: Ended) -> None:
    if _DONE.match(line) and "::" in line and not _ENDS.match(line):
        ended.tests += 1
    told = _ENDS.match(line)
    if told is not None and told[1] == "SKIPPED":
        ended.skipped.append(told[2])
    elif told is not None:
        ended.broken.append(told[2].partition(" - ")[0])
    if re.search(r"\b\d+ (passed|failed|skipped|error)", line):
        ended.closing = line.strip("= ")


def _table(ended: Sequence[Ended], figures: Figures) -> Table:
    table = Table("layer", "tests", "minutes", "what was tried", "result")
    for each in ended:
        counts = figures.get(each.layer, Counter())
        told = "\n".join(f"{count:,} {what}" for what, count in counts.items() if not what.startswith(LISTED))
        result = f"{len(each.broken)} broken" if each.broken else "held" if each.closing else "no end"
        table.add_row(each.layer, str(each.tests), f"{each.seconds / 60:.1f}", told, result)
    return table


def _lists(console: Console, figures: Figures) -> None:
    """Print each call site, arrow and row with its count of states."""
    for kind in LISTED:
        found: list[tuple[str, int]] = [
            (what.removeprefix(f"{kind} "), count)
            for counts in figures.values()
            for what, count in _of_kind(counts, kind)
        ]
        if found:
            console.print(f"\nstates by {kind}", highlight=False)
        for what, count in sorted(found):
            console.print(f"{count:9,}  {what}", highlight=False, soft_wrap=True)


def _of_kind(counts: Counter[str], kind: str) -> Iterator[tuple[str, int]]:
    return ((what, count) for what, count in counts.items() if what.startswith(f"{kind} "))


if __name__ == "__main__":
    sys.exit(main())
