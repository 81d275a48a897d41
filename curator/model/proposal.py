"""What a reviewer may propose: five operations, at most four at a time (interop.md 4.4), each with its evidence."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal, TypeAlias

from curator.model.ids import AJobEntryId
from curator.model.limits import ENTRY_CHARS_READ_MAX, MERGE_IDS_MIN, MERGE_IDS_WIRE_MAX
from curator.model.record import Items, Record, Text, Violation
from curator.model.text import sanitized_fault

Importance: TypeAlias = Literal["high", "normal", "low"]
_Content = Annotated[str, Text(1, ENTRY_CHARS_READ_MAX, sanitized_fault)]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Add(Record):
    """Remember something new."""

    action: Literal["add"] = "add"
    content: _Content
    importance: Importance


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Replace(Record):
    """Say an entry anew."""

    action: Literal["replace"] = "replace"
    entry_id: AJobEntryId
    content: _Content
    importance: Importance


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Remove(Record):
    """Forget an entry."""

    action: Literal["remove"] = "remove"
    entry_id: AJobEntryId


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Merge(Record):
    """Say several entries as one; the first id stays."""

    action: Literal["merge"] = "merge"
    entry_ids: Annotated[tuple[AJobEntryId, ...], Items(MERGE_IDS_MIN, MERGE_IDS_WIRE_MAX)]
    content: _Content
    importance: Importance

    def check(self, where: str = "") -> None:
        """An entry is merged once."""
        if len(set(self.entry_ids)) != len(self.entry_ids):
            raise Violation(where, "names an entry twice")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Assess(Record):
    """Say how important an entry is."""

    action: Literal["assess"] = "assess"
    entry_id: AJobEntryId
    importance: Importance


Operation: TypeAlias = Add | Replace | Remove | Merge | Assess


@dataclasses.dataclass(frozen=True, slots=True)
class Proposed:
    """One operation as the reviewer gave it, with the words it says it rests on."""

    operation: Operation
    quote: str | None = None
