"""The inbox: what Pi hands over is taken, waits for a beginning that is asked for, or is refused with why."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.errors import BusyError, NotFoundError, RefusedError
from curator.model.digest import Json
from curator.model.ids import EntryId, session_key
from curator.model.limits import DELTA_BYTES_MAX, DELTA_ENTRIES_MAX, DELTA_OVERLAP_MAX
from curator.model.project import Standing
from curator.model.times import iso
from curator.model.trajectory import make_node
from curator.store.standings import StandingStore
from curator.tracks.trajectory.inbox import Inbox, Received, Turned, refusals
from curator.tracks.trajectory.ledger import Ledger
from tests.durable.volumes import Unflushed
from tests.kit import HandClock
from tests.tracks.trajectory.ledgers import AT, delta, entry, key_of, texts


class Desk:
    """One agent folder with an inbox, and one project."""

    def __init__(self, tmp_path: Path) -> None:
        self.root = tmp_path / "project"
        self.layout = Layout(tmp_path / "agent")
        self.key = key_of(self.root)
        self.clock = HandClock()
        self.inbox = Inbox(self.layout, Unflushed(), self.clock)
        self.inbox.prepare()

    @property
    def ledger(self) -> Ledger:
        return self.inbox.ledger(self.key)

    @property
    def folder(self) -> Path:
        return self.layout.trajectory_inbox.root

    def hand(self, name: str, raw: bytes) -> Path:
        (self.folder / name).write_bytes(raw)
        return self.folder / name

    def push(self, *numbers: int, name: str = "p", **more: object) -> Received:
        return self.inbox.receive(delta(self.root, numbers, name, **more))

    def wanted(self) -> list[dict[str, Json]]:
        return [json.loads(path.read_bytes()) for path in sorted(self.layout.trajectory_inbox.wanted.glob("*.json"))]

    def leaf_texts(self) -> set[tuple[str, ...]]:
        return {tuple(texts(self.ledger, leaf.digest)) for leaf in self.ledger.leaves()}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def told(*numbers: int, name: str = "p") -> tuple[str, ...]:
    return tuple(f"USER: {name} said {number}" for number in numbers)


# Taken.


def test_deltas_of_a_session_make_one_path_and_the_last_ends_settled(desk: Desk) -> None:
    first, second = desk.push(0, 1), desk.push(2)

    assert (first.taken is not None, second.taken is not None) == (True, True)
    assert told(0, 1, 2) in desk.leaf_texts()
    settled = [leaf for leaf in desk.ledger.leaves() if leaf.is_settled]
    assert {leaf.sessions for leaf in settled} == {frozenset({session_key("session-p")})}
    assert len(settled) == 2


def test_overlap_is_accepted_and_a_delta_that_was_taken_changes_nothing(desk: Desk) -> None:
    desk.push(0, 1, 2)
    overlapping = desk.push(1, 2, 3)
    again = desk.push(0, 1, 2)

    assert overlapping.taken is not None
    assert again.taken is not None
    assert (len(overlapping.taken.new), len(overlapping.taken.known)) == (1, 2)
    assert (len(again.taken.new), len(again.taken.known)) == (0, 3)


def test_a_checkpoint_may_come_by_itself(desk: Desk) -> None:
    desk.push(0, 1, settledLeaf=None)
    before = [leaf.is_settled for leaf in desk.ledger.leaves()]

    desk.push(sessionId="session-p", predecessor="p1", settledLeaf="p1")

    assert (before, [leaf.is_settled for leaf in desk.ledger.leaves()]) == ([False], [True])


def test_what_a_review_may_not_see_is_not_kept(desk: Desk) -> None:
    thought: dict[str, object] = {
        "type": "message",
        "id": "p1",
        "parentId": "p0",
        "timestamp": AT,
        "message": {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hidden thought"},
                {"type": "text", "text": "The key is sk-abcdefghijklmnopqrstuv0123"},
                {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "cat hidden"}},
            ],
        },
    }
    desk.push(entries=[entry(0), thought], settledLeaf="p1", sessionId="session-p")

    (said,) = desk.leaf_texts()
    assert "[tool call: bash]" in said[1]
    assert "hidden" not in said[1]
    assert "abcdefghijk" not in said[1]


def test_a_bookmark_gets_no_node_and_what_follows_it_follows_what_it_follows(desk: Desk) -> None:
    label: dict[str, object] = {"type": "label", "id": "b1", "parentId": "p0", "timestamp": AT, "targetId": "p0"}
    after = entry(1) | {"parentId": "b1"}
    desk.push(entries=[entry(0), label, after], settledLeaf="p1", sessionId="session-p")

    assert desk.leaf_texts() == {told(0, 1)}


def test_the_same_entry_ids_in_two_sessions_are_told_apart_by_where_each_came_to_rest(desk: Desk) -> None:
    one = delta(desk.root, (0, 1), sessionId="one")
    other = delta(desk.root, (0, 1), sessionId="other", entries=[entry(0, text="otherwise"), entry(1)])
    desk.inbox.receive(one)
    desk.inbox.receive(other)

    desk.inbox.receive(delta(desk.root, (2,), sessionId="other"))

    assert ("USER: otherwise", *told(1, 2)) in desk.leaf_texts()
    assert told(0, 1, 2) not in desk.leaf_texts()


# Waiting.


def test_an_unknown_predecessor_is_asked_for_and_heals(desk: Desk) -> None:
    desk.push(0, 1)
    waits = desk.push(4, 5)
    still = desk.push(6)
    asked = desk.wanted()

    answer = desk.push(2, 3)

    assert (waits.taken, still.taken) == (None, None)
    assert [(each["entryId"], each["sessionId"], each["kind"]) for each in asked] == [
        ("p3", "session-p", "trajectory-wanted")
    ]
    assert answer.taken is not None
    assert len(answer.taken.new) == 5
    assert told(0, 1, 2, 3, 4, 5, 6) in desk.leaf_texts()
    assert desk.wanted() == []
    assert desk.ledger.missing_of(session_key("session-p")) is None


def test_a_beginning_may_come_in_pieces_the_last_first(desk: Desk) -> None:
    asked: list[Json] = []
    for numbers in ((6, 7), (4, 5), (2, 3)):
        desk.push(*numbers)
        asked += [each["entryId"] for each in desk.wanted()]

    desk.push(0, 1)

    assert asked == ["p5", "p3", "p1"]
    assert told(*range(8)) in desk.leaf_texts()
    assert desk.wanted() == []


def test_a_large_delta_waits_in_parts_and_heals_whole(desk: Desk) -> None:
    said = [entry(number, text=f"{number} " * 20_000) for number in range(1, 21)]
    # One goes back to an earlier entry, as after a look at the tree.
    said[15]["parentId"] = "p3"
    waits = desk.push(predecessor="p0", entries=said, settledLeaf="p20", sessionId="session-p")
    kept = list(desk.layout.trajectory(desk.key).waiting.iterdir())
    asked = [each["entryId"] for each in desk.wanted()]

    answer = desk.push(0)

    assert (waits.taken, asked) == (None, ["p0"])
    assert len(kept) > 1
    assert answer.taken is not None
    assert len(answer.taken.new) == 21
    assert sorted(len(path) for path in desk.leaf_texts() if len(path) > 1) == [9, 16]
    assert desk.wanted() == []
    assert [leaf.is_settled for leaf in desk.ledger.leaves()].count(True) == 2


def test_an_answer_that_reading_the_session_brings_heals_too(desk: Desk) -> None:
    desk.push(2)

    root = make_node(None, EntryId("p0"), AT, "user", "USER: p said 0")
    desk.ledger.take([root, make_node(root.digest, EntryId("p1"), AT, "user", "USER: p said 1")])

    assert told(0, 1, 2) in desk.leaf_texts()


# Refused.


def test_a_session_from_its_root_each_time_is_refused_as_a_snapshot(desk: Desk) -> None:
    desk.push(*range(DELTA_OVERLAP_MAX + 1))

    with pytest.raises(RefusedError, match="snapshot"):
        desk.push(*range(DELTA_OVERLAP_MAX + 2))

    assert DELTA_OVERLAP_MAX + 2 not in {len(path) for path in desk.leaf_texts()}


@pytest.mark.parametrize(
    ("raw", "fact"),
    [
        (b"x" * (DELTA_BYTES_MAX + 1), "snapshot"),
        (b'{"version":1,', "not JSON"),
        (b"[]", "is not an object"),
        (b'{"version":1}', "does not have the keys"),
    ],
    ids=["too large", "torn", "another kind", "lacking"],
)
def test_what_is_no_delta_is_refused_by_its_fault(desk: Desk, raw: bytes, fact: str) -> None:
    with pytest.raises(RefusedError, match=fact):
        desk.inbox.receive(raw)


@pytest.mark.parametrize(
    ("more", "fact"),
    [
        ({"version": 2}, "another version"),
        ({"version": True}, "of another version"),
        ({"projectRoot": "relative"}, "absolute path"),
        ({"sessionId": ""}, "sessionId"),
        ({"sessionId": "two\nlines"}, "delta.sessionId"),
        ({"predecessor": "../etc"}, "entry's id"),
        ({"entries": {}}, "is not a list"),
        ({"entries": [entry(0)] * 2}, "id of another entry"),
        ({"settledLeaf": "elsewhere"}, "settled leaf"),
        ({"entries": [{}] * (DELTA_ENTRIES_MAX + 1)}, "snapshot"),
        ({"extra": 1}, "does not have the keys"),
        ({"settledLeaf": 3}, "delta.settledLeaf"),
    ],
)
def test_a_delta_that_breaks_a_rule_is_refused_by_that_rule(desk: Desk, more: dict[str, object], fact: str) -> None:
    value = json.loads(delta(desk.root, (0,))) | more
    with pytest.raises(RefusedError, match=fact):
        desk.inbox.receive(json.dumps(value).encode())
    assert not desk.layout.trajectories.exists()


def test_a_project_that_is_gone_is_not_guessed(desk: Desk) -> None:
    with pytest.raises(NotFoundError):
        desk.push(0, projectRoot=str(desk.root / "gone"))


def test_an_excluded_project_is_left_alone_and_a_paused_one_waits_in_the_inbox(desk: Desk) -> None:
    standings = StandingStore(Volume(), desk.layout)
    path = desk.hand("a.json", delta(desk.root, (0,)))

    standings.change(desk.key, lambda _: Standing(project_key=desk.key, wish="paused", changed_at=iso(0)))
    (left,) = desk.inbox.take_in()
    with pytest.raises(BusyError):
        desk.push(0)
    standings.change(desk.key, lambda _: Standing(project_key=desk.key, wish="excluded", changed_at=iso(0)))
    kept = path.exists()
    (refused,) = desk.inbox.take_in()

    assert isinstance(left, Turned)
    assert isinstance(refused, Turned)
    assert (left.is_kept, kept, refused.is_kept, path.exists()) == (True, True, False, False)
    assert not desk.layout.trajectories.exists()


# The folder.


def test_a_bad_file_costs_itself_is_set_aside_with_why_and_the_next_is_taken(desk: Desk) -> None:
    desk.hand("a.json", b"{")
    (desk.folder / "b.json").symlink_to(desk.root)
    desk.hand("c.json", delta(desk.root, (0,)))
    desk.hand(".d.json", b"still being written")
    desk.hand("e.tmp", b"still being written")

    outcomes = list(desk.inbox.take_in())

    assert [isinstance(each, Turned) for each in outcomes].count(False) == 1
    assert {path.name for path in desk.folder.iterdir()} == {"refused", ".d.json", "e.tmp"}
    why = {refusal.name: refusal.fact for refusal in refusals(desk.layout)}
    assert why.keys() == {"a.json", "b.json"}
    assert "not JSON" in why["a.json"]
    assert desk.leaf_texts() == {told(0)}
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in (desk.folder / "refused").glob("a.*"))


def test_what_was_refused_goes_with_its_time(desk: Desk) -> None:
    desk.hand("a.json", b"{")
    list(desk.inbox.take_in())

    desk.inbox.retire(0)
    kept = list(refusals(desk.layout))
    desk.inbox.retire(2**53)

    assert len(kept) == 1
    assert list(refusals(desk.layout)) == []
    assert not any((desk.folder / "refused").iterdir())


def test_no_inbox_is_no_work(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "agent")

    assert list(Inbox(layout, Volume(), HandClock()).take_in()) == []
    assert not layout.agent.exists()
