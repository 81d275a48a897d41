"""What curator asks of the world outside: a clock, chance, a reviewer, someone who listens."""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from curator.model.digest import Digest
    from curator.model.event import Event
    from curator.model.job import Job
    from curator.model.memory import Branch
    from curator.model.outcome import Provenance


class Clock(Protocol):
    """The time of day and a time that never goes back."""

    def now(self) -> int:
        """Return UTC milliseconds since the epoch. It may jump."""

    def monotonic(self) -> int:
        """Return milliseconds that only grow."""


class Chance(Protocol):
    """Where ids that nobody can guess come from."""

    def uuid(self) -> str:
        """Return a fresh version 4 UUID in its 36 character form."""

    def token(self) -> str:
        """Return 16 random bytes as 32 hex characters."""


class Stop(Protocol):
    """A wish to stop that a long call looks at."""

    def is_set(self) -> bool:
        """Tell whether the work should end soon."""


class Listener(Protocol):
    """Whoever wants to know: the JSON lines of `--json`, the log, a person's terminal."""

    def tell(self, event: Event) -> None:
        """Take note of an event. Never raises into the work it describes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Brief:
    """What a reviewer is asked: one job, against one state of the branch."""

    job: Job
    base: Branch
    """The branch that this attempt judges; its entries are sanitized."""
    attempt: int
    """1 for the first provider attempt of this job."""
    is_final: bool
    last_failure_code: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Hold:
    """The most that an attempt is expected to cost: reserved before it is sent."""

    tokens: int
    cost_nanousd: int


@dataclasses.dataclass(frozen=True, slots=True)
class Prepared:
    """A call, ready to be sent: all that can fail before dispatch has not failed."""

    provider: str
    model: str
    api: str
    system_prompt: str
    user_prompt: str
    request_digest: Digest
    hold: Hold

    def make_ready(self, stop: Stop) -> Prepared | Unready:  # noqa: ARG002 - for reviewers that ask somebody else
        """Find the key and see that the provider can be reached, right before the dispatch; send nothing of the call.

        Bounded in time. Returns the call as it may be sent, or why its attempt is to be cancelled.
        """
        return self


@dataclasses.dataclass(frozen=True, slots=True)
class Unready:
    """Why a reserved call cannot be sent: nothing left, so its attempt is cancelled and costs the job nothing."""

    code: str
    fact: str
    remedy: str


class Class(enum.StrEnum):
    """What a failure means for the job."""

    RETRY = "retry"
    LATER = "later"
    """The provider takes nothing more for now, from anybody: no job's fault, so it costs none its tries."""
    CONFIGURATION = "configuration"
    TERMINAL = "terminal"
    STOPPED = "stopped"


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer, normalized: its text and where it came from."""

    text: str
    provenance: Provenance
    is_estimated: bool = False
    """The provider did not tell its usage: zero stands in the provenance, and the attempt is charged at its hold."""


@dataclasses.dataclass(frozen=True, slots=True)
class CallFailure:
    """A call without a usable answer.

    `provenance` is there when the provider's answer was whole, an error or an unusable one: then the attempt settles.
    Without it nobody knows whether the provider ran: the attempt is unknown. `message` is sanitized, our own words.
    """

    code: str
    kind: Class
    message: str
    provenance: Provenance | None = None
    retry_after_ms: int | None = None
    is_estimated: bool = False
    """As for an answer: whole, but without a word on usage."""


class Reviewer(Protocol):
    """Somebody who reads evidence and proposes, without tools. One `ask` is at most one request."""

    def prepare(self, brief: Brief) -> Prepared:
        """Resolve model, credential, prompt and hold; send nothing. Raises `ReviewerSetupError`."""

    def ask(self, prepared: Prepared, stop: Stop) -> Answer | CallFailure:
        """Send exactly one request and wait for its end. Every expected failure is returned, not raised."""
