"""Planted bugs in the tables: each row and each arrow wrong, one at a time, in a copy of the source.

A table cannot be altered from outside, and nothing is patched: so curator is copied, one place of one file is changed, and
the scenarios run in a process of their own over the copy. `python -m faults.source_mutants NAME...` is that process: it
plays the named scenarios and exits with 1 at the first breach.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import curator
from curator.machine.job import JobState
from curator.model.attempt import AttemptState
from curator.model.ledger import CoverageState

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SOURCE: Final = Path(curator.__file__).parent
_HERE: Final = Path(__file__).parent.parent
_STEPS: Final = ("WRITE_BRANCH", "WRITE_REVISION", "COMPLETE", "RECEIPT", "RETIRE", "REMOVE", "REBUILD_RECEIPT", "DONE")
KILLED: Final = 1
SECONDS_MAX: Final = 120


@dataclasses.dataclass(frozen=True, slots=True)
class SourceMutant:
    """One place of one file, and what stands there instead."""

    name: str
    file: str
    start: int
    end: int
    text: str
    scenarios: tuple[str, ...]
    """Which stories can tell, the quickest first."""

    def plant(self, folder: Path) -> None:
        """Copy curator into `folder`, with this one change."""
        shutil.copytree(_SOURCE, folder / "curator", ignore=shutil.ignore_patterns("__pycache__"))
        path = folder / "curator" / self.file
        source = path.read_bytes()
        path.write_bytes(source[: self.start] + self.text.encode() + source[self.end :])

    def run(self, folder: Path) -> str:
        """Play the scenarios over the changed copy; return what was found, or nothing if it lives."""
        self.plant(folder)
        environ = dict(os.environ) | {"PYTHONPATH": f"{folder}{os.pathsep}{_HERE}", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "faults.source_mutants", *self.scenarios]
        try:
            ended = subprocess.run(
                command, cwd=folder, env=environ, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
            )
        except subprocess.TimeoutExpired:
            return "it never ends"
        lines = (ended.stdout or ended.stderr).strip().splitlines()
        return "" if ended.returncode == 0 else lines[-1] if lines else f"ended with {ended.returncode}"


def admission_mutants() -> Iterator[SourceMutant]:
    """Yield each row of the admission table removed, and each with another step in its place."""
    source = (_SOURCE / "machine/admission.py").read_text("utf-8")
    rows = _elements(source, "ADMISSION")
    for number, row in enumerate(rows, start=1):
        start, end = span_of(source, row)
        yield SourceMutant(
            f"row {number} removed", "machine/admission.py", start, _past_comma(source, end), "", _STORIES
        )
        step = row.args[0] if isinstance(row, ast.Call) and row.args else None
        if isinstance(step, ast.Attribute):
            for other in _others(step.attr):
                at, until = span_of(source, step)
                name = f"row {number}: {step.attr} becomes {other}"
                yield SourceMutant(name, "machine/admission.py", at, until, f"Step.{other}", _STORIES)


def attempt_mutants() -> Iterator[SourceMutant]:
    """Yield each arrow of the attempt removed or bent, and each closing of an orphan wrong."""
    yield from _arrow_mutants("machine/attempt.py", AttemptState, _ATTEMPTS)
    yield from _orphan_mutants("machine/attempt.py", {"cancel": "lose", "lose": "cancel"}, _ATTEMPTS)


def job_mutants() -> Iterator[SourceMutant]:
    """Yield each arrow of the job removed or bent, and its closing of an orphan wrong."""
    yield from _arrow_mutants("machine/job.py", JobState, _JOBS)
    yield from _orphan_mutants("machine/job.py", {"expire": "finish"}, _JOBS)


def coverage_mutants() -> Iterator[SourceMutant]:
    """Yield each arrow of coverage removed or bent."""
    yield from _arrow_mutants("machine/coverage.py", CoverageState, _COVERAGE)


def _arrow_mutants(
    file: str, states: type[enum.StrEnum], stories: Mapping[str, tuple[str, ...]]
) -> Iterator[SourceMutant]:
    source = (_SOURCE / file).read_text("utf-8")
    for arrow in _elements(source, "transitions"):
        assert isinstance(arrow, ast.Call)
        at, verb, target = arrow.args[:3]
        assert isinstance(at, ast.Attribute)
        assert isinstance(verb, ast.Constant)
        assert isinstance(verb.value, str)
        assert isinstance(target, ast.Attribute)
        shown = f"{at.attr} {verb.value} {target.attr}"
        told_by = stories.get(shown.lower(), stories[verb.value])
        start, end = span_of(source, arrow)
        yield SourceMutant(f"{shown} removed", file, start, _past_comma(source, end), "", told_by)
        start, end = span_of(source, target)
        others = [state.name for state in states if state.name != target.attr]
        for other in others:
            yield SourceMutant(f"{shown} leads to {other}", file, start, end, f"_S.{other}", told_by)


def _orphan_mutants(
    file: str, wrong: Mapping[str, str], stories: Mapping[str, tuple[str, ...]]
) -> Iterator[SourceMutant]:
    source = (_SOURCE / file).read_text("utf-8")
    closed = next(
        node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.keyword) and node.arg == "orphaned"
    )
    assert isinstance(closed, ast.Dict)
    for key, value in zip(closed.keys, closed.values, strict=True):
        assert isinstance(key, ast.Attribute)
        assert isinstance(value, ast.Constant)
        verb = str(value.value)
        start, end = span_of(source, value)
        name = f"an orphan that is {key.attr} is closed by {wrong[verb]}"
        yield SourceMutant(name, file, start, end, f'"{wrong[verb]}"', stories[verb])


_STORIES: Final = ("rejected", "applied", "receipt-rebuilt", "tombstone-expired", "noop", "stale")
_ATTEMPTS: Final[Mapping[str, tuple[str, ...]]] = {
    "dispatch": ("failed",),
    "cancel": ("stopped-before", "failed"),
    "settle": ("noop",),
    "lose": ("overslept",),
    "correct": ("overslept",),
}
_JOBS: Final[Mapping[str, tuple[str, ...]]] = {
    "claim": ("failed",),
    "hold": ("held",),
    "quarantine": ("set-aside",),
    "running quarantine quarantined": ("set-aside-running",),
    "held quarantine quarantined": ("set-aside-held",),
    "renew": ("renewed",),
    "rebase": ("rebased",),
    "defer": ("retried",),
    "take over": ("taken-over",),
    "expire": ("released",),
    "return": ("stopped-before",),
    "finish": ("failed",),
    "release": ("held",),
    "quarantined release queued": ("mended",),
}
"""Which stories take an arrow, by its verb."""
_COVERAGE: Final[Mapping[str, tuple[str, ...]]] = dict.fromkeys(
    ("lease", "exclude", "spoil", "return", "finish", "drop", "include"), ("trajectory-covered",)
)


def _others(step: str) -> tuple[str, ...]:
    """Return the steps before and after one, as they come in a healthy life."""
    at = _STEPS.index(step) if step in _STEPS else -1
    return tuple(dict.fromkeys(_STEPS[index] for index in (at - 1, at + 1) if 0 <= index < len(_STEPS)))


def _elements(source: str, name: str) -> list[ast.expr]:
    """Return the elements of the tuple that is assigned, or given as a keyword, under a name."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.AnnAssign(target=ast.Name(id=found), value=ast.Tuple(elts=elements)) if found == name:
                return elements
            case ast.keyword(arg=found, value=ast.Tuple(elts=elements)) if found == name:
                return elements
            case _:
                continue
    raise LookupError(name)


def span_of(source: str, node: ast.expr) -> tuple[int, int]:
    """Return where a node stands, in bytes of its file."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    lines = source.encode().splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in (node.lineno - 1, node.end_lineno - 1)]
    return starts[0] + node.col_offset, starts[1] + node.end_col_offset


def _past_comma(source: str, end: int) -> int:
    return source.encode().index(b",", end) + 1


def play(names: list[str]) -> int:
    """Play scenarios until one shows a breach; whatever stops a scenario in its healthy run is one too."""
    from curator.errors import CuratorError
    from faults.campaign import DEFECTS, Stage
    from faults.scenarios import SCENARIOS
    from faults.tree import scratch

    for name in names:
        folder = scratch()
        try:
            stage = Stage(SCENARIOS[name], folder)
            breaches = [*stage.ending_breaches(), *(str(each) for each in stage.run(limit=1).violations)]
        except (*DEFECTS, CuratorError) as error:
            breaches = [f"{name} stops: {type(error).__name__}: {error}"]
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if breaches:
            print(" ".join(breaches[0].split()))
            return KILLED
    return 0


if __name__ == "__main__":
    sys.exit(play(sys.argv[1:]))
