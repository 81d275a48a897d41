"""A disk that fails one flush, drops what that flush was to make durable, and says from then on that all is well.

The system shows what was dropped until the power goes, for it counts as clean: no later flush brings it to the disk. Each
flush of a story fails once. What curator then does is recorded; at every moment from there on the power goes, and what is
left is judged by the same oracles as every other state. Names and bytes that were asked for after the failure are as
loose as strict POSIX makes them.
"""

from __future__ import annotations

import dataclasses
import errno
import os
import time
import uuid
from typing import TYPE_CHECKING

from curator.errors import CuratorError, StorageError
from faults.campaign import DEFECTS, Place, Report, Violation
from faults.disk import LossyDisk
from faults.recording import Verb
from faults.tree import lay_out
from faults.view import is_inert
from faults.volumes import RecordingVolume
from faults.world import HandClock, World

if TYPE_CHECKING:
    from pathlib import Path

    from curator.model.ports import Clock
    from faults.campaign import Stage
    from faults.recording import Asked, Recording

MODEL = "lying"


class LyingVolume(RecordingVolume):
    """A disk that fails its N-th flush, and succeeds in every later one; it records what it did and did not do."""

    def __init__(self, root: Path, clock: Clock, succeed: int) -> None:
        """Fail the flush after `succeed`."""
        super().__init__(root, clock)
        self._succeed = succeed
        self._flushes = 0
        self.failed_at: int | None = None
        """How much had been asked when the failure came; nothing where it has not."""

    def can_sync_directory(self, path: Path) -> bool:
        try:
            return super().can_sync_directory(path)
        except StorageError:
            if path.is_relative_to(self._root):
                self._note(Verb.SYNC, self._relative(path), is_done=False)
            raise

    def _flush_file(self, descriptor: int) -> None:
        self._fail_once()
        super()._flush_file(descriptor)

    def _flush_directory(self, descriptor: int) -> None:
        self._fail_once()
        super()._flush_directory(descriptor)

    def _forget_quietly(self, staged: Path) -> None:
        # The name was made and goes again; of its bytes the disk has none.
        name = self._relative(staged)
        self._names[name] = f"{name.rpartition('/')[0]}/.{uuid.UUID(int=self._first + len(self._names))}.tmp"
        self._note(Verb.STAGE, name)
        super()._forget_quietly(staged)
        self._note(Verb.UNLINK, name)

    def _fail_once(self) -> None:
        self._flushes += 1
        if self._flushes == self._succeed + 1:
            self.failed_at = len(self._asked)
            raise OSError(errno.EIO, os.strerror(errno.EIO))


class ForgetfulDisk(LossyDisk):
    """What such a disk has: a name whose flush failed shows for ever what was durable before, or what came later."""

    def _compile(self, step: int, asked: Asked) -> None:
        super()._compile(step, asked)
        if asked.verb is Verb.SYNC and not asked.is_done:
            self._drop(self._standing(asked.path) if asked.path else 0)

    def _drop(self, folder: int) -> None:
        """Take back every change of a folder's names since its last good flush. What the system shows stays."""
        durable = max(self._folder_flushes.get(folder, (-1,)))
        lost = {slot for slot, changes in self._changes.items() if slot.folder == folder and changes[-1].step > durable}
        for slot in lost:
            self._changes[slot] = [change for change in self._changes[slot] if change.step < durable]
        # A file moved out of a folder that forgets nothing is gone from there, whatever became of its new name.
        for slot, changes in self._changes.items():
            self._changes[slot] = [
                dataclasses.replace(change, needs=None) if change.needs in lost and change.step > durable else change
                for change in changes
            ]


def lie_everywhere(stage: Stage, *, every: int = 1, first: int = 0) -> Report:
    """Let each flush of a story fail, and judge what a power cut leaves from then on."""
    began = time.monotonic()
    report, succeed = Report(), first
    stage.lives_on = True
    while True:
        volume, ending = _live(stage, succeed, report)
        if volume.failed_at is None:
            break
        _judge(stage, volume.recording(), volume.failed_at, ending, report)
        succeed += every
    stage.lives_on = False
    report.seconds = time.monotonic() - began
    return report


def _live(stage: Stage, succeed: int, report: Report) -> tuple[LyingVolume, str]:
    """Play a story on a disk that fails one flush, if the story has so many; say how that ended."""
    lay_out(stage.recording.start, stage.agent)
    clock = HandClock(stage.begin)
    volume = LyingVolume(stage.agent, clock, succeed)
    scenario = stage.scenario
    world = World(stage.agent, volume, clock, scenario.script, f"{scenario.name}/run", volume.mark)
    try:
        scenario.run(world)
        ending = "the run went on"
    except CuratorError as refusal:
        ending = f"the run ended: {refusal.code}"
    except DEFECTS as defect:
        ending = f"{type(defect).__name__}: {defect}"
        place = Place(scenario.name, MODEL, succeed, 0)
        report.violations.append(Violation(place, ending, "nothing", ("a defect showed instead of a refusal",)))
    return volume, ending


def _judge(stage: Stage, recording: Recording, failed_at: int, ending: str, report: Report) -> None:
    disk = ForgetfulDisk(recording, is_inert=is_inert)
    points = disk.points[failed_at + 1 :]
    report.points += len(points)
    report.verbs += 1
    for point in points:
        said = stage.said(point, disk)
        for number, state in enumerate(disk.strict(point)):
            report.seen += 1
            if (state.digest, disk.said(point)) in stage.healthy() or not stage.is_new(state, said):
                continue
            report.states[MODEL] += 1
            breaches = stage.breaches_after(state.tree, said, crashes=1)
            if breaches:
                place = Place(stage.scenario.name, f"{MODEL}@{failed_at}", point, number)
                report.violations.append(Violation(place, ending, state.lost, tuple(breaches)))
