"""A folder of packed lines: each file is named by the digest of its lines, and never changes.

What a ledger keeps is the union of a shelf's lines; two files that hold the same line do no harm. So small files may be
packed into one, whenever: the new one stands before the old ones go.

INVARIANT  After `publish` returns, its lines survive power loss. A file whose lines are not what its name says is not
           read.
CRASH      Before the link no name exists; after it the whole file does. A removal that was not flushed may come back.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
import zlib
from typing import TYPE_CHECKING, Final

from curator.durable.ages import names_in
from curator.durable.publish import ensure_directory, publish
from curator.durable.read import read_bounded, stamp_of
from curator.errors import InvalidRecordError
from curator.model.limits import PUBLISHED_BYTES_MAX, SEGMENT_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from curator.durable.read import Stamp
    from curator.durable.volume import Volume

NAME: Final = re.compile(r"[0-9a-f]{64}\.z")
_LEVEL: Final = 2
"""Three times as fast as the library's own choice, for a seventh more room."""
_REMEDY: Final = "Run `curator trajectory verify`, which says what is lost with it"


@dataclasses.dataclass(frozen=True, slots=True)
class Packed:
    """One file of a shelf."""

    name: str
    text: bytes
    """Its lines, each with its end."""


def packs(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Cut lines, which have no ends yet, into texts that fit a file each, in their order."""
    gathered: list[bytes] = []
    size = 0
    for line in lines:
        if gathered and size + len(line) + 1 > SEGMENT_BYTES_MAX:
            yield _joined(gathered)
            gathered, size = [], 0
        gathered.append(line)
        size += len(line) + 1
    if gathered:
        yield _joined(gathered)


def _joined(lines: list[bytes]) -> bytes:
    return b"\n".join([*lines, b""])


class Shelf:
    """One such folder."""

    def __init__(self, volume: Volume, folder: Path) -> None:
        """Open it; it is made with its first file."""
        self._volume = volume
        self.folder = folder

    def names(self) -> set[str]:
        """Return the names of its files."""
        return {name for name in names_in(self.folder) if NAME.fullmatch(name)}

    def strays(self) -> list[str]:
        """Return names that are none of a file of ours."""
        return sorted(name for name in names_in(self.folder) if not NAME.fullmatch(name))

    def path(self, name: str) -> Path:
        """Return where a file stands."""
        return self.folder / name

    def stamp(self, name: str) -> Stamp | None:
        """Return what changes when a file does; None where none stands."""
        return stamp_of(self.path(name))

    def publish(self, text: bytes) -> Packed:
        """Put a file there, or prove that it stands; durable when it returns."""
        name = f"{hashlib.sha256(text).hexdigest()}.z"
        ensure_directory(self._volume, self.folder)
        # Another release of the library may pack the same lines otherwise.
        publish(self._volume, self.path(name), zlib.compress(text, _LEVEL), is_same=lambda raw: _unpacked(raw) == text)
        return Packed(name, text)

    def text(self, name: str) -> bytes | None:
        """Return the lines of a file, or None where none stands. Raises `InvalidRecordError` for what is not its name's."""
        path = self.path(name)
        raw = read_bounded(path, PUBLISHED_BYTES_MAX)
        if raw is None:
            return None
        text = _unpacked(raw)
        if text is None or f"{hashlib.sha256(text).hexdigest()}.z" != name:
            raise InvalidRecordError(path, "does not hold what its name says", remedy=_REMEDY)
        return text

    def remove(self, names: Iterable[str]) -> int:
        """Remove files, and return how many there were; durable when it returns."""
        gone = sum(self._volume.unlink(self.path(name)) for name in sorted(names))
        if gone:
            self._volume.sync_directory(self.folder)
        return gone


def _unpacked(raw: bytes) -> bytes | None:
    """Return what was packed, never more than a file may hold; None for what was not."""
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(raw, SEGMENT_BYTES_MAX + 1)
    except zlib.error:
        return None
    return text if unpacking.eof and not unpacking.unused_data and text.endswith(b"\n") else None


def lines_of(text: bytes) -> list[bytes]:
    """Return the lines of a file's text."""
    return text.split(b"\n")[:-1]
