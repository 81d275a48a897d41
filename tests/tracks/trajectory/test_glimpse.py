"""Lines that are not parsed whole say what they say when they are: the same line with spaces is parsed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from curator.model.digest import Json
from curator.pi.stream import Fault
from tests.session_lines import assistant, header, lines, message, user, write
from tests.tracks.trajectory.readings import read


@pytest.mark.parametrize(
    "odd",
    [
        {"toolName": "bash", "isError": True},
        {"toolName": "bash", "isError": False, "details": {"isError": True, "timestamp": 1}},
        {"toolName": "bash", "details": {"parentId": "x"}, "isError": False, "timestamp": 1_777_888_801_000},
        {"toolName": 'b"sh', "isError": False},
        {"toolName": "b\\sh", "isError": True, "timestamp": 7},
        {"toolName": "ba\u00e4sh", "isError": False},
        {"toolName": None, "isError": False},
        {"toolName": "", "isError": "yes"},
        {"toolName": "bash", "isError": True, "more": [1]},
    ],
)
@pytest.mark.parametrize("printed", ["plain", '"}],"isError":true,"timestamp":1}}', "\\", '{"type":"message","id":"x'])
def test_a_tools_line_says_the_same_whether_it_is_parsed_or_not(
    odd: dict[str, Json], printed: str, tmp_path: Path
) -> None:
    content: Json = [{"type": "text", "text": printed}]
    inner: dict[str, Json] = {"role": "toolResult", "toolCallId": "c1", **odd}
    inner = {**{key: inner[key] for key in ("role", "toolCallId", "toolName")}, "content": content, **inner}
    quick = write(tmp_path / "quick.jsonl", header(), message("t1", None, inner))
    spaced = json.dumps(message("t1", None, inner)).encode() + b"\n"
    (tmp_path / "slow.jsonl").write_bytes(lines(header()) + spaced)

    assert read(quick).nodes == read(tmp_path / "slow.jsonl").nodes


@pytest.mark.parametrize(
    "content",
    [
        [],
        "plain",
        None,
        [{"type": "text", "text": '"}],"usage":{"totalTokens":7}}}'}],
        [{"type": "text", "text": "half \ud83d"}, {"type": "toolCall", "name": "bash", "arguments": None}],
        [{"type": "text", "text": None}, "odd", {"type": "new"}],
        [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "two\n\nlines"}],
        [{"type": "text", "text": '{"type":"message","id":"x"'}],
    ],
)
@pytest.mark.parametrize(
    "usage", [{}, {"usage": None}, {"usage": {}}, {"usage": {"input": 1, "totalTokens": 9, "cost": {"total": 0.5}}}]
)
def test_an_answers_line_says_the_same_whether_it_is_parsed_or_not(
    content: Json, usage: dict[str, Json], tmp_path: Path
) -> None:
    inner: dict[str, Json] = {"role": "assistant", "content": content, "model": "m", **usage, "stopReason": "stop"}
    quick = write(tmp_path / "quick.jsonl", header(), message("a1", None, inner))
    spaced = json.dumps(message("a1", None, inner)).encode() + b"\n"
    (tmp_path / "slow.jsonl").write_bytes(lines(header()) + spaced)

    one, other = read(quick), read(tmp_path / "slow.jsonl")

    assert one.nodes == other.nodes
    assert one.ended.facts == other.ended.facts


def printed_by_a_tool(entry_id: str) -> dict[str, Json]:
    about: dict[str, Json] = {"role": "toolResult", "toolCallId": "c1", "toolName": "bash"}
    return message(entry_id, "u1", {**about, "content": [{"type": "text", "text": "what"}], "isError": False})


@pytest.mark.parametrize("make", [printed_by_a_tool, lambda entry_id: assistant(entry_id, "u1", "what")])
def test_two_lines_that_became_one_are_not_taken(make: Callable[[str], dict[str, Json]], tmp_path: Path) -> None:
    first, second = lines(make("t1")), lines(make("t2"))
    path = tmp_path / "s.jsonl"
    torn = first[: first.index(b'"what"') + 3] + second
    path.write_bytes(lines(header(), user("u1", None, "Go.")) + torn + lines(assistant("a1", "u1", "Done.")))

    nodes, ended = read(path)

    assert [node.entry_id for node in nodes] == ["u1", "a1"]
    assert [(each.fault, each.line) for each in ended.facts.damage] == [(Fault.NOT_JSON, 3)]


@pytest.mark.parametrize("make", [printed_by_a_tool, lambda entry_id: assistant(entry_id, "u1", "what")])
def test_a_line_with_nul_bytes_in_it_is_not_taken(make: Callable[[str], dict[str, Json]], tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines(header(), user("u1", None, "Go.")) + lines(make("t1")).replace(b'"what"', b'"wh\0\0"'))

    nodes, ended = read(path)

    assert [node.entry_id for node in nodes] == ["u1"]
    assert [each.fault for each in ended.facts.damage] == [Fault.NOT_JSON]
