"""The import contracts bite: a planted breach fails the lint. At run time a nested lock raises as well."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from curator.durable.lock import NestedLockError, kernel_domain, protocol_domain

ROOT = Path(__file__).resolve().parent.parent

BREACHES = {
    "a store that reaches into another lock domain": ("curator/store/bases.py", "curator.store.attempts"),
    "a store that reaches up into the path of a job": ("curator/store/finished.py", "curator.workflow.claim"),
    "rules that ask the clock": ("curator/admission/apply.py", "time"),
    "a second door to the lock library": ("curator/store/jobs.py", "filelock"),
}


def lint(tree: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=100, check=False)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("tree")
    for folder in ("curator", "service"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    return copy


def test_the_contracts_hold(tree: Path) -> None:
    shown = lint(tree)

    assert shown.returncode == 0, shown.stdout


@pytest.mark.parametrize("breach", BREACHES)
def test_a_planted_breach_fails(breach: str, tree: Path) -> None:
    file, module = BREACHES[breach]
    path = tree / file
    text = path.read_text("utf-8")
    path.write_text(f"{text}\nimport {module}\n", "utf-8")
    try:
        shown = lint(tree)
    finally:
        path.write_text(text, "utf-8")

    assert shown.returncode == 1
    assert "BROKEN" in shown.stdout


def test_a_nested_lock_raises_at_run_time(tmp_path: Path) -> None:
    outer, inner = protocol_domain("spool", tmp_path / "a"), kernel_domain("attempts", tmp_path / "b")

    with outer.hold(), pytest.raises(NestedLockError, match="attempts lock was asked for inside the spool lock"):
        inner.hold().__enter__()

    with inner.hold():
        assert True
