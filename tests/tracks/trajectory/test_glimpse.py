"""Lines that are not parsed whole say what they say when they are: the same line with spaces is parsed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curator.model.digest import Json
from curator.pi.stream import Fault
from tests.session_lines import assistant, header, lines, message, tool_result, user, write
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


def test_two_tool_lines_that_became_one_are_not_taken(tmp_path: Path) -> None:
    whole = lines(tool_result("t1", "u1", "bash"), tool_result("t2", "u1", "bash"))
    torn = whole.replace(b'"text":"what the tool printed"}],"isError":false}}\n', b'"text":"what', 1)
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines(header(), user("u1", None, "Go.")) + torn + lines(assistant("a1", "u1", "Done.")))

    nodes, ended = read(path)

    assert [node.entry_id for node in nodes] == ["u1", "a1"]
    assert [(each.fault, each.line) for each in ended.facts.damage] == [(Fault.NOT_JSON, 3)]
