"""A node's canonical line, taken apart without reading its text: enough to place it, and to prove its digest."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from curator.model.digest import Digest
from curator.model.ids import EntryId

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LINE: Final = re.compile(
    rb'(\{(?:"at":"[0-9TZ:.+-]{1,40}",)?)"digest":"([0-9a-f]{64})",'
    rb'("entryId":"([^"\\]{1,256})","kind":"trajectory-node",(?:"parent":"([0-9a-f]{64})",)?"parser":.+\})',
    re.DOTALL,
)


class Piece(NamedTuple):
    """One node's line, and its place in the graph."""

    digest: Digest
    parent: Digest | None
    entry: EntryId
    line: bytes


def piece_of(line: bytes) -> Piece | None:
    """Take a line apart, or return None for what is not a node's line, or not what its digest says."""
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    head, digest, tail, entry, parent = found.groups()
    if hashlib.sha256(head + tail).hexdigest() != digest.decode():
        return None
    above = None if parent is None else Digest(parent.decode())
    return Piece(Digest(digest.decode()), above, EntryId(entry.decode()), line)


def rows_of(text: bytes) -> Iterator[tuple[Piece, int]]:
    """Yield the nodes of a file's text, each with the byte at which its line begins. What is no node is passed over."""
    byte = 0
    for line in text.split(b"\n")[:-1]:
        piece = piece_of(line)
        if piece is not None:
            yield piece, byte
        byte += len(line) + 1


def placed(pieces: Iterable[Piece]) -> Iterator[tuple[Piece, int]]:
    """Yield nodes that were just packed, each with the byte at which its line begins."""
    byte = 0
    for piece in pieces:
        yield piece, byte
        byte += len(piece.line) + 1
