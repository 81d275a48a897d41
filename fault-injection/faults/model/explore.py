"""Visit every state that the model can reach, breadth first, and tell the shortest way to the first breach.

Nothing is drawn by lot: the same bounds give the same states in the same order. That every job comes to its end is asked
backwards, of the whole graph: from each state a way must lead there on which nothing more goes wrong.
"""

from __future__ import annotations

import dataclasses
from array import array
from typing import TYPE_CHECKING, Final

from faults.model.invariants import breach_of_state, breach_of_step
from faults.model.program import Bounds, certain, is_fair, tried
from faults.model.rules import take
from faults.model.state import Branch, Job, State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faults.model.state import Event

NO_END: Final = "each_job_comes_to_its_end"
"""The name of the promise that no single state can break."""


@dataclasses.dataclass(frozen=True, slots=True)
class Breach:
    """A promise that does not hold, and the shortest way there."""

    invariant: str
    way: tuple[str, ...]

    def __str__(self) -> str:
        """Return it as a person replays it."""
        return "\n  ".join((self.invariant, *self.way))


@dataclasses.dataclass(frozen=True, slots=True)
class Explored:
    """What a whole exploration came to."""

    bounds: Bounds
    states: int
    steps: int
    ends: int
    depth: int
    breach: Breach | None

    def line(self) -> str:
        """Return the figures in one line."""
        told = "0 breaches" if self.breach is None else str(self.breach)
        return f"{self.bounds}: {self.states} states, {self.steps} steps, depth {self.depth}, {self.ends} ends, {told}"


def begin(bounds: Bounds) -> State:
    """Return the state in which nothing has happened yet."""
    return State(tuple(Job() for _ in range(bounds.jobs)), (Branch(("seed",)),))


def explore(bounds: Bounds, off: frozenset[str] = frozenset()) -> Explored:
    """Visit every state within bounds, or stop at the first breach."""
    search = _Search(bounds, off)
    breach = search.run() or search.endless()
    return Explored(bounds, len(search.states), search.steps, search.ends, search.depth, breach)


class _Search:
    def __init__(self, bounds: Bounds, off: frozenset[str]) -> None:
        self._bounds = bounds
        self._off = off
        self.states: list[State] = [begin(bounds)]
        self._known: dict[State, int] = {self.states[0]: 0}
        self._parents = array("l", [-1])
        self._depths = array("l", [0])
        self._backward: tuple[array[int], array[int]] = (array("l"), array("l"))
        """The fair steps, as two columns: from, to."""
        self.steps = 0
        self.ends = 0

    @property
    def depth(self) -> int:
        """Return how long the longest of the shortest ways is."""
        return max(self._depths)

    def run(self) -> Breach | None:
        at = 0
        while at < len(self.states):
            breach = self._leave(at)
            if breach is not None:
                return breach
            at += 1
        return None

    def endless(self) -> Breach | None:
        """Return a state from which no job's end can be reached any more."""
        can_end = bytearray(len(self.states))
        pending = [at for at, state in enumerate(self.states) if state.is_over]
        self.ends = len(pending)
        above: dict[int, list[int]] = {}
        for source, target in zip(*self._backward, strict=True):
            above.setdefault(target, []).append(source)
        for at in pending:
            can_end[at] = 1
        while pending:
            for source in above.get(pending.pop(), ()):
                if not can_end[source]:
                    can_end[source] = 1
                    pending.append(source)
        stuck = can_end.find(0)
        return None if stuck < 0 else Breach(NO_END, self._way(stuck))

    def _leave(self, at: int) -> Breach | None:
        before = self.states[at]
        for event, after in self._steps_from(before):
            self.steps += 1
            broken = breach_of_step(before, event, after)
            to = self._known.get(after)
            if to is None:
                to = len(self.states)
                self._known[after] = to
                self.states.append(after)
                self._parents.append(at)
                self._depths.append(self._depths[at] + 1)
                broken = broken or breach_of_state(after)
            if broken:
                return Breach(broken, (*self._way(at), str(event)))
            if is_fair(before, event):
                self._backward[0].append(at)
                self._backward[1].append(to)
        return None

    def _steps_from(self, before: State) -> Iterator[tuple[Event, State]]:
        """Yield what may happen; where a step is certain, that one alone."""
        for event in certain(before) if self._bounds.is_reduced else ():
            after = take(before, event, self._off)
            if not isinstance(after, str) and after != before:
                yield event, after
                return
        for event in tried(before, self._bounds):
            after = take(before, event, self._off)
            if not isinstance(after, str) and after != before:
                yield event, after

    def _way(self, at: int) -> tuple[str, ...]:
        """Return the events of the shortest way to a state."""
        told: list[str] = []
        while (above := self._parents[at]) >= 0:
            told.append(str(self._event_between(above, at)))
            at = above
        return tuple(reversed(told))

    def _event_between(self, source: int, target: int) -> Event:
        return next(event for event, after in self._steps_from(self.states[source]) if after == self.states[target])
