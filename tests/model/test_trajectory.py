"""Nodes of a trajectory: what their digests bind, and how a path falls into turns."""

import dataclasses
from typing import Final

import pytest

from curator.model.digest import Digest, Json, canonical, digest_of, parse
from curator.model.ids import EntryId
from curator.model.limits import NODE_CHARS_MAX, NODE_LINE_BYTES_MAX
from curator.model.record import Violation
from curator.model.trajectory import ROLES, Node, Role, make_node, read_node, seal_node, turn_digest, turns

AT: Final = "2026-05-04T10:00:01.000Z"
PARENT: Final = Digest("a" * 64)


def node(
    entry_id: str = "e1",
    parent: Digest | None = None,
    role: Role = "user",
    text: str = "USER: hello",
    at: str | None = AT,
) -> Node:
    return make_node(parent, EntryId(entry_id), at, role, text)


@pytest.mark.parametrize("parent", [None, PARENT])
@pytest.mark.parametrize("at", [None, AT])
@pytest.mark.parametrize(
    "text", ["", 'say "a\\b"\n\ttab', "\u2028 \u00e9 \U0001f600 \ufffd", "1.0 1e5 123456789012345678"]
)
def test_the_digest_and_the_line_are_those_of_the_canonical_record(
    parent: Digest | None, at: str | None, text: str
) -> None:
    made = node(parent=parent, at=at, text=text)

    bound = {key: value for key, value in made.encode().items() if key != "digest"}

    assert made.digest == digest_of(bound)
    assert made.line == canonical(made.encode())
    assert seal_node(parent, EntryId("e1"), at, "user", text) == (made.digest, made.line)
    assert read_node(made.line.encode()) == made


@pytest.mark.parametrize(
    "other",
    [
        node(entry_id="e2"),
        node(parent=PARENT),
        node(role="other"),
        node(text="USER: hallo"),
        node(at=None),
    ],
)
def test_whatever_a_node_holds_is_bound_by_its_digest(other: Node) -> None:
    assert other.digest != node().digest


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("text", "USER: hallo"),
        ("digest", "b" * 64),
        ("parent", "b" * 64),
        ("parser", 2),
        ("sanitizer", 2),
        ("at", "yesterday"),
        ("role", "system"),
        ("entryId", "a b"),
    ],
)
def test_a_node_that_was_tampered_with_is_refused(key: str, value: Json) -> None:
    written = node().encode()

    with pytest.raises(Violation):
        Node.decode({**written, key: value})


def test_a_text_that_nobody_sanitized_is_refused() -> None:
    with pytest.raises(Violation, match="text: is not sanitized"):
        read_node(node(text="password: hunter2hunter2").line.encode())


def test_half_a_character_is_refused() -> None:
    written = node(text="USER: ?").line.replace("?", "\\ud83d")

    with pytest.raises(Violation, match="text: holds half a character"):
        read_node(written.encode())


def test_the_longest_node_fits_in_a_line() -> None:
    longest = make_node(PARENT, EntryId("e" * 256), AT, "assistant", "\x1f" * NODE_CHARS_MAX)

    assert len(longest.line.encode()) < NODE_LINE_BYTES_MAX


def test_a_path_falls_into_turns_at_each_user() -> None:
    said: list[Role] = ["other", "assistant", "user", "assistant", "tool", "user", "user"]
    path = [node(entry_id=f"e{number}", role=role) for number, role in enumerate(said)]

    cut = list(turns(path))

    assert [[each.entry_id for each in turn.nodes] for turn in cut] == [
        ["e0", "e1"],
        ["e2", "e3", "e4"],
        ["e5"],
        ["e6"],
    ]
    assert [turn.has_user for turn in cut] == [False, True, True, True]
    assert list(turns([])) == []


def test_a_turns_digest_binds_its_nodes_and_their_order() -> None:
    first, second = node("e1").digest, node("e2").digest

    digests = {turn_digest(()), turn_digest((first,)), turn_digest((first, second)), turn_digest((second, first))}

    assert len(digests) == 4
    assert next(turns([node("e1"), node("e2", role="tool")])).digest == turn_digest(
        (first, node("e2", role="tool").digest)
    )


def test_every_role_has_a_node() -> None:
    made = [node(role=role) for role in ROLES]

    assert [read_node(each.line.encode()).role for each in made] == list(ROLES)
    assert all(dataclasses.replace(each) == each and parse(each.line.encode()) == each.encode() for each in made)
