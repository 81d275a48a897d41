"""The producer: from a Pi session to queued jobs, in the extension's own order (interop.md 4.2).

What is covered already is seen, not remembered: a job's id comes from its frontier, so the last entry whose job stands
anywhere, in the spool or over, is where the next window begins. Enqueueing the same session again finds nothing new.

INVARIANT  Whoever waits is registered before the job is enqueued, and not at all if it is not accepted.
CRASH      After the registration, before the job: a pending that the extension drops after its time. After the job: the
           next run sees it standing.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from curator.durable.read import list_names, stamp_of
from curator.errors import InvalidRecordError, RefusedError, UsageError
from curator.model.feedback import Pending
from curator.model.ids import BranchName, JobId, session_key
from curator.model.job import Job, job_identity, make_job
from curator.model.limits import DIRECTORY_NAMES_MAX, MEMORY_CHARS_MAX
from curator.model.memory import branch_digest
from curator.model.project import Project
from curator.model.record import Violation, u16_len
from curator.model.times import iso
from curator.pi.evidence import CURSOR_TYPE, evidence_window, find_cursor
from curator.pi.project import find_project
from curator.pi.session import Entry, Kind, Session, read_session
from curator.store.spool import Enqueued
from curator.workflow.projects import refuse_excluded

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from curator.pi.evidence import Window
    from curator.pi.stream import Damage
    from curator.workflow.shop import Shop

MAIN: Final = BranchName("main")
WINDOWS_MAX: Final = 50
"""At most so many jobs of one session at once: 600 turns. More is the work of another day."""


@dataclasses.dataclass(frozen=True, slots=True)
class Produced:
    """One window that became a job, and how its enqueueing ended."""

    job_id: JobId
    ending: Enqueued
    turns: int
    chars: int
    through_entry_id: str


@dataclasses.dataclass(frozen=True, slots=True)
class Skipped:
    """Lines of a session that were not taken, whole or in part, and the first of them."""

    count: int
    first: Damage


@dataclasses.dataclass(frozen=True, slots=True)
class Production:
    """What a session brought."""

    project: Project
    branch: BranchName
    jobs: tuple[Produced, ...]
    """Oldest first; empty where nothing is left to review."""
    covered_by: JobId | None
    """The last job that already stood for this session, if there is one."""
    is_more: bool
    """Whether even more waits to be enqueued."""
    skipped: Skipped | None
    """What of the session could not be read."""
    other_leaves: tuple[str, ...]
    """The ends of other branches of the session, whose words are in none of its jobs."""


def enqueue_session(shop: Shop, path: Path, folder: Path | None = None, leaf: str | None = None) -> Production:
    """Enqueue what was said in a session and not reviewed yet, for the project of `folder` or of the session.

    One branch of it is taken: that which ends at `leaf`, by default the one written last, which is what Pi shows.
    Raises `NotFoundError`, `InvalidRecordError` or `RefusedError` for a session or project that cannot be told, or that
    a person excluded, and `BusyError`, before anything is written for that job, where the queue or the mailbox is full.
    """
    whole = _read(path)
    session = dataclasses.replace(whole, entries=whole.branch_to(leaf))
    project = _project_of(session, folder)
    refuse_excluded(shop, project.key)
    memory = shop.memory(project.key, "external")
    memory.initialise(project)
    covered = _last_covered(shop, session, project)
    rest = session if covered is None else _after(session, covered, project)
    jobs: list[Produced] = []
    while (window := evidence_window(rest, project.key, MAIN)) is not None and len(jobs) < WINDOWS_MAX:
        jobs.append(_accept(shop, _job_of(shop, session, project, window), window))
        rest = _after(session, window.through_entry_id, project)
    covered_by = None if covered is None else _job_id(session, project, covered)
    skipped = Skipped(session.damage_count, session.damage[0]) if session.damage else None
    return Production(
        project,
        MAIN,
        tuple(jobs),
        covered_by,
        is_more=window is not None,
        skipped=skipped,
        other_leaves=whole.leaves_beside(session.entries),
    )


def _read(path: Path) -> Session:
    stamp = stamp_of(path)
    if stamp is not None and not stamp.size and path.is_file():
        raise InvalidRecordError(path, "is empty", remedy="Give the path of a session file; Pi keeps them in sessions/")
    return read_session(path)


def _project_of(session: Session, folder: Path | None) -> Project:
    if folder is None:
        if session.cwd is None:
            fact = f"{session.path}: the session does not say which project it belongs to"
            raise UsageError(fact, remedy="Name the project's folder with --project")
        folder = session.path.parent / session.cwd
    found = find_project(folder)
    if not found.root.is_dir():
        raise UsageError(f"{folder}: is not a folder", remedy="Name the project's folder with --project")
    return Project(str(found.root), found.key)


def _job_id(session: Session, project: Project, entry_id: str) -> JobId:
    return job_identity(project.key, session_key(session.id), MAIN, entry_id, None)


def _last_covered(shop: Shop, session: Session, project: Project) -> str | None:
    """Return the last entry of the session's branch that is the frontier of a job that stands."""
    layout = shop.layout
    receipts = layout.project(project.key).receipts
    folders = (layout.queued, layout.running, layout.held, layout.outcomes, receipts)
    standing = {name.removesuffix(".json") for folder in folders for name in list_names(folder, DIRECTORY_NAMES_MAX)}
    for entry in reversed(session.branch_to()):
        job_id = _job_id(session, project, entry.id)
        if job_id in standing or shop.stores.finished.find(job_id) is not None:
            return entry.id
    return None


def _after(session: Session, frontier: str, project: Project) -> Session:
    """Return the session as it is beyond a frontier; whole where the extension's own cursor is further on."""
    branch = session.branch_to()
    places = {entry.id: index for index, entry in enumerate(branch)}
    cursor = find_cursor(session, branch, project.key, MAIN)
    if frontier not in places or places.get(cursor or "", -1) > places[frontier]:
        return session
    # A cursor before the frontier would look like one that vanished, so its records lose their meaning here.
    beyond = tuple(_without_cursor(session, branch[places[frontier] + 1 :]))
    return dataclasses.replace(session, entries=beyond)


def _without_cursor(session: Session, entries: Sequence[Entry]) -> Sequence[Entry]:
    customs = [entry for entry in entries if entry.kind is Kind.CUSTOM]
    cursors = {
        entry.id
        for entry, content in zip(customs, session.contents(customs), strict=True)
        if content.get("customType") == CURSOR_TYPE
    }
    return [dataclasses.replace(entry, kind=Kind.OTHER) if entry.id in cursors else entry for entry in entries]


def _job_of(shop: Shop, session: Session, project: Project, window: Window) -> Job:
    """Bind a window to the branch as it stands, every begun change of it finished first."""
    memory = shop.memory(project.key, "external")
    branch = memory.current(MAIN)
    if branch is None:
        raise InvalidRecordError(memory.layout.branch(MAIN), "is not there", remedy="Open Pi in that project once")
    try:
        return make_job(
            project_key=project.key,
            session_key=session_key(session.id),
            through_entry_id=window.through_entry_id,
            transcript=window.transcript,
            branch=branch.sanitized(),
            base_branch_digest=branch_digest(branch),
            max_chars=MEMORY_CHARS_MAX,
        )
    except Violation as error:
        remedy = "Mend that entry, with `/memory` in Pi, and run again"
        raise RefusedError(f"{memory.layout.branch(MAIN)}: no job can carry it: {error}", remedy=remedy) from error


def _accept(shop: Shop, job: Job, window: Window) -> Produced:
    """Register whoever waits, then enqueue; take a registration of ours back if the job is not accepted.

    A duplicate keeps it: another producer may have been quicker, and its job be the one that is waited for.
    """
    mailbox = shop.mailbox(job.project_key)
    is_ours = shop.service.mode == "external" and mailbox.register(
        Pending(
            job_id=job.id,
            job_digest=job.digest,
            branch_name=job.branch.name,
            requested_by="manual",
            queued_at=iso(shop.clock.now()),
        )
    )
    try:
        ending = shop.stores.spool.enqueue(job)
    except BaseException:
        if is_ours:
            mailbox.discard(job.id)
        raise
    if is_ours and ending is Enqueued.QUARANTINED:
        mailbox.discard(job.id)
    return Produced(job.id, ending, window.turn_count, u16_len(job.transcript), window.through_entry_id)
