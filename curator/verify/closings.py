"""Closing records: what is left of a job that is over, beside whatever still tells of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from curator.model.ids import ProjectKey
from curator.model.limits import CLOSING_BYTES_MAX, PROJECT_FILE_BYTES_MAX
from curator.verify.finding import Finding, error, pending
from curator.verify.journal import Journal, Steps, latest
from curator.verify.revisions import find_revision
from curator.verify.shape import Fields, fields_of, items_of, objects_of, text_of
from curator.verify.shapes.jobs import CLOSING
from curator.verify.shapes.memory import RECEIPT
from curator.verify.spool import decision_of, live_job, outcome_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.model.digest import Json
    from curator.verify.tree import Tree

_LATER: Final = {
    "reserved": {"reserved", "dispatched", "settled", "unknown", "cancelled", "corrected"},
    "dispatched": {"dispatched", "settled", "unknown", "corrected"},
    "unknown": {"unknown", "corrected"},
    "settled": {"settled", "corrected"},
    "cancelled": {"cancelled"},
}
"""Where an attempt may have got to since its job was closed."""


def check_closings(tree: Tree) -> Iterator[Finding]:
    """Yield what is wrong with closing records."""
    journal = Journal(tree)
    is_whole = journal.is_whole()
    for shard in tree.names(tree.layout.finished):
        for path in tree.records(tree.layout.finished / shard):
            yield from tree.judge(
                path,
                CLOSING,
                CLOSING_BYTES_MAX,
                partial(_closing, tree, journal if is_whole else None),
            )


def _closing(tree: Tree, journal: Journal | None, path: Path, closing: Fields) -> Iterator[Finding]:
    job_id = text_of(closing, "jobId")
    if path.stem != job_id or path.parent.name != job_id.removeprefix("review_")[:2]:
        yield error(path, "holds another job than its name says")
        return
    outcome = outcome_of(tree, job_id)
    if outcome is not None:
        yield from _outcome(path, closing, outcome)
    yield from _job(tree, path, closing)
    yield from _receipt(tree, path, closing)
    hint = text_of(closing, "finishedAt")[:10]
    for attempt in objects_of(closing, "attempts") if journal is not None else ():
        attempt_id = text_of(attempt, "id")
        steps = None if journal is None else journal.find(attempt_id, hint)
        if steps is None:
            yield error(path, f"counts {attempt_id}, which the journal does not know")
        else:
            yield from _attempt(path, closing, attempt, steps)


def _outcome(path: Path, closing: Fields, outcome: Fields) -> Iterator[Finding]:
    if outcome["jobDigest"] != closing["jobDigest"]:
        yield error(path, "is of another job than the outcome of its id")
        return
    provenance = fields_of(outcome, "provenance")
    facts = {
        "finishedAt": outcome["completedAt"],
        "failureCode": fields_of(outcome, "error").get("code"),
        "provider": provenance.get("provider"),
        "model": provenance.get("model"),
    }
    for key, wanted in facts.items():
        if closing.get(key) != wanted:
            yield error(path, f"has another {key} than the outcome")
    if (closing["status"] == "failed") != (outcome["status"] == "failed"):
        yield error(path, "has another status than the outcome")


def _job(tree: Tree, path: Path, closing: Fields) -> Iterator[Finding]:
    decision = decision_of(tree, path.stem)
    if decision is not None:
        job = fields_of(decision, "job")
        facts = {
            "jobDigest": job["digest"],
            "projectKey": job["projectKey"],
            "sessionKey": job["sessionKey"],
            "branchName": fields_of(job, "branch")["name"],
        }
        for key, wanted in facts.items():
            if closing[key] != wanted:
                yield error(path, f"has another {key} than the decision's job")
        yield from _newer(path, closing, {"throughEntryId": job["throughEntryId"], "generation": job.get("generation")})
        yield from _newer(path, closing, {"elected": decision["attemptId"]})
    live = live_job(tree, path.stem)
    if live is not None and outcome_of(tree, path.stem) is None and live["digest"] != closing["jobDigest"]:
        yield pending(path, "is of another job than the one that waits under its id: that one is set aside")


def _receipt(tree: Tree, path: Path, closing: Fields) -> Iterator[Finding]:
    key = ProjectKey(text_of(closing, "projectKey"))
    layout = tree.layout.shadow_project(key) if closing["authority"] == "shadow" else tree.layout.project(key)
    receipt = tree.find(layout.receipts / path.name, RECEIPT, PROJECT_FILE_BYTES_MAX)
    # A job may have failed in its last step although it was admitted, by the other worker's rules (W12).
    if receipt is None or closing["status"] == "failed":
        return
    if receipt["jobDigest"] != closing["jobDigest"]:
        yield error(path, "is of another job than the receipt of its id")
        return
    if receipt["status"] != closing["status"]:
        yield error(path, "has another status than the receipt")
        return
    yield from _newer(path, closing, {"revisionId": receipt.get("revisionId")})
    if "revisionId" in receipt:
        revision = find_revision(tree, layout, text_of(receipt, "branchName"), text_of(receipt, "revisionId"))
        if revision is not None:
            touched = [change["entryId"] for change in objects_of(revision, "changes")]
            if items_of(closing, "entryIds") != touched:
                yield error(path, "names other entries than the job's revision")
            if not {text_of(span, "entryId") for span in objects_of(closing, "spans")}.issubset(touched):
                yield error(path, "has a quote for an entry that the job's revision does not touch")


def _newer(path: Path, closing: Fields, facts: dict[str, Json]) -> Iterator[Finding]:
    """Compare what earlier releases did not keep: it may be missing, and is never another."""
    for key, wanted in facts.items():
        if key in closing and closing[key] != wanted:
            yield error(path, f"has another {key} than the record that it was taken from")


def _attempt(path: Path, closing: Fields, attempt: Fields, steps: Steps) -> Iterator[Finding]:
    last = latest(steps)
    state, now = text_of(attempt, "state"), text_of(last, "state")
    if text_of(last, "jobId") not in ("", closing["jobId"]) or last["jobDigest"] != closing["jobDigest"]:
        yield error(path, f"counts {attempt['id']}, which is of another job")
    elif now not in _LATER[state]:
        yield error(path, f"counts {attempt['id']} as {state}, and the journal as {now}")
    elif state == "settled" and now in ("settled", "corrected"):
        charged = (last["chargedTokens"], last["chargedCostNanousd"])
        if (attempt["tokens"], attempt["costNanousd"]) != charged:
            yield error(path, f"counts {attempt['id']} at another price than the journal")
    elif state in ("reserved", "dispatched", "unknown"):
        held = (last["holdTokens"], last["holdCostNanousd"])
        if (attempt["tokens"], attempt["costNanousd"]) != held:
            yield error(path, f"counts {attempt['id']} at another price than its hold")
