"""How one turn at a job ends. What a person or a retry needs to know, and nothing of the evidence."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from curator.model.admission import Receipt
    from curator.model.budget import Exposure, Limits
    from curator.model.decision import Decision
    from curator.model.ports import Hold


@dataclasses.dataclass(frozen=True, slots=True)
class Applied:
    """The job is over with a decision, whatever its status. Without a receipt it was over before."""

    decision: Decision | None
    receipt: Receipt | None


@dataclasses.dataclass(frozen=True, slots=True)
class Ended:
    """The job is over without a decision."""

    code: str
    was_asked: bool = False
    """Whether a call was made and brought no proposal."""


@dataclasses.dataclass(frozen=True, slots=True)
class Waits:
    """The job is back in the queue, to be taken from `available_at` on (UTC milliseconds)."""

    code: str
    available_at: int | None
    is_own_fault: bool = False
    """Whether what stops it stands under its own name, so that no other job of its branch need wait with it."""
    was_asked: bool = False
    """Whether a call was made and brought no proposal."""


@dataclasses.dataclass(frozen=True, slots=True)
class OverBudget:
    """The day's budget is spent; the job is back in the queue until the next day."""

    provider: str
    limit: str
    exposure: Exposure
    limits: Limits
    available_at: int
    hold: Hold
    """What the call would have held."""


@dataclasses.dataclass(frozen=True, slots=True)
class Interrupted:
    """A wish to stop was met; the claim was given back."""


@dataclasses.dataclass(frozen=True, slots=True)
class Fenced:
    """The lease was lost on the way. What was paid for is accounted; the job runs again by itself."""


Ending: TypeAlias = Applied | Ended | Waits | OverBudget | Interrupted | Fenced
