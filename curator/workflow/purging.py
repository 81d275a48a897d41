"""Forget a project: memory, jobs, and what was made of its evidence; never what it cost.

INVARIANT  No record of an attempt and no closing record goes: money stays counted, and no job comes back. The project rests
           until all is over.
CRASH      A purge that has begun stands in the project's standing; purging again removes the rest.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from curator.durable.ages import ages_in
from curator.durable.lock import is_alive
from curator.durable.publish import remove
from curator.durable.read import list_names, read_bounded, stamp_of
from curator.durable.records import read_as
from curator.durable.sweep import STAGED
from curator.errors import BusyError, InvalidRecordError, NotFoundError, RefusedError
from curator.model.digest import Json
from curator.model.ids import JOB_ID_PATTERN, JobId, ProjectKey
from curator.model.limits import CHECKPOINT_BYTES_MAX, DIRECTORY_NAMES_MAX, RUNNING_BYTES_MAX, SPOOL_NAMES_MAX
from curator.model.outcome import Failed, Failure
from curator.model.project import Standing
from curator.model.times import iso, ms_of
from curator.pi.runtimes import is_fresh, read_runtimes
from curator.store.erasure import Erasure
from curator.store.spool.retention import forget_outcomes
from curator.store.trajectory_erasure import erase_handed_over, erase_trajectory
from curator.workflow.beats import foreign_live_worker
from curator.workflow.closing import close_over
from curator.workflow.projects import known_keys, show_project
from curator.workflow.recovery import recover

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.model.job import Job
    from curator.workflow.projects import ProjectView
    from curator.workflow.shop import Shop

_EVER: Final = 2**53
"""Later than anything was written: what a person wants forgotten has no age to reach."""


@dataclasses.dataclass(frozen=True, slots=True)
class Purge:
    """What a purge would remove, and what stays."""

    view: ProjectView
    jobs: tuple[JobId, ...]
    """Jobs of which something is kept: evidence, results, decisions, outcomes."""
    letters: tuple[Path, ...]
    """Records of the project that were set aside."""
    kept: tuple[Path, ...]
    """What is the extension's alone, in the project's own folder."""
    origin: ProjectKey | None
    """The project that it goes on from by a link: that still holds what was said there, and is purged by itself."""


def plan_purge(shop: Shop, key: ProjectKey) -> Purge:
    """Return what a purge would remove; changes nothing. Raises why it cannot be done."""
    if key not in known_keys(shop.layout):
        raise NotFoundError(f"{key}: nothing is known of this project", remedy="See `curator project list`")
    standing = shop.stores.standings.find(key)
    if standing is not None and standing.begun == "link":
        fact = f"{key}: a link of this project has begun and is not over"
        raise RefusedError(fact, remedy="Run `curator project link` again to finish it")
    _refuse_life(shop, key)
    kept = Erasure(shop.volume, shop.layout.project(key)).kept()
    view = show_project(shop.layout, key)
    origin = None if standing is None else standing.linked_from
    before = None if origin is None else shop.stores.standings.find(origin)
    if before is not None and before.purged_at is not None:
        origin = None
    return Purge(view, tuple(sorted(_jobs_of(shop, key))), tuple(_letters(shop, key)), kept, origin)


def purge(shop: Shop, key: ProjectKey) -> None:
    """Remove all of it, or what is left of it; durable when it returns. Raises `BusyError` while anybody works on it."""
    _refuse_life(shop, key)
    # What a crash left, in an earlier purge as well, is put right first.
    recover(shop)
    _stand(shop, key, is_begun=True)
    # Whoever claimed before the project rested is waited for.
    _refuse_life(shop, key)
    for job in _waiting(shop, key):
        _end(shop, job)
    jobs, letters = tuple(sorted(_jobs_of(shop, key))), tuple(_letters(shop, key))
    shop.stores.finished.make_sure(jobs)
    forget_outcomes(shop.stores.spool, jobs, _EVER)
    busy = shop.stores.decisions.forget(jobs, _EVER)
    shop.stores.bases.forget(jobs, _EVER)
    for path in (*letters, *_leftovers(shop, key, jobs), *_pages(shop)):
        remove(shop.volume, path)
    erase_handed_over(shop.volume, shop.layout, key)
    for layout in (shop.layout.shadow_project(key), shop.layout.project(key)):
        Erasure(shop.volume, layout).erase()
    erase_trajectory(shop.volume, shop.layout, key)
    for error in busy.values():
        raise error
    _stand(shop, key, is_begun=False)


def _refuse_life(shop: Shop, key: ProjectKey) -> None:
    """Raise while somebody works on the project: a worker, or an open Pi."""
    foreign = foreign_live_worker(shop)
    if foreign is not None:
        raise BusyError(f"another review worker is running: {foreign[0]}, process {foreign[1]}", remedy="Stop it first")
    now = shop.clock.now()
    for running in shop.stores.spool.running():
        if running.job.project_key == key and ms_of(running.lease_until) > now:
            fact = f"{running.job.id} of this project is running, by {running.worker_id}"
            raise BusyError(fact, remedy=f"Wait for it, until {running.lease_until} at the latest, and run again")
    for beat in read_runtimes(shop.layout.runtimes):
        is_open = beat.kind == "extension" and beat.project_key == key and is_fresh(beat, now)
        if is_open and is_alive(beat.pid, ms_of(beat.updated_at)):
            fact = f"Pi is open in this project, process {beat.pid}"
            raise BusyError(fact, remedy="Close it there first, or it would make the memory anew")


def _waiting(shop: Shop, key: ProjectKey) -> tuple[Job, ...]:
    """Return the jobs that wait, held ones brought back to the queue first."""
    spool = shop.stores.spool
    for each in spool.held():
        if each.job.project_key == key:
            spool.release(each.job.id)
    return tuple(each.job for each in spool.queued() if each.job.project_key == key)


def _end(shop: Shop, job: Job) -> None:
    """Close a job without a review: its closing record stands before its name goes, and keeps its id for ever."""
    error = Failure(code="purged", message="The project was purged", retryable=False)
    now = iso(shop.clock.now())
    close_over(job, Failed(job_id=job.id, job_digest=job.digest, completed_at=now, error=error), shop)


def _jobs_of(shop: Shop, key: ProjectKey) -> set[JobId]:
    """Return the project's jobs of which a trace with text in it may stand."""
    layout, decisions = shop.layout, shop.stores.decisions
    own = {job_id for place in _places(shop, key) for job_id in _ids(place)}
    queued = {each.job_id for each in shop.stores.spool.waiting() if each.glimpse.project_key == key}
    traces = decisions.jobs() | set(decisions.ages()) | shop.stores.bases.jobs()
    over = set(_ids(layout.outcomes))
    return own | queued | {each for each in (traces | over) - own if _key_of(shop, each) == key}


def _places(shop: Shop, key: ProjectKey) -> Iterator[Path]:
    for project in (shop.layout.project(key), shop.layout.shadow_project(key)):
        yield from (project.receipts, project.retired, project.pending, project.ready)


def _ids(folder: Path) -> list[JobId]:
    stems = [name.removesuffix(".json") for name in list_names(folder, SPOOL_NAMES_MAX * 2)]
    return [JobId(stem) for stem in stems if JOB_ID_PATTERN.fullmatch(stem)]


def _key_of(shop: Shop, job_id: JobId) -> ProjectKey | None:
    """Return which project a job is of, by whatever stands; a record that cannot be read does not say it."""
    for find in (
        lambda: [shop.stores.finished.find(job_id)],
        lambda: [None if (found := shop.stores.decisions.find(job_id)) is None else found.job],
        lambda: [each.job for each in shop.stores.decisions.results(job_id)],
    ):
        try:
            for each in find():
                if each is not None:
                    return each.project_key
        except InvalidRecordError:
            continue
    return None


def _letters(shop: Shop, key: ProjectKey) -> Iterator[Path]:
    """Yield what was set aside and is of the project, as far as that can be told."""
    layout = shop.layout
    for name in list_names(layout.dead_letter, SPOOL_NAMES_MAX * 2):
        path = layout.dead_letter / name
        try:
            if read_as(path, _project_in, RUNNING_BYTES_MAX) == key:
                yield path
        except InvalidRecordError:
            continue
    for name in list_names(layout.quarantine, DIRECTORY_NAMES_MAX):
        job_id = JobId(name.split(".")[0])
        is_of = JOB_ID_PATTERN.fullmatch(job_id) and (
            _key_of(shop, job_id) == key or stamp_of(layout.project(key).receipt(job_id)) is not None
        )
        if is_of:
            yield layout.quarantine / name


def _leftovers(shop: Shop, key: ProjectKey, jobs: tuple[JobId, ...]) -> Iterator[Path]:
    """Yield files that somebody staged and never named: evidence may stand in them as well."""
    layout = shop.layout
    known = frozenset(jobs)
    for folder in (layout.queued, layout.running, layout.outcomes, layout.dead_letter, layout.held, layout.decisions):
        for aged in ages_in(folder):
            if STAGED.fullmatch(aged.name) is None:
                continue
            path = folder / aged.name
            try:
                data = read_bounded(path, CHECKPOINT_BYTES_MAX) or b""
            except InvalidRecordError:
                continue
            if aged.name.split(".")[0] in known or key.encode() in data:
                yield path


def _pages(shop: Shop) -> Iterator[Path]:
    """Yield the page that tells of all projects, whole or staged: it is made anew at will."""
    folder = shop.layout.report.parent
    yield from (folder / name for name in list_names(folder, DIRECTORY_NAMES_MAX))


def _project_in(value: Json) -> str | None:
    job = value.get("job") if isinstance(value, dict) else None
    key = job.get("projectKey") if isinstance(job, dict) else None
    return key if isinstance(key, str) else None


def _stand(shop: Shop, key: ProjectKey, *, is_begun: bool) -> None:
    def amend(before: Standing | None) -> Standing:
        now = iso(shop.clock.now())
        standing = before or Standing(project_key=key, wish="active", changed_at=now)
        if is_begun:
            return (
                standing if standing.begun == "purge" else dataclasses.replace(standing, begun="purge", changed_at=now)
            )
        return Standing(project_key=key, wish=standing.wish, changed_at=now, purged_at=now)

    shop.stores.standings.change(key, amend)
