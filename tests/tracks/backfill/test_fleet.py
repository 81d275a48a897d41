"""A Dask cluster indexes for a plan, and calls leave from here alone: a killed worker changes nothing of what is asked."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from curator.durable.layout import Layout
from curator.durable.trajectory_layout import TrajectoryLayout
from curator.tracks.backfill.importing import import_inputs
from curator.tracks.backfill.planning import open_ledger
from curator.tracks.backfill.review import review
from curator.tracks.backfill.shelf import PlanShelf
from curator.tracks.trajectory.fleet import read_sessions_on
from curator.tracks.trajectory.ledger import Ledger
from curator.tracks.trajectory.task import Event, Task
from tests.kit import adding
from tests.tracks.backfill.places import Planned

distributed = pytest.importorskip("distributed", reason="no Dask: install distributed")


def test_a_killed_worker_changes_neither_the_windows_nor_what_is_asked(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Use uv."))
    for number in range(8):
        planned.session(f"s{number}", f"Wish number {number}.", at=number)
    planned.make()
    elsewhere = Ledger(TrajectoryLayout(tmp_path / "elsewhere"), planned.shop.volume, planned.world.clock)
    other = PlanShelf(planned.shop.volume, Layout(tmp_path / "agent-elsewhere"), planned.plan.id)
    with contextlib.closing(elsewhere):
        here = import_inputs(planned.plan, other, elsewhere, planned.shop)
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",  # its own port: two clusters run beside each other
        local_directory=str(tmp_path / "dask"),
    ) as cluster:
        pids = [nanny.pid for nanny in cluster.workers.values()]
        read = functools.partial(_killing, pids[0], cluster.scheduler_address)
        with planned.shelf.alone(), contextlib.closing(open_ledger(planned.key, planned.shop)) as ledger:
            there = import_inputs(planned.plan, planned.shelf, ledger, planned.shop, read)
            assert planned.reviewer.asked == []
            steps = list(review(planned.plan, planned.shelf, ledger, planned.shop))

    assert there == here
    assert len(steps) == len(planned.reviewer.asked) == 8
    assert planned.findings() == []


def _killing(pid: int, address: str, tasks: Sequence[Task], now: int) -> Iterator[tuple[int, Event]]:
    """Read on the cluster, and kill one of its workers once the first event has come."""
    coming = read_sessions_on(address, tasks, now)
    yield next(coming)
    os.kill(pid, signal.SIGKILL)
    yield from coming
