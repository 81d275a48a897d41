"""Plans of old sessions: each is what its id says, and what was answered, staged and promoted belongs together.

A window's proposal and answer may have gone by their age; a promotion, its snapshot and the revision that it made stay.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from curator.model.digest import digest_of
from curator.model.ids import BranchName, ProjectKey
from curator.model.limits import CHECKPOINT_BYTES_MAX, JOURNAL_BYTES_MAX, PLAN_BYTES_MAX, PROJECT_FILE_BYTES_MAX
from curator.verify.finding import Finding, error, pending
from curator.verify.journal import Journal, latest
from curator.verify.revisions import find_revision
from curator.verify.shape import Fields, Shape, fields_of, matching, number_of, objects_of, one, text_of
from curator.verify.shapes.common import ATTEMPT_ID, BRANCH_NAME, DAY, DIGEST, ONE, PROJECT_KEY, REVISION_ID
from curator.verify.shapes.memory import BRANCH_FILE, branch_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from curator.durable.layout import ProjectLayout
    from curator.verify.shape import Rule
    from curator.verify.tree import Tree

Check: TypeAlias = "Callable[[Path, Fields], Iterator[Finding]]"
_PLAN: Final = re.compile(r"plan_[0-9a-f]{16}")
_ID: Final = matching(_PLAN, "a plan's id")


def _kind(name: str, **more: Rule) -> Shape:
    """Return the shape of what is looked at here; the rest of such a record is held to its form where it is read."""
    return Shape({"version": ONE, "kind": one(f"backfill-{name}"), **more}, is_open=True)


_SHAPE: Final = _kind("plan", id=_ID, projectKey=PROJECT_KEY, branchName=BRANCH_NAME)
_WINDOWS: Final = _kind("windows", planId=_ID)
_ANSWER: Final = _kind("answer", planId=_ID, attemptId=ATTEMPT_ID, day=DAY, jobDigest=DIGEST)
_STAGED: Final = _kind("proposal", planId=_ID)
_PROMOTION: Final = _kind("promotion", planId=_ID, baseDigest=DIGEST, after=BRANCH_FILE, revisionId=REVISION_ID)
_ROLLBACK: Final = _kind("rollback", planId=_ID, undoId=REVISION_ID)


def check_plans(tree: Tree) -> Iterator[Finding]:
    """Yield what is wrong with any plan."""
    root = tree.layout.plans
    for name in tree.names(root):
        if _PLAN.fullmatch(name):
            yield from tree.judge(root / name / "plan.json", _SHAPE, PLAN_BYTES_MAX, partial(_plan, tree))


def _plan(tree: Tree, path: Path, plan: Fields) -> Iterator[Finding]:
    root, plan_id = path.parent, text_of(plan, "id")
    content = {key: value for key, value in plan.items() if key != "id"}
    if plan_id != root.name or plan_id != f"plan_{digest_of(content)[:16]}":
        yield error(path, "has an id that is not its content's")
        return
    yield from tree.judge(root / "windows.json", _WINDOWS, PLAN_BYTES_MAX, partial(_windows, plan_id))
    windows = tree.find(root / "windows.json", _WINDOWS, PLAN_BYTES_MAX)
    count = 0 if windows is None else len(objects_of(windows, "windows"))
    journal = Journal(tree)
    for folder, rule, body in (
        ("answers", _ANSWER, partial(_answer, journal)),
        ("staged", _STAGED, _nothing_more),
    ):
        for each in tree.records(root / folder):
            yield from tree.judge(each, rule, CHECKPOINT_BYTES_MAX, partial(_of_a_window, plan_id, count, body))
    project = tree.layout.project(ProjectKey(text_of(plan, "projectKey")))
    name = BranchName(text_of(plan, "branchName"))
    for each in tree.records(root / "promotions"):
        body = partial(_promotion, tree, project, name)
        yield from tree.judge(each, _PROMOTION, PROJECT_FILE_BYTES_MAX, partial(_of_a_promotion, plan_id, body))
    for each in tree.records(root / "rollbacks"):
        body = partial(_rollback, tree, project, name)
        yield from tree.judge(each, _ROLLBACK, JOURNAL_BYTES_MAX, partial(_of_a_promotion, plan_id, body))


def _windows(plan_id: str, path: Path, windows: Fields) -> Iterator[Finding]:
    if windows["planId"] != plan_id:
        yield error(path, "is of another plan than its folder")
    numbers = [number_of(each, "number") for each in objects_of(windows, "windows")]
    if numbers != list(range(1, len(numbers) + 1)):
        yield error(path, "has windows that are not numbered without a gap")


def _of_a_window(plan_id: str, count: int, body: Check, path: Path, record: Fields) -> Iterator[Finding]:
    if record["planId"] != plan_id or int(path.name[:6]) != number_of(record, "window"):
        yield error(path, "holds another window than its name says")
    elif not 1 <= number_of(record, "window") <= count:
        yield error(path, "is of a window that the plan does not have")
    else:
        yield from body(path, record)


def _nothing_more(_path: Path, _record: Fields) -> Iterator[Finding]:
    return iter(())


def _answer(journal: Journal, path: Path, answer: Fields) -> Iterator[Finding]:
    """Hold an answer against the call that brought it; a closed day keeps no steps of it."""
    if path.stem != f"{number_of(answer, 'window'):06}.{number_of(answer, 'attempt')}":
        yield error(path, "holds another try than its name says")
        return
    day = text_of(answer, "day")
    steps = journal.steps(day, text_of(answer, "attemptId"))
    if not steps:
        if not journal.is_closed(day):
            yield error(path, "is of a call that the journal does not know")
        return
    last = latest(steps)
    state = text_of(last, "state")
    if (last["origin"], last["jobDigest"]) != ("backfill", answer["jobDigest"]):
        yield error(path, "is of another call than its attempt")
    elif state in ("reserved", "cancelled"):
        yield error(path, "is of a call that was never sent")
    elif state == "dispatched":
        yield pending(path, "is of a call that is not settled yet: the next run does it")
    elif state == "settled" and fields_of(last, "provenance") != fields_of(answer, "provenance"):
        yield error(path, "tells another usage than its call was settled by")


def _of_a_promotion(plan_id: str, body: Check, path: Path, record: Fields) -> Iterator[Finding]:
    if record["planId"] != plan_id or path.stem != f"{number_of(record, 'number'):06}":
        yield error(path, "holds another promotion than its name says")
    else:
        yield from body(path, record)


def _promotion(
    tree: Tree, project: ProjectLayout, name: BranchName, path: Path, promotion: Fields
) -> Iterator[Finding]:
    snapshot = tree.find(path.parent.parent / "snapshots" / path.name, BRANCH_FILE, PROJECT_FILE_BYTES_MAX)
    if snapshot is None:
        yield error(path, "has lost the branch as it was before it: it cannot be taken back byte for byte")
    elif branch_digest(snapshot, name) != promotion["baseDigest"]:
        yield error(path, "has a snapshot of another branch state")
    revision = find_revision(tree, project, name, text_of(promotion, "revisionId"))
    after = branch_digest(fields_of(promotion, "after"), name)
    if revision is not None and (revision["beforeDigest"], revision["afterDigest"]) != (promotion["baseDigest"], after):
        yield error(path, "made another change than it says")


def _rollback(tree: Tree, project: ProjectLayout, name: BranchName, path: Path, rollback: Fields) -> Iterator[Finding]:
    promotion = tree.find(path.parent.parent / "promotions" / path.name, _PROMOTION, PROJECT_FILE_BYTES_MAX)
    undo = find_revision(tree, project, name, text_of(rollback, "undoId"))
    if promotion is None:
        yield error(path, "takes back a promotion of which nothing stands")
    elif undo is None or undo.get("reviewRevisionId") != promotion["revisionId"]:
        yield error(path, "names an undo that does not take its promotion back")
