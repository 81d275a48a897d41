"""Looking again and again: what cannot have changed is not read a second time.

Between two looks only stamps are compared, of the folders and files in which a change shows. A look is taken anew where one
of them moved or is too young to be trusted, where something could not be read, and after a while in any case: a process
that died, a time that came and a record that was mended in place show in no folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curator.durable.clock import file_clock_ns
from curator.durable.read import list_names, stamp_of
from curator.errors import CuratorError
from curator.model.ids import PROJECT_KEY_PATTERN, ProjectKey
from curator.model.limits import DIRECTORY_NAMES_MAX
from curator.model.times import day_of
from curator.workflow.inspect.books import open_books
from curator.workflow.inspect.status import look_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.durable.read import Stamp
    from curator.workflow.inspect.status import Status

TRUST_MS: Final = 10_000
"""How long a look is trusted where nothing moved: the cadence of heartbeats."""
_RACY_NS: Final = 20_000_000
_SHARDS_MAX: Final = 300


class Watching:
    """One agent folder under the eyes of somebody who stays."""

    def __init__(self, layout: Layout) -> None:
        """Nothing is read yet."""
        self._layout = layout
        self._books = open_books(layout)
        self._marks: dict[Path, Stamp | None] | None = None
        self._last: Status | None = None
        self.looks = 0
        """How often everything was looked at."""

    def look(self, now: int) -> Status:
        """Return how everything stands."""
        at_ns = file_clock_ns()
        marks = self._look_at_stamps(now)
        last = self._last
        if last is not None and marks is not None and marks == self._marks and _is_trusted(last, now):
            return last.seen_at(now)
        self.looks += 1
        is_fresh = last is not None and now - last.looked_at < TRUST_MS
        storage = last.storage if last is not None and is_fresh else None
        # The stamps were taken before the records are read: a change in between shows at the next look.
        self._last = look_in(self._books, now, storage)
        self._marks = None if marks is None or any(_is_young(each, at_ns) for each in marks.values()) else marks
        return self._last

    def _look_at_stamps(self, now: int) -> dict[Path, Stamp | None] | None:
        """Return the stamps of all that a look reads; None where that cannot be told."""
        try:
            return {path: stamp_of(path) for path in self._telling(now)}
        except CuratorError:
            return None

    def _telling(self, now: int) -> Iterator[Path]:
        layout = self._layout
        yield from (layout.agent, layout.service_json, layout.curator_toml)
        yield from (layout.agent / "models.json", layout.agent / "auth.json")
        yield from (layout.queued, layout.running, layout.outcomes, layout.held, layout.dead_letter, layout.workers)
        yield from (layout.decisions, layout.results, layout.standings, layout.attempts)
        day = layout.attempts / day_of(now)
        yield day
        yield from (day / shard for shard in list_names(day, _SHARDS_MAX))
        for folder, place in ((layout.root, layout.project), (layout.shadow, layout.shadow_project)):
            yield folder
            for name in list_names(folder, DIRECTORY_NAMES_MAX):
                if PROJECT_KEY_PATTERN.fullmatch(name):
                    project = place(ProjectKey(name))
                    yield from (project.root, project.admissions)


def _is_trusted(last: Status, now: int) -> bool:
    return not last.faults and 0 <= now - last.looked_at < TRUST_MS and day_of(now) == last.day


def _is_young(stamp: Stamp | None, at_ns: int) -> bool:
    return stamp is not None and at_ns - stamp.mtime_ns < _RACY_NS
