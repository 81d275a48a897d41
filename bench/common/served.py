"""The service's own loop over a place, in a thread of this process, for one drain: what it spends, and what its fold does."""

from __future__ import annotations

import dataclasses
import resource
import threading
from typing import TYPE_CHECKING, Final

from curator_service.loop import Service, Signals
from curator_service.notify import Notifier
from curator_service.stall import StallWatch
from curator_service.wake import Wake

from bench.common.place import Place, Silence, hand_over
from bench.common.reviewer import Scripted
from bench.common.service import wait_until
from bench.common.volumes import Unflushed
from curator.app import new_clock
from curator.audit.child import FoldingChild
from curator.model.event import Completed
from curator.model.ids import PROJECT_KEY_PATTERN, ProjectKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator.app import App
    from curator.durable.layout import Layout
    from curator.model.event import Event
    from curator.model.ports import Listener

_PATIENCE_S: Final = 300.0


@dataclasses.dataclass(frozen=True, slots=True)
class Served:
    """CPU of this process and of its children, in seconds."""

    drain_cpu_s: float
    """From the start of the service to the end of the last job."""
    fold_cpu_s: float
    """Of the children after that."""


def served_once(
    place: Place, keys: Sequence[ProjectKey], frontier: str, *, is_folding: bool, is_waited: bool = False
) -> Served:
    """Hand over a job of each project, and serve until all are over, and folded where that is done and waited for."""
    ends = _Ends(len(keys))
    app = place.open(Scripted(), Unflushed(), ends)
    if not is_folding:
        app = dataclasses.replace(app, folding=_Still({}))
    for key in keys:
        hand_over(app.shop, key, frontier)
    service = _Running(app)
    before = _cpu_s()
    service.start()
    try:
        if not ends.all.wait(_PATIENCE_S):
            raise TimeoutError("the queue does not become empty")
        drained, children_then = _cpu_s() - before, _children_s()
        if is_waited and not wait_until(lambda: _children_s() > children_then, 30.0):
            raise TimeoutError("no fold came")
        return Served(drained, _children_s() - children_then)
    finally:
        service.stop()


def keys_of(place: Place) -> list[ProjectKey]:
    """Return the projects that have a memory here."""
    names = sorted(path.name for path in place.layout.root.iterdir())
    return [ProjectKey(name) for name in names if PROJECT_KEY_PATTERN.fullmatch(name)]


class _Ends(Silence):
    """Hears how many jobs are over."""

    def __init__(self, due: int) -> None:
        super().__init__()
        self.all: Final = threading.Event()
        self._left = due
        self._mutex = threading.Lock()

    def tell(self, event: Event) -> None:
        if isinstance(event, Completed):
            with self._mutex:
                self._left -= 1
                if self._left == 0:
                    self.all.set()


class _Still(FoldingChild):
    """Begins no fold."""

    def start(self, layout: Layout, listener: Listener) -> None:
        del layout, listener


class _Running:
    """A service whose signals are methods."""

    def __init__(self, app: App) -> None:
        clock = new_clock()
        self._signals = Signals(clock)
        self._wake = Wake(app.watched_folders(), print)
        self._signals.wake(self._wake.poke)
        self._service = Service(app, clock, Notifier({}), self._wake, self._signals, StallWatch(None, print))
        self._thread = threading.Thread(target=self._service.run, name="service")

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._signals.stops += 1
        self._wake.poke()
        self._thread.join()


def _cpu_s() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime + _children_s()


def _children_s() -> float:
    """Return what children that are over have spent."""
    theirs = resource.getrusage(resource.RUSAGE_CHILDREN)
    return theirs.ru_utime + theirs.ru_stime
