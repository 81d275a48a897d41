"""Admissions: intent, completion, tombstone and receipt of one job agree, and with the branch, the history, the card.

The table of interop.md 9 in this checker's own words: what may stand beside what, and which of it waits for its next step.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from curator.model.digest import digest_of
from curator.model.ids import BranchName, JobId
from curator.model.limits import PENDING_BYTES_MAX, PROJECT_FILE_BYTES_MAX, READY_BYTES_MAX
from curator.verify.finding import Finding, error, pending
from curator.verify.journal import Journal, latest
from curator.verify.revisions import find_revision, has_revision
from curator.verify.shape import Fields, differing, fields_of, text_of
from curator.verify.shapes.memory import (
    BRANCH_FILE,
    COMPLETION,
    INTENT,
    PENDING,
    READY,
    RECEIPT,
    TOMBSTONE,
    branch_digest,
)
from curator.verify.spool import closing_of, decision_of, live_job, outcome_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.durable.layout import ProjectLayout
    from curator.verify.tree import Tree

_LIMIT: Final = PROJECT_FILE_BYTES_MAX
_INTENT: Final = ".intent.json"
_COMPLETION: Final = ".complete.json"
_SAME: Final = ("requestDigest", "bindingDigest", "branchName", "expectedBranchDigest", "status", "committedAt")
_KEPT: Final = (*_SAME, "resultingBranchDigest", "messages")
"""What an intent hands on to its tombstone."""
_PROVED: Final = ("bindingDigest", "branchName", "status", "committedAt", "resultingBranchDigest", "messages")
"""What a receipt says as its tombstone, or its intent, does."""


def check_admissions(tree: Tree, project: ProjectLayout) -> Iterator[Finding]:
    """Yield what is wrong with a project's begun and finished admissions, and with its mailbox."""
    view = _Project(tree, project)
    for name in tree.names(project.admissions):
        path = project.admissions / name
        if name.endswith(_INTENT):
            yield from tree.judge(path, INTENT, _LIMIT, view.intent)
        elif name.endswith(_COMPLETION):
            yield from tree.judge(path, COMPLETION, _LIMIT, view.completion)
    for path in tree.records(project.retired):
        yield from tree.judge(path, TOMBSTONE, _LIMIT, view.tombstone)
    owners: dict[str, str] = {}
    for path in tree.records(project.receipts):
        yield from tree.judge(path, RECEIPT, _LIMIT, partial(view.receipt, owners=owners))
    for path in tree.records(project.pending):
        yield from tree.judge(path, PENDING, PENDING_BYTES_MAX, view.pending)
    for path in tree.records(project.ready):
        yield from tree.judge(path, READY, READY_BYTES_MAX, view.ready)


class _Project:
    def __init__(self, tree: Tree, layout: ProjectLayout) -> None:
        self._tree = tree
        self._layout = layout
        self._journal = Journal(tree)

    def intent(self, path: Path, intent: Fields) -> Iterator[Finding]:
        job_id = text_of(intent, "transactionId")
        if path.name != f"{job_id}{_INTENT}":
            yield error(path, "holds another job than its name says")
            return
        stone = self._find_tombstone(job_id)
        if stone is not None:
            if stone["originalIntentDigest"] != intent["intentDigest"]:
                yield error(path, "is another intent than the one that was retired")
            yield pending(path, "is retired, and not removed yet")
            return
        yield from self._source(path, job_id, intent)
        completion = self._layout.completion(JobId(job_id))
        if self._tree.stands(completion):
            yield from self._revision(path, intent)
            yield pending(path, "is complete, and waits for its receipt or its tombstone")
        else:
            yield from self._begun(path, intent)

    def _begun(self, path: Path, intent: Fields) -> Iterator[Finding]:
        """Judge an intent that is not complete: memory stands where it began, or where it leads."""
        if self._tree.stands(self._layout.receipt(JobId(text_of(intent, "transactionId")))):
            yield error(path, "has a receipt, and was never completed")
        name = text_of(intent, "branchName")
        branch = self._tree.find(self._layout.branch(BranchName(name)), BRANCH_FILE, _LIMIT)
        stands = None if branch is None else branch_digest(branch, name)
        expected, resulting = intent["expectedBranchDigest"], intent["resultingBranchDigest"]
        revision = text_of(fields_of(fields_of(intent, "revision"), "record"), "id")
        if stands not in (expected, resulting):
            yield error(path, "is begun, and memory stands neither where it began nor where it leads")
        elif stands == expected != resulting and revision and has_revision(self._tree, self._layout, name, revision):
            yield error(path, "is begun, and its revision stands before its branch")
        else:
            yield pending(path, "is begun: the next reader rolls it forward")

    def _source(self, path: Path, job_id: str, intent: Fields) -> Iterator[Finding]:
        """Compare an intent with the decision that it carries out."""
        decision = decision_of(self._tree, job_id)
        if decision is None:
            if live_job(self._tree, job_id) is not None and outcome_of(self._tree, job_id) is None:
                yield error(path, "changes memory for a job that has no decision")
            else:
                yield pending(path, "has no decision any more: its receipt cannot be made")
            return
        job, outcome = fields_of(decision, "job"), fields_of(decision, "outcome")
        if "bindingDigest" not in intent:
            return
        if intent["requestDigest"] != _request_digest(job, outcome, intent):
            yield error(path, "carries out something else than the job's decision")
        steps = self._journal.find(text_of(decision, "attemptId"), text_of(outcome, "completedAt")[:10])
        base = None if steps is None else latest(steps).get("baseBranchDigest")
        if intent["expectedBranchDigest"] not in (base, job["baseBranchDigest"]):
            yield error(path, "begins at another branch state than its attempt judged")

    def _revision(self, path: Path, intent: Fields) -> Iterator[Finding]:
        intended = fields_of(intent, "revision")
        if not intended:
            return
        name = text_of(intent, "branchName")
        record = fields_of(intended, "record")
        found = find_revision(self._tree, self._layout, name, text_of(record, "id"))
        if found is None and not has_revision(self._tree, self._layout, name, text_of(record, "id")):
            yield error(path, "is complete, and its revision is not there")
        elif found is not None and found != record:
            yield error(path, "is complete, and its revision says something else")

    def completion(self, path: Path, completion: Fields) -> Iterator[Finding]:
        job_id = text_of(completion, "transactionId")
        if path.name != f"{job_id}{_COMPLETION}":
            yield error(path, "holds another job than its name says")
            return
        intent = self._tree.find(self._layout.intent(JobId(job_id)), INTENT, _LIMIT)
        stone = self._find_tombstone(job_id)
        wanted = text_of(intent, "intentDigest") if intent else text_of(stone or {}, "originalIntentDigest")
        if intent is None and stone is None:
            if not self._tree.stands(self._layout.intent(JobId(job_id))):
                yield error(path, "completes an intent of which nothing stands")
        elif completion["intentDigest"] != wanted:
            yield error(path, "completes another intent")
        elif intent is None:
            yield pending(path, "is retired, and not removed yet")

    def tombstone(self, path: Path, stone: Fields) -> Iterator[Finding]:
        job_id = text_of(stone, "transactionId")
        if path.stem != job_id:
            yield error(path, "holds another job than its name says")
            return
        yield from self._led_to(path, stone)
        if "bindingDigest" not in stone:
            return
        receipt = self._layout.receipt(JobId(job_id))
        if not self._tree.stands(receipt):
            yield error(path, "has lost its receipt: curator can make it anew from here")
        decision = decision_of(self._tree, job_id)
        if decision is not None:
            wanted = _request_digest(fields_of(decision, "job"), fields_of(decision, "outcome"), stone)
            if stone["requestDigest"] != wanted:
                yield error(path, "carried out something else than the job's decision")

    def receipt(self, path: Path, receipt: Fields, owners: dict[str, str]) -> Iterator[Finding]:
        job_id = text_of(receipt, "proposalId")
        if path.stem != job_id:
            yield error(path, "holds another job than its name says")
            return
        if receipt["projectKey"] != self._layout.root.name:
            yield error(path, "is of another project than its folder")
        yield from self._led_to(path, receipt)
        revision = text_of(receipt, "revisionId")
        if revision and owners.setdefault(revision, job_id) != job_id:
            yield error(path, "claims a revision that another job's receipt claims")
        yield from self._proved(path, receipt)
        decision, outcome = decision_of(self._tree, job_id), outcome_of(self._tree, job_id)
        for of, said in (("decision", decision and fields_of(decision, "outcome")), ("outcome", outcome)):
            if not said or said["status"] != "completed":
                continue
            if said["jobDigest"] != receipt["jobDigest"]:
                yield error(path, f"is of another job than the {of} of its id")
            elif digest_of(said) != receipt["outcomeDigest"]:
                yield error(path, f"proves something else than the job's {of}")

    def _proved(self, path: Path, receipt: Fields) -> Iterator[Finding]:
        """Compare a receipt with what it is made from."""
        job_id = JobId(path.stem)
        stone, intent = self._find_tombstone(job_id), self._tree.find(self._layout.intent(job_id), INTENT, _LIMIT)
        source = stone or intent
        if source is None:
            return
        key = differing(receipt, source, _PROVED)
        if key is not None:
            yield error(path, f"has another {key} than the admission that it proves")
        record = fields_of(fields_of(source, "revision"), "record")
        if receipt.get("revisionId") != (stone.get("revisionId") if stone else record.get("id")):
            yield error(path, "names another revision than the admission that it proves")
        if stone is not None and intent is not None and differing(stone, intent, _KEPT) is not None:
            yield error(self._layout.tombstone(job_id), "says something else than its intent")

    def _led_to(self, path: Path, done: Fields) -> Iterator[Finding]:
        """Follow what was applied to its revision, which never goes."""
        revision_id, name = text_of(done, "revisionId"), text_of(done, "branchName")
        if not revision_id:
            return
        revision = find_revision(self._tree, self._layout, name, revision_id)
        if revision is None:
            if not has_revision(self._tree, self._layout, name, revision_id):
                yield error(path, "names a revision that is not there")
            return
        led = (revision["afterDigest"], revision["committedAt"], revision["kind"])
        if led != (done["resultingBranchDigest"], done["committedAt"], "review"):
            yield error(path, "names a revision that leads elsewhere")
        elif "expectedBranchDigest" in done and revision["beforeDigest"] != done["expectedBranchDigest"]:
            yield error(path, "names a revision that began elsewhere")

    def _find_tombstone(self, job_id: str) -> Fields | None:
        return self._tree.find(self._layout.tombstone(JobId(job_id)), TOMBSTONE, _LIMIT)

    # The mailbox.

    def pending(self, path: Path, waits: Fields) -> Iterator[Finding]:
        if path.stem != waits["jobId"]:
            yield error(path, "holds another job than its name says")

    def ready(self, path: Path, card: Fields) -> Iterator[Finding]:
        job_id = JobId(text_of(card, "jobId"))
        if path.stem != job_id:
            yield error(path, "holds another job than its name says")
            return
        waits = self._tree.find(self._layout.pending / path.name, PENDING, PENDING_BYTES_MAX)
        if waits is None:
            yield pending(path, "is waited for by nobody any more")
        elif waits["jobDigest"] != card["jobDigest"] or waits.get("requestedBy") != card.get("requestedBy"):
            yield error(path, "answers something else than is waited for")
        receipt = self._tree.find(self._layout.receipt(job_id), RECEIPT, _LIMIT)
        outcome = outcome_of(self._tree, job_id)
        if card["status"] == "failed":
            is_same = outcome is not None and outcome["jobDigest"] == card["jobDigest"]
            if is_same and outcome is not None and outcome["status"] == "completed":
                yield error(path, "says that the job failed, and its outcome that it did not")
        elif receipt is not None:
            if (receipt["status"], receipt["jobDigest"]) != (card["status"], card["jobDigest"]):
                yield error(path, "says something else than the receipt")
        elif not self._is_begun(job_id):
            yield error(path, "tells of an admission of which nothing stands")

    def _is_begun(self, job_id: JobId) -> bool:
        layout = self._layout
        names = (layout.intent(job_id), layout.tombstone(job_id), layout.receipt(job_id))
        return any(map(self._tree.stands, names)) or closing_of(self._tree, job_id) is not None


def _request_digest(job: Fields, outcome: Fields, admission: Fields) -> str:
    """Return the digest by which the same admission is known again, always by the job's own base (interop.md 2.2)."""
    return digest_of(
        {
            "transactionId": job["id"],
            "branchName": fields_of(job, "branch")["name"],
            "expectedBranchDigest": job["baseBranchDigest"],
            "bindingDigest": admission["bindingDigest"],
            "operations": outcome["operations"],
        }
    )
