"""Planted bugs in the guards: each compare that raises, each lease check and each secret gate taken away, one at a time.

They are found in the source, so one that is added is planted from then on. A compare is a branch that does nothing but
raise; where it compares several things at once, each is also left out alone. The tests of the room must tell: those of the
file of the same name, then those that `ALSO` names.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import curator
from faults.source_mutants import SourceMutant, span_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SOURCE: Final = Path(curator.__file__).parent
_ROOT: Final = _SOURCE.parent
_ROOMS: Final = ("admission", "durable", "model", "pi", "reviewer", "store", "workflow")
_REFUSALS: Final = frozenset({"ConflictError", "IllegalTransitionError", "LeaseLostError"})
_CHECKS: Final = frozenset({"_prove_arrow", "check_lease", "prove_free", "prove_room", "refuse_unknown_price"})
"""Calls that do nothing but raise."""
_GATES: Final = {"contains_secret": "False", "find_secrets": "()", "is_sanitized": "True", "redact": "", "sanitize": ""}
"""Calls that keep a secret or a control character out, and what stands in their place: nothing means their argument."""
ALSO: Final = {
    "durable/publish.py": ("tests/store/test_jobs.py",),
    "model/text.py": ("tests/model/test_redaction.py",),
    "reviewer/prompt.py": ("tests/reviewer/test_prompt.py",),
    "store/attempts/journal.py": ("tests/store/test_attempts.py",),
    "store/decisions.py": ("tests/store/test_decisions.py", "tests/acceptance/test_bad_ground.py"),
    "store/memory/archive.py": ("tests/store/test_memory.py", "tests/workflow/test_admission.py"),
    "store/memory/store.py": ("tests/store/test_memory.py",),
    "store/spool/moves.py": ("tests/store/spool",),
    "workflow/admission.py": (
        "fault-injection/tests/test_world_frozen.py",
        "fault-injection/tests/test_model_people.py",
    ),
    "workflow/attempt.py": ("fault-injection/tests/test_world_frozen.py", "tests/acceptance/test_bad_ground.py"),
    "workflow/base.py": ("tests/acceptance/test_golden_state.py",),
    "workflow/election.py": ("fault-injection/tests/test_world_frozen.py",),
    "workflow/switching.py": ("tests/cli/test_authority.py",),
}
"""Who else must tell, by a file or a room."""
SECONDS_MAX: Final = 600
_FAILED: Final = 1
"""How pytest ends when a test failed; anything else is no answer."""
_NO_SUCH_TEST: Final = 4
"""How it ends when no test has that name."""


def guard_mutants() -> Iterator[SourceMutant]:
    """Yield every guard taken away."""
    for room in _ROOMS:
        for path in sorted((_SOURCE / room).rglob("*.py")):
            source, file = path.read_text("utf-8"), str(path.relative_to(_SOURCE))
            for start, end, text, shown in _guards(source):
                yield SourceMutant(f"{file} {shown}", file, start, end, text, tests_of(file))


def tests_of(file: str) -> tuple[str, ...]:
    """Return which tests must tell of a file's guards, the nearest first."""
    path = Path(file)
    mirrored = f"tests/{path.parent}/test_{path.stem}.py"
    near = (mirrored,) if (_ROOT / mirrored).exists() else ()
    also = ALSO.get(file) or ALSO.get(path.parts[0]) or (f"tests/{path.parts[0]}",)
    return tuple(dict.fromkeys((*near, *also)))


def killer_of(mutant: SourceMutant, folder: Path) -> str:
    """Run the tests over a copy of curator with the one guard gone; return the first that fails, or nothing.

    A test that fails with every guard in its place as well would kill anything: then there is no answer.
    """
    mutant.plant(folder)
    for tests in mutant.scenarios:
        failed = _first_failure(tests, folder)
        if failed:
            test = failed.partition(" ")[2].partition(" - ")[0]
            if _first_failure(test, _ROOT, is_one=True):
                message = f"{test} fails without that change too"
                raise RuntimeError(message)
            return failed
    return ""


def _first_failure(tests: str, source: Path, *, is_one: bool = False) -> str:
    """Run tests with curator from `source`; return the line of the first that fails, or nothing."""
    paths = " ".join(map(str, dict.fromkeys((source, _ROOT, _ROOT / "service", _ROOT / "fault-injection"))))
    options = ("-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:randomly", "-o", f"pythonpath={paths}")
    environ = dict(os.environ) | {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    argv = [sys.executable, "-m", "pytest", *options, tests]
    try:
        ended = subprocess.run(
            argv, cwd=_ROOT, env=environ, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
        )
    except subprocess.TimeoutExpired as error:
        message = f"{tests} does not end in {SECONDS_MAX} s"
        raise RuntimeError(message) from error
    failed = [line for line in ended.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if ended.returncode == _FAILED and failed:
        return failed[0]
    # One whose name pytest shortened when it failed cannot be asked for again.
    if ended.returncode != 0 and not (is_one and ended.returncode == _NO_SUCH_TEST):
        message = f"{tests} could not be run: {ended.stdout[-500:]}{ended.stderr[-500:]}"
        raise RuntimeError(message)
    return ""


def _guards(source: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield the guards of one file: where each stands, what stands there instead, and how it is shown."""
    met: set[tuple[int, int, str]] = set()
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            for start, end, text, shown in _guards_of(source, function):
                # What stands in a function within a function is met twice.
                if (start, end, text) not in met:
                    met.add((start, end, text))
                    yield start, end, text, f"{function.name}: {shown}"


def _guards_of(source: str, function: ast.FunctionDef) -> Iterator[tuple[int, int, str, str]]:
    for node in ast.walk(function):
        match node:
            case ast.If(test=test, body=[*_, ast.Raise(exc=raised)]) if _name_of(raised) in _REFUSALS:
                yield _replaced(source, test, "False", "no refusal if")
                yield from _parts_left_out(source, test)
            case ast.Expr(value=ast.Call(func=called) as call) if _name_of(called) in _CHECKS:
                yield _replaced(source, call, "None", "no")
            case ast.Call(func=called, args=[argument]) as call if (name := _name_of(called)) in _GATES:
                instead = _GATES[name] or f"({ast.unparse(argument)})"
                yield _replaced(source, call, instead, "no")
            case _:
                continue


def _parts_left_out(source: str, test: ast.expr) -> Iterator[tuple[int, int, str, str]]:
    """Yield a comparison of several things with each left out alone, and a condition of several parts without each."""
    for node in ast.walk(test):
        match node:
            case ast.BoolOp(op=ast.Or(), values=values):
                for value in values:
                    yield _replaced(source, value, "False", "no refusal if")
            case ast.Compare(ops=[ast.NotEq()], comparators=[ast.Tuple(elts=parts)]) if len(parts) > 1:
                for number, part in enumerate(parts):
                    kept = _without(source, node, number)
                    yield _replaced(source, node, kept, f"without {ast.unparse(part)} in")
            case _:
                continue


def _without(source: str, compared: ast.Compare, number: int) -> str:
    """Return a comparison with a tuple in which one part counts as equal."""
    (parts,) = compared.comparators
    assert isinstance(parts, ast.Tuple)
    left = ast.get_source_segment(source, compared.left)
    shown = [ast.get_source_segment(source, part) or "" for part in parts.elts]
    shown[number] = f"({left})[{number}]"
    return f"{left} != ({', '.join(shown)})"


def _replaced(source: str, node: ast.expr, text: str, verb: str) -> tuple[int, int, str, str]:
    start, end = span_of(source, node)
    return start, end, text, f"{verb} {_short(ast.unparse(node))}"


def _short(text: str, most: int = 70) -> str:
    return text if len(text) <= most else f"{text[:most]}..."


def _name_of(node: ast.expr | None) -> str:
    match node:
        case ast.Call(func=called):
            return _name_of(called)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def main(wanted: Sequence[str]) -> int:
    """Plant the guards whose name has one of the words in it, or all, and print who killed each."""
    from faults.tree import scratch

    lived = 0
    for mutant in guard_mutants():
        if not wanted or any(word in mutant.name for word in wanted):
            killer = killer_of(mutant, scratch())
            lived += not killer
            print(f"{mutant.name}\n    {killer or 'LIVES'}", flush=True)
    return int(lived > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
