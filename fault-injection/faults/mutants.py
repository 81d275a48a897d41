"""Planted bugs, generated from the recordings: every flush dropped, every pair of neighbours swapped.

A flush has no say in what the program does next, and neither has the order of two neighbours that do not read each
other: so the mutant's run is the recorded one, altered. What is not possible in the new order does not compile and is no
mutant. A mutant is killed by a name that is not durable when a step is at rest, or by a state that the healthy run
cannot leave and after which an oracle finds a breach.

Neighbours are looked for at every level of the call stack: two verbs in one function, and also two calls of a function
of the workflow, each with all the verbs and marks beneath it. A mark moves like a verb, so that "told, then done" and
"called, then checkpointed" are among the mutants.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, TypeAlias

from faults.disk import LossyDisk, NotExpressibleError
from faults.recording import Recording, Verb
from faults.view import is_inert

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from faults.campaign import Stage
    from faults.recording import Asked

Alter: TypeAlias = "Callable[[Recording], Recording]"


@dataclasses.dataclass(frozen=True, slots=True)
class Mutant:
    """One planted bug, the same at each place where it fits."""

    kind: str
    where: str

    def __str__(self) -> str:
        """Return its name: what an argument is listed under."""
        return f"{self.kind}: {self.where}"


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant."""

    mutant: Mutant
    killed_by: str
    """The scenario and the breach; nothing where it survived."""
    states: int
    """New states that were judged."""
    is_expressible: bool = True


DROP_BYTES, DROP_NAMES, SWAP = "file flush dropped", "folder flush dropped", "swapped"


def mutants_of(recordings: Iterable[Recording]) -> list[Mutant]:
    """Return every mutant that some recording has a place for, each once, in a fixed order."""
    found: dict[Mutant, None] = {}
    for recording in recordings:
        for asked in recording.asked:
            if asked.verb is Verb.STAGE and asked.is_flushed and asked.stack:
                found[Mutant(DROP_BYTES, asked.chain)] = None
            elif asked.verb is Verb.SYNC and asked.stack:
                found[Mutant(DROP_NAMES, asked.chain)] = None
        for pair in _neighbours(recording.asked):
            found[Mutant(SWAP, pair.label)] = None
    return sorted(found, key=str)


def altered(mutant: Mutant, recording: Recording) -> Recording | None:
    """Return the recording with the bug in it, or None where it has no place for it."""
    if mutant.kind == SWAP:
        asked = _swapped(mutant.where, recording.asked)
    else:
        asked = tuple(_without_flush(mutant, recording.asked))
    return None if asked == recording.asked else Recording(recording.start, asked)


def _without_flush(mutant: Mutant, asked: Iterable[Asked]) -> Iterator[Asked]:
    for each in asked:
        if each.chain != mutant.where:
            yield each
        elif mutant.kind == DROP_BYTES and each.verb is Verb.STAGE:
            yield dataclasses.replace(each, is_flushed=False)
        elif mutant.kind != DROP_NAMES or each.verb is not Verb.SYNC:
            yield each


# --- neighbours ------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class _Pair:
    """Two neighbouring groups of one function: asked[first:second] and asked[second:end]."""

    label: str
    first: int
    second: int
    end: int


def _neighbours(asked: tuple[Asked, ...]) -> Iterator[_Pair]:
    deepest = max((len(each.stack) for each in asked), default=0)
    for depth in range(deepest):
        keys = [_key(each, depth) for each in asked]
        runs = [(key, list(group)) for key, group in itertools.groupby(range(len(asked)), keys.__getitem__)]
        for (key, group), (other, following) in itertools.pairwise(runs):
            if key is None or other is None or key[:2] != other[:2] or key[2] >= other[2]:
                continue
            one, two = _name(asked[group[0]], depth), _name(asked[following[0]], depth)
            yield _Pair(f"{key[1]}: {one} <> {two}", group[0], following[0], following[-1] + 1)


def _key(asked: Asked, depth: int) -> tuple[object, str, int] | None:
    """Tell apart the calls that one function makes: by those above it, itself, and the line it is at."""
    if len(asked.stack) <= depth:
        return None
    call = asked.stack[depth]
    return asked.stack[:depth], call.function, call.line


def _name(asked: Asked, depth: int) -> str:
    """Name what a function called at this place: another function, or the verb itself."""
    if len(asked.stack) > depth + 1:
        return asked.stack[depth + 1].function.partition(":")[2]
    return asked.verb.value if asked.mark is None else f"telling {asked.mark.kind}"


def _swapped(label: str, asked: tuple[Asked, ...]) -> tuple[Asked, ...]:
    """Swap each such pair; pairs that overlap an already swapped one are left alone."""
    order = list(asked)
    reached = 0
    for pair in sorted(_neighbours(asked), key=lambda each: each.first):
        if pair.label == label and pair.first >= reached:
            order[pair.first : pair.end] = [*asked[pair.second : pair.end], *asked[pair.first : pair.second]]
            reached = pair.end
    return tuple(order)


# --- trying ----------------------------------------------------------------------------------------------------------


def try_mutant(mutant: Mutant, stages: Iterable[Stage], *, states_max: int = 400) -> Verdict:
    """Look for a scenario that kills a mutant; at most so many new states of each are judged."""
    judged, fits = 0, False
    for stage in stages:
        recording = altered(mutant, stage.recording)
        if recording is None:
            continue
        try:
            disk = LossyDisk(recording, is_inert=is_inert)
        except NotExpressibleError:
            continue
        fits = True
        killed = next(iter(disk.restless()), "")
        if killed:
            return Verdict(mutant, f"{stage.scenario.name}: at rest {killed} is not durable", judged)
        for place, state, said in stage.new_states(disk, _first_difference(stage.recording, recording), states_max):
            judged += 1
            violation = stage.judge(place, state, said)
            if violation is not None:
                return Verdict(mutant, f"{place}: {violation.breaches[0]}", judged)
    return Verdict(mutant, "", judged, fits)


def _first_difference(healthy: Recording, other: Recording) -> int:
    pairs = enumerate(zip(healthy.asked, other.asked, strict=False))
    return next((at for at, (one, two) in pairs if one != two), min(len(healthy.asked), len(other.asked)))
