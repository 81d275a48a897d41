"""What a state of the model is: the files of some jobs, the branches they change, and who holds which claim.

Values are named tuples rather than dataclasses: a state is hashed and compared a million times, and a tuple does both in
C. A claim is known by its number, for every claim of a job has another one; so a worker is the claim that it holds.
"""

from __future__ import annotations

import enum
from typing import Final, NamedTuple, TypeAlias

Value: TypeAlias = tuple[str, ...]
"""A branch state: what stands in it, in order. In a replayed trace its digest comes first."""


class Held(enum.StrEnum):
    """Where a person or a bad record keeps a job away from the queue."""

    NO = ""
    HELD = "held"
    ASIDE = "aside"


class Attempt(NamedTuple):
    """One provider attempt, as its journal and its result tell."""

    number: int
    """The claim that made it."""
    base: Value | None
    state: str
    """As in the journal, or nothing where no file of the journal stands."""
    calls: int = 0
    """How often a request left for it: no file says so, the model remembers."""
    result: str = ""
    """`completed`, `failed` with a bill, `silent` without one; nothing while no result stands."""

    @property
    def is_billed(self) -> bool:
        """Whether its result tells what it cost."""
        return self.result in ("completed", "failed")


class Frozen(NamedTuple):
    """An intent: what a job will do to its branch, whoever does it."""

    status: str
    base: Value
    after: Value
    revision: str = ""
    """In a replayed trace, the id of its revision."""


class Job(NamedTuple):
    """The files of one job."""

    branch: int = 0
    is_accepted: bool = False
    """Whether somebody was told that the job is safe here."""
    is_stamped: bool = False
    queued: int = 0
    """The number of its next claim, or 0 where no such name stands."""
    running: int = 0
    """The number of the claim that runs, or 0."""
    is_live: bool = False
    """Whether that claim's lease has not run out."""
    held: Held = Held.NO
    attempts: tuple[Attempt, ...] = ()
    decision: int = 0
    """The number of the elected attempt."""
    intent: Frozen | None = None
    has_revision: bool = False
    is_complete: bool = False
    has_card: bool = False
    has_receipt: bool = False
    has_tombstone: bool = False
    outcome: str = ""
    is_closed: bool = False
    """Whether its closing record stands."""

    def attempt(self, number: int) -> Attempt | None:
        """Return the attempt of a claim."""
        for each in self.attempts:
            if each.number == number:
                return each
        return None

    @property
    def is_pending(self) -> bool:
        """Whether a change has begun and memory is not whole again."""
        return self.intent is not None and not self.is_complete and not self.has_tombstone

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to be done for it."""
        is_put_away = not (self.queued or self.running or self.intent or self.is_complete)
        return is_put_away and bool(self.outcome) and self.is_closed


class Branch(NamedTuple):
    """One branch of memory."""

    value: Value
    written: tuple[str, ...] = ()
    """What Pi was told that it has written."""


class Worker(NamedTuple):
    """A process that holds, or believes it holds, one claim; all of it is lost with the process."""

    job: int
    number: int
    base: Value | None = None
    """The branch as it read it."""
    has_answer: bool = False
    """Whether a provider's answer is in its memory alone."""
    proved: int = 0
    """The attempt that it may elect, having proved its lease."""


class Spent(NamedTuple):
    """How much of what may go wrong has gone wrong already."""

    crashes: int = 0
    sleeps: int = 0
    writes: int = 0
    failures: int = 0


class State(NamedTuple):
    """Everything at one moment."""

    jobs: tuple[Job, ...]
    branches: tuple[Branch, ...]
    workers: tuple[Worker, ...] = ()
    """In order, for it does not matter which process is which."""
    spent: Spent = Spent()

    def worker(self, job: int, number: int) -> Worker | None:
        """Return who holds, or believes it holds, a claim."""
        for each in self.workers:
            if each.job == job and each.number == number:
                return each
        return None

    def owns(self, job: int, number: int) -> bool:
        """Tell whether a claim stands and its lease has not run out: what every fenced write proves first."""
        standing = self.jobs[job]
        return standing.running == number > 0 and standing.is_live

    def value(self, job: int) -> Value:
        """Return the branch of a job as it stands."""
        return self.branches[self.jobs[job].branch].value

    def is_at_rest(self, branch: int) -> bool:
        """Tell whether no begun change is about to move a branch."""
        return not any(each.branch == branch and each.is_pending for each in self.jobs)

    @property
    def is_over(self) -> bool:
        """Whether every job has come to its end, and every attempt to its rest."""
        return all(
            each.is_over and all(_is_resting(attempt) for attempt in each.attempts) for each in self.jobs
        ) and not any(worker.has_answer for worker in self.workers)


def _is_resting(attempt: Attempt) -> bool:
    return attempt.state in RESTING and not (attempt.state == "unknown" and attempt.is_billed)


RESTING: Final = frozenset({"settled", "corrected", "reconciled", "unknown", "cancelled"})
"""The states of an attempt in which nothing is held any more."""


class Kind(enum.StrEnum):
    """What may happen."""

    ENQUEUE = "enqueue"
    STAMP = "stamp"
    CLAIM = "claim"
    DROP_QUEUED = "drop the queued name"
    RENEW = "renew"
    REBASE = "rebase"
    DEFER = "defer"
    EXPIRE = "expire"
    TAKE_OVER = "take over"
    DROP_RUNNING = "drop the running name"
    BASE = "base"
    RESERVE = "reserve"
    CANCEL = "cancel"
    DISPATCH = "dispatch"
    CALL = "call"
    RESULT = "result"
    SETTLE = "settle"
    LOSE = "lose"
    CORRECT = "correct"
    PROVE = "prove the lease"
    ELECT = "elect"
    INTENT = "intent"
    WRITE = "write the branch"
    REVISION = "write the revision"
    COMPLETE = "complete"
    CARD = "card"
    RECEIPT = "receipt"
    TOMBSTONE = "tombstone"
    DROP_INTENT = "drop the intent"
    DROP_COMPLETION = "drop the completion"
    OUTCOME = "outcome"
    CLOSE = "close"
    LEAVE = "leave"
    FOREGROUND = "foreground write"
    LAPSE = "lapse"
    CRASH = "crash"
    # Only in replayed traces: what a person, Pi or age does beside the spine.
    HOLD = "hold"
    RELEASE = "release"
    SET_ASIDE = "set aside"
    DROP_HELD = "drop the held name"
    HURRY = "hurry"
    UNDO = "undo"
    SEED = "seed"
    AGE = "age"


class Event(NamedTuple):
    """One thing that happens: to which job, by which claim or about which attempt, and with what."""

    kind: Kind
    job: int = 0
    number: int = 0
    word: str = ""
    """A status, a kind of result, or what Pi writes."""
    value: Value | None = None
    """The branch that a change leads to."""
    next: int = 0
    """The number of a claim that begins, or of the attempt that is chosen."""
    base: Value | None = None
    """The branch that a change begins from."""

    def __str__(self) -> str:
        """Return it as a person reads it in a trace."""
        said = " ".join(str(each) for each in (self.number or "", self.word, self.next or "") if each)
        return f"{self.kind.value} of job {self.job}" + (f" ({said})" if said else "")
