"""Project memory: a branch of entries, and the revisions that tell how it came to be (interop.md 8)."""

from __future__ import annotations

import dataclasses
import email.utils
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Final, Literal, TypeAlias

from curator.model.digest import Digest, Json, digest_of
from curator.model.ids import (
    BRANCH_NAME_PATTERN,
    ENTRY_ID_PATTERN,
    SAFE_ID_PATTERN,
    ABranchName,
    ADigest,
    AnEntryId,
    AnIso,
    ARevisionId,
    BranchName,
    EntryId,
)
from curator.model.limits import (
    BRANCH_ENTRIES_MAX,
    ENTRY_CHARS_MAX,
    ENTRY_CHARS_READ_MAX,
    JOB_CHARS_MAX,
    JOB_ENTRIES_MAX,
    MEMORY_CHARS_MAX,
    REVISION_CHANGES_MAX,
)
from curator.model.proposal import Importance
from curator.model.record import Integer, Items, Pattern, Record, Text, Violation, u16_len
from curator.model.text import sanitize, sanitized_fault
from curator.model.times import is_iso

Writer: TypeAlias = Literal["assistant_tool", "background_review"]

EPOCH: Final = "1970-01-01T00:00:00.000Z"
_BRANCHES_MAX: Final = 64
"""One review asks about the same two or three branches again and again."""
_WIDE_ID = Annotated[EntryId, Pattern(r"[A-Za-z0-9_-][A-Za-z0-9._:-]{0,255}", "an entry id")]
"""Wide enough for both a job's ids and the store's; `check_for_job` and `check_for_store` narrow it (W18)."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Record):
    """One thing that the project remembers."""

    id: _WIDE_ID
    text: Annotated[str, Text(0, ENTRY_CHARS_READ_MAX)]
    created_at: str
    updated_at: str
    source_session_id: str | None = None
    created_by: Writer | None = None
    updated_by: Writer | None = None
    importance: Importance
    importance_assessed_at: str | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Branch(Record):
    """The memory of one branch, normalized: what is hashed, compared and swapped."""

    version: Literal[1] = 1
    name: ABranchName
    parent: str | None = None
    created_at: str
    updated_at: str
    entries: Annotated[tuple[Entry, ...], Items(0, JOB_ENTRIES_MAX)]

    @property
    def chars(self) -> int:
        """How much of the memory is used, in UTF-16 units."""
        return sum(u16_len(entry.text) for entry in self.entries)

    def entry(self, entry_id: EntryId) -> Entry | None:
        """Return the entry of that id, if it is there."""
        return next((entry for entry in self.entries if entry.id == entry_id), None)

    def sanitized(self) -> Branch:
        """Return the branch as a job or a base may carry it: clean texts, no session ids."""
        return _sanitized(self)


@lru_cache(maxsize=_BRANCHES_MAX)
def _sanitized(branch: Branch) -> Branch:
    entries = tuple(
        dataclasses.replace(entry, text=sanitize(entry.text), source_session_id=None) for entry in branch.entries
    )
    return dataclasses.replace(branch, entries=entries)


@lru_cache(maxsize=_BRANCHES_MAX)
def branch_digest(branch: Branch) -> Digest:
    """Return the digest by which a branch is compared before it is swapped."""
    return digest_of(branch.encode())


def entry_digest(entry: Entry) -> Digest:
    """Return the digest by which an undo knows that nobody changed the entry since."""
    return digest_of(entry.encode())


def empty_branch(name: BranchName, now: str) -> Branch:
    """Return a branch that remembers nothing yet."""
    return Branch(name=name, created_at=now, updated_at=now, entries=())


def check_for_job(branch: Branch, where: str) -> None:
    """Raise `Violation` unless a job may carry this branch (interop.md 4.1)."""
    for moment in (branch.created_at, branch.updated_at):
        _require(is_iso(moment), where, "has a time that is not the protocol's")
    _require(branch.chars <= JOB_CHARS_MAX, where, f"holds more than {JOB_CHARS_MAX} characters")
    _require(len({entry.id for entry in branch.entries}) == len(branch.entries), where, "has two entries of one id")
    if branch.parent is not None:
        _require(bool(BRANCH_NAME_PATTERN.fullmatch(branch.parent)), where, "has a parent that is not a branch name")
    for index, entry in enumerate(branch.entries):
        _check_entry_for_job(entry, f"{where}.entries[{index}]")


def _check_entry_for_job(entry: Entry, where: str) -> None:
    _require(bool(SAFE_ID_PATTERN.fullmatch(entry.id)), where, "has an id that a job may not carry")
    _require(entry.text != "", where, "is empty")
    _require(sanitized_fault(entry.text) is None, where, "is not sanitized")
    _require(entry.source_session_id is None, where, "names a session")
    moments = (entry.created_at, entry.updated_at, entry.importance_assessed_at)
    _require(all(is_iso(moment) for moment in moments if moment is not None), where, "has a time not the protocol's")


def check_for_store(branch: Branch, where: str = "branch") -> None:
    """Raise `Violation` unless the project store may hold this branch (interop.md 8.3)."""
    _require(len(branch.entries) <= BRANCH_ENTRIES_MAX, where, f"has more than {BRANCH_ENTRIES_MAX} entries")
    _require(len({entry.id for entry in branch.entries}) == len(branch.entries), where, "has two entries of one id")
    _require(branch.chars <= MEMORY_CHARS_MAX, where, f"holds more than {MEMORY_CHARS_MAX} characters")
    for index, entry in enumerate(branch.entries):
        at = f"{where}.entries[{index}]"
        _require(bool(ENTRY_ID_PATTERN.fullmatch(entry.id)), at, "has an id that the store may not hold")
        _require(u16_len(entry.text) <= ENTRY_CHARS_MAX, at, f"is longer than {ENTRY_CHARS_MAX} characters")


def read_branch(value: Json, name: BranchName) -> Branch:
    """Normalize a branch file's content as every reader of the protocol does, and validate it (interop.md 8.3).

    Unknown keys are dropped and missing times filled in; what is wrong raises `Violation`.
    """
    if not isinstance(value, dict):
        raise Violation("branch", "is not an object")
    _require(value.get("version") in (1, 1.0) and value.get("version") is not True, "branch.version", "is not 1")
    _require(value.get("name", name) == name, "branch.name", "is not the file's name")
    entries = value.get("entries")
    if not isinstance(entries, list):
        raise Violation("branch.entries", "is not a list")
    parent, created = value.get("parent"), value.get("createdAt")
    created_at = created if isinstance(created, str) else EPOCH
    updated = value.get("updatedAt")
    branch = Branch(
        name=name,
        parent=parent if isinstance(parent, str) else None,
        created_at=created_at,
        updated_at=updated if isinstance(updated, str) else created_at,
        entries=tuple(_read_entry(entry, f"branch.entries[{index}]") for index, entry in enumerate(entries)),
    )
    check_for_store(branch)
    return branch


def _read_entry(value: Json, where: str) -> Entry:
    if not isinstance(value, dict):
        raise Violation(where, "is not an object")
    kept: dict[str, Json] = {key: value[key] for key in ("id", "text") if key in value}
    created, updated, assessed = value.get("createdAt"), value.get("updatedAt"), value.get("importanceAssessedAt")
    kept["createdAt"] = created if isinstance(created, str) else EPOCH
    kept["updatedAt"] = updated if isinstance(updated, str) else kept["createdAt"]
    if isinstance(session := value.get("sourceSessionId"), str):
        kept["sourceSessionId"] = session
    for key in ("createdBy", "updatedBy"):
        if value.get(key) in ("assistant_tool", "background_review"):
            kept[key] = value[key]
    kept["importance"] = value.get("importance", "normal")
    if assessed is not None:
        _require(isinstance(assessed, str) and _is_date(assessed), where, "has an assessment time that is no date")
        kept["importanceAssessedAt"] = assessed
    return Entry.decode(kept, where)


def _is_date(text: str) -> bool:
    """Tell whether JavaScript would take `text` for a date; the rarer spellings of engines are not followed."""
    if is_iso(text):
        return True
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return email.utils.parsedate(text) is not None
    return True


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Removed(Record):
    """An entry that the revision took away."""

    kind: Literal["remove"] = "remove"
    entry_id: AnEntryId
    before: Entry
    before_index: Annotated[int, Integer()]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Updated(Record):
    """An entry that the revision changed."""

    kind: Literal["update"] = "update"
    entry_id: AnEntryId
    before: Entry
    after_digest: ADigest


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Added(Record):
    """An entry that the revision brought."""

    kind: Literal["add"] = "add"
    entry_id: AnEntryId
    after_digest: ADigest


Change: TypeAlias = Removed | Updated | Added


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Review(Record):
    """The revision of an applied review: enough to take it back entry by entry."""

    version: Literal[1] = 1
    kind: Literal["review"] = "review"
    sequence: Annotated[int, Integer(1)]
    id: ARevisionId
    branch_name: ABranchName
    committed_at: AnIso
    before_digest: ADigest
    after_digest: ADigest
    changes: Annotated[tuple[Change, ...], Items(1, REVISION_CHANGES_MAX)]

    def check(self, where: str = "") -> None:
        """An entry changes once in a revision."""
        if len({change.entry_id for change in self.changes}) != len(self.changes):
            raise Violation(where, "changes an entry twice")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Undo(Record):
    """The revision that took a review back."""

    version: Literal[1] = 1
    kind: Literal["undo"] = "undo"
    sequence: Annotated[int, Integer(1)]
    id: ARevisionId
    branch_name: ABranchName
    committed_at: AnIso
    review_revision_id: ARevisionId
    before_digest: ADigest
    after_digest: ADigest


Revision: TypeAlias = Review | Undo


def revision_filename(sequence: int, revision_id: str) -> str:
    """Return the name under which a revision stands."""
    return f"{sequence:012d}-{revision_id}.json"


def decode_revision(value: Json) -> Revision:
    """Decode either kind of revision, or raise `Violation`."""
    is_undo = isinstance(value, dict) and value.get("kind") == "undo"
    return Undo.decode(value, "revision") if is_undo else Review.decode(value, "revision")


def changes_between(before: Branch, after: Branch) -> tuple[Change, ...]:
    """Return what a revision records: removals and updates in the old order, then additions in the new (8.5)."""
    changes: list[Change] = []
    for index, entry in enumerate(before.entries):
        now = after.entry(entry.id)
        if now is None:
            changes.append(Removed(entry_id=entry.id, before=entry, before_index=index))
        elif entry_digest(now) != entry_digest(entry):
            changes.append(Updated(entry_id=entry.id, before=entry, after_digest=entry_digest(now)))
    changes.extend(
        Added(entry_id=entry.id, after_digest=entry_digest(entry))
        for entry in after.entries
        if before.entry(entry.id) is None
    )
    return tuple(changes)


def _require(holds: bool, where: str, rule: str) -> None:  # noqa: FBT001 - the condition is the point of the call
    if not holds:
        raise Violation(where, rule)
