"""Records that wait for somebody: set aside, unreadable, begun and not over, owned by the dead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curator.doctor.finding import Finding, GiveUp
from curator.durable.lock import is_alive
from curator.durable.read import list_names
from curator.durable.records import read_record
from curator.durable.volume import Volume
from curator.errors import InvalidRecordError
from curator.model.ids import Day
from curator.model.ledger import Refusal
from curator.model.limits import DIRECTORY_NAMES_MAX, JOURNAL_BYTES_MAX
from curator.model.times import day_of, ms_of
from curator.store.attempts import AttemptStore
from curator.store.finished import FinishedStore
from curator.store.heartbeats import HeartbeatStore
from curator.store.mailbox import Mailbox
from curator.store.standings import StandingStore
from curator.workflow.inspect.books import open_spool
from curator.workflow.inspect.budget import settings_of
from curator.workflow.inspect.letters import read_letters
from curator.workflow.projects import list_projects
from curator.workflow.stuck import GIVEN_UP, begun_changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator.durable.layout import Layout
    from curator.model.ids import JobId, ProjectKey
    from curator.model.job import Running
    from curator.workflow.projects import ProjectView

_FAULTS_SHOWN: Final = 20
_NEXT_RUN: Final = "Run `curator review --once`"


def look_at_queue(layout: Layout, now: int) -> Iterator[Finding]:
    """Name what cannot be read in the queue, what was set aside and why, and jobs whose worker is gone."""
    for each in open_spool(layout).faults()[:_FAULTS_SHOWN]:
        if each.fault is not None:
            yield Finding("error", "queue", each.fault.fact, f"{_NEXT_RUN}: it is set aside, and the rest goes on")
    for letter in read_letters(layout)[:_FAULTS_SHOWN]:
        fact = f"{layout.dead_letter / letter.name} was set aside: {letter.reason}"
        remedy = f"Mend it there, then run `curator jobs release {letter.short}`; or leave it, it goes with its time"
        yield Finding("warning", "set aside", fact, remedy)
    for name in list_names(layout.quarantine, DIRECTORY_NAMES_MAX)[:_FAULTS_SHOWN]:
        fact = f"{layout.quarantine / name}: a begun change that was given up, kept"
        yield Finding("note", "set aside", fact, "Remove it when nobody needs it any more")
    beats = {beat.worker_id: beat.pid for beat in HeartbeatStore(Volume(), layout).workers() if beat.state != "stopped"}
    for running in open_spool(layout).running():
        yield from _look_at_owner(running, beats.get(running.worker_id), now)


def look_at_handed_over(layout: Layout) -> Iterator[Finding]:
    """Name what Pi handed over of its sessions and could not be taken, and why."""
    folder = layout.trajectory_inbox.refused
    names = [name for name in list_names(folder, DIRECTORY_NAMES_MAX) if name.endswith(".why.json")]
    for name in names[:_FAULTS_SHOWN]:
        refusal = read_record(folder / name, Refusal, JOURNAL_BYTES_MAX)
        if refusal is not None:
            fact = f"{layout.trajectory_inbox.root / refusal.name} was refused: {refusal.fact}"
            yield Finding("warning", "trajectory", fact, f"{refusal.remedy}; what was refused goes with its time")


def look_at_journal(layout: Layout, now: int) -> Iterator[Finding]:
    """Name records of the journal that cannot be read, for they hide what a day cost, and calls that have no end yet."""
    attempts, today = AttemptStore(Volume(), layout), Day(day_of(now))
    faults = attempts.faults()
    for fault in faults[:_FAULTS_SHOWN]:
        yield Finding("error", "journal", fault.fact, f"{fault.remedy}; until then that day reserves nothing more")
    if not faults:
        yield Finding("ok", "journal", "every attempt can be read")
    since = settings_of(layout).budget.counts_from(today)
    for provider in attempts.unresolved_providers(today, since):
        total = attempts.unresolved(provider, today, since).total
        fact = f"{total.calls:,} calls of {provider} of earlier days have no end, and count against each day's limits"
        remedy = "See `curator budget attempts --unresolved`, and settle them with `curator budget reconcile`"
        yield Finding("note", "budget", fact, remedy)


def look_at_admissions(layout: Layout) -> Iterator[Finding]:
    """Name every change of memory that has begun and is not over, and what stands where."""
    for begun in begun_changes(layout):
        fact = f"{begun.path}: a change of memory has begun and is not over; {begun.fact}"
        if begun.kind in GIVEN_UP:
            remedy = "Put the branch back where it stood, or run `curator doctor --fix --yes`: it is set aside and kept"
            yield Finding("error", "admission", fact, remedy, GiveUp(begun))
        elif begun.kind == "damaged":
            yield Finding("error", "admission", fact, "Mend that file first; this change may hold its only whole copy")
        else:
            yield Finding("warning", "admission", fact, f"{_NEXT_RUN}, which finishes it")


def look_at_projects(layout: Layout) -> Iterator[Finding]:
    """Name projects that are gone or lead elsewhere, links and purges that are not over, and who waits in vain."""
    for fault in StandingStore(Volume(), layout).faults():
        yield Finding("error", "project", fault.fact, "Mend or remove it; the project's jobs wait until then")
    for view in list_projects(layout):
        yield from _look_at_project(view)
        yield from _look_at_mailbox(layout, view.key)


def _look_at_owner(running: Running, pid: int | None, now: int) -> Iterator[Finding]:
    """Name a claim whose worker is certainly gone, or whose lease has run out."""
    until = ms_of(running.lease_until)
    tail = running.worker_id.rpartition(":")[2]
    number = pid if pid is not None else int(tail) if tail.isdigit() else None
    is_gone = number is not None and not is_alive(number, ms_of(running.claimed_at))
    if until <= now:
        fact = f"{running.job.id}: its lease ran out at {running.lease_until}"
        yield Finding("warning", "lease", fact, f"{_NEXT_RUN}: it is claimed again")
    elif is_gone:
        fact = f"{running.job.id}: held by {running.worker_id}, whose process is gone, until {running.lease_until}"
        yield Finding("warning", "lease", fact, "Wait until then, or run `curator release` to let it go now")


def _look_at_project(view: ProjectView) -> Iterator[Finding]:
    name, standing = view.root or view.key, view.standing
    # What was decided is named already, with what waits for it.
    for fault in view.faults[1:] if view.is_undecided else view.faults:
        yield Finding("error", "project", fault, f"Mend that file, or see `curator project show {view.key[:12]}`")
    if standing is not None and standing.begun is not None:
        again = f"curator project {standing.begun}"
        yield Finding(
            "error", "project", f"{name}: a {standing.begun} has begun and is not over", f"Run `{again}` again"
        )
    elif standing is not None and standing.is_resting:
        if view.waiting:
            fact = f"{name} is {view.word}, and {view.waiting:,} of its jobs wait"
            yield Finding("note", "project", fact, f"Run `curator project resume {view.key[:12]}` to let them go on")
    elif view.place in ("gone", "elsewhere"):
        what = "is gone" if view.place == "gone" else "now leads to another project"
        jobs = f", and {view.waiting:,} of its jobs wait" if view.waiting else ""
        remedy = f"If it was moved: curator project link {view.key[:12]} NEW-FOLDER. If not, leave it, or purge it"
        yield Finding("warning", "project", f"{name}: its folder {what}{jobs}", remedy)


def _look_at_mailbox(layout: Layout, key: ProjectKey) -> Iterator[Finding]:
    """Name who waits for a job that is over, and cards that nobody can read: one of them stops all later ones."""
    mailbox, spool, finished = (
        Mailbox(Volume(), layout.project(key)),
        open_spool(layout),
        FinishedStore(Volume(), layout),
    )

    def is_over(job_id: JobId) -> bool:
        return spool.outcome(job_id) is not None or finished.find(job_id) is not None

    for job_id in mailbox.pending_ids():
        try:
            pending, card = mailbox.pending(job_id), mailbox.ready(job_id)
            if pending is not None and card is None and is_over(job_id):
                fact = f"{job_id} is over, and Pi still waits for its card"
                yield Finding("warning", "feedback", fact, _NEXT_RUN)
        except InvalidRecordError as error:
            yield Finding("error", "feedback", error.fact, f"{error.remedy}; Pi shows no later card while it stands")
