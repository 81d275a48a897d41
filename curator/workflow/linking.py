"""A project whose folder was renamed or moved keeps its memory: copied under its new key, the old store kept and marked.

The key comes from the folder's path, so the memory has to lie under the new one. Jobs that wait go along, made anew for
the new key; what was decided already is first carried to its end where it was decided.

INVARIANT  Both projects rest until all is over. Nothing of the old store is removed, nothing of another memory written over.
CRASH      A link that has begun stands in both standings; linking again goes on where it was cut off.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from curator.durable.read import read_bounded, stamp_of
from curator.errors import BusyError, InvalidRecordError, NotFoundError, RefusedError, UsageError
from curator.model.feedback import Pending
from curator.model.job import Job, make_job
from curator.model.limits import MEMORY_CHARS_MAX, PROJECT_FILE_BYTES_MAX
from curator.model.memory import branch_digest, revision_filename
from curator.model.project import Project, Standing
from curator.model.times import iso
from curator.pi.project import find_project
from curator.store.inheritance import HeirStore
from curator.workflow.beats import foreign_live_worker
from curator.workflow.claim import take
from curator.workflow.closing import cancel_job, close_decided
from curator.workflow.projects import branch_names, place_of
from curator.workflow.recovery import recover
from curator.workflow.stuck import begun_changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from curator.model.ids import BranchName, JobId, ProjectKey
    from curator.model.memory import Branch
    from curator.store.memory import ProjectStore
    from curator.store.spool import Waiting
    from curator.workflow.shop import Shop


@dataclasses.dataclass(frozen=True, slots=True)
class Link:
    """What a link would do."""

    old: Project
    new: Project
    branches: tuple[Branch, ...]
    histories: Mapping[BranchName, Mapping[str, bytes]]
    jobs: tuple[JobId, ...]
    """Jobs that wait for the old key: made anew for the new one."""
    decided: tuple[JobId, ...]
    """Jobs of the old key that are paid for: carried to their end there, first."""
    is_begun: bool


def plan_link(shop: Shop, old: ProjectKey, folder: Path) -> Link:
    """Return what a link would do; changes nothing. Raises why it cannot be done."""
    memory = shop.memory(old, "external")
    before, found = memory.project(), find_project(folder)
    after = Project(str(found.root), found.key)
    if before is None:
        raise NotFoundError(f"{old}: no memory of that project stands here", remedy="See `curator project list`")
    if after.key == old:
        raise UsageError(f"{after.root}: that is the same project", remedy="Name the folder that it became")
    _refuse_place(before, after)
    is_begun = _refuse_standings(shop, before, after)
    _refuse_unrest(shop, old)
    branches, histories = _read(shop, memory)
    own = HeirStore(shop.volume, shop.layout.project(after.key)).own_memory(branches, histories)
    if own is not None:
        raise RefusedError(own, remedy="Two memories are never mixed; link to a project without one")
    waiting = [each.job_id for each in _waiting(shop, old)]
    held = [each.job.id for each in shop.stores.spool.held() if each.job.project_key == old]
    decided = tuple(job_id for job_id in waiting if shop.stores.decisions.is_elected(job_id))
    jobs = tuple(job_id for job_id in (*waiting, *held) if job_id not in decided)
    return Link(before, after, branches, histories, jobs, decided, is_begun)


def link(shop: Shop, plan: Link) -> tuple[JobId, ...]:
    """Do what a plan says, or what is left of it; return the jobs that were made anew. Raises why it stopped."""
    foreign = foreign_live_worker(shop)
    if foreign is not None:
        raise BusyError(f"another review worker is running: {foreign[0]}, process {foreign[1]}", remedy="Stop it first")
    # What a crash left, in an earlier link as well, is put right first.
    recover(shop)
    old, new = plan.old, plan.new
    _stand(shop, old, begun=True, linked_to=new.key)
    _stand(shop, new, begun=True, linked_from=old.key)
    # Whoever claimed before both rested is waited for.
    _refuse_unrest(shop, old.key)
    _refuse_unrest(shop, new.key)
    _close_decided(shop, old.key)
    memory, heir = shop.memory(old.key, "external"), shop.memory(new.key, "external")
    branches, histories = _read(shop, memory)
    heir.initialise(new)
    HeirStore(shop.volume, heir.layout).receive(branches, histories)
    _prove(branches, memory, heir)
    made = tuple(_move_jobs(shop, old.key, new.key, heir))
    _stand(shop, old, begun=False, linked_to=new.key)
    _stand(shop, new, begun=False, linked_from=old.key)
    return made


def _refuse_place(old: Project, new: Project) -> None:
    place = place_of(old)
    if place == "there":
        fact = f"{old.root}: the folder is still there, so nothing was moved"
        raise RefusedError(fact, remedy="A copy begins with a memory of its own; link only what was renamed or moved")
    if place == "elsewhere" and _key_behind(old) != new.key:
        fact = f"{old.root}: the folder now leads to another project than {new.root}"
        raise RefusedError(fact, remedy="Link it to where it leads, or put the folder back")


def _key_behind(old: Project) -> ProjectKey | None:
    from pathlib import Path  # noqa: PLC0415 - elsewhere only a type

    try:
        return find_project(Path(old.root)).key
    except (NotFoundError, RefusedError):
        return None


def _refuse_standings(shop: Shop, old: Project, new: Project) -> bool:
    """Raise for a link of another kind that has begun or is over; tell whether this very one has begun."""
    before, after = shop.stores.standings.find(old.key), shop.stores.standings.find(new.key)
    for standing in (before, after):
        if standing is not None and standing.begun == "purge":
            fact = f"{standing.project_key}: a purge of this project has begun"
            raise RefusedError(fact, remedy="Run `curator project purge` again to finish it")
    if before is not None and before.linked_to not in (None, new.key):
        raise RefusedError(f"{old.root}: its memory went on as {before.linked_to} already")
    if after is not None and after.linked_to is not None:
        remedy = "If the folder moved back, forget the old copy with `curator project purge` first"
        raise RefusedError(f"{new.root}: its own memory went on as {after.linked_to}", remedy=remedy)
    if after is not None and after.begun == "link" and after.linked_from != old.key:
        raise RefusedError(f"{new.root}: a link from {after.linked_from} has begun", remedy="Finish that one first")
    is_begun = any(each is not None and each.begun == "link" for each in (before, after))
    if before is not None and before.linked_to == new.key and not is_begun:
        raise RefusedError(f"{old.root}: is linked to {new.root} already", remedy="Nothing is left to be done")
    return is_begun


def _refuse_unrest(shop: Shop, key: ProjectKey) -> None:
    """Raise while a job of the project runs, or a change of its memory is not over."""
    now = iso(shop.clock.now())
    for running in shop.stores.spool.running():
        if running.job.project_key == key and running.lease_until > now:
            fact = f"{running.job.id} of this project is running, by {running.worker_id}"
            raise BusyError(fact, remedy=f"Wait for it, until {running.lease_until} at the latest, and run again")
    for begun in begun_changes(shop.layout):
        if begun.key == key:
            fact = f"{begun.path}: a change of this memory has begun and is not over"
            raise RefusedError(fact, remedy="Run `curator review --once`, or see `curator doctor`")


def _stand(
    shop: Shop,
    project: Project,
    *,
    begun: bool,
    linked_to: ProjectKey | None = None,
    linked_from: ProjectKey | None = None,
) -> None:
    """Say how far a project's link is; a wish that stands beside it stays."""

    def amend(before: Standing | None) -> Standing:
        now = iso(shop.clock.now())
        standing = before or Standing(project_key=project.key, wish="active", changed_at=now)
        after = dataclasses.replace(
            standing,
            project_root=project.root,
            begun="link" if begun else None,
            linked_to=linked_to or standing.linked_to,
            linked_from=linked_from or standing.linked_from,
        )
        return standing if after == standing and before is not None else dataclasses.replace(after, changed_at=now)

    shop.stores.standings.change(project.key, amend)


def _read(shop: Shop, memory: ProjectStore) -> tuple[tuple[Branch, ...], dict[BranchName, dict[str, bytes]]]:
    """Return a project's branches, and the bytes of their histories; raises what cannot be read."""
    key = memory.layout.root.name
    branches: list[Branch] = []
    histories: dict[BranchName, dict[str, bytes]] = {}
    for name in branch_names(shop.layout, key):  # type: ignore[arg-type]  # a project's folder is named by its key
        branch = memory.branch(name)
        if branch is None:
            continue
        branches.append(branch)
        # Read as records first: a history with a flaw is not carried on.
        names = [revision_filename(each.sequence, each.id) for each in memory.revisions(name)]
        files = {file: read_bounded(memory.layout.revisions(name) / file, PROJECT_FILE_BYTES_MAX) for file in names}
        histories[name] = {file: data for file, data in files.items() if data is not None}
    return tuple(branches), {name: history for name, history in histories.items() if history}


def _prove(branches: tuple[Branch, ...], memory: ProjectStore, heir: ProjectStore) -> None:
    """Read both anew: the old memory is as it was read, and the new one has it and its whole history."""
    for branch in branches:
        standing = memory.branch(branch.name)
        if standing is None or branch_digest(standing) != branch_digest(branch):
            fact = f"{memory.layout.branch(branch.name)}: was changed meanwhile"
            raise BusyError(fact, remedy="Close Pi in the old folder, and run again")
        received, history = heir.branch(branch.name), heir.revisions(branch.name)
        if received is None or len(history) < len(memory.revisions(branch.name)):
            raise InvalidRecordError(heir.layout.branch(branch.name), "did not come over whole", remedy="Run again")


def _waiting(shop: Shop, key: ProjectKey) -> list[Waiting]:
    return [each for each in shop.stores.spool.waiting() if each.glimpse.project_key == key]


def _close_decided(shop: Shop, key: ProjectKey) -> None:
    """Carry what is paid for to its end in the old store: under another key it would have to be paid for again."""
    from curator.workflow.admission import roll_forward  # noqa: PLC0415 - the gates load where they are needed

    if shop.service.mode == "embedded":
        return
    for waiting in _waiting(shop, key):
        decision = shop.stores.decisions.find(waiting.job_id)
        claim = None if decision is None else take(shop, waiting)
        if decision is None or claim is None:
            continue
        acceptance = shop.stores.jobs.find(claim.job.id)
        authority = "external" if acceptance is None else acceptance.authority
        memory = shop.memory(key, authority)
        close_decided(claim, decision, roll_forward(decision, memory, authority, shop, claim), memory, shop)


def _move_jobs(shop: Shop, key: ProjectKey, new: ProjectKey, heir: ProjectStore) -> Iterator[JobId]:
    """Make each job that waits anew for the new key, durable before the old one ends."""
    spool = shop.stores.spool
    held = [(each.job, True) for each in spool.held() if each.job.project_key == key]
    queued = [(each.job, False) for each in spool.queued() if each.job.project_key == key]
    for job, is_held in queued + held:
        if shop.stores.decisions.is_elected(job.id):
            continue
        made = _make_anew(shop, job, new, heir)
        if is_held and spool.queued_one(made) is not None:
            spool.hold(made)
        yield made
        cancel_job(shop, job.id)


def _make_anew(shop: Shop, job: Job, new: ProjectKey, heir: ProjectStore) -> JobId:
    """Queue a job's evidence for the new key, if it does not stand there already, and return the id that it has there."""
    branch = heir.current(job.branch.name)
    if branch is None:
        raise InvalidRecordError(heir.layout.branch(job.branch.name), "is not there, and a job needs it")
    made = make_job(
        project_key=new,
        session_key=job.session_key,
        through_entry_id=job.through_entry_id,
        transcript=job.transcript,
        branch=branch.sanitized(),
        base_branch_digest=branch_digest(branch),
        max_chars=MEMORY_CHARS_MAX,
        generation=job.generation,
    )
    if _stands(shop, made.id):
        return made.id
    pending = shop.mailbox(job.project_key).pending(job.id)
    if pending is not None:
        now, by = iso(shop.clock.now()), pending.requested_by
        shop.mailbox(made.project_key).register(
            Pending(job_id=made.id, job_digest=made.digest, branch_name=branch.name, requested_by=by, queued_at=now)
        )
    shop.stores.spool.enqueue(made)
    return made.id


def _stands(shop: Shop, job_id: JobId) -> bool:
    layout = shop.layout
    folders = (layout.queued, layout.running, layout.held, layout.outcomes)
    is_in_spool = any(stamp_of(folder / f"{job_id}.json") is not None for folder in folders)
    return is_in_spool or shop.stores.finished.stands(job_id)
