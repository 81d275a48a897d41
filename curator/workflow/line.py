"""Which job is next (design: order).

Strict per branch: the oldest accepted job is the branch's head, and while it waits or runs its branch waits, so that old
evidence never overwrites newer memory. Across branches the oldest head goes first. A running job whose lease has ended
stands in line as well, and is taken over in place.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections import defaultdict
from typing import TYPE_CHECKING, Final, TypeAlias

from curator.errors import InvalidRecordError
from curator.model.limits import MEMORY_CHARS_MAX
from curator.model.times import ms_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from curator.model.ids import BranchName, JobId, ProjectKey
    from curator.model.job import Acceptance
    from curator.store.spool import Waiting
    from curator.workflow.shop import Shop

Branch: TypeAlias = "tuple[ProjectKey, BranchName]"
_Ranked: TypeAlias = "tuple[int, JobId, Waiting]"

_KEPT_MS: Final = 200
"""A line is drawn up anew after so long: what comes later is younger, and what returns is in no hurry."""
_SHARE: Final = 10
"""Of all time, drawing up lines takes at most one part in so many."""


class Line:
    """What waits, in order: who may be taken now, and who stands behind them."""

    def __init__(
        self, branches: Mapping[Branch, list[_Ranked]], now: int, busy: Collection[Branch], later: Later
    ) -> None:
        """Line up what stands in each branch, by rank, but for the branches that are `busy`."""
        self._now = now
        self._behind = {key: ranked[::-1] for key, ranked in branches.items()}
        self._ready: list[_Ranked] = []
        self.next_at = later.own_time
        """When the first of those that wait for their own time is due, in UTC milliseconds."""
        self.lease_end = later.lease_end
        """When the first lease of another job ends, if nobody renews it."""
        for key in self._behind:
            if key not in busy:
                self.follow(key)

    @property
    def ready(self) -> tuple[Waiting, ...]:
        """The heads that may be taken now, in order."""
        return tuple(waiting for _, _, waiting in self._ready)

    def took(self, waiting: Waiting) -> None:
        """A head was taken: its branch waits for it."""
        self._ready = [each for each in self._ready if each[2] is not waiting]

    def follow(self, branch: Branch) -> None:
        """The job that a branch waited for is over: let the next one come forward, if its time has come."""
        behind = self._behind.get(branch)
        if behind and behind[-1][2].glimpse.due_ms <= self._now:
            bisect.insort(self._ready, behind.pop(), key=_rank)


@dataclasses.dataclass(slots=True)
class Later:
    """When what cannot be taken yet may be."""

    own_time: int | None = None
    lease_end: int | None = None

    def note(self, waiting: Waiting) -> None:
        """Take one more into account."""
        due = waiting.glimpse.due_ms
        if waiting.is_claimed:
            self.lease_end = due if self.lease_end is None else min(self.lease_end, due)
        else:
            self.own_time = due if self.own_time is None else min(self.own_time, due)


class Lookout:
    """Draws up the line, and keeps it for a moment: most jobs change nothing for the others."""

    def __init__(self) -> None:
        """Nothing is drawn up yet."""
        self._line: Line | None = None
        self._until_ms = 0
        self._not_before_ms = 0
        self._acceptances: dict[JobId, Acceptance] = {}

    def line(self, shop: Shop, passed: Collection[JobId] = (), aside: Collection[JobId] = ()) -> Line:
        """Return the queue as it stands, or as it stood a moment ago."""
        began = shop.clock.monotonic()
        if self._line is None or not self._line.ready or began >= self._until_ms:
            self._line = self._draw_up(shop, passed, aside)
            ended = shop.clock.monotonic()
            self._until_ms = ended + max(_KEPT_MS, _SHARE * (ended - began))
            self._not_before_ms = ended + _SHARE * (ended - began)
        return self._line

    def pause_ms(self, shop: Shop) -> int:
        """Return for how long a new line would come too soon."""
        is_good = self._line is not None and self._line.ready
        return 0 if is_good else max(0, self._not_before_ms - shop.clock.monotonic())

    def follow(self, branch: Branch) -> None:
        """A job that was taken is over for good: the next one of its branch may come forward."""
        if self._line is not None:
            self._line.follow(branch)

    def forget(self) -> None:
        """Draw the line up anew when it is asked for next: something happened that may change it."""
        self._line = None

    def _draw_up(self, shop: Shop, passed: Collection[JobId], aside: Collection[JobId]) -> Line:
        acceptances, self._acceptances = self._acceptances, {}
        now, resting = shop.clock.now(), shop.stores.standings.resting()
        branches: defaultdict[Branch, list[_Ranked]] = defaultdict(list)
        busy: set[Branch] = set()
        later = Later()
        for waiting in _standing(shop):
            is_later = waiting.glimpse.due_ms > now
            if waiting.is_claimed and is_later:
                busy.add(waiting.branch)
                later.note(waiting)
                continue
            if waiting.job_id in passed or waiting.glimpse.project_key in resting:
                continue
            acceptance = _acceptance(waiting, shop, acceptances)
            if acceptance is not None:
                self._acceptances[waiting.job_id] = acceptance
            if not _may_run(acceptance, shop):
                continue
            if is_later:
                later.note(waiting)
                if waiting.job_id in aside or _steps_aside(waiting):
                    continue
            since = waiting.queued_ms if acceptance is None else ms_of(acceptance.accepted_at)
            branches[waiting.branch].append((since, waiting.job_id, waiting))
        for ranked in branches.values():
            ranked.sort(key=_rank)
        return Line(branches, now, busy, later)


def line_up(shop: Shop, passed: Collection[JobId] = (), aside: Collection[JobId] = ()) -> Line:
    """Return the queue as it stands.

    Jobs in `passed` have had their turn and block their branch no longer; those in `aside` do not block it while they
    wait, for what stops them is nobody else's.

    Those of projects that a person paused, excluded, or is linking or purging are passed over.
    """
    return Lookout().line(shop, passed, aside)


def _standing(shop: Shop) -> Iterable[Waiting]:
    yield from shop.stores.spool.claimed()
    yield from shop.stores.spool.waiting()


def _rank(ranked: _Ranked) -> tuple[int, JobId]:
    return ranked[:2]


def _acceptance(waiting: Waiting, shop: Shop, known: Mapping[JobId, Acceptance]) -> Acceptance | None:
    """Return what a job's first claim recorded: since when it waits, whatever was written of it later.

    It never changes; and only a later claim can find anything, so only then it is looked for.
    """
    if waiting.glimpse.next_attempt == 1:
        return None
    try:
        return known.get(waiting.job_id) or shop.stores.jobs.find(waiting.job_id)
    except InvalidRecordError:
        # Its turn will name the damage; the queue's order does not depend on one record.
        return None


def _may_run(acceptance: Acceptance | None, shop: Shop) -> bool:
    """Tell whether the mode in force may take a job: one that was begun for the real memory waits out shadow mode."""
    return shop.service.mode != "shadow" or acceptance is None or acceptance.authority == "shadow"


def _steps_aside(waiting: Waiting) -> bool:
    """Tell whether a deferred job waits for something of its own, which no other job of the branch waits for."""
    return waiting.glimpse.max_chars > MEMORY_CHARS_MAX
