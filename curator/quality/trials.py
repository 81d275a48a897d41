"""Put the reviewer of an agent folder to the corpus: each call is held and counted in the journal, and capped besides.

No memory of the folder is read or changed, and no job is made; but a call is a call, and counts against the day.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

from curator.model.ports import Hold
from curator.quality.corpus import Conversation, Half, read
from curator.quality.exam import Paper, brief_of, marked
from curator.workflow.halting import Halted, halted_by, refusal_of
from curator.workflow.judging import Lacking
from curator.workflow.trial import Purse, Tried, try_out

if TYPE_CHECKING:
    from curator.model.ports import Reviewer
    from curator.workflow.shop import Shop

FAILURES_MAX: Final = 5
"""Failed calls in a row after which the reviewer is taken for out of order: more would only be paid for."""


@dataclasses.dataclass(frozen=True, slots=True)
class Sitting:
    """One conversation that is to be reviewed."""

    half: Half
    conversation: Conversation


Step: TypeAlias = Paper | Halted


def sittings(halves: Iterable[Half]) -> tuple[Sitting, ...]:
    """Return the conversations in an order that mixes halves, categories and languages: any head of it is a sample."""
    found = [Sitting(half, conversation) for half in halves for conversation in read(half)]
    return tuple(sorted(found, key=lambda each: hashlib.sha256(each.conversation.id.encode()).digest()))


def most(chosen: Iterable[Sitting], reviewer: Reviewer) -> Hold:
    """Return what these calls hold together: more than they are expected to cost. Raises `ReviewerSetupError`."""
    holds = [reviewer.prepare(brief_of(each.conversation)).hold for each in chosen]
    return Hold(sum(hold.tokens for hold in holds), sum(hold.cost_nanousd for hold in holds))


def examine(chosen: Iterable[Sitting], shop: Shop, purse: Purse) -> Iterator[Step]:
    """Let each conversation be reviewed, in order, until all are or something forbids it; the last step says what.

    Raises `ReviewerSetupError`, `ConfigError` and what the journal raises.
    """
    failures = 0
    for each in chosen:
        if shop.stop.is_set():
            yield Halted("it was interrupted", "What was asked is counted", is_wanted=True)
            return
        tried = try_out(brief_of(each.conversation), shop, purse)
        if not isinstance(tried, Tried):
            yield halted_by(tried)
            return
        refused = refusal_of(tried)
        if refused is not None:
            # Nobody has looked at this conversation, so it says nothing of the reviewer.
            yield refused
            return
        yield marked(each.conversation, each.half, tried.judged)
        failures = failures + 1 if isinstance(tried.judged, Lacking) else 0
        if isinstance(tried.judged, Lacking) and failures >= FAILURES_MAX:
            fact = f"{failures} calls in a row brought no proposal, the last for this: {tried.judged.message}"
            yield Halted(fact, "Run `curator config check`, or try later")
            return
