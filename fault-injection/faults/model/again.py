"""Everything that is replayed on the model, each known by a few words from which it can be made again.

`applied` is a scenario as it was recorded; `applied life 30` the process after a kill at point 30; `applied strict 30 4`
the recovery from that state of a disk; `applied enospc 12` a process whose disk refuses its verb after twelve.
"""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING, Final

from curator.errors import CuratorError
from faults.campaign import BEYOND_LEASE_MS, MODELS
from faults.model.refusing import RefusingRecorder
from faults.model.trace import Replayed, replay
from faults.tree import lay_out
from faults.volumes import RecordingVolume
from faults.world import HandClock, World

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faults.campaign import Stage
    from faults.states import State

COMMAND: Final = "PYTHONPATH=.:fault-injection .venv/bin/python -m faults.model replay"
"""What makes a trace again, with its words behind it."""


def refusals(traces: Iterator[tuple[str, Replayed]]) -> tuple[int, list[str]]:
    """Return how many traces there were, and of each that the model refuses the command and the reason."""
    count, told = 0, []
    for words, replayed in traces:
        count += 1
        if replayed.refusal is not None:
            told.append(f"{COMMAND} {words}\n  {replayed.refusal}")
    return count, told


def lives(stage: Stage) -> Iterator[tuple[str, Replayed]]:
    """Replay each process that comes after a kill, the killed one before it."""
    for life in stage.second_lives():
        yield f"{stage.scenario.name} life {life.point}", replay(life.recording, life.point)


def recoveries(stage: Stage, every: int = 1) -> Iterator[tuple[str, Replayed]]:
    """Replay the recovery from each distinct state that a crash may leave, or from one in so many."""
    states = (each for model in MODELS for each in stage.states(model))
    fresh = ((place, state) for place, state in states if stage.is_new(state, stage.said(place.point)))
    for place, state in itertools.islice(fresh, 0, None, every):
        yield str(place), _recovery(stage, state)


def refused(stage: Stage, every: int = 1) -> Iterator[tuple[str, Replayed]]:
    """Replay what the scenario comes to when the disk refuses one verb, each in turn or one in so many."""
    for succeed in itertools.count(0, every):
        volume = _refuse(stage, succeed)
        if not volume.has_refused:
            return
        yield f"{stage.scenario.name} enospc {succeed}", replay(volume.recording())


def again(stage: Stage, words: list[str]) -> Replayed:
    """Make one trace again from the words behind its scenario's name."""
    match words:
        case []:
            return replay(stage.recording)
        case ["life", point]:
            life = next(each for each in stage.second_lives() if each.point == int(point))
            return replay(life.recording, life.point)
        case ["enospc", succeed]:
            return replay(_refuse(stage, int(succeed)).recording())
        case [model, point, number]:
            states = list(stage.disk.of(model, int(point), 0))
            return _recovery(stage, states[int(number)])
        case _:
            message = f"{' '.join(words)}: none of nothing, life POINT, enospc N, MODEL POINT NUMBER"
            raise ValueError(message)


def _recovery(stage: Stage, state: State) -> Replayed:
    lay_out(state.tree, stage.agent)
    clock = HandClock(stage.recording.asked[-1].now + BEYOND_LEASE_MS)
    volume = RecordingVolume(stage.agent, clock)
    life = f"{stage.scenario.name}/first recovery"
    World(stage.agent, volume, clock, stage.scenario.script, life, volume.mark).review()
    return replay(volume.recording())


def _refuse(stage: Stage, succeed: int) -> RefusingRecorder:
    lay_out(stage.recording.start, stage.agent)
    clock = HandClock(stage.begin)
    volume = RefusingRecorder(stage.agent, clock, succeed)
    world = World(stage.agent, volume, clock, stage.scenario.script, f"{stage.scenario.name}/run", volume.mark)
    with contextlib.suppress(CuratorError):
        stage.scenario.run(world)
    return volume
