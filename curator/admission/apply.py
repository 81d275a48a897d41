"""Apply reviewed operations to a branch (interop.md 8.4), and hold the result to its capacity (7.5)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, assert_never

from curator.model.ids import ENTRY_ID_PATTERN, EntryId
from curator.model.limits import BRANCH_ENTRIES_MAX, MEMORY_CHARS_MAX, OPERATIONS_MAX
from curator.model.memory import Branch, Entry
from curator.model.proposal import Add, Assess, Merge, Operation, Remove, Replace
from curator.model.redaction import find_secrets
from curator.model.text import is_sanitized

if TYPE_CHECKING:
    from collections.abc import Sequence


TARGET_CHARS: Final = MEMORY_CHARS_MAX * 3 // 4
"""The working size of a memory: from there on it may only shrink (interop.md 7.5)."""
UNKNOWN_ENTRY: Final = "names an entry that memory does not have"


class InapplicableError(Exception):
    """An operation does not fit the branch. The reason is in our own words and quotes nothing but an entry's id."""

    def __init__(self, number: int, reason: str) -> None:
        """Name the operation by its number, from 1."""
        super().__init__(f"operation {number}: {reason}")
        self.number = number
        self.reason = reason


@dataclasses.dataclass(frozen=True, slots=True)
class Applied:
    """A branch after its operations, and what each of them did."""

    branch: Branch
    is_changed: bool
    messages: tuple[str, ...]


def apply(branch: Branch, operations: Sequence[Operation], now: str, new_ids: Sequence[str]) -> Applied:
    """Return the branch with the operations applied in order; `new_ids` has an id for each operation, used by an add.

    A replace or an assess counts as a change even if it says the same, unless its time is the same too: a revision
    tells at least one change. Beyond four operations none is looked at, as in the protocol. Raises `InapplicableError` for an unknown entry, a text that another entry has already, or a taken id.
    """
    operations = operations[:OPERATIONS_MAX]
    assert len(new_ids) >= len(operations), "each operation may need an id"
    messages: list[str] = []
    entries = branch.entries
    for number, (operation, new_id) in enumerate(zip(operations, new_ids, strict=False), start=1):
        after, message = _apply_one(entries, operation, number, now, EntryId(new_id))
        messages.append(message)
        entries = after
    if entries == branch.entries:
        return Applied(branch, is_changed=False, messages=tuple(messages))
    changed = dataclasses.replace(branch, updated_at=now, entries=entries)
    return Applied(changed, is_changed=True, messages=tuple(messages))


def capacity_fault(before: Branch, after: Branch, max_chars: int) -> str | None:
    """Return the capacity rule that a change breaks, in words, or None (interop.md 7.5)."""
    hard = min(max_chars, MEMORY_CHARS_MAX)
    target = hard * 3 // 4
    if len(after.entries) > BRANCH_ENTRIES_MAX:
        return f"memory would hold {len(after.entries)} entries, more than {BRANCH_ENTRIES_MAX}"
    if after.chars > hard:
        return f"memory would hold {after.chars} characters, more than {hard}"
    if before.chars < target < after.chars:
        return f"memory would grow from {before.chars} to {after.chars} characters, beyond its target of {target}"
    if before.chars >= target and after.chars > before.chars:
        return f"memory is full: with {before.chars} characters it is at its target of {target}, and would hold {after.chars}"
    return None


def unknown_entry(entry_id: str) -> str:
    """Say that memory has no such entry. An id that is a stranger's text, and not of the form of one, is not quoted."""
    is_id = ENTRY_ID_PATTERN.fullmatch(entry_id) and is_sanitized(entry_id) and not find_secrets(entry_id)
    return f"names the entry {entry_id}, which memory does not have" if is_id else UNKNOWN_ENTRY


def _apply_one(
    entries: tuple[Entry, ...], operation: Operation, number: int, now: str, new_id: EntryId
) -> tuple[tuple[Entry, ...], str]:
    match operation:
        case Add():
            return _add(entries, operation, number, now, new_id)
        case Replace(entry_id=entry_id):
            at = _find(entries, entry_id, number)
            _refuse_twin(entries, {entry_id}, operation.content, number)
            return _with(entries, at, _said_anew(entries[at], operation, now)), "Memory replaced."
        case Merge(entry_ids=entry_ids):
            return _merge(entries, operation, entry_ids, number, now), "Memory merged."
        case Remove(entry_id=entry_id):
            at = _find(entries, entry_id, number)
            return (*entries[:at], *entries[at + 1 :]), "Memory removed."
        case Assess(entry_id=entry_id, importance=importance):
            at = _find(entries, entry_id, number)
            weighed = dataclasses.replace(entries[at], importance=importance, importance_assessed_at=now)
            return _with(entries, at, weighed), "Memory importance assessed."
        case _:
            assert_never(operation)


def _add(
    entries: tuple[Entry, ...], operation: Add, number: int, now: str, new_id: EntryId
) -> tuple[tuple[Entry, ...], str]:
    if any(entry.text == operation.content for entry in entries):
        return entries, "Memory holds this already."
    if any(entry.id == new_id for entry in entries):
        raise InapplicableError(number, "drew an id that is taken")
    added = Entry(
        id=new_id,
        text=operation.content,
        created_at=now,
        updated_at=now,
        created_by="background_review",
        updated_by="background_review",
        importance=operation.importance,
        importance_assessed_at=now,
    )
    return (*entries, added), "Memory added."


def _merge(
    entries: tuple[Entry, ...], operation: Merge, entry_ids: tuple[EntryId, ...], number: int, now: str
) -> tuple[Entry, ...]:
    for entry_id in entry_ids:
        _find(entries, entry_id, number)
    _refuse_twin(entries, set(entry_ids), operation.content, number)
    first, gone = entry_ids[0], set(entry_ids[1:])
    kept = tuple(entry for entry in entries if entry.id not in gone)
    at = _find(kept, first, number)
    return _with(kept, at, _said_anew(kept[at], operation, now))


def _said_anew(entry: Entry, operation: Replace | Merge, now: str) -> Entry:
    return dataclasses.replace(
        entry,
        text=operation.content,
        updated_at=now,
        updated_by="background_review",
        importance=operation.importance,
        importance_assessed_at=now,
    )


def _with(entries: tuple[Entry, ...], at: int, entry: Entry) -> tuple[Entry, ...]:
    return (*entries[:at], entry, *entries[at + 1 :])


def _find(entries: tuple[Entry, ...], entry_id: EntryId, number: int) -> int:
    for at, entry in enumerate(entries):
        if entry.id == entry_id:
            return at
    raise InapplicableError(number, unknown_entry(entry_id))


def _refuse_twin(entries: tuple[Entry, ...], own: set[EntryId], text: str, number: int) -> None:
    if any(entry.text == text and entry.id not in own for entry in entries):
        raise InapplicableError(number, "says what another entry says already")
