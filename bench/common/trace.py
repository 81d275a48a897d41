"""What one job does to the disk, seen while it runs alone."""

from __future__ import annotations

from collections.abc import Sequence

from bench.common.place import Place, hand_over
from bench.common.pool import drain
from bench.common.reviewer import Scripted
from bench.common.volumes import CountingUnflushed, Unflushed, Verb
from curator.model.ids import ProjectKey


def trace_of_one_job(place: Place, key: ProjectKey) -> Sequence[Verb]:
    """Run one job of a project whose folders it makes, then one more, and return the changes of that.

    The day's accounting is left out: many jobs at once write it once.
    """
    shop = place.open(Scripted(), Unflushed()).shop
    volume = CountingUnflushed(is_tracing=True)
    app = place.open(Scripted(), volume)
    for frontier in ("untraced", "traced"):
        hand_over(shop, key, frontier)
        app.recover()
        app.project()
        volume.reset()
        drain(app)
    days = place.layout.days
    return [verb for verb in volume.verbs if days not in (verb.path, verb.path.parent)]
