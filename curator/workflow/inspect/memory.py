"""A project's memory as a person asks for it: what it holds, and what a job did to it."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING, Literal, TypeAlias

from curator.durable.clock import SystemClock
from curator.durable.read import list_names
from curator.durable.volume import Volume
from curator.errors import CuratorError, NotFoundError
from curator.model.attempt import Settled
from curator.model.ids import JOB_ID_PATTERN, Day, JobId
from curator.model.limits import DIRECTORY_NAMES_MAX
from curator.pi.project import find_project
from curator.store.attempts import AttemptStore
from curator.store.decisions import DecisionShelf
from curator.store.jobs import JobStore
from curator.store.memory import ProjectStore
from curator.workflow.inspect.history import Line, Step, brought_by, history_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.model.admission import Receipt
    from curator.model.budget import Amount
    from curator.model.ids import BranchName, EntryId, ProjectKey, RevisionId
    from curator.model.memory import Branch, Entry, Review
    from curator.model.outcome import Provenance

Authority: TypeAlias = Literal["shadow", "external"]


@dataclasses.dataclass(frozen=True, slots=True)
class Memory:
    """One branch of one project, as it stands."""

    root: str
    key: ProjectKey
    path: Path
    branch: Branch


def open_store(layout: Layout, key: ProjectKey, authority: Authority = "external") -> ProjectStore:
    """Return a project's store to be read."""
    place = layout.shadow_project(key) if authority == "shadow" else layout.project(key)
    return ProjectStore(Volume(), place, SystemClock())


def memory_of(layout: Layout, folder: Path, name: BranchName) -> Memory:
    """Return a branch of the project that `folder` belongs to. Raises `NotFoundError` where nothing is remembered."""
    project = find_project(folder)
    store = open_store(layout, project.key)
    branch = store.branch(name)
    if branch is None:
        fact = f"{project.root}: nothing is remembered of this project on branch {name}, under {layout.root}"
        raise NotFoundError(fact, remedy="Name the project with --project, or enqueue a session of it first")
    return Memory(str(project.root), project.key, store.layout.branch(name), branch)


def log_of(layout: Layout, memory: Memory) -> tuple[Step, ...]:
    """Return a branch's revisions with their changes, oldest first."""
    store = open_store(layout, memory.key)
    return history_of(memory.branch, store.revisions(memory.branch.name), _Said(layout, memory.key))


class _Said:
    """What reviews brought, by their decisions: a receipt names the revision, and the job whose decision it was."""

    def __init__(self, layout: Layout, key: ProjectKey) -> None:
        self._layout = layout
        self._store = open_store(layout, key)
        self._jobs: dict[RevisionId, JobId] | None = None

    def __call__(self, review: Review) -> Mapping[EntryId, Entry]:
        if self._jobs is None:
            self._jobs = self._by_revision()
        job_id = self._jobs.get(review.id)
        try:
            decision = None if job_id is None else DecisionShelf(self._layout).read(job_id)
        except CuratorError:
            return {}
        return {} if decision is None else brought_by(review, decision.outcome.operations)

    def _by_revision(self) -> dict[RevisionId, JobId]:
        found: dict[RevisionId, JobId] = {}
        for name in list_names(self._store.layout.receipts, DIRECTORY_NAMES_MAX):
            stem = name.removesuffix(".json")
            if not JOB_ID_PATTERN.fullmatch(stem):
                continue
            # A receipt that cannot be read costs its texts.
            with contextlib.suppress(CuratorError):
                receipt = self._store.receipt(JobId(stem))
                if receipt is not None and receipt.revision_id is not None:
                    found[receipt.revision_id] = receipt.proposal_id
        return found


def changes_of(layout: Layout, receipt: Receipt) -> tuple[Line, ...]:
    """Return what the job of a receipt changed, from its revision and the branch as it stands."""
    if receipt.revision_id is None:
        return ()
    store = open_store(layout, receipt.project_key, authority_of(layout, receipt.proposal_id))
    branch = store.branch(receipt.branch_name)
    steps = () if branch is None else history_of(branch, store.revisions(receipt.branch_name))
    return next((step.lines for step in steps if step.revision.id == receipt.revision_id), ())


def branch_path_of(layout: Layout, receipt: Receipt) -> Path:
    """Return where the branch lies that a receipt speaks of."""
    authority = authority_of(layout, receipt.proposal_id)
    return open_store(layout, receipt.project_key, authority).layout.branch(receipt.branch_name)


def authority_of(layout: Layout, job_id: JobId) -> Authority:
    """Return whose memory a job changes, as its first claim recorded it."""
    acceptance = JobStore(Volume(), layout).find(job_id)
    return "external" if acceptance is None else acceptance.authority


def estimate_of(layout: Layout, job_id: JobId, provenance: Provenance) -> Amount | None:
    """Return what an attempt was charged where its provider told no usage; None where it did."""
    attempts = AttemptStore(Volume(), layout).of_job(job_id, Day(provenance.started_at[:10]))
    for seen in attempts:
        settled = seen.latest
        if isinstance(settled, Settled) and settled.provenance == provenance and settled.is_estimated:
            return seen.exposure.total
    return None
