"""What processes left: heartbeats of those that are gone, and staged files that never got their name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curator.durable.ages import folders_in
from curator.durable.lock import is_alive
from curator.durable.sweep import sweep
from curator.model.event import Recovered
from curator.model.limits import BEAT_MS
from curator.model.times import ms_of
from curator.store.heartbeats import HeartbeatStore
from curator.workflow.beats import retire_leftovers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.durable.layout import ProjectLayout
    from curator.model.heartbeat import RuntimeBeat, WorkerBeat
    from curator.workflow.retention.ties import Ties
    from curator.workflow.shop import Shop

_HOUR_MS: Final = 3_600_000
_TURNS: Final = 256
"""Closing records are never removed, so their 256 folders grow without end: each hour has one of them."""


def stop_dead(shop: Shop, ties: Ties) -> None:
    """Say of workers that were killed that they have stopped: their successor started too soon after to be sure of it."""
    del ties
    retire_leftovers(shop)


def retire_beats(shop: Shop, ties: Ties) -> None:
    """Let heartbeats go whose process stopped, or died, a day ago. A live one's stays, and so does one without content."""
    before = ties.now - BEAT_MS

    def is_over(beat: WorkerBeat | RuntimeBeat) -> bool:
        at = ms_of(beat.updated_at)
        return at < before and (beat.state == "stopped" or not is_alive(beat.pid, at))

    HeartbeatStore(shop.volume, shop.layout).forget(before, is_over)


def sweep_all(shop: Shop, ties: Ties) -> None:
    """Remove staged leftovers wherever curator or the extension stages; what belongs to one job goes with its evidence."""
    swept = sum(sweep(shop.volume, folder, ties.now) for folder in _folders(shop, ties))
    if swept:
        shop.listener.tell(Recovered("staged leftovers", swept))


def _folders(shop: Shop, ties: Ties) -> Iterator[Path]:
    layout = shop.layout
    yield from (layout.root, layout.workers, layout.runtimes)
    yield from (layout.spool, layout.queued, layout.running, layout.outcomes, layout.dead_letter)
    yield from (layout.decisions, layout.decision_locks, layout.accounting, layout.days, layout.identities)
    yield from (
        layout.own,
        layout.report.parent,
        layout.attempts,
        layout.jobs,
        layout.held,
        layout.standings,
        layout.switches,
    )
    yield from _hourly(layout.finished, ties.now)
    for day in sorted(folders_in(layout.attempts)):
        yield layout.attempts / day
        yield from _hourly(layout.attempts / day, ties.now)
    for _, project in ties.projects:
        yield from _of_project(project)


def _hourly(folder: Path, now: int) -> Iterator[Path]:
    turn = now // _HOUR_MS % _TURNS
    yield folder / f"{turn:02x}"


def _of_project(project: ProjectLayout) -> Iterator[Path]:
    yield from (project.root, project.branches, project.reviews, project.admissions, project.retired)
    yield from (project.receipts, project.mailbox, project.pending, project.ready)
    revisions = project.root / "revisions"
    yield from (revisions / name for name in sorted(folders_in(revisions)))
