"""Several jobs at once, never two of one branch: parallel jobs are the group commit.

One thread fills the slots; each slot takes one job and carries it to its end. A job's failure costs that job. There are
twice as many slots as calls may be under way: one call follows on another while the answer before it is still applied.

INVARIANT  Two jobs of one branch are never under way here together; the spool's running records say the same to others.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from curator.durable.baton import carried
from curator.errors import BusyError, StorageError
from curator.model.event import Stopped
from curator.model.limits import CONCURRENCY_MAX
from curator.model.ports import Class
from curator.workflow.calls import Calls, Place
from curator.workflow.ending import Applied, Ended, Interrupted, OverBudget, Waits
from curator.workflow.headroom import has_room
from curator.workflow.line import Lookout
from curator.workflow.retry import wait_ms
from curator.workflow.streak import Streak
from curator.workflow.turn import NotTaken, blocks_all, rest_state, take_turn, try_take

if TYPE_CHECKING:
    from collections.abc import Callable

    from curator.model.heartbeat import WorkerState
    from curator.model.ids import JobId
    from curator.model.ports import Stop
    from curator.store.spool import Claim, Waiting
    from curator.workflow.drain import Pulse
    from curator.workflow.ending import Ending
    from curator.workflow.line import Branch
    from curator.workflow.shop import Shop

_SLOTS: Final = 2
"""For each call that may be under way: one job that is asked about, and one that gets ready or is brought to its end."""
_DISK_PAUSE_MS: Final = 5_000
"""After the disk refused, nothing is begun for so long: it is full or failing for every job alike."""
_BUSY_PAUSE_MS: Final = 250
_PASSED_MS: Final = 60_000
"""A job that cannot be taken is not tried again for so long."""
_MISSES_MAX: Final = 3
"""Somebody else may be quicker a few times; then something else keeps the job from being taken."""


@dataclasses.dataclass(slots=True)
class _Slot:
    waiting: Waiting
    since: int
    claim: Claim | None = None


class Pool:
    """The slots of one process."""

    def __init__(self, shop: Shop, concurrency: int, pulse: Pulse, wake: Callable[[], None]) -> None:
        """Make `concurrency` slots; `wake` is called from a slot's thread when its job has ended."""
        self._stop, self._abort = threading.Event(), threading.Event()
        self._calls = Calls(concurrency)
        self._shop = self._own(shop)
        self._concurrency = concurrency
        self._pulse = pulse
        self._wake = wake
        # A thread is only made when a slot needs it, so that the number of slots may be changed.
        self._threads = ThreadPoolExecutor(_SLOTS * CONCURRENCY_MAX, thread_name_prefix="job")
        # Signs of life are written beside the work, in their order.
        self._signs = ThreadPoolExecutor(1, thread_name_prefix="pulse")
        self._mutex = threading.Lock()
        self._slots: dict[Branch, _Slot] = {}
        self._lookout = Lookout()
        self._over: deque[tuple[Waiting, Ending | None]] = deque()
        self._misses: Counter[JobId] = Counter()
        self._passed: dict[JobId, int] = {}
        self._aside: set[JobId] = set()
        self._streak = Streak()
        self._blocked_until: int | None = None
        self._over_budget: OverBudget | None = None
        self._paused_until = 0
        self._rest: WorkerState = "idle"
        self._told: tuple[WorkerState, JobId | None, int | None] = ("starting", None, None)
        self._is_closing = False
        self._next_at: int | None = None

    @property
    def busy(self) -> int:
        """How many jobs are under way."""
        with self._mutex:
            return len(self._slots)

    @property
    def next_at(self) -> int | None:
        """When something that waits becomes due, in UTC milliseconds; None while nothing waits."""
        return self._next_at

    def replace_shop(self, shop: Shop) -> None:
        """Use other settings from the next job on; those under way end as they began."""
        with self._mutex:
            self._shop = self._own(shop)
            self._concurrency = shop.settings.concurrency
            self._calls.resize(self._concurrency)
            self._blocked_until = None
            self._lookout = Lookout()

    def _own(self, shop: Shop) -> Shop:
        return dataclasses.replace(shop, stop=self._stop, abort=self._abort)

    def fill(self) -> int:
        """Claim and begin what may run now; return how many were begun. Call it from one thread only."""
        with carried():
            return self._fill()

    def _fill(self) -> int:
        begun = 0
        shop = self._shop
        now = shop.clock.now()
        if self._is_closing or now < self._paused_until:
            self._next_at = self._paused_until if now < self._paused_until else None
            return 0
        if self._blocked_until is not None and (now >= self._blocked_until or self._has_room_again(shop)):
            self._blocked_until = None
        if self._blocked_until is None:
            self._calls.reopen()
        self._learn(now)
        pause_ms = self._lookout.pause_ms(shop)
        if pause_ms or self._is_full():
            # A full pool waits for the end of a job, which wakes it.
            self._next_at = now + pause_ms if pause_ms else None
            self._tell_pulse()
            return 0
        line = self._lookout.line(shop, self._passed, self._aside)
        for waiting in line.ready:
            if self._is_full() or self._is_closing:
                break
            if self._may_begin(waiting):
                line.took(waiting)
                self._begin(waiting, shop)
                begun += 1
        due = (line.next_at, line.lease_end, self._blocked_until, *self._passed.values())
        self._next_at = min((moment for moment in due if moment is not None), default=None)
        self._tell_pulse()
        return begun

    def close(self, grace_ms: int, hurry: Stop) -> bool:
        """Begin nothing more and wait for what is under way; tell whether all ended before the grace, or `hurry`."""
        self._begin_no_more()
        ended = self._await_end(grace_ms, hurry)
        if ended:
            self._shut_down()
        return ended

    def abort(self, grace_ms: int) -> bool:
        """Cut the calls that are under way, and wait for their claims to be given back."""
        self._begin_no_more()
        self._abort.set()
        ended = self._await_end(grace_ms)
        self._shut_down(wait=ended)
        return ended

    def _begin_no_more(self) -> None:
        self._is_closing = True
        self._stop.set()
        self._calls.shut()

    def _shut_down(self, *, wait: bool = True) -> None:
        self._threads.shutdown(wait=wait, cancel_futures=not wait)
        if wait:
            self._signs.shutdown()

    def _await_end(self, grace_ms: int, hurry: Stop | None = None) -> bool:
        pause, left = threading.Event(), grace_ms
        while self.busy and left > 0 and not (hurry is not None and hurry.is_set()):
            pause.wait(0.02)
            left -= 20
        return self.busy == 0

    def _has_room_again(self, shop: Shop) -> bool:
        """Tell whether the call that met a limit would not meet it now: another was settled for less, or by a person."""
        return self._over_budget is not None and has_room(shop, self._over_budget.hold)

    def _is_full(self) -> bool:
        return self.busy >= _SLOTS * self._concurrency

    def _learn(self, now: int) -> None:
        """Take in what became of the jobs that ended since; the line holds while each of them is over for good."""
        with self._mutex:
            self._passed = {job_id: until for job_id, until in self._passed.items() if until > now}
        while self._over:
            waiting, ending = self._over.popleft()
            if isinstance(ending, Applied | Ended):
                self._lookout.follow(waiting.branch)
            else:
                self._lookout.forget()

    def _may_begin(self, waiting: Waiting) -> bool:
        if self._blocked_until is not None and not self._shop.stores.decisions.is_elected(waiting.job_id):
            return False
        with self._mutex:
            if waiting.branch in self._slots:
                return False
            of_project = sum(1 for key, _ in self._slots if key == waiting.glimpse.project_key)
            return of_project < max(1, self._concurrency // 2)

    def _begin(self, waiting: Waiting, shop: Shop) -> None:
        with self._mutex:
            self._slots[waiting.branch] = _Slot(waiting, shop.clock.now())
        self._threads.submit(self._carry, waiting, shop)

    def _carry(self, waiting: Waiting, shop: Shop) -> None:
        with carried():
            self._carry_on(waiting, shop)

    def _carry_on(self, waiting: Waiting, shop: Shop) -> None:
        ending: Ending | None = None
        try:
            claim = try_take(waiting, shop)
            if isinstance(claim, NotTaken):
                self._miss(waiting, claim, shop)
            else:
                ending = self._turn(waiting, claim, shop)
        except StorageError as error:
            self._pause(error, _DISK_PAUSE_MS)
        except BusyError as error:
            self._pause(error, _BUSY_PAUSE_MS)
        finally:
            self._over.append((waiting, ending))
            with self._mutex:
                self._slots.pop(waiting.branch, None)
            self._wake()

    def _miss(self, waiting: Waiting, why: NotTaken, shop: Shop) -> None:
        """Let a job that cannot be taken rest for a while, and the others of its branch go on."""
        with self._mutex:
            self._misses[waiting.job_id] += 1
            if why is NotTaken.TROUBLED or self._misses[waiting.job_id] >= _MISSES_MAX:
                self._passed[waiting.job_id] = shop.clock.now() + _PASSED_MS
                del self._misses[waiting.job_id]

    def _turn(self, waiting: Waiting, claim: Claim, shop: Shop) -> Ending | None:
        with self._mutex:
            self._misses.pop(waiting.job_id, None)
            self._slots[waiting.branch].claim = claim
        self._tell_pulse()
        try:
            with Place(self._calls) as place:
                ending = take_turn(claim, dataclasses.replace(shop, place=place))
                self._note(claim, ending)
        except StorageError:
            raise
        except Exception as error:  # noqa: BLE001 - a defect in one job must not end the daemon; its type is told, no text
            self._isolate(claim, error, shop)
            return None
        return ending

    def _note(self, claim: Claim, ending: Ending) -> None:
        if isinstance(ending, Waits) and ending.is_own_fault:
            self._aside.add(claim.job.id)
        if blocks_all(ending):
            assert isinstance(ending, OverBudget | Waits)
            self._blocked_until = ending.available_at
            self._over_budget = ending if isinstance(ending, OverBudget) else None
            self._calls.shut()
        with self._mutex:
            pause = self._streak.note(claim.job.id, ending, self._shop.clock.now())
        if pause is not None:
            self._blocked_until, self._over_budget = self._streak.until, None
            self._calls.shut()
            self._shop.listener.tell(pause)
        if not isinstance(ending, Interrupted):
            # Who was sent away has nothing to say of the others.
            self._rest = rest_state(ending)

    def _isolate(self, claim: Claim, error: Exception, shop: Shop) -> None:
        fact = f"unexpected {type(error).__name__}"
        shop.listener.tell(Stopped(f"job {claim.job.id}", "worker_error", fact, "Please report it as a defect"))
        at = shop.clock.now() + wait_ms(Class.RETRY, claim.attempt)
        try:
            shop.stores.spool.put_back(claim.job.id, shop.worker_id, at)
        except (BusyError, StorageError) as trouble:
            self._pause(trouble, _DISK_PAUSE_MS)

    def _pause(self, error: BusyError | StorageError, ms: int) -> None:
        self._paused_until = self._shop.clock.now() + ms
        self._shop.listener.tell(Stopped("worker", error.code, error.fact, error.remedy))

    def _tell_pulse(self) -> None:
        with self._mutex:
            claimed = [slot for slot in self._slots.values() if slot.claim is not None]
            oldest = min(claimed, key=lambda slot: slot.since, default=None)
            claim = None if oldest is None else oldest.claim
            told: tuple[WorkerState, JobId | None, int | None] = (self._rest, None, None)
            if claim is not None:
                told = ("working", claim.job.id, claim.attempt)
            is_news, self._told = told != self._told, told
        if is_news:
            self._signs.submit(self._pulse.note, *told)
