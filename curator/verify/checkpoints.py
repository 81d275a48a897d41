"""What providers said, what was elected, and ours beside it: evidence, bases, acceptance (interop.md 6)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from curator.model.digest import digest_of_text
from curator.model.ids import AttemptId, JobId
from curator.model.limits import CHECKPOINT_BYTES_MAX, IDENTITY_BYTES_MAX, JOURNAL_BYTES_MAX, PUBLISHED_BYTES_MAX
from curator.verify.finding import Finding, error, pending
from curator.verify.journal import Journal, latest
from curator.verify.shape import Fields, fields_of, items_of, number_of, objects_of, text_of
from curator.verify.shapes.jobs import ACCEPTANCE, DECISION, EVIDENCE, RESULT
from curator.verify.shapes.memory import BASE
from curator.verify.spool import acceptance_of, closing_of, decision_of, is_over, live_job, outcome_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.verify.tree import Tree


def check_checkpoints(tree: Tree) -> Iterator[Finding]:
    """Yield what is wrong with results, decisions, evidence, bases and acceptance records."""
    layout, journal = tree.layout, Journal(tree)
    for job_id in tree.names(layout.results):
        for path in tree.records(layout.results / job_id):
            yield from tree.judge(path, RESULT, CHECKPOINT_BYTES_MAX, partial(_result, tree, journal))
    for path in tree.records(layout.decisions):
        yield from tree.judge(path, DECISION, CHECKPOINT_BYTES_MAX, partial(_decision, tree, journal))
    for shard in tree.names(layout.evidence):
        for path in tree.records(layout.evidence / shard):
            yield from tree.judge(path, EVIDENCE, JOURNAL_BYTES_MAX, partial(_evidence, tree))
    for job_id in tree.names(layout.bases):
        for path in tree.records(layout.bases / job_id):
            yield from tree.judge(path, BASE, PUBLISHED_BYTES_MAX, partial(_base, tree))
    for path in tree.records(layout.jobs):
        yield from tree.judge(path, ACCEPTANCE, IDENTITY_BYTES_MAX, partial(_accepted, tree))


def result_of(tree: Tree, job_id: str, attempt_id: str) -> Fields | None:
    """Return one attempt's checkpoint."""
    return tree.find(tree.layout.results / job_id / f"{attempt_id}.json", RESULT, CHECKPOINT_BYTES_MAX)


def _result(tree: Tree, journal: Journal, path: Path, result: Fields) -> Iterator[Finding]:
    job = fields_of(result, "job")
    if (path.parent.name, path.stem) != (job["id"], result["attemptId"]):
        yield error(path, "holds another attempt than its name says")
        return
    decision = decision_of(tree, path.parent.name)
    if decision is not None and fields_of(decision, "job")["digest"] != job["digest"]:
        yield error(path, "is of another job than the decision of its id")
    provenance = fields_of(fields_of(result, "outcome"), "provenance")
    evidence = tree.layout.evidence_of(JobId(path.parent.name), AttemptId(path.stem))
    # Evidence is ours alone: so the attempt is, and its journal never goes.
    is_ours = bool(provenance) and tree.stands(evidence) and journal.is_whole()
    if is_ours and journal.find(path.stem, text_of(provenance, "startedAt")[:10]) is None:
        yield error(path, "is of an attempt of curator that its journal does not know")


def _decision(tree: Tree, journal: Journal, path: Path, decision: Fields) -> Iterator[Finding]:
    job, outcome, attempt_id = (
        fields_of(decision, "job"),
        fields_of(decision, "outcome"),
        text_of(decision, "attemptId"),
    )
    if path.stem != job["id"]:
        yield error(path, "holds another job than its name says")
        return
    result = result_of(tree, path.stem, attempt_id)
    if result is not None and (result["outcome"], result["job"]) != (outcome, job):
        yield error(path, "says something else than its attempt's result")
    live = live_job(tree, path.stem)
    if result is None and live is not None and live["digest"] == job["digest"] and not is_over(tree, path.stem):
        yield error(path, "was elected, and the result that it was elected from is not there")
    steps = journal.find(attempt_id, text_of(fields_of(outcome, "provenance"), "startedAt")[:10])
    if steps is None:
        return
    match text_of(latest(steps), "state"):
        case "cancelled" | "reserved":
            yield error(path, "was elected from an attempt that was never sent")
        case "dispatched":
            yield pending(path, "was elected from an attempt that is not settled yet")
        case _:
            pass


def _evidence(tree: Tree, path: Path, evidence: Fields) -> Iterator[Finding]:
    job_id, attempt_id = text_of(evidence, "jobId"), text_of(evidence, "attemptId")
    if path != tree.layout.evidence_of(JobId(job_id), AttemptId(attempt_id)):
        yield error(path, "holds another attempt than its name says")
        return
    result = result_of(tree, job_id, attempt_id)
    if result is None:
        yield pending(path, "has no result beside it: not yet, or no more")
        return
    job = fields_of(result, "job")
    if job["digest"] != evidence["jobDigest"]:
        yield error(path, "is of another job than its result")
        return
    operations = items_of(fields_of(result, "outcome"), "operations")
    transcript = text_of(job, "transcript").encode("utf-16-le", "surrogatepass")
    for span in objects_of(evidence, "spans"):
        start, end = number_of(span, "start") * 2, number_of(span, "end") * 2
        if number_of(span, "operation") >= len(operations):
            yield error(path, "supports an operation that its result does not have")
        elif not start < end <= len(transcript):
            yield error(path, "points outside its transcript")
        elif digest_of_text(transcript[start:end].decode("utf-16-le", "surrogatepass")) != span["digest"]:
            yield error(path, "points at other words than were quoted")


def _base(tree: Tree, path: Path, base: Fields) -> Iterator[Finding]:
    if (path.parent.name, path.stem) != (base["jobId"], base["baseBranchDigest"]):
        yield error(path, "holds another base than its name says")
        return
    acceptance = acceptance_of(tree, path.parent.name)
    if acceptance is not None and acceptance["jobDigest"] != base["jobDigest"]:
        yield error(path, "is of another job than was accepted")
    live = live_job(tree, path.parent.name)
    if live is None or live["digest"] != base["jobDigest"]:
        return
    if fields_of(base, "branch")["name"] != fields_of(live, "branch")["name"]:
        yield error(path, "is of another branch than its job")


def _accepted(tree: Tree, path: Path, acceptance: Fields) -> Iterator[Finding]:
    if path.stem != acceptance["jobId"]:
        yield error(path, "holds another job than its name says")
    closing, outcome = closing_of(tree, path.stem), outcome_of(tree, path.stem)
    if closing is not None:
        if closing["jobDigest"] != acceptance["jobDigest"]:
            yield error(path, "is of another job than the closing record of its id")
        elif closing["authority"] != acceptance["authority"]:
            yield error(path, "names another authority than the closing record")
    live = live_job(tree, path.stem)
    if live is not None and outcome is None and live["digest"] != acceptance["jobDigest"]:
        yield pending(path, "is of another job than the one that waits under its id: that one is set aside")
