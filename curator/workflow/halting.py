"""Why a run of calls that belong to no job ends before all were made, in words for a person."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from curator.model.ports import Class
from curator.workflow.attempt import Spent
from curator.workflow.judging import Lacking
from curator.workflow.trial import Capped, Unsent

if TYPE_CHECKING:
    from curator.workflow.trial import Tried


@dataclasses.dataclass(frozen=True, slots=True)
class Halted:
    """Why the rest was not asked."""

    fact: str
    remedy: str
    is_wanted: bool = False
    """Whether whoever asked wanted it to end here."""


def halted_by(tried: Spent | Capped | Unsent) -> Halted:
    """Return why a call that was not made is the last one."""
    match tried:
        case Capped(cap):
            return Halted(f"the cap of {cap} was reached", f"Raise --max-{cap} to ask more", is_wanted=True)
        case Spent(provider, limit):
            fact = f"the day's limit of {limit} for {provider} leaves no room for one more call"
            return Halted(fact, "Go on after midnight UTC, or raise that limit in service.json")
        case Unsent(unready):
            if unready is None:
                return Halted("it was interrupted", "What was asked is counted", is_wanted=True)
            return Halted(unready.fact, unready.remedy)


def refusal_of(tried: Tried) -> Halted | None:
    """Return why a call that was made is the last one, where not the answer but the asking failed."""
    if not isinstance(tried.judged, Lacking):
        return None
    lacking = tried.judged
    match lacking.missed.kind:
        case Class.STOPPED:
            return Halted("it was interrupted", "What was asked is counted", is_wanted=True)
        case Class.CONFIGURATION:
            return Halted(f"the reviewer cannot be asked: {lacking.message}", "Run `curator config check`")
        case Class.LATER:
            return Halted(f"the provider takes nothing more for now: {lacking.message}", "Try again later")
        case Class.RETRY | Class.TERMINAL:
            return None
