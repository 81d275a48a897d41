"""How a record must look: closed objects, bounded texts, patterns; a fault names the place and the rule, never the value.

A rule is a function from a JSON value to the broken rule in words, or None. This is the checker's own, apart from the
decoders that the stores use, so that one mistake does not excuse itself.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final, TypeAlias

from curator.model.digest import Json
from curator.model.limits import INT_MAX

Rule: TypeAlias = Callable[[Json], str | None]
Fields: TypeAlias = dict[str, Json]

_ISO: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """An object with these keys, and no other unless it is open."""

    required: Mapping[str, Rule]
    optional: Mapping[str, Rule] = dataclasses.field(default_factory=dict)
    is_open: bool = False

    def __call__(self, value: Json) -> str | None:
        """Return the first broken rule."""
        if not isinstance(value, dict):
            return "is not an object"
        for key in self.required:
            if key not in value:
                return f"lacks {key}"
        for key, item in value.items():
            rule = self.required.get(key) or self.optional.get(key)
            if rule is None:
                if self.is_open:
                    continue
                return "has a key that it may not have"
            fault = rule(item)
            if fault is not None:
                return f"{key}: {fault}"
        return None


def and_then(rule: Rule, more: Callable[[Fields], str | None]) -> Rule:
    """Return a rule for an object that also holds what binds its parts together."""

    def both(value: Json) -> str | None:
        fault = rule(value)
        if fault is not None or not isinstance(value, dict):
            return fault
        return more(value)

    return both


def tagged(key: str, members: Mapping[str, Rule]) -> Rule:
    """Return a rule that is chosen by one key."""

    def chosen(value: Json) -> str | None:
        if not isinstance(value, dict):
            return "is not an object"
        tag = value.get(key)
        rule = members.get(tag) if isinstance(tag, str) else None
        return f"{key}: is none of {', '.join(members)}" if rule is None else rule(value)

    return chosen


def listing(rule: Rule, low: int, high: int) -> Rule:
    """Return a rule for a list of so many."""

    def each(value: Json) -> str | None:
        if not isinstance(value, list):
            return "is not a list"
        if not low <= len(value) <= high:
            return f"does not have {low} to {high} items"
        for index, item in enumerate(value):
            fault = rule(item)
            if fault is not None:
                return f"[{index}]: {fault}"
        return None

    return each


def one(*allowed: str | int | bool) -> Rule:
    """Return a rule for a closed list of values."""

    def among(value: Json) -> str | None:
        is_there = any(value == each and isinstance(value, bool) == isinstance(each, bool) for each in allowed)
        return None if is_there else "is none of its values"

    return among


def text(low: int = 0, high: int = INT_MAX) -> Rule:
    """Return a rule for a text of so many UTF-16 units."""

    def bounded(value: Json) -> str | None:
        if not isinstance(value, str):
            return "is not a text"
        return None if low <= units(value) <= high else f"is not {low} to {high} characters long"

    return bounded


def matching(pattern: str | re.Pattern[str], name: str) -> Rule:
    """Return a rule for a text that the whole of a pattern matches."""
    compiled = re.compile(pattern)

    def matched(value: Json) -> str | None:
        return None if isinstance(value, str) and compiled.fullmatch(value) else f"is not {name}"

    return matched


def whole(low: int = 0, high: int = INT_MAX) -> Rule:
    """Return a rule for an integer; `1.0` is one, as in JavaScript."""

    def counted(value: Json) -> str | None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not isinstance(value, int | float) or not math.isfinite(value) or value != int(value):
            return "is not an integer"
        return None if low <= value <= high else f"is not {low} to {high}"

    return counted


def amount(value: Json) -> str | None:
    """Return why a value is no amount: a finite number, not negative."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "is not a number"
    return None if math.isfinite(value) and value >= 0 else "is not an amount"


def truth(value: Json) -> str | None:
    """Return why a value is neither true nor false."""
    return None if isinstance(value, bool) else "is not true or false"


def moment(value: Json) -> str | None:
    """Return why a value is no moment in the protocol's one spelling."""
    if not isinstance(value, str) or not _ISO.fullmatch(value):
        return "is not a time of the protocol"
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return "is not a time of the protocol"
    return None


def units(value: str) -> int:
    """Return the length in UTF-16 code units."""
    return len(value) if value.isascii() else len(value.encode("utf-16-le", "surrogatepass")) // 2


def text_of(fields: Mapping[str, Json], key: str) -> str:
    """Return a text of a record, or nothing where it has none."""
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def number_of(fields: Mapping[str, Json], key: str) -> int:
    """Return an integer of a record, or 0 where it has none."""
    value = fields.get(key)
    return int(value) if isinstance(value, int | float) else 0


def fields_of(fields: Mapping[str, Json], key: str) -> Fields:
    """Return an object in a record, or an empty one."""
    value = fields.get(key)
    return value if isinstance(value, dict) else {}


def items_of(fields: Mapping[str, Json], key: str) -> list[Json]:
    """Return a list in a record, or an empty one."""
    value = fields.get(key)
    return value if isinstance(value, list) else []


def objects_of(fields: Mapping[str, Json], key: str) -> list[Fields]:
    """Return the objects of a list in a record."""
    return [item for item in items_of(fields, key) if isinstance(item, dict)]


def without(fields: Mapping[str, Json], *keys: str) -> Fields:
    """Return a record without some keys: what a digest in it is about."""
    return {key: item for key, item in fields.items() if key not in keys}


def differing(one_record: Mapping[str, Json], other: Mapping[str, Json], keys: tuple[str, ...]) -> str | None:
    """Return the first key in which two records differ, or None; a number is the same in both of its spellings."""
    return next((key for key in keys if one_record.get(key) != other.get(key)), None)
