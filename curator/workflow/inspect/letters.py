"""The dead letters as a person asks for them: what was set aside, why, and how to name it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from curator.durable.read import list_names
from curator.durable.records import read_as
from curator.errors import CuratorError, UsageError
from curator.model.job import DeadLetter, Queued, Running
from curator.model.limits import RUNNING_BYTES_MAX, SPOOL_NAMES_MAX

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.model.digest import Json

_NAMES_MAX: Final = SPOOL_NAMES_MAX * 2
_HEAD_CHARS: Final = 15
_PREFIX: Final = "review_"


@dataclasses.dataclass(frozen=True, slots=True)
class Letter:
    """One record that was set aside."""

    name: str
    short: str
    """The head of its name, long enough for it alone."""
    reason: str
    """What it says itself, or what is wrong with it as it stands."""
    is_mended: bool
    """Whether it could be brought back as it stands."""


def letter_names(layout: Layout) -> tuple[str, ...]:
    """Return the names of the dead letters."""
    return tuple(name for name in list_names(layout.dead_letter, _NAMES_MAX) if not name.endswith(".tmp"))


def read_letters(layout: Layout) -> tuple[Letter, ...]:
    """Return the dead letters, each with its reason."""
    names = letter_names(layout)
    return tuple(_read(layout.dead_letter / name, _head(name, names)) for name in names)


def find_letter(layout: Layout, given: str) -> str | None:
    """Return the dead letter whose name begins so, with or without `review_`; None where there is none.

    Raises `UsageError` where there are several.
    """
    names = letter_names(layout)
    if given in names:
        return given
    found = [name for name in names if given and name.startswith((given, _PREFIX + given))]
    if len(found) > 1:
        fact = f"{len(found)} records that were set aside begin with {given!a}"
        raise UsageError(fact, remedy="Give more of the name; see `curator jobs list`")
    return found[0] if found else None


def head_of(layout: Layout, name: str) -> str:
    """Return the head of a dead letter's name, long enough for it alone."""
    return _head(name, letter_names(layout))


def _head(name: str, names: Collection[str]) -> str:
    chars = _HEAD_CHARS
    while chars < len(name) and any(other.startswith(name[:chars]) for other in names if other != name):
        chars += 1
    return name[:chars]


def _read(path: Path, head: str) -> Letter:
    try:
        record = read_as(path, _any, RUNNING_BYTES_MAX)
    except CuratorError as error:
        return Letter(path.name, head, error.fact.removeprefix(f"{path}: "), is_mended=False)
    if isinstance(record, DeadLetter):
        return Letter(path.name, head, "another job has its id, so it cannot come back", is_mended=False)
    return Letter(path.name, head, "can be read as it stands", is_mended=record is not None)


def _any(value: Json) -> DeadLetter | Queued | Running:
    keys = value if isinstance(value, dict) else {}
    if "reason" in keys:
        return DeadLetter.decode(value)
    return Running.decode(value) if "leaseToken" in keys else Queued.decode(value)
