"""Take the base: the branch state that an attempt judges (design: rebase in place).

INVARIANT  A base that is not the job's own is durable before the attempt that names it is reserved.
"""

from __future__ import annotations

import dataclasses
import errno
from typing import TYPE_CHECKING, Literal

from curator.durable.read import list_names
from curator.errors import ConflictError, InvalidRecordError, RefusedError
from curator.model.digest import Digest
from curator.model.ids import PROJECT_KEY_PATTERN
from curator.model.job import Acceptance, Base, Job
from curator.model.limits import DIRECTORY_NAMES_MAX
from curator.model.memory import Branch, branch_digest
from curator.model.times import iso
from curator.pi.project import check_recorded_root

if TYPE_CHECKING:
    from curator.errors import StorageError
    from curator.model.ids import BranchName
    from curator.store.memory import ProjectStore
    from curator.workflow.shop import Shop


@dataclasses.dataclass(frozen=True, slots=True)
class Judged:
    """A branch state by its digest, and its entries as a reviewer may see them."""

    digest: Digest
    branch: Branch


class ProjectGoneError(RefusedError):
    """The project's folder is not where its memory says. Its jobs wait; nothing goes to another project."""

    code = "project_gone"
    remedy = "Put the folder back, or end its jobs with `curator jobs cancel`"


def take_base(job: Job, memory: ProjectStore, shop: Shop) -> Judged:
    """Return the branch as it stands now, its base record durable if it is not the job's own."""
    name = job.branch.name
    path = memory.layout.branch(name)
    try:
        branch = memory.current(name)
    except InvalidRecordError as fault:
        if fault.path != path:
            raise
        raise InvalidRecordError(path, fault.why, remedy=_how_to_mend(name, memory)) from fault
    if branch is None:
        raise InvalidRecordError(path, "is not there, and its job needs it", remedy="Open Pi in that project once")
    digest = branch_digest(branch)
    if digest == job.base_branch_digest:
        return Judged(digest, job.branch)
    memory.flush_branches()
    shop.stores.bases.publish(Base.of(job, branch, digest))
    return Judged(digest, branch.sanitized())


def _how_to_mend(name: BranchName, memory: ProjectStore) -> str:
    """Say where a branch that cannot be read may come from again: its history is in the revisions."""
    folder = memory.layout.revisions(name)
    last = max((each for each in list_names(folder, DIRECTORY_NAMES_MAX) if each.endswith(".json")), default=None)
    if last is None:
        return "The file was kept; mend it, or put a copy of it back. No review has changed it yet"
    return f"The file was kept; mend it, or put a copy of it back. What the last review did to it stands in {folder / last}"


def find_base(job: Job, digest: Digest, shop: Shop) -> Judged:
    """Return a base that an earlier attempt judged. Raises `InvalidRecordError` if its record is gone."""
    if digest == job.base_branch_digest:
        return Judged(digest, job.branch)
    base = shop.stores.bases.find(job.id, digest)
    if base is None:
        raise InvalidRecordError(shop.layout.base(job.id, digest), "is not there, and an attempt names it")
    return Judged(digest, base.branch)


def open_memory(job: Job, shop: Shop) -> ProjectStore:
    """Return the project store that a job's authority lets it change, having proved that it is the job's own.

    Raises `ProjectGoneError` where the folder is gone, `RefusedError` where it now leads to another project, and
    `ConflictError` or `InvalidRecordError` where the store's own record contradicts the job.
    """
    real = shop.memory(job.project_key, "external")
    project = real.project()
    if project is None:
        path = real.layout.project_json
        raise InvalidRecordError(path, "is not there, and its job needs it", remedy="Open Pi in that project once")
    if project.key != job.project_key:
        raise ConflictError(real.layout.project_json, "names another project than its folder")
    if not check_recorded_root(project.root, project.key):
        fact = f"{project.root}: the project's folder is gone"
        raise ProjectGoneError(fact)
    if authority_of(job, shop) == "external":
        return real
    shadow = shop.memory(job.project_key, "shadow")
    if shadow.branch(job.branch.name) is None and (branch := real.branch(job.branch.name)) is not None:
        shadow.seed(branch)
    if shadow.project() is None:
        shadow.initialise(project)
    return shadow


def concerns_project_alone(error: StorageError, shop: Shop) -> bool:
    """Tell whether what refused is the owner or the mode of one project's folder, and not the disk."""
    if error.errno not in (errno.EACCES, errno.EPERM):
        return False
    below = [
        error.path.relative_to(top) for top in (shop.layout.root, shop.layout.shadow) if error.path.is_relative_to(top)
    ]
    return any(path.parts and PROJECT_KEY_PATTERN.fullmatch(path.parts[0]) for path in below)


def authority_of(job: Job, shop: Shop) -> Literal["shadow", "external"]:
    """Return under whose authority a job runs: what its first claim stamped, else the mode in force."""
    acceptance = shop.stores.jobs.find(job.id)
    if acceptance is not None:
        return acceptance.authority
    return "shadow" if shop.service.mode == "shadow" else "external"


def accept(job: Job, queued_ms: int, shop: Shop) -> bool:
    """Stamp a job before its first claim; tell whether its id is its own, or another job's that is known or over."""
    closing = shop.stores.finished.find(job.id)
    if closing is not None and closing.job_digest != job.digest:
        return False
    authority: Literal["shadow", "external"] = "shadow" if shop.service.mode == "shadow" else "external"
    stamp = Acceptance(job_id=job.id, job_digest=job.digest, authority=authority, accepted_at=iso(queued_ms))
    try:
        shop.stores.jobs.accept(stamp)
    except ConflictError:
        return False
    return True
