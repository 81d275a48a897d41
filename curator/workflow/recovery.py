"""Recovery is re-entry: close what is orphaned by the tables, then run the jobs again.

Done at every start, and cheap when there is nothing to do. One bad project or record never stops the rest.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from curator.durable.read import list_names
from curator.durable.sweep import sweep
from curator.errors import CuratorError, StorageError
from curator.model.event import Recovered, SetAside, Stopped
from curator.model.ids import PROJECT_KEY_PATTERN, ProjectKey
from curator.model.limits import DIRECTORY_NAMES_MAX
from curator.model.outcome import Failed
from curator.store.spool import recover as recover_spool
from curator.workflow.adoption import adopt_all, close_orphans
from curator.workflow.base import concerns_project_alone
from curator.workflow.closing import answer_failed, answer_over, close_over
from curator.workflow.projection import project_days

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Literal

    from curator.model.ids import JobId
    from curator.store.memory import ProjectStore
    from curator.workflow.shop import Shop


def recover(shop: Shop, *, leave_expired: bool = False) -> None:
    """Put right what a crash left, anywhere under the agent folder.

    A claim whose owner is gone goes back to the queue; whoever reviews next leaves it, and takes it over in place.
    """
    shop.stores.spool.prepare()
    found = recover_spool(shop.stores.spool, leave_expired=leave_expired)
    for moved in found.set_aside:
        shop.listener.tell(SetAside(str(moved.path), moved.reason))
    if found.expired:
        shop.listener.tell(Recovered("expired leases", found.expired))
    for running in found.over:
        over = shop.stores.spool.outcome(running.job.id)
        if over is not None:
            apart(f"job {running.job.id}", partial(close_over, running.job, over.outcome, shop), shop)
    apart("accounting", partial(_close_attempts, shop), shop)
    for key in project_keys(shop):
        apart(f"project {key}", partial(recover_project, key, shop), shop)
    swept = sum(sweep(shop.volume, folder, shop.clock.now()) for folder in _swept_folders(shop))
    if swept:
        shop.listener.tell(Recovered("staged leftovers", swept))


def _close_attempts(shop: Shop) -> None:
    """Take over another worker's attempts, and close what nobody owns; the spool is recovered by now."""
    for closed in (adopt_all(shop), close_orphans(shop)):
        for what, count in (
            ("adopted attempts", closed.adopted),
            ("cancelled attempts", closed.cancelled),
            ("settled attempts", closed.settled),
            ("unknown attempts", closed.unknown),
            ("corrected attempts", closed.corrected),
        ):
            if count:
                shop.listener.tell(Recovered(what, count))
        # Only today's day is projected on the way; what was closed on an older one is told here.
        project_days(shop, closed.days)


def recover_project(key: ProjectKey, shop: Shop) -> None:
    """Finish a project's begun admissions, and answer whoever waits for a job that is over."""
    for authority in ("external", "shadow"):
        _finish_admissions(key, authority, shop)
    mailbox = shop.mailbox(key)
    for job_id in mailbox.pending_ids():
        apart(f"feedback of {job_id}", partial(_answer_late, key, job_id, shop), shop)


def project_keys(shop: Shop) -> tuple[ProjectKey, ...]:
    """Return the projects that have a memory here."""
    names = list_names(shop.layout.root, DIRECTORY_NAMES_MAX)
    return tuple(ProjectKey(name) for name in names if PROJECT_KEY_PATTERN.fullmatch(name))


def _finish_admissions(key: ProjectKey, authority: Literal["external", "shadow"], shop: Shop) -> None:
    memory = shop.memory(key, authority)
    if memory.is_at_rest():
        return
    # Rolled forward first, so that one stuck change keeps nobody else from being finished.
    apart(f"project {key}", memory.roll_pending, shop)
    for job_id in memory.pending():
        apart(f"job {job_id}", partial(_finish_admission, job_id, memory, authority, shop), shop)


def _finish_admission(
    job_id: JobId, memory: ProjectStore, authority: Literal["external", "shadow"], shop: Shop
) -> None:
    # The gates load where a begun admission needs them, not at every start.
    from curator.workflow.admission import roll_forward  # noqa: PLC0415 - see above

    decision = shop.stores.decisions.find(job_id)
    if decision is None:
        # Completed, so memory is whole; without its decision the receipt cannot be made. Nothing waits on it.
        fact = f"{memory.layout.intent(job_id)}: its decision is gone"
        shop.listener.tell(Stopped(f"job {job_id}", "no_decision", fact, "See `curator jobs show`"))
        return
    roll_forward(decision, memory, authority, shop, claim=None)
    shop.listener.tell(Recovered("admissions", 1))


def _answer_late(key: ProjectKey, job_id: JobId, shop: Shop) -> None:
    """Publish a card that a crash, or a worker before us, left out."""
    pending = shop.mailbox(key).pending(job_id)
    if pending is None or not shop.mailbox(key).lacks_card(job_id, pending.job_digest):
        return
    over = shop.stores.spool.outcome(job_id)
    if over is None or over.outcome.job_digest != pending.job_digest:
        return
    decision = shop.stores.decisions.find(job_id)
    results = shop.stores.decisions.results(job_id)
    job = decision.job if decision is not None else next((result.job for result in results), None)
    if job is None or job.digest != pending.job_digest:
        return
    if isinstance(over.outcome, Failed):
        answer_failed(job, over.outcome, shop)
    else:
        answer_over(job, shop)


def _swept_folders(shop: Shop) -> tuple[Path, ...]:
    layout = shop.layout
    return (layout.queued, layout.running, layout.outcomes, layout.dead_letter, layout.decisions)


def apart(subject: str, step: Callable[[], object], shop: Shop) -> None:
    """Do one step so that its expected failure costs that one subject. A failing disk concerns everybody."""
    try:
        step()
    except CuratorError as error:
        if isinstance(error, StorageError) and not concerns_project_alone(error, shop):
            raise
        shop.listener.tell(Stopped(subject, error.code, error.fact, error.remedy))
