"""Pi's session files: JSON lines that another program appends to, read as they are and never written.

A session may be larger than memory, so reading keeps an index and fetches a line again when its text is wanted.
Lines end at LF alone: U+2028 is an ordinary character inside a string. What cannot be read costs that line and is told
by line and byte; what cannot be told, because the header is unreadable, is refused rather than guessed.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final

from curator.errors import InvalidRecordError, NotFoundError, StorageError
from curator.model.digest import Json, MalformedJsonError, parse
from curator.model.ids import SAFE_ID_PATTERN
from curator.model.record import u16_len
from curator.model.text import js_trim

LINE_BYTES_MAX: Final = 16_777_216
"""A line holds one message; what is larger is a pasted image, whose text a review never sees."""
FAULTS_KEPT_MAX: Final = 100
SESSION_ID_CHARS_MAX: Final = 512
_VERSION_MAX: Final = 3
_BLOCK_BYTES: Final = 1_048_576
_HEAD: Final = re.compile(
    rb'\{ ?"type": ?"[a-z_]{1,64}", ?"id": ?"([A-Za-z0-9._:-]{1,256})", ?"parentId": ?(?:null|"([^"\\]{1,256})")'
)
"""How Pi begins a message: what still tells the place of a line that is too long to parse."""
_REMEDY: Final = "The session was left as it is; open it in Pi, or choose another one"


class Kind(enum.StrEnum):
    """What an entry is to a review."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL_RESULT = "toolResult"
    COMPACTION = "compaction"
    CUSTOM = "custom"
    OTHER = "other"


class Fault(enum.StrEnum):
    """Why a line was not taken."""

    TORN_TAIL = "the last line is incomplete"
    NUL_BYTES = "the line holds NUL bytes only"
    OVER_LONG = "the line is too long"
    NOT_JSON = "the line is not JSON"
    NOT_AN_ENTRY = "the line is not an entry"
    NOT_PIS_CONTENT = "the message holds content that is none of Pi's"


@dataclasses.dataclass(frozen=True, slots=True)
class Damage:
    """A line that was not taken, whole or in part, and where it is."""

    fault: Fault
    line: int
    byte: int


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One entry's place in the tree and in the file; its content is fetched by `Session.contents`."""

    id: str
    parent_id: str | None
    kind: Kind
    byte: int
    size: int


_KNOWN: Final = frozenset(
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
                raise InvalidRecordError(self.path, "its entries name each other as parents", remedy=_REMEDY)
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
        with _open(self.path) as file:
            for entry in entries:
                if entry.size > LINE_BYTES_MAX:
                    yield {}
                    continue
                file.seek(entry.byte)
                value = _parse(file.read(entry.size))
                if not isinstance(value, dict) or value.get("id", entry.id) != entry.id:
                    raise InvalidRecordError(self.path, "was rewritten while it was read", remedy="Run again")
                yield value


def read_session(path: Path) -> Session:
    """Index a session file of version 1, 2 or 3.

    Raises `NotFoundError`, `StorageError` where reading is denied, and `InvalidRecordError` for what is not a session:
    an unreadable header leaves open to which project the text belongs. Damage further down is counted, not raised.
    """
    try:
        with _open(path) as file:
            lines = _lines(file)
            header = _read_header(path, next(lines, None))
            index = _Index(header.id, is_linear=header.version == 1)
            for line in lines:
                index.take(line)
    except OSError as error:
        raise StorageError(path, error) from error
    return dataclasses.replace(
        header,
        entries=tuple(index.entries),
        damage=tuple(index.damage),
        damage_count=index.damage_count,
        unknown=dict(index.unknown),
    )


def _open(path: Path) -> BinaryIO:
    try:
        # A pipe would make `open` wait for a writer, so the kind is asked first.
        if not stat.S_ISREG(path.stat().st_mode):
            raise InvalidRecordError(path, "is not a regular file", remedy="Give the path of a session file")
        return path.open("rb")
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError(f"{path}: there is no such session", remedy="Look under Pi's sessions folder") from None
    except OSError as error:
        raise StorageError(path, error) from error


@dataclasses.dataclass(frozen=True, slots=True)
class _Line:
    number: int
    byte: int
    size: int
    raw: bytes
    """The whole line without its end, or the head of one that is too long."""
    is_ended: bool


def _lines(file: BinaryIO) -> Iterator[_Line]:
    """Split at LF, holding at most one line and never more of it than a line may have."""
    number, byte = 0, 0
    while True:
        raw = file.readline(LINE_BYTES_MAX + 1)
        if not raw:
            return
        size, is_ended = len(raw), raw.endswith(b"\n")
        while not is_ended and size > LINE_BYTES_MAX and (more := file.readline(_BLOCK_BYTES)):
            size, is_ended = size + len(more), more.endswith(b"\n")
        number += 1
        yield _Line(number, byte, size, raw, is_ended)
        byte += size


def _parse(raw: bytes) -> Json:
    """Parse one line, or return None. Bytes that are not UTF-8 become U+FFFD, as they do in Pi."""
    # After a power cut a file may begin or go on with NUL bytes where data never arrived.
    text = raw.strip(b"\0\r\n").decode("utf-8", "replace")
    try:
        return parse(text.encode())
    except MalformedJsonError:
        return None


def _read_header(path: Path, line: _Line | None) -> Session:
    raw = line.raw.removeprefix(b"\xef\xbb\xbf") if line is not None and line.size <= LINE_BYTES_MAX else b""
    value = _parse(raw)
    if not isinstance(value, dict) or value.get("type") != "session":
        raise InvalidRecordError(path, "its first line is not the header of a Pi session", remedy=_REMEDY)
    version, session_id, cwd = value.get("version", 1), value.get("id"), value.get("cwd")
    if isinstance(version, bool) or version not in range(1, _VERSION_MAX + 1):
        raise InvalidRecordError(path, f"is a session of a version other than 1 to {_VERSION_MAX}", remedy=_REMEDY)
    if not isinstance(session_id, str) or not _is_session_id(session_id):
        raise InvalidRecordError(path, "its header has no usable session id", remedy=_REMEDY)
    assert isinstance(version, int | float)
    return Session(path, session_id, int(version), cwd if isinstance(cwd, str) and cwd else None, ())


def _is_session_id(text: str) -> bool:
    return bool(text) and u16_len(text) <= SESSION_ID_CHARS_MAX and js_trim(text) == text


class _Index:
    """Collects entries and damage, line by line."""

    def __init__(self, session_id: str, *, is_linear: bool) -> None:
        self.entries: list[Entry] = []
        self.damage: list[Damage] = []
        self.damage_count = 0
        self.unknown: Counter[str] = Counter()
        self._session_id = session_id
        self._is_linear = is_linear

    def take(self, line: _Line) -> None:
        if not line.raw.strip():
            return
        if line.size > LINE_BYTES_MAX:
            self._note(Fault.OVER_LONG, line)
            self._take_place(line)
            return
        value = _parse(line.raw)
        if isinstance(value, dict):
            self._take_object(line, value)
        elif not line.raw.strip(b"\0\r\n"):
            self._note(Fault.NUL_BYTES, line)
        else:
            self._note(Fault.NOT_JSON if line.is_ended else Fault.TORN_TAIL, line)

    def _take_object(self, line: _Line, value: dict[str, Json]) -> None:
        kind_name, entry_id, parent = value.get("type"), value.get("id"), value.get("parentId")
        if kind_name == "session":
            return
        if self._is_linear:
            # Version 1 has no ids. The same line must get the same id at every reading: it becomes a job's frontier.
            entry_id = _derived_id(self._session_id, line.number)
            parent = self.entries[-1].id if self.entries else None
        if not isinstance(kind_name, str) or not isinstance(entry_id, str) or not SAFE_ID_PATTERN.fullmatch(entry_id):
            self._note(Fault.NOT_AN_ENTRY, line)
            return
        if kind_name not in _KNOWN:
            self.unknown[kind_name[:64]] += 1
        parent_id, kind = parent if isinstance(parent, str) else None, _kind_of(kind_name, value)
        if kind in (Kind.USER, Kind.ASSISTANT) and not _is_pis_content(value.get("message")):
            self._note(Fault.NOT_PIS_CONTENT, line)
        self.entries.append(Entry(entry_id, parent_id, kind, line.byte, line.size))

    def _take_place(self, line: _Line) -> None:
        """Keep a line that is too long as a link of the tree, so that what came before it is not lost."""
        head = _HEAD.match(line.raw)
        if head is not None and not self._is_linear:
            parent = head.group(2)
            parent_id = parent.decode("utf-8", "replace") if parent is not None else None
            self.entries.append(Entry(head.group(1).decode(), parent_id, Kind.OTHER, line.byte, line.size))

    def _note(self, fault: Fault, line: _Line) -> None:
        self.damage_count += 1
        if len(self.damage) < FAULTS_KEPT_MAX:
            self.damage.append(Damage(fault, line.number, line.byte))


def _kind_of(kind_name: str, value: Mapping[str, Json]) -> Kind:
    if kind_name == "message":
        message = value.get("message")
        role = message.get("role") if isinstance(message, dict) else None
        return _ROLES.get(role, Kind.OTHER) if isinstance(role, str) else Kind.OTHER
    return {"compaction": Kind.COMPACTION, "custom": Kind.CUSTOM}.get(kind_name, Kind.OTHER)


def _is_pis_content(message: Json) -> bool:
    """Tell whether Pi writes such content: a text, or blocks of the kinds it has, each with what makes it one."""
    said = message.get("content") if isinstance(message, dict) else None
    return isinstance(said, str) or (isinstance(said, list) and all(map(_is_pis_block, said)))


def _is_pis_block(block: Json) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(block, dict) or not isinstance(kind, str) or kind not in _BLOCKS:
        return False
    return kind != "text" or isinstance(block.get("text"), str)


def _derived_id(session_id: str, line: int) -> str:
    text = f"{session_id}\n{line}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:16]
