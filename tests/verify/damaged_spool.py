"""Single corruptions of the spool, each with the fact by which the checker must know it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curator.model.digest import digest_of
from tests.verify.damage import TOKEN, ZERO, Damage, copy, rename, spool
from tests.verify.scene import Scene, change, inner, put, read, write

if TYPE_CHECKING:
    from pathlib import Path


def _queued(scene: Scene) -> Path:
    return spool(scene, "queued", "queued")


def _twice_queued(scene: Scene) -> None:
    """Let another job stand in the queue under the id of one that is over."""
    job = inner(read(scene.result("applied")), "job")
    assert isinstance(job, dict)
    job |= {"transcript": "USER: something else"}
    job["digest"] = digest_of({key: item for key, item in job.items() if key not in ("id", "digest")})
    write(spool(scene, "queued", "applied"), {"version": 1, "job": job, "nextAttempt": 1})


def _other_claim(scene: Scene) -> None:
    job = inner(read(scene.result("applied")), "job")
    running = read(spool(scene, "running", "running")) | {"job": job, "attempt": 1, "leaseToken": TOKEN}
    write(spool(scene, "running", "applied"), running)


def _make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir(0o700)


def _make_symlink(path: Path, target: Path) -> None:
    path.rename(target)
    path.symlink_to(target)


SPOOL: Final = (
    Damage("a torn queue record", "not JSON", lambda s: _queued(s).write_text('{"version":1,')),
    Damage("an empty queue record", "is empty", lambda s: _queued(s).write_text("")),
    Damage("an unknown key", "may not have", lambda s: change(_queued(s), extra=1)),
    Damage(
        "a changed transcript",
        "digest that is not",
        lambda s: put(_queued(s), "job", "transcript", value="USER: x"),
    ),
    Damage(
        "a queue record renamed",
        "than its name says",
        lambda s: rename(_queued(s)),
    ),
    Damage(
        "a name of no job",
        "is no job's name",
        lambda s: copy(_queued(s), s.layout.queued / "x.json"),
    ),
    Damage("two jobs of one id", "than the one of its id in outcomes", _twice_queued),
    Damage(
        "a lease that ends first",
        "ends before it begins",
        lambda s: change(spool(s, "running", "running"), leaseUntil="2020-01-01T00:00:00.000Z"),
    ),
    Damage("a claim beside another's outcome", "than the one whose outcome stands", _other_claim),
    Damage(
        "a claim without acceptance",
        "acceptance record is not there",
        lambda s: (s.layout.jobs / s.name("running")).unlink(),
    ),
    Damage(
        "an outcome of other words",
        "than the job's decision",
        lambda s: put(spool(s, "outcomes", "applied"), "outcome", "operations", 0, "importance", value="high"),
    ),
    Damage(
        "an outcome of another job",
        "of another job",
        lambda s: put(spool(s, "outcomes", "failed"), "outcome", "jobDigest", value=ZERO),
    ),
    Damage(
        "a held record that is a folder",
        "is not a regular file",
        lambda s: _make_folder(s.layout.held / s.name("held")),
    ),
    Damage(
        "a queue record behind a symlink",
        "is a symlink",
        lambda s: _make_symlink(_queued(s), s.agent / "x"),
    ),
)
