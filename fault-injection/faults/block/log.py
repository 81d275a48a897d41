"""What reached a block device, in order: writes, flushes, and the marks of who was told what between them.

INVARIANT  A write that stands before a flush is on the disk once that flush has returned; of the writes after the last
           flush any subset may be, block by block.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import json
import random
import struct
from typing import TYPE_CHECKING, Final, TypeAlias

from faults.recording import Mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

BLOCK: Final = 4096
"""What a disk writes whole or not at all: the filesystem's own block."""
_HEADER: Final = struct.Struct("<BQI")
READY: Final = b"mounted\n"
"""What the recorder says once its files are there."""
START: Final = Mark("start")
"""From here on the power may go: what stood before is flushed."""
OVER: Final = Mark("the run is over")

Block: TypeAlias = tuple[int, bytes]
"""An offset and what is written there, in one block."""


class Kind(enum.IntEnum):
    """What a log is made of."""

    WRITE = 0
    FLUSH = 1
    MARK = 2


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One thing that reached the device."""

    kind: Kind
    offset: int = 0
    content: bytes = b""

    def encode(self) -> bytes:
        """Return it as it stands in a log."""
        return _HEADER.pack(self.kind, self.offset, len(self.content)) + self.content

    @property
    def mark(self) -> Mark:
        """The mark, of an entry that is one."""
        return mark_of(self.content)


def line_of(mark: Mark) -> bytes:
    """Return a mark as it is written among the blocks."""
    return json.dumps([mark.kind, mark.subject]).encode()


def mark_of(line: bytes) -> Mark:
    """Return the mark of a line."""
    kind, subject = json.loads(line)
    return Mark(kind, subject)


def read_log(path: Path) -> list[Entry]:
    """Read a log."""
    raw, at = path.read_bytes(), 0
    entries = []
    while at < len(raw):
        kind, offset, length = _HEADER.unpack_from(raw, at)
        at += _HEADER.size
        entries.append(Entry(Kind(kind), offset, raw[at : at + length]))
        at += length
    return entries


@dataclasses.dataclass(frozen=True, slots=True)
class Image:
    """What a disk may hold when the power comes back: all that was flushed, and some of the rest."""

    flush: int
    """How many flushes had returned since the start."""
    number: int
    """Which image of this moment."""
    durable: bytearray
    """What was flushed; it changes when the next image is asked for."""
    kept: tuple[Block, ...]
    """The blocks after the last flush that reached the disk nevertheless, in order."""
    pending: int
    """How many blocks there were to lose."""
    said: tuple[Mark, ...]

    def digest(self) -> bytes:
        """Return what tells images of one moment apart."""
        body = hashlib.blake2b(digest_size=16)
        for offset, content in dict(self.kept).items():
            body.update(struct.pack("<Q", offset) + content)
        body.update(repr(self.said).encode())
        return body.digest()

    def lost(self) -> str:
        """Say how much was lost."""
        return f"{self.pending - len(self.kept)} of {self.pending} unflushed blocks"


def blocks_of(entry: Entry) -> Iterator[Block]:
    """Cut a write into what the disk writes as one."""
    for at in range(0, len(entry.content), BLOCK):
        yield entry.offset + at, entry.content[at : at + BLOCK]


def images(first: bytes, log: Iterable[Entry], *, subsets: int, seed: int) -> Iterator[Image]:
    """Yield each image that is to be tried: at each flush with none and with all of what it wrote, and random subsets.

    A subset is of a random moment between two flushes, and told by then is what stands before that moment in the log.
    """
    durable = bytearray(first)
    said: list[Mark] = []
    gap: list[Block | Mark] = []
    flush = -1
    for entry in log:
        match entry.kind:
            case Kind.WRITE:
                gap += blocks_of(entry)
            case Kind.MARK if entry.mark == START:
                flush = 0
            case Kind.MARK if entry.mark == OVER:
                yield from _of_gap(durable, gap, said, flush, subsets, seed)
                return
            case Kind.MARK:
                gap.append(entry.mark)
            case Kind.FLUSH:
                if flush >= 0:
                    yield from _of_gap(durable, gap, said, flush, subsets, seed)
                    flush += 1
                said += [each for each in gap if isinstance(each, Mark)]
                for offset, content in _written(gap):
                    durable[offset : offset + len(content)] = content
                gap = []


def _written(gap: Iterable[Block | Mark]) -> list[Block]:
    return [each for each in gap if not isinstance(each, Mark)]


def _of_gap(
    durable: bytearray, gap: list[Block | Mark], said: list[Mark], flush: int, subsets: int, seed: int
) -> Iterator[Image]:
    """Yield the images between two flushes, equal ones once."""
    chosen: list[tuple[int, list[Block]]] = [(len(gap), []), (len(gap), _written(gap))]
    draw = random.Random(f"{seed}/{flush}")
    for _ in range(subsets):
        moment = draw.choice((len(gap), draw.randint(0, len(gap))))
        likely = draw.choice((0.1, 0.5, 0.9))
        chosen.append((moment, [each for each in _written(gap[:moment]) if draw.random() < likely]))
    met: set[bytes] = set()
    for number, (moment, kept) in enumerate(chosen):
        told = (*said, *(each for each in gap[:moment] if isinstance(each, Mark)))
        image = Image(flush, number, durable, tuple(kept), len(_written(gap[:moment])), told)
        digest = image.digest()
        if digest not in met:
            met.add(digest)
            yield image
