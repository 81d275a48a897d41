"""In which step a running job is: told from the last artifact that stands for it, by names where a name says it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from curator.durable.read import stamp_of
from curator.errors import InvalidRecordError
from curator.model.attempt import AttemptState
from curator.model.ids import Day, attempt_id
from curator.model.times import DAY_MS, day_of, ms_of

if TYPE_CHECKING:
    from curator.model.ids import AttemptId
    from curator.model.job import Running
    from curator.store.attempts import Seen
    from curator.workflow.inspect.books import Books

StepName: TypeAlias = Literal["claimed", "reserved", "asking", "answered", "elected", "admitting", "closing"]
STEPS: Final[dict[StepName, str]] = {
    "claimed": "claimed, no call recorded yet",
    "reserved": "its budget is reserved",
    "asking": "the reviewer is asked",
    "answered": "the answer is checked",
    "elected": "the answer counts",
    "admitting": "memory is being changed",
    "closing": "being closed",
}
"""Each step in words, in the order in which a job goes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """Where a running job is."""

    name: StepName
    reviewer: str | None
    """Provider and model of the attempt that is under way, as far as a record names them."""


def step_of(books: Books, running: Running) -> Step:
    """Return in which step a running job is. Looks from the last artifact to the first; a job may be past it already."""
    job, layout = running.job, books.layout
    mine = attempt_id(job.digest, running.attempt, running.lease_token)
    seen = _attempt(books, running, mine)
    reviewer = None if seen is None else seen.latest.provider
    if stamp_of(layout.outcomes / f"{job.id}.json") is not None:
        return Step("closing", reviewer)
    stores = (layout.project(job.project_key), layout.shadow_project(job.project_key))
    if any(stamp_of(each.intent(job.id)) is not None for each in stores):
        return Step("admitting", reviewer)
    if any(stamp_of(each.receipt(job.id)) is not None for each in stores):
        return Step("closing", reviewer)
    if books.decisions.is_elected(job.id):
        return Step("elected", reviewer)
    # Another worker's attempt is not in our journal before it was adopted; its result stands at once.
    if stamp_of(layout.result(job.id, mine)) is not None:
        return Step("answered", reviewer)
    if seen is None or seen.state is AttemptState.CANCELLED:
        return Step("claimed", reviewer)
    if not seen.is_open:
        return Step("answered", reviewer)
    return Step("asking" if seen.state is AttemptState.DISPATCHED else "reserved", reviewer)


def _attempt(books: Books, running: Running, mine: AttemptId) -> Seen | None:
    """Return the attempt of this claim; the day of its reservation may be the one after the claim's."""
    since = Day(day_of(ms_of(running.claimed_at) - DAY_MS))
    try:
        found = books.attempts.of_job(running.job.id, since)
    except InvalidRecordError:
        return None
    return next((each for each in found if each.id == mine), None)
