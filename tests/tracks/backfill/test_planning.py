"""A plan says what there is and what it would come to, within a person's caps; it reads each file once and writes itself."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

import pytest

from curator.errors import ReviewerSetupError
from curator.model.ids import session_key
from curator.model.ledger import Settled
from curator.model.settings import ServiceSettings
from curator.tracks.backfill.planning import open_ledger
from curator.tracks.backfill.records import Caps
from curator.tracks.backfill.survey import packed
from curator.tracks.trajectory.facts import Ended
from curator.tracks.trajectory.reading import Batch, index_file
from tests.session_lines import custom, lines, tool_result, user
from tests.tracks.backfill.places import Planned

LONG = "x" * 20_000
IO = Path("/proc/self/io")
AFTER_ALL_MS = 1_780_000_000_000
"""Late enough that no entry of a session lies in the future."""


@pytest.fixture
def planned(tmp_path: Path) -> Planned:
    return Planned(tmp_path)


def names(planned: Planned) -> list[str]:
    return [Path(each.path).stem for each in planned.plan.inputs]


def left_out(planned: Planned) -> dict[str, str]:
    return {Path(each.path).stem: each.reason for each in planned.plan.left_out}


def test_the_same_sessions_at_the_same_time_make_the_same_plan(planned: Planned) -> None:
    planned.session("one", "Please use uv.")
    now = planned.world.clock.ms

    one = planned.make()
    planned.world.clock.ms = now
    other = planned.make()

    assert (one.id, one) == (other.id, other)


def test_planning_sends_nothing_and_leaves_the_sessions_as_they_are(planned: Planned) -> None:
    path = planned.session("one", "Please use uv.")
    before = (path.read_bytes(), path.stat().st_mtime_ns)

    planned.make()

    assert planned.reviewer.asked == []
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert not planned.layout.trajectories.exists()
    assert planned.shop.stores.attempts.days() == ()


def test_turns_characters_and_calls_are_foreseen_at_what_a_call_holds(planned: Planned) -> None:
    planned.session("one", LONG, LONG, "short")

    forecast = planned.make().forecast

    assert (forecast.turns, forecast.windows, forecast.calls) == (3, 2, 2)
    assert (forecast.tokens, forecast.cost_nanousd) == (800, 100_000_000)
    assert forecast.chars > 40_000
    assert forecast.days == 1
    assert (forecast.changes_max, forecast.room_chars) == (8, 4_500 - len("The build runs on Linux."))


@pytest.mark.parametrize(
    ("caps", "calls"),
    [
        (Caps(calls=1), 1),
        (Caps(tokens=799), 1),
        (Caps(cost_nanousd=49_999_999), 0),
        (Caps(running_ms=31_000), 2),
        (Caps(disk=1), 0),
        (Caps(), 3),
    ],
)
def test_each_cap_ends_what_is_foreseen(planned: Planned, caps: Caps, calls: int) -> None:
    planned.session("one", LONG, LONG, LONG)

    forecast = planned.make(caps).forecast

    assert (forecast.windows, forecast.calls) == (3, calls)


def test_the_latest_files_are_taken_and_the_others_named(planned: Planned) -> None:
    for number, name in enumerate(("old", "middle", "new")):
        planned.session(name, "Please use uv.", at=100 * number)

    planned.make(Caps(files=2))
    assert (names(planned), left_out(planned)) == (["middle", "new"], {"old": "beyond the cap of files or bytes"})
    size = planned.plan.inputs[-1].size
    planned.make(Caps(size=size))
    assert names(planned) == ["new"]


def test_days_bound_what_is_read_and_what_is_taken(planned: Planned) -> None:
    planned.session("one", "Please use uv.")
    planned.world.clock.ms = AFTER_ALL_MS

    planned.make(Caps(until="2026-05-03"))  # type: ignore[arg-type]  # a day
    assert left_out(planned) == {"one": "outside the days"}
    planned.make(Caps(since="2026-05-05"))  # type: ignore[arg-type]  # a day
    assert left_out(planned) == {"one": "not written since that day"}
    planned.make(Caps(since="2025-12-01", until="2026-05-04"))  # type: ignore[arg-type]  # days
    assert names(planned) == ["one"]


def test_how_a_session_ended_is_settled_by_a_checkpoint_else_inferred(planned: Planned) -> None:
    path = planned.session("one", "Please use uv.")
    planned.session("two", "Please use pytest.", at=10)
    batch, ended = index_file(str(path), 0)
    assert isinstance(batch, Batch)
    assert isinstance(ended, Ended)
    (leaf,) = ended.leaves
    with contextlib.closing(open_ledger(planned.key, planned.shop)) as ledger:
        ledger.take_lines(batch.lines.splitlines())
        ledger.settle(Settled(session_key=session_key("session-one"), entry_id=leaf.entry_id, leaf=leaf.digest))

    assert [each.quality for each in planned.make().inputs] == ["settled", "inferred"]


def test_turns_behind_an_older_reviews_frontier_are_uncertain_and_planned(planned: Planned) -> None:
    path = planned.session("one", "First wish.", "Second wish.")
    frontier = {"projectKey": planned.key, "name": "main", "throughEntryId": "one-a0"}
    with path.open("ab") as file:
        file.write(lines(custom("cursor", "one-a1", "no-forgetti-review", dict(frontier))))

    plan = planned.make()

    assert (plan.inputs[0].quality, plan.forecast.uncertain_turns, plan.forecast.turns) == ("uncertain", 1, 2)


def test_what_branches_of_a_session_share_is_foreseen_once(planned: Planned) -> None:
    path = planned.session("one", "Please use uv.")
    with path.open("ab") as file:
        for number in range(5):
            file.write(lines(tool_result(f"tool{number}", "one-a0", "bash")))
        file.write(lines(user("fork", "one-a0", "And pytest.")))

    assert planned.make().forecast.windows == 1
    assert planned.plan.forecast.turns == 2


@pytest.mark.skipif(not IO.exists(), reason="this system does not count what a process reads")
def test_each_session_is_read_once(planned: Planned) -> None:
    path = planned.session("one", *["y" * 100_000] * 60)

    def read() -> int:
        return int(IO.read_text("ascii").split("rchar: ")[1].split()[0])

    before = read()
    planned.make()

    assert path.stat().st_size < read() - before < 1.5 * path.stat().st_size


def test_without_a_reviewer_nothing_can_be_foreseen(planned: Planned) -> None:
    path = planned.layout.service_json
    path.write_text(json.dumps(ServiceSettings().encode()), "utf-8")
    planned.reopen()

    with pytest.raises(ReviewerSetupError, match="names no reviewer"):
        planned.make()


def test_a_name_that_is_not_unicode_is_left_out_and_spelled(planned: Planned) -> None:
    path = planned.session("one", "Please use uv.")
    os.rename(path, os.fsencode(path.parent) + b"/\xff.jsonl")  # noqa: PTH104 - the name is bytes

    planned.make()

    assert [(each.reason, each.path.endswith("\\xff.jsonl")) for each in planned.plan.left_out] == [
        ("its name is not Unicode", True)
    ]


@pytest.mark.parametrize(
    ("turns", "windows"),
    [([], []), ([1] * 12, [12]), ([1] * 13, [12, 1]), ([32_000, 1], [32_000, 1]), ([40_000], [32_000])],
)
def test_turns_are_packed_as_windows_are(turns: list[int], windows: list[int]) -> None:
    assert packed(turns) == windows
