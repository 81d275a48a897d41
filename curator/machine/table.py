"""A state machine as a table: what may follow what, why, and how an orphan is closed."""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

S = TypeVar("S", bound=enum.StrEnum)


class IllegalTransitionError(AssertionError):
    """Code asked for an arrow that the table does not have: a defect, never a state of the world."""


@dataclasses.dataclass(frozen=True, slots=True)
class Transition(Generic[S]):
    """One arrow: by what name it is taken, and what it means."""

    source: S
    verb: str
    target: S
    why: str


@dataclasses.dataclass(frozen=True, slots=True)
class Machine(Generic[S]):
    """All arrows of one machine. `entry` is the verb that makes the initial state."""

    name: str
    entry: str
    initial: S
    transitions: tuple[Transition[S], ...]
    orphaned: Mapping[S, str]
    """What recovery does to a state whose owner is gone."""

    def step(self, source: S, verb: str) -> S:
        """Return where `verb` leads from `source`. Raises `IllegalTransitionError` if the table has no such arrow."""
        for transition in self.transitions:
            if transition.source is source and transition.verb == verb:
                return transition.target
        message = f"{self.name}: no {verb} from {source}"
        raise IllegalTransitionError(message)

    def allows(self, source: S, verb: str) -> bool:
        """Tell whether the table has the arrow."""
        return any(each.source is source and each.verb == verb for each in self.transitions)

    def diagram(self) -> str:
        """Return the machine as a Mermaid state diagram."""
        lines = ["stateDiagram-v2", f"    [*] --> {_name(self.initial)}: {self.entry}"]
        lines += [f"    {_name(each.source)} --> {_name(each.target)}: {each.verb}" for each in self.transitions]
        sources = {each.source for each in self.transitions}
        states = dict.fromkeys([self.initial, *(each.target for each in self.transitions)])
        lines += [f"    {_name(state)} --> [*]" for state in states if state not in sources]
        return "\n".join(lines)


def _name(state: enum.StrEnum) -> str:
    return state.value.replace("-", "_")
