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

from faults.campaign import LOSSY, Place
from faults.disk import LossyDisk, NotExpressibleError
from faults.recording import Recording, Verb
from faults.view import is_inert

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from faults.campaign import SecondLife, Stage
    from faults.recording import Asked, Mark
    from faults.states import State

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

    def ending(self, argument: str) -> str:
        """Say how it ended, in a word or two; `argument` is the reason why it may live, if there is one."""
        if self.killed_by:
            return "killed"
        if not self.is_expressible:
            return "impossible in that order"
        if argument:
            return "argued"
        return "equivalent" if self.states == 0 else "ALIVE"


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
        elif mutant.kind == DROP_NAMES and each.verb is Verb.SYNC:
            # It stays as a verb without an effect, so that moments of both runs compare.
            yield dataclasses.replace(each, is_done=False)
        else:
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


def try_mutant(
    mutant: Mutant, stages: Iterable[Stage], *, stages_max: int | None = None, states_max: int = 200
) -> Verdict:
    """Look for a scenario that kills a mutant, among those that have a place for it, new state by new state."""
    judged = tried = 0
    for stage in stages:
        disk = _compiled(mutant, stage.recording) if tried != stages_max else None
        if disk is None:
            continue
        tried += 1
        restless = disk.restless()
        if restless:
            return Verdict(mutant, f"{stage.scenario.name}: at rest {restless[0]} may be lost", judged)
        for place, state in itertools.islice(_new_states(stage, stage.disk, disk), states_max):
            judged += 1
            violation = stage.judge(place, state, stage.said(place.point, disk))
            if violation is not None:
                return Verdict(mutant, f"{place}: {violation.breaches[0]}", judged)
    return Verdict(mutant, "", judged, tried > 0)


def try_second_lives(mutant: Mutant, stages: Iterable[Stage], *, states_max: int = 40) -> Verdict:
    """Look for a second life that kills a dropped flush: one that should have flushed what a dead process had not."""
    judged = 0
    for stage in stages:
        for life in stage.second_lives():
            healthy = LossyDisk(life.recording, is_inert=is_inert)
            disk = _compiled(mutant, life.recording) if _is_needed(mutant, life, healthy) else None
            if disk is None:
                continue
            for place, state in itertools.islice(_new_states(stage, healthy, disk, life.point + 1), states_max):
                judged += 1
                violations = stage.judge_second(life, place, state, stage.said(place.point, disk))
                if violations:
                    return Verdict(mutant, f"{violations[0].place}: {violations[0].breaches[0]}", judged)
    return Verdict(mutant, "", judged)


def _compiled(mutant: Mutant, recording: Recording) -> LossyDisk | None:
    """Return the disk of an altered recording, or None where the bug has no place or is not possible."""
    asked = altered(mutant, recording)
    try:
        return None if asked is None else LossyDisk(asked, is_inert=is_inert)
    except NotExpressibleError:
        return None


def _is_needed(mutant: Mutant, life: SecondLife, disk: LossyDisk) -> bool:
    """Tell whether a flush of the second life settles a name that the first one had left."""
    left = set(disk.unsettled(life.point))
    steps = [
        step
        for step, each in enumerate(life.recording.asked)
        if step >= life.point and each.verb is Verb.SYNC and each.chain == mutant.where
    ]
    return any(left.intersection(disk.unsettled(step)) - set(disk.unsettled(step + 1)) for step in steps)


def _new_states(stage: Stage, healthy: LossyDisk, disk: LossyDisk, first: int = 0) -> Iterator[tuple[Place, State]]:
    """Yield the states that the altered run may leave at a moment at which the healthy one may not."""
    met: set[tuple[str, tuple[Mark, ...]]] = set()
    for point in disk.points[first:]:
        is_alike = healthy.said(point) == disk.said(point)
        if is_alike and healthy.shape(point) == disk.shape(point):
            continue
        for model in LOSSY:
            known = healthy.digests(model, point) if is_alike else frozenset()
            for number, state in enumerate(disk.of(model, point)):
                key = (state.digest, disk.said(point))
                if key[0] not in known and key not in met and key not in stage.healthy():
                    met.add(key)
                    yield Place(stage.scenario.name, model, point, number), state
