"""The files of one ledger, and the index kept in step with them: whoever uses them holds the ledger's lock.

INVARIANT  Files are the authority. Before anything is asked or changed, the index is brought in step with what stands.
CRASH      A merge leaves the old files, the new one, or both, and each line in one of them.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, TypeVar

from curator.durable.lock import kernel_domain
from curator.durable.publish import ensure_directory
from curator.errors import InvalidRecordError, RefusedError
from curator.model.digest import MalformedJsonError, canonical, parse
from curator.model.ledger import Delta
from curator.model.limits import MERGED_AT_ONCE, SEGMENT_BYTES_MAX
from curator.model.record import Record, Violation
from curator.tracks.trajectory.index import Index, IndexLostError, is_damage
from curator.tracks.trajectory.piece import piece_of, placed, rows_of
from curator.tracks.trajectory.shelf import Packed, Shelf, lines_of, packs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from curator.durable.trajectory_layout import TrajectoryLayout
    from curator.durable.volume import Volume
    from curator.model.digest import Digest
    from curator.tracks.trajectory.index import Row, Spot
    from curator.tracks.trajectory.piece import Piece

T = TypeVar("T")
R = TypeVar("R", bound=Record)

SEGMENTS: Final = "segments"
SETTLED: Final = "settled"
COVERAGE: Final = "coverage"
FORGOTTEN: Final = "forgotten"
WAITING: Final = "waiting"
_STEP: Final = MERGED_AT_ONCE
_SIZES: Final = (
    (0, SEGMENT_BYTES_MAX // _STEP**2),
    (SEGMENT_BYTES_MAX // _STEP**2, SEGMENT_BYTES_MAX // _STEP),
    (SEGMENT_BYTES_MAX // _STEP, SEGMENT_BYTES_MAX * 7 // 8),
)
"""Files of one size are merged with their like, so that a line is written anew three times in its life, however many come."""
_TEXTS_KEPT: Final = 8


def line_of(record: Record) -> bytes:
    """Return a record's line. Raises `RefusedError` for one that could not be read again."""
    value = record.encode()
    try:
        type(record).decode(value)
    except Violation as broken:
        raise RefusedError(f"the ledger keeps no such record: {broken}") from broken
    return canonical(value).encode()


class Files:
    """The shelves of one ledger and its index."""

    def __init__(self, layout: TrajectoryLayout, volume: Volume) -> None:
        """Know where they stand; nothing is opened yet."""
        self.layout = layout
        self.volume = volume
        self.index = Index(layout, volume)
        folders = {
            SEGMENTS: layout.segments,
            SETTLED: layout.settled,
            COVERAGE: layout.coverage,
            FORGOTTEN: layout.forgotten,
            WAITING: layout.waiting,
        }
        self.shelves: Mapping[str, Shelf] = {name: Shelf(volume, folder) for name, folder in folders.items()}
        self.damaged: dict[str, InvalidRecordError] = {}
        """Files that could not be read, by name: each costs itself."""
        self._domain = kernel_domain("trajectory", layout.lock)
        self._texts: OrderedDict[str, bytes] = OrderedDict()

    def held(self, step: Callable[[], T]) -> T:
        """Do a step under the lock, with an index that can be asked; a damaged one is made anew, and the step done again.

        A step looks first what is done already.
        """
        ensure_directory(self.volume, self.layout.root)
        with self._domain.hold():
            try:
                self.index.open()
                return step()
            except sqlite3.DatabaseError as error:
                if not is_damage(error):
                    raise IndexLostError(f"{self.layout.index}: {error}") from error
            self.index.drop()
            try:
                self.index.open()
                return step()
            except sqlite3.DatabaseError as error:
                raise IndexLostError(f"{self.layout.index}: {error}") from error

    def drop_index(self) -> None:
        """Remove the index; the next step makes it anew."""
        ensure_directory(self.volume, self.layout.root)
        with self._domain.hold():
            self.index.drop()

    def folders(self) -> list[Path]:
        """Return every folder in which something is staged."""
        return [self.layout.root, self.layout.sources, *(shelf.folder for shelf in self.shelves.values())]

    # Reading.

    def text(self, name: str) -> bytes | None:
        """Return the lines of a segment, proved by its name; the last few stay in memory."""
        text = self._texts.get(name)
        if text is None:
            text = self.shelves[SEGMENTS].text(name)
            if text is None:
                return None
        self._keep(name, text)
        return text

    def line(self, spot: Spot) -> bytes | None:
        """Return a node's line from the file that the index names, or None where it is not there any more."""
        text = self.text(spot.name)
        return None if text is None else text[spot.byte : spot.byte + spot.size]

    def let_go_of_texts(self) -> None:
        """Keep nothing in memory that may have been forgotten."""
        self._texts.clear()

    def records(self, shelf: str, name: str, cls: type[R]) -> list[R]:
        """Return the records of a file. Raises `InvalidRecordError` for one that has another kind of line."""
        text = self.shelves[shelf].text(name) or b""
        try:
            return [cls.decode(parse(line)) for line in lines_of(text)]
        except (Violation, MalformedJsonError) as error:
            raise InvalidRecordError(self.shelves[shelf].path(name), str(error)) from error

    def delta(self, name: str) -> Delta | None:
        """Return the delta that waits in a file, or None where it holds nodes."""
        text = self.shelves[WAITING].text(name) or b""
        if piece_of(text.split(b"\n", 1)[0]) is not None:
            return None
        found = self.records(WAITING, name, Delta)
        return found[0] if found else None

    def deltas(self) -> Iterator[Delta]:
        """Yield the deltas that wait; what cannot be read is passed over, and named by a check."""
        for name in sorted(self.shelves[WAITING].names()):
            try:
                delta = self.delta(name)
            except InvalidRecordError:
                continue
            if delta is not None:
                yield delta

    # Writing.

    def put_nodes(self, pieces: Sequence[Piece]) -> None:
        """Publish nodes, parents before children, and note them."""
        left = iter(pieces)
        for text in packs(piece.line for piece in pieces):
            packed = self.shelves[SEGMENTS].publish(text)
            self._note_nodes(packed, placed(itertools.islice(left, text.count(b"\n"))))

    def put_records(self, shelf: str, records: Sequence[Record], note: Callable[[], None]) -> None:
        """Publish records of another kind, and note them: `note` says in the index what they say."""
        packed = self.publish_records(shelf, records)
        with self.index.change():
            note()
            for each in packed:
                self.index.note_file(shelf, each.name, len(each.text))

    def publish_records(self, shelf: str, records: Sequence[Record]) -> list[Packed]:
        """Publish records, without a note of them. Raises `RefusedError` for one that could not be read again."""
        lines = [line_of(record) for record in records]
        return [self.shelves[shelf].publish(text) for text in packs(lines)]

    def put_waiting(self, lines: Iterable[bytes], missing: str, digests: Iterable[Digest] = ()) -> list[str]:
        """Publish what waits for something, and return in which files."""
        packed = [self.shelves[WAITING].publish(text) for text in packs(lines)]
        with self.index.change():
            for each in packed:
                self.index.note_file(WAITING, each.name, len(each.text))
                self.index.put_waiting(each.name, missing, digests)
        return [each.name for each in packed]

    def remove(self, shelf: str, names: Iterable[str]) -> None:
        """Remove files that nothing needs any more."""
        gone = list(names)
        self.shelves[shelf].remove(gone)
        with self.index.change():
            self.index.drop_files(shelf, gone)

    def merge(self, *shelves: str) -> None:
        """Pack small files of these shelves into larger ones, where there are many of a size."""
        for shelf in shelves:
            for low, high in _SIZES:
                while len(names := self.index.small_files(shelf, low, high, MERGED_AT_ONCE)) == MERGED_AT_ONCE:
                    if not self._merge(shelf, names):
                        break

    def _merge(self, shelf: str, names: list[str]) -> bool:
        texts: list[bytes | None] = []
        for name in names:
            try:
                texts.append(self.shelves[shelf].text(name))
            except InvalidRecordError as error:
                self.damaged[name] = error
                with self.index.change():
                    self.index.drop_files(shelf, [name])
                return True
        # Files that came back after a crash hold what others hold as well.
        lines = dict.fromkeys(line for text in texts for line in lines_of(text or b""))
        made: set[str] = set()
        for text in packs(lines):
            packed = self.shelves[shelf].publish(text)
            made.add(packed.name)
            if shelf == SEGMENTS:
                self.note_segment(packed)
            else:
                self.index.note_file(shelf, packed.name, len(packed.text))
        self.remove(shelf, set(names) - made)
        return not made.issuperset(names)

    def note_segment(self, packed: Packed) -> None:
        """Note a segment that stands, and the nodes in it, each proved."""
        self._note_nodes(packed, rows_of(packed.text))

    def _note_nodes(self, packed: Packed, pieces: Iterable[tuple[Piece, int]]) -> None:
        raw = bytes.fromhex
        rows: list[Row] = [
            (raw(each.digest), raw(each.parent) if each.parent else None, each.entry, byte, len(each.line))
            for each, byte in pieces
        ]
        with self.index.change():
            self.index.put_nodes(self.index.note_file(SEGMENTS, packed.name, len(packed.text)), rows)
        self._keep(packed.name, packed.text)

    def _keep(self, name: str, text: bytes) -> None:
        """Keep the last few texts in memory: a path is read from few files."""
        self._texts[name] = text
        self._texts.move_to_end(name)
        if len(self._texts) > _TEXTS_KEPT:
            self._texts.popitem(last=False)
