"""How one record of a whole folder is damaged, and where the records of its jobs stand."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.verify.scene import Scene

ZERO: Final = "0" * 64
TOKEN: Final = "0" * 32
NOBODY: Final = f"review_{'0' * 40}.json"


class Damage(NamedTuple):
    """What is done, and what must be said of it."""

    name: str
    fact: str
    plant: Callable[[Scene], object]


def spool(scene: Scene, folder: str, job: str) -> Path:
    """Where a job stands in the spool."""
    return scene.layout.spool / folder / scene.name(job)


def project(scene: Scene, *parts: str) -> Path:
    """Where something of the first project stands."""
    return scene.layout.project(scene.key).root.joinpath(*parts)


def receipt(scene: Scene, job: str = "applied") -> Path:
    """Where a job's receipt stands."""
    return project(scene, "service", "commit-receipts", scene.name(job))


def tombstone(scene: Scene, job: str = "applied") -> Path:
    """Where a job's tombstone stands."""
    return project(scene, "review-admissions", "retired", scene.name(job))


def ready(scene: Scene, job: str = "applied") -> Path:
    """Where a job's card stands."""
    return project(scene, "service", "review-feedback", "ready", scene.name(job))


def decision(scene: Scene, job: str = "applied") -> Path:
    """Where a job's decision stands."""
    return scene.layout.decisions / scene.name(job)


def rename(path: Path, name: str = NOBODY) -> None:
    """Give a file another name in its folder."""
    path.rename(path.with_name(name))


def copy(path: Path, target: Path) -> None:
    """Let a file stand elsewhere too."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    shutil.copy2(path, target)


def drop(scene: Scene, job: str, *steps: int) -> None:
    """Remove steps of a job's last attempt from the journal."""
    for step in steps:
        scene.step(job, step).unlink()
