"""The spool: who owns a job, and that nobody owns it twice (interop.md 4.4 and 4.5)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from curator.model.limits import (
    CHECKPOINT_BYTES_MAX,
    CLOSING_BYTES_MAX,
    DEAD_LETTER_BYTES_MAX,
    IDENTITY_BYTES_MAX,
    OUTCOME_RECORD_BYTES_MAX,
    QUEUED_BYTES_MAX,
    RUNNING_BYTES_MAX,
)
from curator.verify.finding import Finding, error, pending
from curator.verify.shape import Fields, differing, fields_of, text_of
from curator.verify.shapes.jobs import ACCEPTANCE, CLOSING, DEAD_LETTER, DECISION, FINISHED, QUEUED, RUNNING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.verify.tree import Tree

OURS: Final = "curator:"
"""How every worker id of ours begins."""


def check_spool(tree: Tree) -> Iterator[Finding]:
    """Yield what is wrong in queued, running, held, outcomes and the dead letters."""
    layout = tree.layout
    for path in tree.records(layout.queued):
        yield from tree.judge(path, QUEUED, QUEUED_BYTES_MAX, partial(_waiting, tree))
    for path in tree.records(layout.held):
        yield from tree.judge(path, QUEUED, QUEUED_BYTES_MAX, partial(_held, tree))
    for path in tree.records(layout.running):
        yield from tree.judge(path, RUNNING, RUNNING_BYTES_MAX, partial(_running, tree))
    for path in tree.records(layout.outcomes):
        yield from tree.judge(path, FINISHED, OUTCOME_RECORD_BYTES_MAX, partial(_over, tree))
    for path in tree.records(layout.dead_letter):
        yield from tree.judge(path, DEAD_LETTER, DEAD_LETTER_BYTES_MAX, _dead)


def live_job(tree: Tree, job_id: str) -> Fields | None:
    """Return a job that is not over: from running, else from queued, else from held."""
    layout, name = tree.layout, f"{job_id}.json"
    found = (
        tree.find(layout.running / name, RUNNING, RUNNING_BYTES_MAX)
        or tree.find(layout.queued / name, QUEUED, QUEUED_BYTES_MAX)
        or tree.find(layout.held / name, QUEUED, QUEUED_BYTES_MAX)
    )
    return None if found is None else fields_of(found, "job")


def outcome_of(tree: Tree, job_id: str) -> Fields | None:
    """Return the outcome that the spool keeps of a job."""
    over = tree.find(tree.layout.outcomes / f"{job_id}.json", FINISHED, OUTCOME_RECORD_BYTES_MAX)
    return None if over is None else fields_of(over, "outcome")


def closing_of(tree: Tree, job_id: str) -> Fields | None:
    """Return a job's closing record."""
    shard = job_id.removeprefix("review_")[:2]
    return tree.find(tree.layout.finished / shard / f"{job_id}.json", CLOSING, CLOSING_BYTES_MAX)


def acceptance_of(tree: Tree, job_id: str) -> Fields | None:
    """Return a job's acceptance record."""
    return tree.find(tree.layout.jobs / f"{job_id}.json", ACCEPTANCE, IDENTITY_BYTES_MAX)


def decision_of(tree: Tree, job_id: str) -> Fields | None:
    """Return a job's decision."""
    return tree.find(tree.layout.decisions / f"{job_id}.json", DECISION, CHECKPOINT_BYTES_MAX)


def is_over(tree: Tree, job_id: str) -> bool:
    """Tell whether a job's end stands: its outcome, or the closing record that outlives it."""
    return outcome_of(tree, job_id) is not None or closing_of(tree, job_id) is not None


def _named(path: Path, job_id: str) -> Iterator[Finding]:
    if path.stem != job_id:
        yield error(path, "holds another job than its name says")


def _waiting(tree: Tree, path: Path, queued: Fields) -> Iterator[Finding]:
    job = fields_of(queued, "job")
    yield from _named(path, text_of(job, "id"))
    yield from _beside(tree, path, job)
    if outcome_of(tree, text_of(job, "id")) is None and closing_of(tree, text_of(job, "id")) is not None:
        yield pending(path, "is of a job that is over: its next claim answers it from the closing record")


def _held(tree: Tree, path: Path, held: Fields) -> Iterator[Finding]:
    job = fields_of(held, "job")
    yield from _named(path, text_of(job, "id"))
    for folder in (tree.layout.queued, tree.layout.running, tree.layout.outcomes):
        if tree.stands(folder / path.name):
            yield pending(path, f"is held, and stands in {folder.name} too: recovery keeps one")


def _running(tree: Tree, path: Path, running: Fields) -> Iterator[Finding]:
    job = fields_of(running, "job")
    yield from _named(path, text_of(job, "id"))
    yield from _beside(tree, path, job)
    over = tree.find(tree.layout.outcomes / path.name, FINISHED, OUTCOME_RECORD_BYTES_MAX)
    is_same_job = over is not None and fields_of(over, "outcome")["jobDigest"] == job["digest"]
    if over is not None and is_same_job and differing(over, running, ("attempt", "leaseToken")) is not None:
        yield error(path, "is another claim than the one whose outcome stands")
    if not text_of(running, "workerId").startswith(OURS):
        return
    acceptance = acceptance_of(tree, path.stem)
    if acceptance is None and not tree.stands(tree.layout.jobs / path.name):
        yield error(path, "was claimed by curator, and its acceptance record is not there")
    elif acceptance is not None and acceptance["jobDigest"] != job["digest"]:
        yield error(path, "was claimed by curator as another job than was accepted")


def _beside(tree: Tree, path: Path, job: Fields) -> Iterator[Finding]:
    """Compare a job with what stands of it further on in the spool."""
    layout = tree.layout
    if path.parent == layout.queued:
        running = tree.find(layout.running / path.name, RUNNING, RUNNING_BYTES_MAX)
        if running is not None:
            yield _twice(path, job["digest"] == fields_of(running, "job")["digest"], "running")
    outcome = outcome_of(tree, path.stem)
    if outcome is not None:
        yield _twice(path, job["digest"] == outcome["jobDigest"], "outcomes")


def _twice(path: Path, is_same: bool, where: str) -> Finding:  # noqa: FBT001 - one of two sentences
    if is_same:
        return pending(path, f"stands in {where} too: recovery keeps one")
    return error(path, f"is another job than the one of its id in {where}")


def _over(tree: Tree, path: Path, over: Fields) -> Iterator[Finding]:
    outcome = fields_of(over, "outcome")
    yield from _named(path, text_of(outcome, "jobId"))
    decision = decision_of(tree, path.stem)
    if decision is not None:
        if fields_of(decision, "job")["digest"] != outcome["jobDigest"]:
            yield error(path, "is of another job than the decision of its id")
        elif outcome["status"] == "completed" and decision["outcome"] != outcome:
            yield error(path, "says something else than the job's decision")
    acceptance = acceptance_of(tree, path.stem)
    if not text_of(over, "workerId").startswith(OURS):
        return
    if acceptance is not None and acceptance["jobDigest"] != outcome["jobDigest"]:
        yield error(path, "is curator's, of another job than was accepted")
    if closing_of(tree, path.stem) is None:
        yield pending(path, "has no closing record yet")


def _dead(path: Path, dead: Fields) -> Iterator[Finding]:
    job = fields_of(dead, "job")
    if not path.name.startswith(f"{text_of(job, 'id')}.{text_of(job, 'digest')[:12]}."):
        yield error(path, "holds another job than its name says")
    if dead["existingDigest"] == job["digest"]:
        yield error(path, "is said to conflict with itself")
