"""Pi's session files as lines: split at LF alone, one line in memory at a time, from any line's first byte on.

Whoever reads a session reads it here. Another program appends to the file meanwhile, so a last line without an end may
be half written: it is told as torn and never as damaged for good. What cannot be told, because the header is unreadable,
is refused rather than guessed.

INVARIANT  A session is opened for reading alone, and neither locked nor renamed.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from curator.errors import InvalidRecordError, NotFoundError, StorageError
from curator.model.digest import Json
from curator.model.record import u16_len
from curator.model.text import js_trim

LINE_BYTES_MAX: Final = 16_777_216
"""A line holds one message; what is larger is a pasted image, whose text a review never sees."""
SESSION_ID_CHARS_MAX: Final = 512
REMEDY: Final = "The session was left as it is; open it in Pi, or choose another one"
_VERSION_MAX: Final = 3
_BLOCK_BYTES: Final = 1_048_576
_BUFFER_BYTES: Final = 262_144
"""What is read at once: a line is larger than a buffer usually is, and then takes many calls."""
_HEAD: Final = re.compile(
    rb'\{ ?"type": ?"[a-z_]{1,64}", ?"id": ?"([A-Za-z0-9._:-]{1,256})", ?"parentId": ?(?:null|"([^"\\]{1,256})")'
)
"""How Pi begins a message: what still tells the place of a line that is too long to parse."""
_MARK: Final = b"\xef\xbb\xbf"


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
class Head:
    """What a session's first line says."""

    id: str
    version: int
    cwd: str | None
    """Where Pi was started; old sessions do not say it."""
    at: str | None = None
    """When, as it stands there; it may be no time at all."""
    parent: str | None = None
    """The path of the session that this one was forked from, as it was then."""


@dataclasses.dataclass(slots=True)
class Line:
    """One line; its number counts from 1."""

    number: int
    byte: int
    size: int
    raw: bytes
    """The whole line with its end, or the head of one that is too long."""
    is_ended: bool


def open_session(path: Path) -> BinaryIO:
    """Open a session for reading.

    Raises `NotFoundError`, `InvalidRecordError` for what is no regular file, and `StorageError` where it is denied.
    """
    try:
        # A pipe would make `open` wait for a writer, so the kind is asked first.
        if not stat.S_ISREG(path.stat().st_mode):
            raise InvalidRecordError(path, "is not a regular file", remedy="Give the path of a session file")
        return path.open("rb", buffering=_BUFFER_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError(f"{path}: there is no such session", remedy="Look under Pi's sessions folder") from None
    except OSError as error:
        raise StorageError(path, error) from error


def lines(
    file: BinaryIO,
    byte: int = 0,
    number: int = 0,
    until: int | None = None,
    witness: Callable[[bytes], object] | None = None,
) -> Iterator[Line]:
    """Yield the lines from `byte` on, of which `number` came before; hold one of them, and of a long one its head.

    `until` is where the file ends for this reader, however far somebody has written on. `witness` sees every byte.
    """
    file.seek(byte)
    readline = file.readline if witness is None else _witnessed(file, witness)
    limit = LINE_BYTES_MAX + 1
    while True:
        raw = readline(limit if until is None else min(limit, until - byte))
        if not raw:
            return
        size, is_ended = len(raw), raw.endswith(b"\n")
        while not is_ended and size > LINE_BYTES_MAX:
            more = readline(_BLOCK_BYTES if until is None else min(_BLOCK_BYTES, until - byte - size))
            if not more:
                break
            size, is_ended = size + len(more), more.endswith(b"\n")
        number += 1
        yield Line(number, byte, size, raw, is_ended)
        if not is_ended:
            # What somebody writes from now on belongs to this line.
            return
        byte += size


def _witnessed(file: BinaryIO, witness: Callable[[bytes], object]) -> Callable[[int], bytes]:
    def readline(limit: int) -> bytes:
        raw = file.readline(limit)
        witness(raw)
        return raw

    return readline


def read_head(path: Path, line: Line | None) -> Head:
    """Return what the first line says.

    Raises `InvalidRecordError` if it is not the header of a session: it would be left open to which project the text
    belongs.
    """
    raw = line.raw.removeprefix(_MARK) if line is not None and line.size <= LINE_BYTES_MAX else b""
    value = load(raw)
    if not isinstance(value, dict) or value.get("type") != "session":
        raise InvalidRecordError(path, "its first line is not the header of a Pi session", remedy=REMEDY)
    version, session_id = value.get("version", 1), value.get("id")
    if isinstance(version, bool) or version not in range(1, _VERSION_MAX + 1):
        raise InvalidRecordError(path, f"is a session of a version other than 1 to {_VERSION_MAX}", remedy=REMEDY)
    if not isinstance(session_id, str) or not _is_session_id(session_id):
        raise InvalidRecordError(path, "its header has no usable session id", remedy=REMEDY)
    assert isinstance(version, int | float)
    return Head(
        id=session_id,
        version=int(version),
        cwd=_text_of(value.get("cwd")),
        at=_text_of(value.get("timestamp")),
        parent=_text_of(value.get("parentSession")),
    )


def load(raw: bytes) -> Json:
    """Parse one line, or return None. Bytes that are not UTF-8 become U+FFFD, as they do in Pi."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "replace")
    try:
        return _parse(text)
    except (ValueError, RecursionError):
        pass
    # After a power cut a file may begin or go on with NUL bytes where data never arrived.
    text = text.strip(f"\0{_SPACE}")
    try:
        return _parse(text)
    except (ValueError, RecursionError):
        return None


def load_first(text: str, begin: int = 0) -> tuple[Json, int]:
    """Parse the value that begins there, and return it with its end. Raises ValueError, RecursionError."""
    value: Json
    value, end = _DECODER.raw_decode(text, begin)
    return value, end


def place_of(raw: bytes) -> tuple[str, str | None] | None:
    """Return the ids of the entry and of its parent from the head of a line that is too long, where it tells them."""
    head = _HEAD.match(raw)
    if head is None:
        return None
    parent = head.group(2)
    return head.group(1).decode(), parent.decode("utf-8", "replace") if parent is not None else None


def _refuse_constant(_name: str) -> float:
    raise ValueError


_SPACE: Final = " \t\r\n"
_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant)
"""Pi's parser has no NaN and no Infinity either. Made once: `json.loads` with a rule makes one for each line."""


def _parse(text: str) -> Json:
    value, end = load_first(text)
    if text[end:].strip(_SPACE):
        raise ValueError
    return value


def _text_of(value: Json) -> str | None:
    return value if isinstance(value, str) and value else None


def _is_session_id(text: str) -> bool:
    return bool(text) and u16_len(text) <= SESSION_ID_CHARS_MAX and js_trim(text) == text
