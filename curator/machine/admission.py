"""How a decision reaches memory: a decision table over what can be seen on disk.

At most one row matches any combination; no match fails closed. The order of the rows is the order of a healthy life.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Final


class Place(enum.StrEnum):
    """Where the branch stands, seen from an intent."""

    BASE = "at base"
    RESULT = "at result"
    ELSEWHERE = "elsewhere"


class RevisionSeen(enum.StrEnum):
    """Whether an intent's revision stands."""

    NONE_DUE = "none due"
    ABSENT = "absent"
    PRESENT = "present"


class Step(enum.StrEnum):
    """What is to be done next."""

    DECIDE = "decide status, publish intent"
    WRITE_BRANCH = "write branch"
    WRITE_REVISION = "write revision"
    COMPLETE = "publish completion"
    RECEIPT = "publish feedback, then receipt"
    RETIRE = "publish tombstone"
    REMOVE = "remove intent, then completion"
    REBUILD_RECEIPT = "rebuild the receipt from the tombstone"
    DONE = "done"


@dataclasses.dataclass(frozen=True, slots=True)
class Seen:
    """One job's admission, as its files stand. Without an intent `branch` and `revision` mean nothing."""

    tombstone: bool
    intent: bool
    branch: Place
    revision: RevisionSeen
    completion: bool
    receipt: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One row: None means any."""

    step: Step
    tombstone: bool | None = None
    intent: bool | None = None
    branch: frozenset[Place] | None = None
    revision: frozenset[RevisionSeen] | None = None
    completion: bool | None = None
    receipt: bool | None = None
    why: str = ""

    def matches(self, seen: Seen) -> bool:
        """Tell whether this row is about what is seen."""
        flags = (
            (self.tombstone, seen.tombstone),
            (self.intent, seen.intent),
            (self.completion, seen.completion),
            (self.receipt, seen.receipt),
        )
        return (
            all(wanted is None or wanted is given for wanted, given in flags)
            and (self.branch is None or seen.branch in self.branch)
            and (self.revision is None or seen.revision in self.revision)
        )


_BASE, _RESULT = frozenset({Place.BASE}), frozenset({Place.RESULT})
_NONE_DUE, _ABSENT = frozenset({RevisionSeen.NONE_DUE}), frozenset({RevisionSeen.ABSENT})
_PRESENT = frozenset({RevisionSeen.PRESENT})

ADMISSION: Final = (
    Row(Step.DECIDE, False, False, None, None, False, False, "nothing has begun"),
    Row(Step.WRITE_BRANCH, False, True, _BASE, _ABSENT, False, False, "the change is frozen, not yet made"),
    Row(Step.WRITE_REVISION, False, True, _RESULT, _ABSENT, False, False, "the change is made, not yet told"),
    Row(
        Step.COMPLETE,
        False,
        True,
        frozenset({Place.RESULT, Place.ELSEWHERE}),
        _PRESENT,
        False,
        False,
        "the revision proves that the branch was written; a later writer may have moved it",
    ),
    Row(Step.COMPLETE, False, True, None, _NONE_DUE, False, False, "memory was not to change: no branch is looked at"),
    Row(
        Step.RECEIPT,
        False,
        True,
        None,
        frozenset({RevisionSeen.NONE_DUE, RevisionSeen.PRESENT}),
        True,
        False,
        "the change is whole; later writers may have moved the branch",
    ),
    Row(
        Step.RETIRE,
        False,
        True,
        None,
        frozenset({RevisionSeen.NONE_DUE, RevisionSeen.PRESENT}),
        True,
        True,
        "the receipt is durable: the intent may shrink to digests",
    ),
    Row(Step.REMOVE, True, True, None, None, None, True, "removal began"),
    Row(Step.REMOVE, True, False, None, None, True, True, "removal began"),
    Row(Step.DONE, True, False, None, None, False, True, "the tombstone and the receipt remain"),
    Row(Step.DONE, False, False, None, None, False, True, "retention took the tombstone"),
    Row(Step.REBUILD_RECEIPT, True, None, None, None, None, False, "the tombstone holds all that a receipt says"),
)


def next_step(seen: Seen) -> Step | None:
    """Return what is to be done, or None where no row matches: then that job stops."""
    steps = [row.step for row in ADMISSION if row.matches(seen)]
    assert len(steps) <= 1, "two rows of the admission table match"
    return steps[0] if steps else None


def table() -> str:
    """Return the table in Markdown."""
    head = "| step | tombstone | intent | branch | revision | completion | receipt |"
    lines = [head, "|" + "---|" * 7]
    for row in ADMISSION:
        cells = (
            row.step.value,
            _flag(row.tombstone),
            _flag(row.intent),
            _places(row.branch),
            _places(row.revision),
            _flag(row.completion),
            _flag(row.receipt),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _flag(wanted: bool | None) -> str:  # noqa: FBT001 - a cell of the table
    return "any" if wanted is None else "yes" if wanted else "no"


def _places(wanted: frozenset[Place] | frozenset[RevisionSeen] | None) -> str:
    return "any" if wanted is None else " or ".join(sorted(item.value for item in wanted))
