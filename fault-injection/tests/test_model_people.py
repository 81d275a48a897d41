"""A person's word between two steps: what the model forbids is refused, and nothing is said that does not hold."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from faults.campaign import BEYOND_LEASE_MS, Stage
from faults.model.trace import replay
from faults.recording import Mark, Verb
from faults.scenarios import SCENARIOS
from faults.tree import lay_out, read_tree
from faults.view import fields_of, look, text_of
from faults.volumes import RecordingVolume, TimedVolume
from faults.world import HandClock, World

from curator.errors import CuratorError
from curator.store.spool import recover
from curator.workflow.closing import cancel_job

STEPS = {
    "no decision yet": ".2.json",
    "the decision": "/proposal-decisions/",
    "the intent": ".intent.json",
    "the branch": "/branches/main.json",
    "the completion": ".complete.json",
    "the receipt": "/commit-receipts/",
    "the tombstone": "/retired/",
}
"""After which name's publication the process died: its first part that tells."""


@pytest.mark.parametrize("step", STEPS)
def test_whoever_cancels_a_job_is_told_what_becomes_of_memory(stage_folder: Path, step: str) -> None:
    """A cancelled job changes no memory; one whose change has begun cannot be cancelled any more."""
    stage = Stage(SCENARIOS["applied"], stage_folder)
    asked = stage.recording.asked
    point = next(
        at + 2 for at, each in enumerate(asked) if each.verb in (Verb.LINK, Verb.RENAME) and STEPS[step] in each.path
    )
    lay_out(stage.disk.whole(point), stage.agent)
    clock = HandClock(asked[-1].now + BEYOND_LEASE_MS)
    volume = RecordingVolume(stage.agent, clock)
    marks: list[Mark] = []
    person = World(stage.agent, volume, clock, stage.scenario.script, "applied/person", marks.append)
    recover(person.shop.stores.spool)
    (job,) = look(read_tree(stage.agent)).accepted

    try:
        cancel_job(person.shop, person.job("alpha").id)
        was_cancelled = True
    except CuratorError:
        was_cancelled = False
    clock.move(BEYOND_LEASE_MS)
    World(stage.agent, volume, clock, stage.scenario.script, "applied/after", marks.append).review()

    view = look(read_tree(stage.agent))
    is_changed = "Alpha is remembered." in str([project.branches for project in view.projects])
    print(f"after {step}: cancelled {was_cancelled}, memory changed {is_changed}")
    assert is_changed is not was_cancelled
    assert text_of(fields_of(view.outcomes[job]["outcome"]), "status") == ("failed" if was_cancelled else "completed")
    assert replay(volume.recording()).refusal is None


class SleepyVolume(TimedVolume):
    """A disk before one record of which the process sleeps, once, while somebody else acts."""

    def __init__(self, clock: HandClock, name: str, meanwhile: Callable[[], None]) -> None:
        super().__init__(clock)
        self._name = name
        self._meanwhile = meanwhile
        self.has_slept = False

    def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
        self._sleep(path)
        return super().stage(path, data, hidden=hidden, flush=flush)

    def _sleep(self, path: Path) -> None:
        if self._name in path.as_posix() and not self.has_slept:
            self.has_slept = True
            # Another thread, as it were another process: this one may hold the lock of a store.
            other = threading.Thread(target=self._meanwhile)
            other.start()
            other.join()


SLEEPS = {
    "before the decision": "/proposal-decisions/",
    "before the settlement": ".2.json",
    "before the intent": ".intent.json",
    "before the branch": "/branches/main.json",
    "before the receipt": "/commit-receipts/",
    "before the outcome": "/outcomes/",
}
"""Where the worker falls asleep."""


@pytest.mark.parametrize("step", SLEEPS)
def test_a_worker_that_slept_while_its_job_was_cancelled_changes_no_memory(stage_folder: Path, step: str) -> None:
    stage = Stage(SCENARIOS["noop"], stage_folder)
    lay_out(stage.recording.start, stage.agent)
    clock = HandClock(stage.begin)
    cancelled: list[str] = []
    script = SCENARIOS["applied"].script

    def cancel() -> None:
        clock.move(BEYOND_LEASE_MS)
        person = World(stage.agent, TimedVolume(clock), clock, script, "sleepy/person", marks.append)
        recover(person.shop.stores.spool)
        with contextlib.suppress(CuratorError):
            cancel_job(person.shop, person.job("alpha").id)
            cancelled.append(step)

    marks: list[Mark] = []
    volume = SleepyVolume(clock, SLEEPS[step], cancel)
    World(stage.agent, volume, clock, script, "sleepy/run", marks.append).review()
    World(stage.agent, volume, clock, script, "sleepy/after", marks.append).review()

    view = look(read_tree(stage.agent))
    (outcome,) = view.outcomes.values()
    is_changed = "Alpha is remembered." in str([project.branches for project in view.projects])
    print(f"asleep {step}: cancelled {bool(cancelled)}, memory changed {is_changed}")
    assert volume.has_slept
    assert is_changed is not bool(cancelled)
    assert text_of(fields_of(outcome["outcome"]), "status") == ("failed" if cancelled else "completed")
