"""Work the queue off, one job after another, until nothing is runnable.

A job that cannot go on is put back and named; the rest goes on. Only a failing disk or a wish to stop ends the drain.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, Protocol, assert_never

from curator.model import event
from curator.workflow.ending import Applied, Ended, Ending, Fenced, Interrupted, OverBudget, Waits
from curator.workflow.line import Lookout
from curator.workflow.retry import RATE_LIMITED
from curator.workflow.streak import Streak
from curator.workflow.turn import NotTaken, blocks_all, rest_state, take_turn, try_take

if TYPE_CHECKING:
    from curator.model.heartbeat import WorkerState
    from curator.model.ids import JobId
    from curator.store.spool import Claim
    from curator.workflow.shop import Shop

WAIT_MS_MAX: Final = 120_000
"""The longest back-off that `--wait` sits through."""


class Sleeper(Protocol):
    """Somebody who waits, and wakes early when asked to stop."""

    def sleep(self, ms: int) -> None:
        """Wait for so many milliseconds, or less."""


class Pulse(Protocol):
    """Somebody who tells Pi what the worker does."""

    def note(self, state: WorkerState, job_id: JobId | None = None, attempt: int | None = None) -> None:
        """Say what is being done now."""


@dataclasses.dataclass(slots=True)
class _Count:
    completed: int = 0
    failed: int = 0
    retried: int = 0
    budget_exhausted: int = 0
    interrupted: int = 0

    def of(self, ending: Ending) -> None:
        match ending:
            case Applied():
                self.completed += 1
            case Ended():
                self.failed += 1
            case Waits() | Fenced():
                self.retried += 1
            case OverBudget():
                self.budget_exhausted += 1
            case Interrupted():
                self.interrupted += 1
            case _:
                assert_never(ending)


@dataclasses.dataclass(slots=True)
class _Block:
    """Why nobody can be asked."""

    is_blocked: bool = False
    by: str | None = None
    streak: Streak = dataclasses.field(default_factory=Streak)

    def learn(self, claim: Claim, ending: Ending, shop: Shop) -> None:
        """Take in what stops all others too: the same want, or as many failures alike."""
        pause = self.streak.note(claim.job.id, ending, shop.clock.now())
        if pause is not None:
            shop.listener.tell(pause)
            self.is_blocked, self.by = True, pause.code
        elif blocks_all(ending):
            self.is_blocked = True
            if isinstance(ending, Waits):
                self.by = ending.code


def drain(shop: Shop, *, limit: int | None, sleeper: Sleeper | None, pulse: Pulse) -> event.Drained:
    """Review what can be reviewed now, at most `limit` jobs; with a sleeper, sit through short back-offs too.

    Raises `StorageError` when the disk fails; then nothing accepted is lost, and the claim returns by its lease.
    """
    count, turns, block = _Count(), 0, _Block()
    passed: set[JobId] = set()
    aside: set[JobId] = set()
    lookout = Lookout()
    while not shop.stop.is_set() and (limit is None or turns < limit):
        line = lookout.line(shop, passed, aside)
        # While nobody can be asked, a job that needs nobody can still be finished.
        decided = shop.stores.decisions.is_elected
        waiting = next((each for each in line.ready if not block.is_blocked or decided(each.job_id)), None)
        if waiting is None:
            now = shop.clock.now()
            is_stuck = bool(line.ready) and block.by != RATE_LIMITED
            if sleeper is None or line.next_at is None or line.next_at - now > WAIT_MS_MAX or is_stuck:
                break
            pulse.note("waiting-retry")
            sleeper.sleep(max(1, line.next_at - now))
            block.is_blocked, block.by = False, None
            continue
        line.took(waiting)
        claim = try_take(waiting, shop)
        if isinstance(claim, NotTaken):
            passed.add(waiting.job_id)
            lookout.forget()
            continue
        turns += 1
        pulse.note("working", claim.job.id, claim.attempt)
        ending = take_turn(claim, shop)
        count.of(ending)
        if isinstance(ending, Applied | Ended):
            lookout.follow(waiting.branch)
        else:
            lookout.forget()
        if isinstance(ending, Waits) and ending.is_own_fault:
            aside.add(claim.job.id)
        state = rest_state(ending)
        if state != "idle":
            # Between two jobs nobody is idle.
            pulse.note(state, *((claim.job.id, claim.attempt) if state == "waiting-retry" else ()))
        block.learn(claim, ending, shop)
    if not shop.stop.is_set():
        shop.listener.tell(event.Idle())
    queued, _ = shop.stores.spool.counts()
    drained = event.Drained(**dataclasses.asdict(count), left=queued, blocked_by=block.by)
    shop.listener.tell(drained)
    return drained
