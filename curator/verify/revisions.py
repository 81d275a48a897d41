"""A project's branches, and the history of each: numbered without a gap, each step leading where it says.

A branch need not stand where its last revision leads, for Pi writes memory without a revision. But between two
revisions that meet, an entry is what the earlier one left.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from curator.model.digest import digest_of, digest_of_text
from curator.model.ids import BRANCH_NAME_PATTERN, BranchName
from curator.model.limits import PROJECT_FILE_BYTES_MAX
from curator.verify.finding import Finding, error, pending, sure
from curator.verify.shape import Fields, Shape, fields_of, number_of, objects_of, text_of
from curator.verify.shapes.memory import BRANCH_FILE, PROJECT, REVISION, revision_name
from curator.verify.tree import alone

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.durable.layout import ProjectLayout
    from curator.verify.tree import Tree

_ANY = Shape({}, is_open=True)
_LIMIT = PROJECT_FILE_BYTES_MAX


def check_memory(tree: Tree, project: ProjectLayout) -> Iterator[Finding]:
    """Yield what is wrong with a project's record, its branches and their histories."""
    if tree.stands(project.project_json):
        yield from tree.judge(project.project_json, PROJECT, _LIMIT, _project)
    else:
        yield pending(project.project_json, "is not there yet")
    for path in tree.records(project.branches):
        yield from tree.judge(path, BRANCH_FILE, _LIMIT, _branch)
    for path in tree.records(project.reviews):
        yield from tree.judge(path, _ANY, _LIMIT, alone)
    for name in tree.names(project.root / "revisions"):
        folder = project.root / "revisions" / name
        if tree.names(folder):
            yield from sure(partial(_history, tree, project, folder))


def find_revision(tree: Tree, project: ProjectLayout, branch: str, revision_id: str) -> Fields | None:
    """Return a revision of a branch by its id."""
    folder = project.revisions(BranchName(branch))
    name = tree.ending(folder, f"{revision_id}.json")
    return None if name is None else tree.find(folder / name, REVISION, _LIMIT)


def has_revision(tree: Tree, project: ProjectLayout, branch: str, revision_id: str) -> bool:
    """Tell whether a revision's name is taken, readable or not."""
    return tree.ending(project.revisions(BranchName(branch)), f"{revision_id}.json") is not None


def _project(path: Path, record: Fields) -> Iterator[Finding]:
    if record["projectKey"] != path.parent.name:
        yield error(path, "names another project than its folder")
    elif digest_of_text(text_of(record, "projectRoot"))[:24] != record["projectKey"]:
        yield error(path, "has a root that does not lead to its key")


def _branch(path: Path, branch: Fields) -> Iterator[Finding]:
    if branch.get("name", path.stem) != path.stem or not BRANCH_NAME_PATTERN.fullmatch(path.stem):
        yield error(path, "holds another branch than its name says")


def _history(tree: Tree, project: ProjectLayout, folder: Path) -> Iterator[Finding]:
    names = [name for name in tree.names(folder) if name.endswith(".json")]
    if names and not tree.stands(project.branch(BranchName(folder.name))):
        yield error(folder, "is the history of a branch that is not there")
    entries = _Entries()
    reviews: set[str] = set()
    for sequence, name in enumerate(names, start=1):
        path = folder / name
        yield from tree.judge(path, REVISION, _LIMIT, alone)
        revision = tree.find(path, REVISION, _LIMIT)
        if revision is None:
            entries.forget()
            continue
        yield from _revision(path, revision, sequence, reviews)
        yield from entries.follow(path, revision)


def _revision(path: Path, revision: Fields, sequence: int, reviews: set[str]) -> Iterator[Finding]:
    """Judge one revision; `reviews` holds what an undo may still take back."""
    if revision_name(revision) != path.name or revision["branchName"] != path.parent.name:
        yield error(path, "holds another revision than its name says")
    elif number_of(revision, "sequence") != sequence:
        yield error(path, f"stands where revision {sequence} belongs")
    if revision["kind"] == "review":
        reviews.add(text_of(revision, "id"))
        return
    taken_back = text_of(revision, "reviewRevisionId")
    if taken_back not in reviews:
        yield error(path, "takes back what was no review before it, or was taken back already")
    reviews.discard(taken_back)


class _Entries:
    """What is known of a branch's entries from the revisions that meet without a gap."""

    def __init__(self) -> None:
        self._stands = ""
        self._digests: dict[str, str | None] = {}

    def forget(self) -> None:
        self._stands = ""
        self._digests = {}

    def follow(self, path: Path, revision: Fields) -> Iterator[Finding]:
        if text_of(revision, "beforeDigest") != self._stands:
            self._digests = {}
        if revision["kind"] == "undo":
            # What it restores, its review tells; nothing newer is known of the entries then.
            self._digests = {}
        for change in objects_of(revision, "changes"):
            yield from self._change(path, change)
        self._stands = text_of(revision, "afterDigest")

    def _change(self, path: Path, change: Fields) -> Iterator[Finding]:
        entry, kind = text_of(change, "entryId"), change["kind"]
        if entry in self._digests:
            known = self._digests[entry]
            before = None if kind == "add" else digest_of(fields_of(change, "before"))
            if before != known:
                yield error(path, f"changes {entry} from a state in which the revision before did not leave it")
        self._digests[entry] = None if kind == "remove" else text_of(change, "afterDigest")
