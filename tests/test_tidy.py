"""House rules that no linter knows, each with a planted breach that proves it can fail.

A rule is a function from one file to the breaches in it. The files are those that git tracks, or, in an unpacked
archive, those that lie there. See CONTRIBUTING.md for what the rules mean.
"""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple, TypeAlias

import pytest

ROOT: Final = Path(__file__).resolve().parent.parent

LINES_MAX: Final = 400
LINES_MAX_IN_TESTS: Final = 500

TOP_LEVEL: Final = frozenset(
    [
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "Makefile",
        "README.md",
        "bench",
        "curator",
        "docs",
        "fault-injection",
        "launchd",
        "pyproject.toml",
        "service",
        "systemd",
        "tests",
    ],
)
NOT_OURS: Final = frozenset({".git", ".venv", "__pycache__", "build", "dist", "PKG-INFO"})  # where git cannot say

# Where an exception may be caught without saying which, and why. An entry that is not needed any more is a breach.
BROAD_EXCEPT: Final[dict[str, str]] = {
    "curator/workflow/pool.py": "a defect in one job must not end the daemon: it is told by its type, and that job waits",
}

# The modules through which the disk changes; everyone else asks a volume.
DISK: Final = frozenset({"curator/durable/volume.py", "curator/durable/lock.py"})
DISK_VERBS: Final = frozenset(
    [
        "chmod",
        "hardlink_to",
        "lchmod",
        "mkdir",
        "rename",
        "rmdir",
        "symlink_to",
        "touch",
        "unlink",
        "write_bytes",
        "write_text",
    ],
)

# The protocol's spelling; ours has two l's.
PROTOCOL_SPELLING: Final = frozenset({"curator/store/accounting.py", "curator/model/accounting.py"})

FORBIDDEN_WORDS: Final = frozenset(
    ["handler", "handlers", "helper", "helpers", "manager", "managers", "util", "utils"],
)

UNFINISHED: Final = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
PLACES: Final = re.compile(
    r"(?<![\w.~<])/(work|root|tmp/s)/|\b(pypi\.org|pythonhosted\.org|npmjs\.org|debian\.org)\b",
)

# This file quotes what it forbids.
ITSELF: Final = "tests/test_tidy.py"


class File(NamedTuple):
    """One file of the product, and its text."""

    path: str
    text: str

    @property
    def is_python(self) -> bool:
        return self.path.endswith(".py")

    @property
    def is_test(self) -> bool:
        return self.path.startswith(("tests/", "fault-injection/"))

    @property
    def is_shipped(self) -> bool:
        return self.path.startswith(("curator/", "service/"))

    @property
    def tree(self) -> ast.Module:
        return _parse(self.text)


Rule: TypeAlias = Callable[[File], Iterator[str]]


# --- the rules -------------------------------------------------------------------------------------------------------


def says_what_it_is(file: File) -> Iterator[str]:
    if file.is_python and not ast.get_docstring(file.tree):
        yield "the module has no docstring"


def fits_one_sitting(file: File) -> Iterator[str]:
    lines = file.text.count("\n")
    if file.is_python and lines > (LINES_MAX_IN_TESTS if file.is_test else LINES_MAX):
        yield f"{lines} lines: split it by idea"


def names_things_by_what_they_are(file: File) -> Iterator[str]:
    if not file.is_python:
        return
    defined = [node.name for node in ast.walk(file.tree) if isinstance(node, _DEFINITIONS)]
    for name in [PurePosixPath(file.path).stem, *defined]:
        if FORBIDDEN_WORDS.intersection(_words(name)):
            yield f"the name {name} says nothing"
        if _words(name)[:1] == ["process"] and name in defined:
            yield f"the name {name} hides its verb"


def spells_cancelled(file: File) -> Iterator[str]:
    if (
        file.is_python
        and not file.is_test
        and file.path not in PROTOCOL_SPELLING
        and re.search("canceled", file.text, re.IGNORECASE)
    ):
        yield "`canceled` is the protocol's spelling, and stands in accounting alone"


def is_finished(file: File) -> Iterator[str]:
    for found in UNFINISHED.finditer(file.text):
        yield f"{found[0]}: finish it, or file it"


def names_no_machine(file: File) -> Iterator[str]:
    if not file.path.startswith("tests/golden/"):
        for found in PLACES.finditer(file.text):
            yield f"{found[0]} names a place of one machine or one host"


def catches_by_type(file: File) -> Iterator[str]:
    if file.is_python and file.path not in BROAD_EXCEPT:
        for node in _broad_excepts(file.tree):
            yield f"line {node.lineno}: say which exception"


def changes_the_disk_through_a_volume(file: File) -> Iterator[str]:
    if not file.is_python or not file.is_shipped or file.path in DISK:
        return
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call) and _changes_the_disk(node):
            yield f"line {node.lineno}: ask a volume to change the disk"


def argues_its_exceptions(file: File) -> Iterator[str]:
    """Want a reason beside each silenced gate: `# noqa: CODE - why`, `# type: ignore[code]  # why`."""
    if not file.is_python:
        return
    for number, line in enumerate(file.text.splitlines(), start=1):
        noqa = re.search(r"#\s*noqa\b(.*)", line)
        ignore = re.search(r"#\s*type:\s*ignore\b(.*)", line)
        if (noqa and not re.match(r": [A-Z]+[0-9]+(, [A-Z]+[0-9]+)* - \w", noqa[1])) or (
            ignore and not re.match(r"\[[a-z, -]+\]  # \w", ignore[1])
        ):
            yield f"line {number}: a silenced gate says why"


def asserts_something(file: File) -> Iterator[str]:
    if not file.is_test or not file.is_python:
        return
    functions = {node.name: node for node in ast.walk(file.tree) if isinstance(node, ast.FunctionDef)}
    asserting = {name for name, node in functions.items() if any(map(_is_assertion, ast.walk(node)))}
    while more := {n for n, node in functions.items() if n not in asserting and asserting.intersection(_called(node))}:
        asserting |= more
    yield from (f"{name} asserts nothing" for name in functions if name.startswith("test_") and name not in asserting)


def faces_the_real_thing(file: File) -> Iterator[str]:
    if not file.is_test or not file.is_python:
        return
    for node in ast.walk(file.tree):
        match node:
            case ast.ImportFrom(module=str(module)) if module.startswith("unittest"):
                yield f"line {node.lineno}: no mocks of our own code"
            case ast.Import(names=names) if any(name.name.startswith(("unittest", "mock")) for name in names):
                yield f"line {node.lineno}: no mocks of our own code"
            case ast.Attribute(value=ast.Name(id="monkeypatch"), attr="setattr"):
                yield f"line {node.lineno}: no mocks of our own code"
            case ast.Attribute(value=ast.Name(id="time"), attr="sleep"):
                yield f"line {node.lineno}: a test does not sleep"
            case _:
                pass


RULES: Final[tuple[Rule, ...]] = (
    says_what_it_is,
    fits_one_sitting,
    names_things_by_what_they_are,
    spells_cancelled,
    is_finished,
    names_no_machine,
    catches_by_type,
    changes_the_disk_through_a_volume,
    argues_its_exceptions,
    asserts_something,
    faces_the_real_thing,
)

DOC: Final = '"""What it is."""\n'
BREACHES: Final[tuple[tuple[Rule, str, str], ...]] = (
    (says_what_it_is, "curator/a.py", "x = 1\n"),
    (fits_one_sitting, "curator/a.py", "\n" * (LINES_MAX + 1)),
    (fits_one_sitting, "tests/test_a.py", "\n" * (LINES_MAX_IN_TESTS + 1)),
    (names_things_by_what_they_are, "curator/lock_utils.py", DOC),
    (names_things_by_what_they_are, "curator/a.py", "class LockManager: ...\n"),
    (names_things_by_what_they_are, "curator/a.py", "def _job_helper(): ...\n"),
    (names_things_by_what_they_are, "curator/a.py", "def process_job(): ...\n"),
    (spells_cancelled, "curator/a.py", "state = 'canceled'\n"),
    (is_finished, "README.md", "TODO: say more\n"),
    (names_no_machine, "README.md", "see /work/main\n"),
    (names_no_machine, "README.md", "from https://pypi.org/simple\n"),
    (catches_by_type, "curator/a.py", "try: ...\nexcept Exception: ...\n"),
    (catches_by_type, "curator/a.py", "try: ...\nexcept (OSError, BaseException): ...\n"),
    (catches_by_type, "curator/a.py", "try: ...\nexcept: ...\n"),
    (catches_by_type, "curator/a.py", "with contextlib.suppress(Exception): ...\n"),
    (changes_the_disk_through_a_volume, "curator/a.py", "path.write_text('')\n"),
    (changes_the_disk_through_a_volume, "curator/a.py", "path.replace(other)\n"),
    (changes_the_disk_through_a_volume, "curator/a.py", "open(path, 'w')\n"),
    (changes_the_disk_through_a_volume, "curator/a.py", "path.open(mode='ab')\n"),
    (argues_its_exceptions, "curator/a.py", "x = 1  # noqa: S101\n"),
    (argues_its_exceptions, "curator/a.py", "x = 1  # type: ignore[arg-type]\n"),
    (asserts_something, "tests/test_a.py", "def test_a():\n    run()\n"),
    (faces_the_real_thing, "tests/test_a.py", "from unittest.mock import Mock\n"),
    (faces_the_real_thing, "tests/test_a.py", "monkeypatch.setattr(a, 'b', c)\n"),
    (faces_the_real_thing, "tests/test_a.py", "time.sleep(1)\n"),
)

CLEAN: Final[tuple[tuple[Rule, str, str], ...]] = (
    (names_things_by_what_they_are, "curator/a.py", "class Managed: ...\ndef is_utility(): ...\n"),
    (spells_cancelled, "curator/store/accounting.py", "state = 'canceled'\n"),
    (names_no_machine, "README.md", "~/work/notes and a/root/b and https://example.test/work/x\n"),
    (catches_by_type, "curator/a.py", "try: ...\nexcept BaseException:\n    undo()\n    raise\n"),
    (changes_the_disk_through_a_volume, "curator/a.py", "self._volume.rename(a, b)\nvolume.unlink(a)\n"),
    (
        changes_the_disk_through_a_volume,
        "curator/a.py",
        "text.replace('a', 'b')\nat.replace(tzinfo=UTC)\nopen(path, 'rb')\n",
    ),
    (argues_its_exceptions, "curator/a.py", "x = 1  # noqa: S101, S102 - because\n"),
    (argues_its_exceptions, "curator/a.py", "x = 1  # type: ignore[arg-type]  # because\n"),
    (asserts_something, "tests/test_a.py", "def test_a():\n    with pytest.raises(E): ...\n"),
    (asserts_something, "tests/test_a.py", "def test_a():\n    holds()\ndef holds():\n    assert x\n"),
)


# --- the tests -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_file_keeps_the_rule(rule: Rule) -> None:
    quotes = rule in {is_finished, names_no_machine, argues_its_exceptions}
    files = [file for file in tracked_files() if not (quotes and file.path == ITSELF)]

    breaches = [f"{file.path}: {breach}" for file in files for breach in rule(file)]

    assert breaches == []


@pytest.mark.parametrize(("rule", "path", "text"), BREACHES)
def test_a_planted_breach_is_found(rule: Rule, path: str, text: str) -> None:
    assert list(rule(File(path, text)))


@pytest.mark.parametrize(("rule", "path", "text"), CLEAN)
def test_what_looks_like_a_breach_passes(rule: Rule, path: str, text: str) -> None:
    assert list(rule(File(path, text))) == []


def test_every_rule_has_a_planted_breach() -> None:
    assert {rule for rule, _, _ in BREACHES} == set(RULES)


def test_the_top_level_holds_only_what_the_design_names() -> None:
    strangers = {path.split("/")[0] for path in tracked_paths()} - TOP_LEVEL

    assert sorted(name for name in strangers if not name.startswith(".")) == []


def test_the_list_of_broad_excepts_is_current() -> None:
    broad = {file.path for file in tracked_files() if file.is_python and any(_broad_excepts(file.tree))}

    assert broad == set(BROAD_EXCEPT)


def test_the_changelog_has_a_place_for_what_is_next() -> None:
    assert "## [Unreleased]" in (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines()


def test_the_readme_prints_the_machines_that_run() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    marked = re.search(r"<!-- machine:begin -->\n(.*?)<!-- machine:end -->", readme, re.DOTALL)
    if marked is None or not (ROOT / "curator/machine/__main__.py").exists():
        pytest.skip("no diagrams yet")

    printed = subprocess.run(
        [sys.executable, "-m", "curator.machine"], cwd=ROOT, check=True, capture_output=True, encoding="utf-8"
    ).stdout

    shown = marked[1].strip()
    assert printed.strip() in {shown, re.sub(r"\A```\w*\n(.*)\n```\Z", r"\1", shown, flags=re.DOTALL).strip()}


def test_every_exception_and_dependency_in_pyproject_says_why() -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)
    lint = project["tool"]["ruff"]["lint"]
    extras = project["project"]["optional-dependencies"].values()
    groups = [lint["ignore"], *lint["per-file-ignores"].values(), project["project"]["dependencies"], *extras]

    entries = {entry for group in groups for entry in group}
    rests = {entry: re.findall(rf'^ +"{re.escape(entry)}",(.*)$', text, re.MULTILINE) for entry in entries}
    unargued = [entry for entry in entries if not rests[entry] or not all(re.match(r" +# \S", x) for x in rests[entry])]

    assert unargued == []


# --- how a rule looks at a file --------------------------------------------------------------------------------------

_DEFINITIONS: Final = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def tracked_paths() -> tuple[str, ...]:
    """Every path of the product, relative and sorted."""
    git = shutil.which("git")
    if git and (ROOT / ".git").exists():
        listed = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
        if listed.returncode == 0:
            return tuple(sorted(path for path in listed.stdout.split("\0") if (ROOT / path).is_file() and path))
    found = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return tuple(
        sorted(path.as_posix() for path in found if not NOT_OURS.intersection(path.parts) and path.parts[0][0] != "."),
    )


@cache
def tracked_files() -> tuple[File, ...]:
    """Every text file of the product; what is not UTF-8 is an archive or a picture."""
    files = []
    for path in tracked_paths():
        try:
            files.append(File(path, (ROOT / path).read_text("utf-8")))
        except UnicodeDecodeError:
            continue
    return tuple(files)


@cache
def _parse(text: str) -> ast.Module:
    return ast.parse(text)


def _words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def _called(node: ast.AST) -> set[str]:
    return {call.func.id for call in ast.walk(node) if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)}


def _is_assertion(node: ast.AST) -> bool:
    match node:
        case ast.Assert() | ast.Attribute(value=ast.Name(id="pytest"), attr="raises" | "warns" | "fail"):
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name.startswith("assert_")
        case _:
            return False


def _broad_excepts(tree: ast.Module) -> Iterator[ast.ExceptHandler | ast.Call]:
    for node in ast.walk(tree):
        match node:
            case ast.ExceptHandler(body=[*_, ast.Raise(exc=None)]):
                pass  # it cleans up and raises on, so nothing is caught
            case ast.ExceptHandler(type=None):
                yield node
            case ast.ExceptHandler(type=ast.expr() as caught) if _is_broad(caught):
                yield node
            case ast.Call(func=ast.Name(id="suppress") | ast.Attribute(attr="suppress"), args=args) if any(
                map(_is_broad, args)
            ):
                yield node
            case _:
                pass


def _is_broad(caught: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id in {"Exception", "BaseException"} for node in ast.walk(caught))


def _changes_the_disk(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(value=ast.Name(id=receiver) | ast.Attribute(attr=receiver)) if receiver.endswith("volume"):
            return False  # a volume is whom to ask
        case ast.Attribute(attr="replace"):
            return (
                len(call.args) == 1 and not call.keywords
            )  # a path's; a string's has two arguments, a date's names them
        case ast.Attribute(attr=name) if name in DISK_VERBS:
            return True
        case ast.Name(id="open"):
            return _opens_to_write(call, position=1)
        case ast.Attribute(attr="open"):
            return _opens_to_write(call, position=0)
        case _:
            return False


def _opens_to_write(call: ast.Call, *, position: int) -> bool:
    modes = [*call.args[position : position + 1], *(word.value for word in call.keywords if word.arg == "mode")]
    return any(isinstance(mode, ast.Constant) and set("wax+") & set(str(mode.value)) for mode in modes)
