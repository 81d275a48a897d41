"""A session as lines: split at LF alone, one in memory at a time, from any byte on, up to any byte."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.errors import InvalidRecordError, NotFoundError
from curator.model.digest import Json
from curator.pi.stream import LINE_BYTES_MAX, Head, Line, lines, load, load_first, open_session, place_of, read_head
from tests.session_lines import header
from tests.session_lines import lines as written


def read(path: Path, byte: int = 0, number: int = 0, until: int | None = None) -> list[Line]:
    with open_session(path) as file:
        return list(lines(file, byte, number, until))


def test_a_line_ends_at_lf_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes("a\u2028b\r\n\n\x0bc\x85\nrest".encode())

    found = read(path)

    assert [(line.number, line.byte, line.size, line.is_ended) for line in found] == [
        (1, 0, 7, True),
        (2, 7, 1, True),
        (3, 8, 5, True),
        (4, 13, 4, False),
    ]


@given(st.binary(max_size=60).map(lambda drawn: drawn.replace(b"\x01", b"\n")), st.data())
def test_lines_make_up_the_file_and_reading_goes_on_at_any_of_them(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("s") / "s.jsonl"
    path.write_bytes(content)
    whole = read(path)

    assert b"".join(line.raw for line in whole) == content
    assert all(line.raw == content[line.byte : line.byte + line.size] for line in whole)
    if whole:
        at = data.draw(st.integers(0, len(whole) - 1))
        assert read(path, whole[at].byte, at) == whole[at:]
        until = data.draw(st.integers(0, len(content)))
        path.write_bytes(content[:until])
        short = read(path)
        path.write_bytes(content)
        assert read(path, until=until) == short


def test_of_a_line_that_is_too_long_the_head_is_kept_and_the_witness_sees_all(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    content = b"short\n" + b"x" * (LINE_BYTES_MAX + 5_000_000) + b"\nlast\n"
    path.write_bytes(content)
    seen: list[int] = []

    with open_session(path) as file:
        found = list(lines(file, witness=lambda piece: seen.append(len(piece))))

    assert [(line.byte, line.size, len(line.raw)) for line in found] == [
        (0, 6, 6),
        (6, LINE_BYTES_MAX + 5_000_001, LINE_BYTES_MAX + 1),
        (len(content) - 5, 5, 5),
    ]
    assert sum(seen) == len(content)


def test_a_line_that_somebody_is_writing_is_the_last_one(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"one\nhal")
    with open_session(path) as file:
        coming = lines(file)
        found = [next(coming), next(coming)]
        with path.open("ab") as writer:
            writer.write(b"f\nthree\n")

        assert list(coming) == []
    assert [(line.raw, line.is_ended) for line in found] == [(b"one\n", True), (b"hal", False)]


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'{"a":1}\r\n', {"a": 1}),
        (b'\0\0\0{"a":1}\n', {"a": 1}),
        (b' \t{"a":"\xff"}\n', {"a": "\ufffd"}),
        (rb'{"a":"\ud83d"}', {"a": "\ud83d"}),
        (b'{"a":1}{"a":2}\n', None),
        (b'{"a":NaN}\n', None),
        (b"[" * 100_000, None),
        (b"\0\0\n", None),
        (b"", None),
    ],
    ids=range(9),
)
def test_a_line_is_parsed_as_pi_parses_it_or_not_at_all(raw: bytes, value: Json) -> None:
    assert load(raw) == value


def test_the_value_at_a_place_is_parsed_and_its_end_told() -> None:
    assert load_first('x[1,2],"rest', 1) == ([1, 2], 6)
    with pytest.raises(ValueError, match=r"^$"):
        load_first("[NaN]")


def test_the_head_tells_what_a_session_is(tmp_path: Path) -> None:
    at, parent = "2026-05-04T10:00:00.000Z", "C:\\sessions\\p.jsonl"
    raw = b"\xef\xbb\xbf" + written(header(timestamp=at, parentSession=parent, version=2))

    head = read_head(tmp_path, Line(1, 0, len(raw), raw, is_ended=True))

    assert head == Head(str(header()["id"]), 2, "/home/user/proj-a", at, parent)
    with pytest.raises(InvalidRecordError, match="is not the header"):
        read_head(tmp_path, None)


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        (b'{"type":"message","id":"a1","parentId":"b2","timestamp":"...', ("a1", "b2")),
        (b'{"type": "message", "id": "a1", "parentId": null, ...', ("a1", None)),
        (b'{"id":"a1","parentId":null', None),
        (b'{"type":"message","id":"../x","parentId":null', None),
    ],
)
def test_the_head_of_a_long_line_tells_its_place(raw: bytes, place: tuple[str, str | None] | None) -> None:
    assert place_of(raw) == place


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(InvalidRecordError, match="not a regular file"):
        open_session(tmp_path / "pipe")
    with pytest.raises(NotFoundError):
        open_session(tmp_path / "none" / "s.jsonl")
