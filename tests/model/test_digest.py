"""JSON is read strictly, written as JavaScript writes it, and digested alike on both sides."""

import hashlib
import json
import math
import time
from typing import Final, TypeAlias

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from curator.model.digest import (
    Json,
    MalformedJsonError,
    _written,
    canonical,
    compact,
    digest_of,
    digest_of_text,
    number,
    parse,
    pretty,
)
from tests.golden_fixtures import vectors

_Common: TypeAlias = "bool | int | float | str | list[_Common] | dict[str, _Common] | None"

WHOLE_TEXT: Final = st.text(st.characters(exclude_categories=["Cs"]))
COMMON: Final = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | WHOLE_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(WHOLE_TEXT, inner),
    max_leaves=20,
)
ANY_JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
EDGES: Final = (
    0.0,
    -0.0,
    1e16,
    1e21,
    1e-7,
    5e-324,
    123456789012345680.0,
    2**53,
    2**53 + 1,
    -(10**15),
    10**22,
    0.1,
    1.1e-05,
    -2e-06,
)
"""Numbers that the two languages spell otherwise, and their neighbours."""
LIKE_NUMBERS: Final = st.lists(st.sampled_from(('"', ":", ",", "{", "}", "\\", "a", "1e-05", "2.0", "9" * 16))).map(
    "".join
)
"""Strings that look like what stands around a number, once they are escaped or not."""
ANY_NUMBERED: Final = st.recursive(
    st.sampled_from(EDGES)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers()
    | st.text(st.sampled_from('a":,{}[]0.e1-\\\n\u2028\ud800\udc00\ue000\U0001f600'), max_size=12)
    | LIKE_NUMBERS,
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(LIKE_NUMBERS, inner)
        | st.dictionaries(st.text(st.sampled_from('ab":\ud800\ue000\U0001f600')), inner)
    ),
    max_leaves=12,
)

# Four lines that two implementations were once seen to disagree on, and what both must write.
PARITY: Final = (
    (r'{"z": 1, "a": [true, null, "\u00e9"]}', '{"a":[true,null,"é"],"z":1}'),
    (r'{"\uffee": 1, "\ud83d\ude00": 2, "a": 3}', '{"a":3,"😀":2,"\uffee":1}'),
    (r'{"text": "line\u2028sep \u007f \u0000 / \\ \""}', '{"text":"line\u2028sep \x7f \\u0000 / \\\\ \\""}'),
    (r'{"k": "NFC \u00e9 vs NFD e\u0301"}', '{"k":"NFC é vs NFD e\u0301"}'),
)


def vector_rows() -> list[tuple[str, str, str]]:
    rows = vectors()["canonical"]
    assert isinstance(rows, list)
    assert len(rows) == 11
    return [(str(row["text"]), str(row["canonical"]), str(row["sha256"])) for row in rows if isinstance(row, dict)]


@pytest.mark.parametrize(("text", "expected", "sha256"), vector_rows())
def test_every_vector_of_the_protocol_comes_out_byte_for_byte(text: str, expected: str, sha256: str) -> None:
    value = parse(text.encode())

    assert (canonical(value), digest_of(value)) == (expected, sha256)


@pytest.mark.parametrize(("text", "expected"), PARITY)
def test_what_implementations_disagree_on_is_written_the_one_way(text: str, expected: str) -> None:
    assert canonical(parse(text.encode())) == expected


@given(COMMON)
def test_canonical_text_is_that_of_rfc_8785_where_both_have_the_value(value: _Common) -> None:
    assert canonical(value).encode() == rfc8785.dumps(value)


@example([":1e-05,"])
@example([":1e-05}"])
@example(['a":1e-05,'])
@example(['\\":1e-05,'])
@example({":1e-05,": 1e-05})
@example({'a":1e-05,': 1e-05, "": 2e-06, ",": 2e-06, "\\": 2e-06})
@given(ANY_NUMBERED)
def test_the_librarys_text_is_only_taken_where_it_is_javascripts(value: Json) -> None:
    assert canonical(value) == _written(value, sort=True)
    assert compact(value) == _written(value, sort=False)


@given(ANY_JSON)
def test_reading_what_was_written_changes_nothing(value: Json) -> None:
    again = parse(canonical(value).encode())

    assert canonical(again) == canonical(value)
    assert canonical(parse(compact(value).encode())) == canonical(value)
    assert canonical(parse(pretty(value).encode())) == canonical(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (100, "100"),
        (0.1, "0.1"),
        (0.0031, "0.0031"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (123e-20, "1.23e-18"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (-1.25e22, "-1.25e+22"),
        (9007199254740993, "9007199254740992"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
    ],
)
def test_a_number_is_written_as_javascript_writes_it(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400])
def test_a_number_that_json_does_not_have_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="JSON does not have"):
        canonical([value])


@pytest.mark.parametrize("token", [b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e999"])
def test_no_number_beyond_a_double_is_read(token: bytes) -> None:
    with pytest.raises(MalformedJsonError, match="JSON does not have"):
        parse(b'{"n":' + token + b"}")


@pytest.mark.parametrize(
    ("raw", "fact"),
    [
        (b'\xef\xbb\xbf{"a":1}', "byte order mark"),
        (b'{"a":"\xff"}', "not UTF-8 at line 1, byte 6"),
        (b'{"a":"\xed\xa0\x80"}', "not UTF-8 at line 1, byte 6"),
        (b'{\n"a":1,}', "not JSON at line 2"),
        (b"", "not JSON at line 1, byte 0"),
        (b"\0" * 512, "not JSON"),
        (b"{} {}", "not JSON"),
        (b'{"a":"tab\there"}', "not JSON"),
        (b"[" * 100_000, "nested too deep"),
    ],
)
def test_bytes_that_are_not_one_json_value_are_refused_by_place(raw: bytes, fact: str) -> None:
    with pytest.raises(MalformedJsonError, match=fact):
        parse(raw)


def test_an_error_names_the_place_and_not_what_stands_there() -> None:
    with pytest.raises(MalformedJsonError) as caught:
        parse(b'{"secret": hunter22}')

    assert "hunter" not in str(caught.value)


def test_the_last_of_two_equal_keys_wins() -> None:
    assert parse(b'{"dup":1,"dup":2}') == {"dup": 2}


def test_keys_are_sorted_by_utf16_units_so_that_astral_ones_come_before_private_ones() -> None:
    assert canonical({"\ue000": 1, "😀": 2}) == '{"😀":2,"\ue000":1}'


def test_keys_behind_other_odd_characters_are_found_as_well() -> None:
    assert canonical({"😀\ue000😀 ": 1, "😀\ue000": 2, "x": "\ue000"}) == '{"x":"\ue000","😀\ue000":2,"😀\ue000😀 ":1}'
    assert canonical({"\ue000a😀b": 1, "😀z": "😀"}) == '{"😀z":"😀","\ue000a😀b":1}'


def test_a_quote_or_a_backslash_in_an_odd_key_hides_it_from_nobody() -> None:
    assert canonical({'\ue000"': 1, '😀"': 2}) == '{"😀\\"":2,"\ue000\\"":1}'
    assert canonical({"\ue000\\": 1, "😀\\": 2}) == '{"😀\\\\":2,"\ue000\\\\":1}'


def test_a_text_of_emoji_takes_time_by_its_length_not_by_the_square() -> None:
    text = "😀" * 200_000

    begun = time.process_time()
    written = canonical({"text": text})

    assert time.process_time() - begun < 2
    assert written == f'{{"text":"{text}"}}'


def test_a_lone_surrogate_is_escaped_and_a_pair_becomes_its_character() -> None:
    value = parse(rb'{"lone":"a\ud800b","pair":"\ud83d\ude00"}')

    assert canonical(value) == '{"lone":"a\\ud800b","pair":"😀"}'
    assert compact(value) == '{"lone":"a\\ud800b","pair":"😀"}'
    assert pretty(value) == '{\n  "lone": "a\\ud800b",\n  "pair": "😀"\n}\n'


def test_pretty_is_the_project_stores_encoding() -> None:
    value: Json = {"b": 1, "a": ["é", []], "n": 1.0}

    assert pretty(value) == '{\n  "b": 1,\n  "a": [\n    "é",\n    []\n  ],\n  "n": 1\n}\n'


def test_compact_keeps_the_order_of_keys() -> None:
    assert compact({"b": 1, "a": [1, 2]}) == '{"b":1,"a":[1,2]}'


@given(st.text())
def test_a_digest_is_the_sha256_of_the_utf8_bytes(text: str) -> None:
    expected = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    assert digest_of_text(text) == expected
    assert digest_of(json.loads(json.dumps(text))) == hashlib.sha256(canonical(text).encode()).hexdigest()
