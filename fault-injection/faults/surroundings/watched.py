"""A place on tape: what real processes do there, this one included, is a trace that the model must allow.

`watched` gives the place, and replays all of it when the block is over. Where a disk has lost what was never flushed, the
trace ends; `Watch.begin_anew` begins another one with what is left.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import time
from typing import TYPE_CHECKING

from faults.contention.money import request_of
from faults.model.tape import mark_death
from faults.model.taped import CURATOR, TapedVolume, lay_taped
from faults.model.tapes import Step, replay_steps, request_moment, steps_of
from faults.tree import read_tree
from tests.acceptance.processes import Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from faults.model.trace import Replayed
    from faults.tree import Tree


@dataclasses.dataclass(slots=True)
class Watch:
    """A place that is on tape, and the traces that were read from it so far."""

    place: Place
    source: Path
    """Where the curator lies that writes tapes."""
    tapes: Path
    start: Tree = dataclasses.field(default_factory=dict)
    since: int = 0
    traces: list[Replayed] = dataclasses.field(default_factory=list)

    def steps(self) -> list[Step]:
        """Return what was done since the trace began."""
        asked = []
        if self.place.log.exists():
            lines = map(json.loads, self.place.log.read_text("utf-8").splitlines())
            asked = [
                (request_of(each["body"]), request_moment(each["ts"])) for each in lines if each["kind"] == "review"
            ]
        return steps_of(self.tapes, asked, since=self.since)

    def end(self, agent: Path | None = None) -> None:
        """Let the model judge the trace; `agent` is where what it came to can be looked at."""
        end = None if agent is None else read_tree(agent)
        self.traces.append(replay_steps(self.start, self.steps(), end))

    def begin_anew(self, agent: Path) -> None:
        """Let the trace be over, and another one begin with what lies there now."""
        # What the disk has lost is on the tapes still: they do not tell of this end.
        self.end()
        self.begin(agent)

    def begin(self, agent: Path) -> None:
        """Let the trace begin only now, with what lies there."""
        self.since, self.start = time.monotonic_ns(), read_tree(agent)

    def dies(self, pid: int) -> None:
        """Note that a process is dead, right after its death."""
        mark_death(self.tapes, pid)

    def refusals(self) -> list[str]:
        """Return what the model did not allow."""
        return [str(each.refusal) for each in self.traces if each.refusal is not None]


def on_tape(home: Path, room: Path, source: Path = CURATOR) -> Watch:
    """Return a place whose processes write tapes, this one and those that it starts; they lie in `room`."""
    tapes = room / "tapes"
    path = lay_taped(room / "taped", tapes, source)
    paths = [str(path), *filter(None, [os.environ.get("PYTHONPATH")])]
    place = Place(home, lambda clock: TapedVolume(tapes, clock), {"PYTHONPATH": os.pathsep.join(paths)})
    return Watch(place, path, tapes)


@contextlib.contextmanager
def watched(folder: Path) -> Iterator[Watch]:
    """Give a place on tape; when the block is over, the model must allow all that was done there."""
    watch = on_tape(folder, folder)
    yield watch
    watch.end()
    events = sum(len(each.events) for each in watch.traces)
    print(f"on tape: {len(watch.steps())} steps, {events} events")
    told = watch.refusals()
    assert told == [], told
    assert events > 0, "nothing of what the model is about was on the tapes"
