"""What one job does to the disk, seen while it runs alone."""

from __future__ import annotations

from collections.abc import Sequence

from bench.common.place import Place, hand_over
from bench.common.pool import drain
from bench.common.reviewer import Scripted
from bench.common.volumes import Counting, CountingUnflushed, Unflushed, Verb
from curator.model.ids import ProjectKey
from curator.model.ports import Answer, CallFailure, Prepared, Stop


class _Watching(Scripted):
    """Notes how far the disk was changed when the reviewer was asked."""

    def __init__(self, volume: Counting) -> None:
        super().__init__()
        self._volume = volume
        self.verbs_before = 0

    def ask(self, prepared: Prepared, stop: Stop) -> Answer | CallFailure:
        self.verbs_before = len(self._volume.verbs)
        return super().ask(prepared, stop)


def trace_of_one_job(place: Place, key: ProjectKey, *, is_until_asked: bool = False) -> Sequence[Verb]:
    """Run one job of a project whose folders it makes, then one more, and return the changes of that.

    With `is_until_asked` only those before the reviewer was asked.

    The day's accounting is left out: many jobs at once write it once.
    """
    shop = place.open(Scripted(), Unflushed()).shop
    volume = CountingUnflushed(is_tracing=True)
    reviewer = _Watching(volume)
    app = place.open(reviewer, volume)
    for frontier in ("untraced", "traced"):
        hand_over(shop, key, frontier)
        app.recover()
        app.project()
        volume.reset()
        drain(app)
    days = place.layout.days
    verbs = volume.verbs[: reviewer.verbs_before] if is_until_asked else volume.verbs
    return [verb for verb in verbs if days not in (verb.path, verb.path.parent)]
