"""Equal failures of several jobs in a row: what they have in common is none of the jobs, so no other is sent after them.

A spent account that answers in prose, an outage, a model that has forgotten its JSON: each job that is asked about in
vain costs a call, and one of its tries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curator.model.event import Stopped
from curator.model.limits import EQUAL_FAILURES_MAX, RETRY_CONFIG_MS_MAX, RETRY_MS_MAX
from curator.model.times import iso
from curator.workflow.ending import Applied, Ended, Ending, Waits

if TYPE_CHECKING:
    from curator.model.ids import JobId

_DOUBLINGS_MAX: Final = 8
_REMEDY: Final = (
    "Look at the provider's account and at `curator config check`. One job is tried after the pause; what failed for good "
    "is kept for `curator jobs retry JOB`"
)


class Streak:
    """How many jobs failed alike since the last one that did not, as one process saw it."""

    def __init__(self) -> None:
        """Nothing has failed."""
        self._code: str | None = None
        self._jobs: set[JobId] = set()
        self._pauses = 0
        self._until = 0

    def note(self, job_id: JobId, ending: Ending, now: int) -> Stopped | None:
        """Take in how a job's turn ended; return what to tell if it begins a pause, which `until` gives the end of."""
        if isinstance(ending, Applied) and ending.receipt is not None:
            self._begin(None)
        if not isinstance(ending, Waits | Ended) or not ending.was_asked:
            return None
        if ending.code != self._code:
            self._begin(ending.code)
        self._jobs.add(job_id)
        # What was under way when the pause began tells nothing more.
        if len(self._jobs) < EQUAL_FAILURES_MAX or now < self._until:
            return None
        self._until = now + min(RETRY_MS_MAX, RETRY_CONFIG_MS_MAX << min(_DOUBLINGS_MAX, self._pauses))
        self._pauses += 1
        fact = f"{len(self._jobs)} jobs in a row failed alike, so nothing is asked until {iso(self._until)}"
        return Stopped("reviewer", ending.code, fact, _REMEDY)

    @property
    def until(self) -> int:
        """When the last pause ends or ended, in UTC milliseconds."""
        return self._until

    def _begin(self, code: str | None) -> None:
        self._code, self._jobs, self._pauses = code, set(), 0
