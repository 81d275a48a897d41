"""Faults that come while the scenario runs: it really dies, or the disk really refuses, at each primitive in turn.

A run that dies proves the model: what it leaves must be one of the states that the recording tells. A refusal lets the
process live on: whatever it then says must be true, and the next process must find everything in order. Both go on until
a run needs no fault any more.
"""

from __future__ import annotations

import errno
import time
from typing import TYPE_CHECKING

from curator.errors import CuratorError
from faults.campaign import DEFECTS, Place, Report, Violation
from faults.tree import digest_of_tree, lay_out, read_tree
from faults.view import is_inert
from faults.volumes import CountingVolume, Crash, CrashingVolume, FailingVolume
from faults.world import HandClock, World

if TYPE_CHECKING:
    from faults.campaign import Stage
    from faults.recording import Mark


def primitives(stage: Stage) -> int:
    """Return how many primitives the scenario asks for."""
    clock = HandClock(stage.begin)
    volume = CountingVolume(clock)
    _live(stage, volume, clock, [])
    return volume.count


def die_everywhere(stage: Stage, every: int = 1) -> tuple[int, list[str]]:
    """Let the process die after each primitive; return how often, and what the model does not know of."""
    known = {digest_of_tree(stage.disk.whole(point), is_inert) for point in stage.disk.points}
    died = 0
    strangers: list[str] = []
    survive = 0
    while True:
        clock = HandClock(stage.begin)
        volume = CrashingVolume(clock, survive)
        try:
            _live(stage, volume, clock, [])
        except Crash:
            died += 1
        if not volume.is_dead:
            return died, strangers
        if digest_of_tree(read_tree(stage.agent), is_inert) not in known:
            strangers.append(f"{stage.scenario.name}: after {survive} primitives")
        survive += every


def refuse_everywhere(stage: Stage, error: int, *, for_good: bool = False, every: int = 1) -> Report:
    """Let the disk refuse each primitive, once or from then on, and judge what recovery makes of it."""
    began = time.monotonic()
    name = errno.errorcode[error].lower() + ("-for-good" if for_good else "")
    report, succeed = Report(), 0
    stage.lives_on = True
    while True:
        clock = HandClock(stage.begin)
        volume = FailingVolume(clock, succeed, error, for_good=for_good)
        told: list[Mark] = []
        place = Place(stage.scenario.name, name, succeed, 0)
        try:
            _live(stage, volume, clock, told)
            ending = "the run went on"
        except CuratorError as refusal:
            ending = f"the run ended: {refusal.code}"
        except DEFECTS as defect:
            ending = f"{type(defect).__name__}: {defect}"
            report.violations.append(Violation(place, ending, "nothing", ("a defect showed instead of a refusal",)))
        if not volume.has_failed:
            stage.lives_on = False
            report.seconds = time.monotonic() - began
            return report
        report.points += 1
        report.states[name] += 1
        said = (*stage.told_before, *told)
        breaches = stage.breaches_after(read_tree(stage.agent), said, crashes=2 if for_good else 1)
        if breaches:
            report.violations.append(Violation(place, ending, "nothing", tuple(breaches)))
        succeed += every


def _live(stage: Stage, volume: CountingVolume, clock: HandClock, told: list[Mark]) -> None:
    """Play the scenario once more from its start."""
    lay_out(stage.recording.start, stage.agent)
    scenario = stage.scenario
    scenario.run(World(stage.agent, volume, clock, scenario.script, f"{scenario.name}/run", told.append))
