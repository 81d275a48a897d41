"""A delta that waits, in parts that fit a file each: each follows an entry of the one before it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from curator.model.digest import canonical
from curator.model.ledger import Delta, Payload
from curator.model.limits import SEGMENT_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator.model.ids import EntryId

_FRAME_BYTES: Final = 8_192
"""What stands around the entries of a part: ids, at their longest."""


def parts_of(delta: Delta) -> Iterator[Delta]:
    """Yield a delta whole where it fits, else in parts; together they say the same."""
    predecessor, entries, size = delta.predecessor, list[Payload](), _FRAME_BYTES
    for entry in delta.entries:
        after = delta.predecessor if entry.after is None else entry.after
        is_inside = after == predecessor or any(each.entry_id == after for each in entries)
        length = len(canonical(entry.encode()).encode()) + 1
        if entries and (not is_inside or size + length > SEGMENT_BYTES_MAX):
            yield _part(delta, predecessor, entries)
            predecessor, entries, size = after, [], _FRAME_BYTES
        entries.append(dataclasses.replace(entry, after=None if after == predecessor else after))
        size += length
    yield _part(delta, predecessor, entries)


def _part(delta: Delta, predecessor: EntryId | None, entries: list[Payload]) -> Delta:
    leaf = delta.settled_leaf
    is_here = any(each.entry_id == leaf for each in entries) or leaf == predecessor
    return dataclasses.replace(
        delta,
        predecessor=predecessor,
        entries=tuple(entries),
        settled_leaf=leaf if is_here else None,
        settled_at=delta.settled_at if is_here else None,
    )
