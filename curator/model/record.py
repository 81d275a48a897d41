"""Closed, strict, frozen records: how a dataclass becomes the protocol's JSON and back.

A field's annotation is its rule: `JobId`-like names carry a pattern, `Integer`, `Text` and `Items` carry bounds, a
`Literal` or an enum is the closed list of values, `X | None = None` is a key that may be absent and is never null.
Any other key is an error. A violation names the place and the rule, never the value: the value may be evidence.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, ClassVar, Final, Literal, Self, TypeAlias, Union, get_args, get_origin

from curator.model.digest import Json
from curator.model.limits import INT_MAX

_Decode: TypeAlias = "Callable[[Json], object]"
"""A violation in it names the place from there on; whoever decodes what is around it puts that before."""


class Violation(ValueError):  # noqa: N818 - it is a fact about a value, and most callers turn it into an error of theirs
    """A value breaks a rule. Carries where and which rule, never the value."""

    def __init__(self, where: str, rule: str) -> None:
        """Remember the place, like `job.branch.entries[3].text`, and the rule in words."""
        super().__init__(f"{where or 'record'}: {rule}")
        self.where = where
        self.rule = rule


@dataclasses.dataclass(frozen=True, slots=True)
class Integer:
    """An integer within bounds. `1.0` counts as 1, as it does in JavaScript."""

    low: int = 0
    high: int = INT_MAX


@dataclasses.dataclass(frozen=True, slots=True)
class Number:
    """A finite number, not negative."""


@dataclasses.dataclass(frozen=True, slots=True)
class Text:
    """A string with a bound in UTF-16 code units, and a rule of its own if `check` is given.

    `check` returns the broken rule in words, or None.
    """

    low: int = 0
    high: int = INT_MAX
    check: Callable[[str], str | None] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Pattern:
    """A string that the whole of the pattern matches."""

    pattern: str
    name: str


@dataclasses.dataclass(frozen=True, slots=True)
class Items:
    """How many items a list may have."""

    low: int = 0
    high: int = INT_MAX


@dataclasses.dataclass(frozen=True, slots=True)
class MayBeAbsent:
    """A key that a person may leave out; the field's default stands in. Records of the protocol have none."""


def camel(name: str) -> str:
    """Return the wire's spelling of a field's name."""
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def u16_len(text: str) -> int:
    """Return the length in UTF-16 code units: what the protocol means by characters."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


class Record:
    """Base of every record: `decode` from parsed JSON, `encode` back, keys in field order.

    `_spelling` names a field's key where camel case does not give it.
    """

    _spelling: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def decode(cls, value: Json, where: str = "") -> Self:
        """Return the record, or raise `Violation` naming the first broken rule."""
        if not isinstance(value, dict):
            raise Violation(where, "is not an object")
        fields = _FIELDS.get(cls) or _fields_of(cls)
        known: dict[str, object] = {}
        for key, item in value.items():
            field = fields.get(key)
            if field is None:
                raise Violation(where, "has a key that this record does not have")
            try:
                known[field.name] = field.decode(item)
            except Violation as broken:
                raise Violation(_below(where, _below(key, broken.where)), broken.rule) from None
        for key, field in fields.items():
            if field.is_required and field.name not in known:
                raise Violation(where, f"lacks {key}")
        record = cls(**known)
        record.check(where)
        return record

    def encode(self) -> dict[str, Json]:
        """Return the JSON object: keys in field order, absent keys left out."""
        encoded: dict[str, Json] = {}
        for key, field in (_FIELDS.get(type(self)) or _fields_of(type(self))).items():
            item = getattr(self, field.name)
            if item is not None:
                encoded[key] = item if field.is_plain else _encode(item)
        return encoded

    def check(self, where: str = "") -> None:
        """Check what no single field can: raise `Violation`. Producers call it too."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Field:
    name: str
    decode: _Decode
    is_required: bool
    is_plain: bool
    """Whether a value of it is its own JSON."""


def _below(where: str, place: str) -> str:
    """Return a place within another: `job.branch` and `entries[3].text` make one."""
    return f"{where}.{place}" if where and place and place[0] not in "[ " else where + place


def _encode(value: object) -> Json:
    if isinstance(value, Record):
        return value.encode()
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, bool | int | float | str):
        return value
    assert isinstance(value, Mapping)
    return {str(key): _encode(item) for key, item in value.items()}


_FIELDS: Final[dict[type[Record], dict[str, _Field]]] = {}
"""Filled once per class, at its first use: reading the annotations is slow, and start-up needs few of them."""


def _fields_of(cls: type[Record]) -> dict[str, _Field]:
    known = _FIELDS.get(cls)
    if known is not None:
        return known
    hints = typing.get_type_hints(cls, include_extras=True)
    fields: dict[str, _Field] = {}
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]  # every record is a dataclass
        hint = hints[field.name]
        key = cls._spelling.get(field.name, camel(field.name))
        fields[key] = _Field(field.name, _decoder(hint), not _may_be_absent(hint), _is_plain(hint))
    _FIELDS[cls] = fields
    return fields


def _is_plain(hint: object) -> bool:
    """Tell whether every value of an annotation is a string, a number or a truth."""
    while get_origin(hint) is Annotated or isinstance(hint, typing.NewType):
        hint = hint.__supertype__ if isinstance(hint, typing.NewType) else get_args(hint)[0]
    if get_origin(hint) in (Union, types.UnionType):
        return all(_is_plain(part) for part in get_args(hint) if part is not types.NoneType)
    if get_origin(hint) is Literal:
        return not any(isinstance(value, enum.Enum) for value in get_args(hint))
    return hint in (str, int, float, bool)


def _may_be_absent(hint: object) -> bool:
    parts = get_args(hint)
    if get_origin(hint) is Annotated and any(isinstance(part, MayBeAbsent) for part in parts):
        return True
    return types.NoneType in parts


def _decoder(hint: object) -> _Decode:
    """Build the decoder of one annotation."""
    rules: tuple[object, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *extra = get_args(hint)
        rules = tuple(extra)
    origin = get_origin(hint)
    while isinstance(hint, typing.NewType):
        hint = hint.__supertype__
        if get_origin(hint) is Annotated:
            hint, *extra = get_args(hint)
            rules += tuple(extra)
    if origin in (Union, types.UnionType):
        return _union(get_args(hint))
    if origin is Literal:
        return _closed(get_args(hint))
    if origin is tuple:
        return _list(_decoder(get_args(hint)[0]), next((rule for rule in rules if isinstance(rule, Items)), Items()))
    if origin in (dict, Mapping) or getattr(origin, "__name__", "") == "Mapping":
        key, item = get_args(hint)
        return _map(_decoder(key), _decoder(item))
    if isinstance(hint, type):
        return _plain(hint, rules)
    message = f"no decoder for {hint!r}"
    raise TypeError(message)


def _plain(hint: type, rules: tuple[object, ...]) -> _Decode:
    if issubclass(hint, Record):
        return hint.decode
    if issubclass(hint, enum.Enum):
        return _enum(hint)
    if hint is bool:
        return _bool
    if hint is int:
        return _integer(next((rule for rule in rules if isinstance(rule, Integer)), Integer(-INT_MAX)))
    if hint is float:
        return _number
    if hint is str:
        return _string(rules)
    message = f"no decoder for {hint!r}"
    raise TypeError(message)


def _bool(value: Json) -> object:
    if not isinstance(value, bool):
        raise Violation("", "is not true or false")
    return value


def _integer(rule: Integer) -> _Decode:
    def decode(value: Json) -> object:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Violation("", "is not an integer")
        if isinstance(value, float):
            if not value.is_integer():
                raise Violation("", "is not an integer")
            value = int(value)
        if not rule.low <= value <= rule.high:
            raise Violation("", f"is not within {rule.low} and {rule.high}")
        return value

    return decode


def _number(value: Json) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Violation("", "is not a number")
    try:
        is_finite = math.isfinite(value)
    except OverflowError:
        is_finite = False
    if not is_finite or value < 0:
        raise Violation("", "is not finite and at least 0")
    return value


def _string(rules: tuple[object, ...]) -> _Decode:
    texts = [rule for rule in rules if isinstance(rule, Text)]
    patterns = [(re.compile(rule.pattern), rule.name) for rule in rules if isinstance(rule, Pattern)]

    def decode(value: Json) -> object:
        if not isinstance(value, str):
            raise Violation("", "is not a string")
        for pattern, name in patterns:
            if not pattern.fullmatch(value):
                raise Violation("", f"is not {name}")
        for rule in texts:
            if not rule.low <= u16_len(value) <= rule.high:
                raise Violation("", f"is not {rule.low} to {rule.high} characters long")
            if rule.check is not None and (broken := rule.check(value)) is not None:
                raise Violation("", broken)
        return value

    return decode


def _closed(allowed: tuple[object, ...]) -> _Decode:
    def decode(value: Json) -> object:
        for candidate in allowed:
            if value == candidate and isinstance(value, bool) == isinstance(candidate, bool):
                return candidate
        shown = ", ".join(str(candidate) for candidate in allowed)
        raise Violation("", f"is not {shown}" if len(allowed) == 1 else f"is none of {shown}")

    return decode


def _enum(hint: type[enum.Enum]) -> _Decode:
    members = {member.value: member for member in hint}

    def decode(value: Json) -> object:
        if not isinstance(value, str) or value not in members:
            raise Violation("", f"is none of {', '.join(members)}")
        return members[value]

    return decode


def _list(item: _Decode, bound: Items) -> _Decode:
    def decode(value: Json) -> object:
        if not isinstance(value, list):
            raise Violation("", "is not a list")
        if not bound.low <= len(value) <= bound.high:
            raise Violation("", f"does not have {bound.low} to {bound.high} items")
        found: list[object] = []
        try:
            for each in value:
                found.append(item(each))  # noqa: PERF401 - how many were good tells the place of the bad one
        except Violation as broken:
            raise Violation(_below(f"[{len(found)}]", broken.where), broken.rule) from None
        return tuple(found)

    return decode


def _at(place: str, decode: _Decode, value: Json) -> object:
    try:
        return decode(value)
    except Violation as broken:
        raise Violation(_below(place, broken.where), broken.rule) from None


def _map(key: _Decode, item: _Decode) -> _Decode:
    def decode(value: Json) -> object:
        if not isinstance(value, dict):
            raise Violation("", "is not an object")
        # A key may be anything a stranger wrote, so the place is named by position.
        found: dict[object, object] = {}
        for number, (name, each) in enumerate(value.items()):
            found[_at(f" key {number}", key, name)] = _at(f"[{number}]", item, each)
        return types.MappingProxyType(found)

    return decode


def _union(members: Iterable[object]) -> _Decode:
    present = [member for member in members if member is not types.NoneType]
    if len(present) == 1:
        return _decoder(present[0])
    if all(get_origin(member) is Literal for member in present):
        return _closed(tuple(value for member in present for value in get_args(member)))
    tagged: dict[Json, type[Record]] = {}
    tag = ""
    for member in present:
        assert isinstance(member, type)
        assert issubclass(member, Record)
        tag, values = _tag_of(member)
        tagged |= dict.fromkeys(values, member)

    def decode(value: Json) -> object:
        if not isinstance(value, dict):
            raise Violation("", "is not an object")
        member = tagged.get(given) if isinstance(given := value.get(tag), str) else None
        if member is None:
            raise Violation(tag, f"is none of {', '.join(map(str, tagged))}")
        return member.decode(value)

    return decode


_TAGS: Final = ("action", "status", "state", "kind")


def _tag_of(member: type[Record]) -> tuple[str, tuple[str, ...]]:
    """Return the field that tells union members apart, and this member's values of it."""
    hints = typing.get_type_hints(member, include_extras=True)
    for tag in _TAGS:
        if get_origin(hints.get(tag)) is Literal:
            return tag, get_args(hints[tag])
    message = f"{member.__name__} has no tag"
    raise TypeError(message)
