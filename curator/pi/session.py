"""One session as a tree: an index of its entries, from which the branch to a leaf is read.

A session may be larger than memory, so reading keeps an index and fetches a line again when its text is wanted. What
cannot be read costs that line and is told by line and byte.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from curator.errors import InvalidRecordError, NotFoundError, StorageError
from curator.model.digest import Json
from curator.model.ids import SAFE_ID_PATTERN
from curator.pi.stream import (
    LINE_BYTES_MAX,
    REMEDY,
    Damage,
    Fault,
    Line,
    lines,
    load,
    open_session,
    place_of,
    read_head,
)

FAULTS_KEPT_MAX: Final = 100


class Kind(enum.StrEnum):
    """What an entry is to a review."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL_RESULT = "toolResult"
    COMPACTION = "compaction"
    CUSTOM = "custom"
    OTHER = "other"


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One entry's place in the tree and in the file; its content is fetched by `Session.contents`."""

    id: str
    parent_id: str | None
    kind: Kind
    byte: int
    size: int


KNOWN_TYPES: Final = frozenset(
    (
        "message",
        "model_change",
        "thinking_level_change",
        "compaction",
        "branch_summary",
        "custom",
        "custom_message",
        "label",
        "session_info",
        "context_edit",
        "usage",
    )
)
_BLOCKS: Final = frozenset(("text", "thinking", "toolCall", "image"))
_ROLES: Final = {kind.value: kind for kind in (Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT)}


@dataclasses.dataclass(frozen=True, slots=True)
class Session:
    """A session's header and the index of its entries, in file order."""

    path: Path
    id: str
    version: int
    cwd: str | None
    entries: tuple[Entry, ...]
    damage: tuple[Damage, ...] = ()
    """The first of the lines that were not taken; `damage_count` counts all."""
    damage_count: int = 0
    unknown: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """How many entries of each type that this release does not know; they keep their place in the tree."""

    def branch_to(self, leaf: str | None = None) -> tuple[Entry, ...]:
        """Return the entries from the root to `leaf`, by default the last one written: what Pi shows.

        A parent that is not in the file ends the walk, as it does in Pi. Raises `NotFoundError` for a leaf that is not
        there, and `InvalidRecordError` if parents go round in a circle.
        """
        by_id = {entry.id: entry for entry in self.entries}
        if leaf is not None and leaf not in by_id:
            raise NotFoundError(f"{self.path}: has no entry {leaf}", remedy="Leave the entry out to take the last one")
        current = by_id[leaf] if leaf is not None else (self.entries[-1] if self.entries else None)
        branch: list[Entry] = []
        while current is not None:
            branch.append(current)
            if len(branch) > len(self.entries):
                raise InvalidRecordError(self.path, "its entries name each other as parents", remedy=REMEDY)
            current = by_id.get(current.parent_id) if current.parent_id is not None else None
        return tuple(reversed(branch))

    def leaves(self) -> tuple[str, ...]:
        """Return the ids of all entries that nothing follows: one for each branch, whoever wrote it."""
        parents = {entry.parent_id for entry in self.entries}
        return tuple(dict.fromkeys(entry.id for entry in self.entries if entry.id not in parents))

    def leaves_beside(self, branch: Iterable[Entry]) -> tuple[str, ...]:
        """Return the leaves of the other branches in which something was said that `branch` does not hold."""
        by_id = {entry.id: entry for entry in self.entries}
        told = {entry.id for entry in branch}
        found: list[str] = []
        for leaf in self.leaves():
            current = by_id.get(leaf)
            has_words = False
            while current is not None and current.id not in told:
                told.add(current.id)
                has_words = has_words or current.kind in (Kind.USER, Kind.ASSISTANT)
                current = by_id.get(current.parent_id) if current.parent_id is not None else None
            if has_words:
                found.append(leaf)
        return tuple(found)

    def contents(self, entries: Iterable[Entry]) -> Iterator[dict[str, Json]]:
        """Fetch entries again, one by one; a line too long to parse is fetched as an empty object.

        Raises `InvalidRecordError` if the file no longer holds the entry there: somebody rewrote it meanwhile.
        """
        with open_session(self.path) as file:
            for entry in entries:
                if entry.size > LINE_BYTES_MAX:
                    yield {}
                    continue
                file.seek(entry.byte)
                value = load(file.read(entry.size))
                # Where a file has no version its lines' own ids count for nothing, in Pi as well.
                if not isinstance(value, dict) or (self.version > 1 and value.get("id", entry.id) != entry.id):
                    raise InvalidRecordError(self.path, "was rewritten while it was read", remedy="Run again")
                yield value


def read_session(path: Path) -> Session:
    """Index a session file of version 1, 2 or 3.

    Raises `NotFoundError`, `StorageError` where reading is denied, and `InvalidRecordError` for what is not a session:
    an unreadable header leaves open to which project the text belongs. Damage further down is counted, not raised.
    """
    try:
        with open_session(path) as file:
            taken = lines(file)
            head = read_head(path, next(taken, None))
            index = _Index(head.id, is_linear=head.version == 1)
            for line in taken:
                index.take(line)
    except OSError as error:
        raise StorageError(path, error) from error
    return Session(
        path,
        head.id,
        head.version,
        head.cwd,
        entries=tuple(index.entries),
        damage=tuple(index.damage),
        damage_count=index.damage_count,
        unknown=dict(index.unknown),
    )


class _Index:
    """Collects entries and damage, line by line."""

    def __init__(self, session_id: str, *, is_linear: bool) -> None:
        self.entries: list[Entry] = []
        self.damage: list[Damage] = []
        self.damage_count = 0
        self.unknown: Counter[str] = Counter()
        self._session_id = session_id
        self._is_linear = is_linear

    def take(self, line: Line) -> None:
        if not line.raw.strip():
            return
        if line.size > LINE_BYTES_MAX:
            self._note(Fault.OVER_LONG, line)
            self._take_place(line)
            return
        value = load(line.raw)
        if isinstance(value, dict):
            self._take_object(line, value)
        elif not line.raw.strip(b"\0\r\n"):
            self._note(Fault.NUL_BYTES, line)
        else:
            self._note(Fault.NOT_JSON if line.is_ended else Fault.TORN_TAIL, line)

    def _take_object(self, line: Line, value: dict[str, Json]) -> None:
        kind_name, entry_id, parent = value.get("type"), value.get("id"), value.get("parentId")
        if kind_name == "session":
            return
        if self._is_linear:
            # Version 1 has no ids. The same line must get the same id at every reading: it becomes a job's frontier.
            entry_id = derived_id(self._session_id, line.number)
            parent = self.entries[-1].id if self.entries else None
        if not isinstance(kind_name, str) or not isinstance(entry_id, str) or not SAFE_ID_PATTERN.fullmatch(entry_id):
            self._note(Fault.NOT_AN_ENTRY, line)
            return
        if kind_name not in KNOWN_TYPES:
            self.unknown[kind_name[:64]] += 1
        parent_id, kind = parent if isinstance(parent, str) else None, kind_of(kind_name, value)
        if kind in (Kind.USER, Kind.ASSISTANT) and not is_pis_content(value.get("message")):
            self._note(Fault.NOT_PIS_CONTENT, line)
        self.entries.append(Entry(entry_id, parent_id, kind, line.byte, line.size))

    def _take_place(self, line: Line) -> None:
        """Keep a line that is too long as a link of the tree, so that what came before it is not lost."""
        place = place_of(line.raw)
        if place is not None and not self._is_linear:
            self.entries.append(Entry(*place, Kind.OTHER, line.byte, line.size))

    def _note(self, fault: Fault, line: Line) -> None:
        self.damage_count += 1
        if len(self.damage) < FAULTS_KEPT_MAX:
            self.damage.append(Damage(fault, line.number, line.byte))


def kind_of(kind_name: str, value: Mapping[str, Json]) -> Kind:
    """Return what an entry of that type is to a review."""
    if kind_name == "message":
        message = value.get("message")
        role = message.get("role") if isinstance(message, dict) else None
        return _ROLES.get(role, Kind.OTHER) if isinstance(role, str) else Kind.OTHER
    return {"compaction": Kind.COMPACTION, "custom": Kind.CUSTOM}.get(kind_name, Kind.OTHER)


def is_pis_content(message: Json) -> bool:
    """Tell whether Pi writes such content: a text, or blocks of the kinds it has, each with what makes it one."""
    said = message.get("content") if isinstance(message, dict) else None
    return isinstance(said, str) or (isinstance(said, list) and all(map(_is_pis_block, said)))


def _is_pis_block(block: Json) -> bool:
    if not isinstance(block, dict):
        return False
    kind = block.get("type")
    return isinstance(block.get("text"), str) if kind == "text" else isinstance(kind, str) and kind in _BLOCKS


def derived_id(session_id: str, line: int) -> str:
    """Return the id of a line of version 1, which has none: the same one at every reading."""
    text = f"{session_id}\n{line}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:16]
