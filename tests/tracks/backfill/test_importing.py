"""A plan's files are indexed into the trajectory, and what nobody reviewed is cut into windows."""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING

from curator.durable.layout import Layout
from curator.durable.trajectory_layout import TrajectoryLayout
from curator.tracks.backfill.expiry import end
from curator.tracks.backfill.importing import import_inputs
from curator.tracks.backfill.planning import open_ledger
from curator.tracks.backfill.review import Reviewed
from curator.tracks.backfill.shelf import PlanShelf
from curator.tracks.trajectory.ledger import Ledger
from curator.tracks.trajectory.pool import read_sessions
from tests.kit import adding
from tests.tracks.backfill.places import Planned

if TYPE_CHECKING:
    from pathlib import Path


def test_several_processes_read_the_same_windows(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Use uv."))
    for number in range(4):
        planned.session(f"s{number}", f"Wish number {number}.", at=number)
    planned.make()
    found = []
    for folder, jobs in (("one", 1), ("two", 2)):
        ledger = Ledger(TrajectoryLayout(tmp_path / folder), planned.shop.volume, planned.world.clock)
        shelf = PlanShelf(planned.shop.volume, Layout(tmp_path / f"agent-{folder}"), planned.plan.id)
        read = functools.partial(read_sessions, jobs=jobs)
        with contextlib.closing(ledger):
            found.append(import_inputs(planned.plan, shelf, ledger, planned.shop, read))

    one, two = found
    assert one is not None
    assert one == two
    assert len(one.windows) == 4


def test_a_wish_to_stop_ends_the_indexing_and_the_next_run_goes_on(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Use uv."))
    planned.session("one", "Please use uv.")
    planned.make()
    planned.world.stop.set()
    with contextlib.closing(open_ledger(planned.key, planned.shop)) as ledger:
        assert import_inputs(planned.plan, planned.shelf, ledger, planned.shop) is None
    assert planned.shelf.windows() is None
    planned.world.stop.clear()

    assert [type(step) for step in planned.run()] == [Reviewed]


def test_the_trajectory_says_which_files_were_read_and_how_far(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Use uv."))
    path = planned.session("one", "Please use uv.")
    with path.open("ab") as file:
        file.write(b'not JSON\n{"type":"novel","id":"n1","parentId":"one-a0","timestamp":"2026-01-03T00:00:00.000Z"}\n')
    planned.make()
    planned.run()
    noted = planned.layout.trajectory(planned.key).sources
    before = {each: each.read_bytes() for each in noted.iterdir()}

    with contextlib.closing(open_ledger(planned.key, planned.shop)) as ledger:
        (source,) = ledger.sources()
        leaves = [leaf for leaf in ledger.leaves() if leaf.sessions]
        planned.world.clock.ms += 1_000
        planned.make()
        import_inputs(planned.plan, planned.shelf, ledger, planned.shop)

    assert (source.path, source.progress.byte) == (str(path), path.stat().st_size)
    assert (dict(source.damaged), dict(source.unknown)) == ({"the line is not JSON": 1}, {"novel": 1})
    assert [leaf.sessions for leaf in leaves] == [{source.session_key}]
    assert {each: each.read_bytes() for each in noted.iterdir()} == before
    assert planned.findings() == []


def test_what_a_plan_leased_that_was_cancelled_before_its_windows_stood_is_free_again(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Use uv."))
    planned.session("one", "Please use uv.")
    planned.make()
    with contextlib.closing(open_ledger(planned.key, planned.shop)) as ledger:
        import_inputs(planned.plan, planned.shelf, ledger, planned.shop)
    (planned.shelf.layout.root / "windows.json").unlink()
    dead = planned.plan
    planned.world.clock.ms += 1_000
    planned.make()
    assert planned.run() == []
    end(dead, PlanShelf(planned.shop.volume, planned.layout, dead.id), "cancel", planned.shop)
    planned.world.clock.ms += 1_000
    planned.make()

    assert [type(step) for step in planned.run()] == [Reviewed]
    assert planned.findings() == []
