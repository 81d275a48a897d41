"""What still holds on to a job's records, and the closing record that lets them go.

One look a round, taken when the first record is due: a round in which nothing is due costs none.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from curator.durable.read import list_names
from curator.errors import InvalidRecordError
from curator.model.ids import PROJECT_KEY_PATTERN, JobId, ProjectKey
from curator.model.limits import DIRECTORY_NAMES_MAX
from curator.store.spool.retention import letter_names, live_jobs
from curator.workflow.closing import close_over
from curator.workflow.recovery import project_keys

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.durable.layout import ProjectLayout
    from curator.model.digest import Digest
    from curator.model.job import Job
    from curator.workflow.shop import Shop

_JOB: Final = re.compile(r"review_[0-9a-f]{40}")


class Ties:
    """One round's look at what is under way."""

    def __init__(self, shop: Shop) -> None:
        """Look at nothing yet."""
        self._shop = shop
        self.now = shop.clock.now()

    @cached_property
    def projects(self) -> tuple[tuple[ProjectKey, ProjectLayout], ...]:
        """The real stores and those of shadow mode, by key."""
        layout = self._shop.layout
        real = [(key, layout.project(key)) for key in project_keys(self._shop)]
        names = [name for name in list_names(layout.shadow, DIRECTORY_NAMES_MAX) if PROJECT_KEY_PATTERN.fullmatch(name)]
        return (*real, *((ProjectKey(name), layout.shadow_project(ProjectKey(name))) for name in names))

    @cached_property
    def live(self) -> frozenset[JobId]:
        """Jobs that wait, run or are held."""
        return live_jobs(self._shop.stores.spool)

    @cached_property
    def begun(self) -> frozenset[JobId]:
        """Jobs whose change of memory has begun and is not retired."""
        return frozenset(_jobs_in(project.admissions for _, project in self.projects))

    @cached_property
    def awaited(self) -> frozenset[JobId]:
        """Jobs that somebody in Pi waits for."""
        return frozenset(_jobs_in(project.pending for _, project in self.projects))

    @cached_property
    def carded(self) -> frozenset[JobId]:
        """Jobs whose card Pi has not taken."""
        return frozenset(_jobs_in(project.ready for _, project in self.projects))

    @cached_property
    def lettered(self) -> frozenset[JobId]:
        """Jobs of which something was set aside: a person may mend it and bring it back."""
        return frozenset(
            JobId(match.group()) for name in letter_names(self._shop.stores.spool) if (match := _JOB.match(name))
        )

    def moves(self, job_id: JobId) -> bool:
        """Tell whether a job is under way, or its change of memory is."""
        return job_id in self.live or job_id in self.begun


def ensure_closed(job_id: JobId, shop: Shop) -> bool:
    """Make sure of a job's closing record, from its outcome and evidence where it is missing; tell whether it stands.

    It cannot be made where no outcome stands, or where the evidence of another worker's job is gone.
    """
    if shop.stores.finished.stands(job_id):
        return True
    over = shop.stores.spool.outcome(job_id)
    job = None if over is None else _job_of(job_id, over.outcome.job_digest, shop)
    if over is None or job is None:
        return False
    close_over(job, over.outcome, shop)
    return True


def _job_of(job_id: JobId, digest: Digest, shop: Shop) -> Job | None:
    """Return a finished job from its evidence; None where that is gone, unreadable, or of another job."""
    try:
        decision = shop.stores.decisions.find(job_id)
        jobs = [decision.job] if decision is not None else [each.job for each in shop.stores.decisions.results(job_id)]
    except InvalidRecordError:
        return None
    return next((job for job in jobs if job.digest == digest), None)


def _jobs_in(folders: Iterator[Path]) -> Iterator[JobId]:
    for folder in folders:
        names = list_names(folder, DIRECTORY_NAMES_MAX)
        yield from (JobId(match.group()) for name in names if (match := _JOB.match(name)))
