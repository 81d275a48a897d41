"""A record is closed, strict and frozen, and says what is wrong without saying the value."""

import dataclasses
import enum
import math
from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.model.digest import Json, canonical, parse
from curator.model.record import (
    Integer,
    Items,
    MayBeAbsent,
    Pattern,
    Record,
    Text,
    Violation,
    camel,
    u16_len,
)


class Colour(enum.StrEnum):
    RED = "red"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Round(Record):
    kind: Literal["round"] = "round"
    radius: Annotated[int, Integer(1, 9)]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Flat(Record):
    kind: Literal["flat", "even"] = "flat"


Shape: TypeAlias = Round | Flat


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Record):
    _spelling: ClassVar[Mapping[str, str]] = {"as_it_is": "as_it_is"}

    version: Literal[1] = 1
    one_count: Annotated[int, Integer()]
    price: float
    is_true: bool
    a_text: Annotated[str, Text(1, 4)]
    an_id: Annotated[str, Pattern(r"[a-z]+", "an id")]
    colour: Colour
    shapes: Annotated[tuple[Shape, ...], Items(0, 2)]
    by_name: Mapping[Annotated[str, Pattern(r"[a-z]+", "a name")], Round]
    as_it_is: Annotated[int, MayBeAbsent()] = 7
    maybe: Annotated[str, Text(0, 3)] | None = None


WHOLE: Final[dict[str, Json]] = {
    "version": 1,
    "oneCount": 3,
    "price": 0.5,
    "isTrue": True,
    "aText": "text",
    "anId": "id",
    "colour": "red",
    "shapes": [{"kind": "round", "radius": 2}, {"kind": "even"}],
    "byName": {"a": {"kind": "round", "radius": 1}},
    "as_it_is": 8,
    "maybe": "yes",
}


def test_what_is_decoded_is_encoded_again_with_its_keys_in_order() -> None:
    record = Sample.decode(dict(reversed(WHOLE.items())))

    assert record.encode() == WHOLE
    assert list(record.encode()) == list(WHOLE)


def test_an_absent_key_is_left_out_and_never_null() -> None:
    record = Sample.decode({key: item for key, item in WHOLE.items() if key not in {"maybe", "as_it_is"}})

    assert (record.maybe, record.as_it_is) == (None, 7)
    assert "maybe" not in record.encode()


@pytest.mark.parametrize("key", [key for key in WHOLE if key not in {"maybe", "as_it_is"}])
def test_a_missing_key_is_named(key: str) -> None:
    with pytest.raises(Violation, match=f"lacks {key}"):
        Sample.decode({each: item for each, item in WHOLE.items() if each != key})


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        ("version", 2, "is not 1"),
        ("version", True, "is not 1"),
        ("version", "1", "is not 1"),
        ("oneCount", True, "is not an integer"),
        ("oneCount", 1.5, "is not an integer"),
        ("oneCount", math.nan, "is not an integer"),
        ("oneCount", math.inf, "is not an integer"),
        ("oneCount", "3", "is not an integer"),
        ("oneCount", None, "is not an integer"),
        ("oneCount", -1, "is not within 0 and 9007199254740991"),
        ("oneCount", 2**53, "is not within 0 and 9007199254740991"),
        ("price", math.nan, "is not finite and at least 0"),
        ("price", math.inf, "is not finite and at least 0"),
        ("price", -0.5, "is not finite and at least 0"),
        ("price", 10**400, "is not finite and at least 0"),
        ("price", False, "is not a number"),
        ("price", "1", "is not a number"),
        ("isTrue", 1, "is not true or false"),
        ("isTrue", None, "is not true or false"),
        ("aText", "", "is not 1 to 4 characters long"),
        ("aText", "texts", "is not 1 to 4 characters long"),
        ("aText", "😀😀a", "is not 1 to 4 characters long"),
        ("aText", 4, "is not a string"),
        ("anId", "Id", "is not an id"),
        ("anId", "id\n", "is not an id"),
        ("colour", "blue", "is none of red"),
        ("colour", ["red"], "is none of red"),
        ("shapes", {}, "is not a list"),
        ("shapes", [{"kind": "flat"}] * 3, "does not have 0 to 2 items"),
        ("shapes", [[]], "is not an object"),
        ("shapes", [{"kind": "square"}], "is none of round, flat, even"),
        ("shapes", [{"kind": ["flat"]}], "is none of round, flat, even"),
        ("shapes", [{}], "is none of round, flat, even"),
        ("shapes", [{"kind": "round", "radius": 10}], "is not within 1 and 9"),
        ("shapes", [{"kind": "flat", "radius": 1}], "has a key that this record does not have"),
        ("byName", [], "is not an object"),
        ("byName", {"A": {"kind": "round", "radius": 1}}, "is not a name"),
        ("byName", {"a": {"kind": "flat"}}, "is not round"),
        ("maybe", None, "is not a string"),
        ("maybe", "four", "is not 0 to 3 characters long"),
        ("as_it_is", None, "is not an integer"),
        ("asItIs", 8, "has a key that this record does not have"),
        ("extra", 1, "has a key that this record does not have"),
    ],
)
def test_one_wrong_value_is_one_violation(key: str, value: Json, rule: str) -> None:
    with pytest.raises(Violation) as caught:
        Sample.decode(WHOLE | {key: value})

    assert rule in caught.value.rule


@pytest.mark.parametrize("value", [None, [], "x", 1, True])
def test_what_is_no_object_is_no_record(value: Json) -> None:
    with pytest.raises(Violation, match="record: is not an object"):
        Sample.decode(value)


def test_the_place_of_a_violation_is_a_path() -> None:
    wrong = WHOLE | {"shapes": [{"kind": "flat"}, {"kind": "round", "radius": "r"}]}

    with pytest.raises(Violation) as caught:
        Sample.decode(wrong, "sample")

    assert caught.value.where == "sample.shapes[1].radius"


def test_a_whole_float_counts_as_the_integer_as_it_does_in_javascript() -> None:
    record = Sample.decode(WHOLE | {"oneCount": 1.0, "version": 1.0})

    assert canonical(record.encode()["oneCount"]) == "1"
    assert isinstance(record.one_count, int)
    assert isinstance(record.version, int)


def test_lone_surrogates_are_text_like_any_other() -> None:
    lone = parse(rb'"\ud800x\udfff"')

    record = Sample.decode(WHOLE | {"aText": lone})

    assert record.encode()["aText"] == "\ud800x\udfff"
    assert canonical(record.encode()["aText"]) == '"\\ud800x\\udfff"'


@pytest.mark.parametrize(("text", "length"), [("", 0), ("é", 1), ("😀", 2), ("\ud800", 1), ("😀" * 400, 800)])
def test_characters_are_utf16_units(text: str, length: int) -> None:
    assert u16_len(text) == length


@given(st.text())
def test_a_text_is_as_long_as_javascript_says(text: str) -> None:
    assert u16_len(text) == sum(2 if ord(char) > 0xFFFF else 1 for char in text)


def test_a_record_cannot_be_changed() -> None:
    record = Sample.decode(WHOLE)

    with pytest.raises(dataclasses.FrozenInstanceError):
        record.a_text = "new"  # type: ignore[misc]  # that it cannot be is what is tested
    with pytest.raises(TypeError):
        record.by_name["b"] = record.by_name["a"]  # type: ignore[index]  # likewise


@pytest.mark.parametrize(
    ("name", "key"), [("one", "one"), ("one_two_three", "oneTwoThree"), ("sha256_text", "sha256Text")]
)
def test_a_fields_name_is_camel_case_on_the_wire(name: str, key: str) -> None:
    assert camel(name) == key


SECRET: Final = "hunter22-is-evidence"
PLACES: Final = (*WHOLE, "extra", SECRET)


@given(
    st.sampled_from(PLACES), st.sampled_from([SECRET, [SECRET], {SECRET: SECRET}, {"kind": SECRET}, [{"kind": SECRET}]])
)
def test_no_violation_ever_holds_the_value(key: str, value: Json) -> None:
    with pytest.raises(Violation) as caught:
        Sample.decode(WHOLE | {key: value})

    assert SECRET not in str(caught.value)
