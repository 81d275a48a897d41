"""How memories came to be, told from the revisions as they lie on disk: the shadow holds no word of them.

It only says which memories changed last, and which model was asked. What looks like a secret is not shown, whoever wrote
it. A memory that cannot be read costs its own story.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from sqlalchemy import text

from curator.errors import CuratorError
from curator.model.ids import BRANCH_NAME_PATTERN, PROJECT_KEY_PATTERN, BranchName, ProjectKey
from curator.model.limits import REPORT_PROJECTS_MAX, REPORT_REVISIONS_MAX
from curator.model.redaction import redact
from curator.workflow.inspect.memory import Memory, log_of, open_store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Connection

    from curator.audit.questions import Scope
    from curator.durable.layout import Layout
    from curator.model.memory import Entry
    from curator.workflow.inspect.history import Line, Step

_LATEST: Final = """
SELECT project_key, branch_name, COUNT(*), COUNT(*) OVER () FROM revisions
WHERE authority = 'external' AND (:project IS NULL OR project_key = :project)
                             AND (:since IS NULL OR committed_at >= :since)
GROUP BY project_key, branch_name ORDER BY MAX(committed_at) DESC, project_key, branch_name LIMIT :most
"""
_BEHIND: Final = """
SELECT revisions.revision_id, COALESCE(receipts.job_id, closings.job_id),
       closings.provider || '/' || closings.model
FROM revisions LEFT JOIN receipts ON receipts.revision_id = revisions.revision_id
               LEFT JOIN closings ON closings.revision_id = revisions.revision_id
WHERE revisions.project_key = :project AND revisions.branch_name = :branch AND revisions.authority = 'external'
ORDER BY revisions.sequence DESC LIMIT :most
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Behind:
    """The job of a revision, and the model that was asked."""

    job_id: str
    model: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class Branch:
    """A memory that changed: whose it is, and how often, in the scope."""

    project_key: ProjectKey
    name: BranchName
    revisions: int
    behind: dict[str, Behind]


@dataclasses.dataclass(frozen=True, slots=True)
class Changed:
    """One entry's change in words; a side is None where it never was, or where nothing proves it any more."""

    kind: str
    before: str | None
    after: str | None
    importance: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class Told:
    """One revision."""

    sequence: int
    committed_at: str
    is_undo: bool
    behind: Behind | None
    changes: tuple[Changed, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Story:
    """One memory's history, the latest first."""

    branch: Branch
    told: tuple[Told, ...]
    fault: str | None = None

    @property
    def untold(self) -> int:
        """How many older revisions of the scope are not shown."""
        return max(0, self.branch.revisions - len(self.told))


def branches_of(connection: Connection, scope: Scope) -> tuple[tuple[Branch, ...], int]:
    """Return the memories that changed last, and how many there are in all."""
    rows = connection.execute(text(_LATEST), {**scope.values, "most": REPORT_PROJECTS_MAX}).all()
    found = tuple(
        Branch(ProjectKey(key), BranchName(name), int(count), _behind(connection, key, name))
        for key, name, count, _ in rows
        if PROJECT_KEY_PATTERN.fullmatch(key) and BRANCH_NAME_PATTERN.fullmatch(name)
    )
    return found, int(rows[0][-1]) if rows else 0


def story_of(layout: Layout, branch: Branch, since: str | None, most: int) -> Story:
    """Read a memory's history: at most so many revisions of those since a day."""
    try:
        store = open_store(layout, branch.project_key)
        standing = store.branch(branch.name)
        if standing is None:
            return Story(branch, (), "the memory is not there any more")
        steps = log_of(layout, Memory("", branch.project_key, store.layout.branch(branch.name), standing))
    except CuratorError as error:
        return Story(branch, (), error.fact)
    shown = [step for step in reversed(steps) if since is None or step.revision.committed_at >= since]
    return Story(branch, tuple(_told(step, branch) for step in shown[:most]))


def root_of(layout: Layout, key: str) -> str | None:
    """Return the folder that a memory is of, as it says itself."""
    if not PROJECT_KEY_PATTERN.fullmatch(key):
        return None
    try:
        project = open_store(layout, ProjectKey(key)).project()
    except CuratorError:
        return None
    return None if project is None else project.root


def _behind(connection: Connection, key: str, name: str) -> dict[str, Behind]:
    asked = {"project": key, "branch": name, "most": REPORT_REVISIONS_MAX}
    rows = connection.execute(text(_BEHIND), asked).all()
    return {revision: Behind(job_id, model) for revision, job_id, model in rows if job_id is not None}


def _told(step: Step, branch: Branch) -> Told:
    revision = step.revision
    behind = branch.behind.get(revision.id)
    return Told(revision.sequence, revision.committed_at, step.is_undone, behind, tuple(_changed(step.lines)))


def _changed(lines: Iterable[Line]) -> Iterator[Changed]:
    for line in lines:
        importance = None if line.after is None else line.after.importance
        yield Changed(line.kind, _words(line.before), _words(line.after), importance)


def _words(entry: Entry | None) -> str | None:
    return None if entry is None else redact(entry.text)
