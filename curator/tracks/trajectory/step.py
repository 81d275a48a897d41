"""Bring an index in step with the files that stand, and finish what a dead process had begun to forget.

INVARIANT  A tombstone's file is noted in the index only when no file holds the text any more.
CRASH      Anywhere in between the next opening begins again, and comes to the same end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from curator.errors import InvalidRecordError
from curator.model.ledger import Coverage, Settled, Tombstone
from curator.model.record import Record
from curator.tracks.trajectory.files import COVERAGE, FORGOTTEN, SEGMENTS, SETTLED, WAITING
from curator.tracks.trajectory.piece import rows_of
from curator.tracks.trajectory.shelf import Packed, packs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from curator.model.digest import Digest
    from curator.model.ids import EntryId
    from curator.tracks.trajectory.files import Files

R = TypeVar("R", bound=Record)


def catch_up(files: Files) -> None:
    """Take in what stands and the index does not know, and let go of what it knows and is gone."""
    news = _news(files)
    if any(new or gone for new, gone in news.values()) and not _take_in(files, news):
        # A segment went, and what was to be looked for in it may stand in another: only a new index knows.
        files.index.drop()
        files.index.open()
        _take_in(files, _news(files))


def forget(files: Files, tombstones: Collection[Tombstone], names: Iterable[str]) -> None:
    """Take the text of nodes out of every file; the tombstones stand, in files of these names."""
    gone = {each.digest for each in tombstones}
    entries = _cleanse(files, gone)
    _cleanse_waiting(files, gone, entries)
    with files.index.change():
        files.index.put_forgotten(tombstones)
        for name in names:
            _note(files, FORGOTTEN, name)
    files.index.scrub()
    files.let_go_of_texts()


def _cleanse(files: Files, gone: set[Digest]) -> set[EntryId]:
    """Write each segment that holds one of these anew without it; return their entry ids."""
    entries: set[EntryId] = set()
    for name in sorted(files.shelves[SEGMENTS].names()):
        text = _text(files, SEGMENTS, name)
        found = {piece.entry for piece, _ in rows_of(text) if piece.digest in gone}
        if found:
            entries |= found
            _write_without(files, name, text, gone)
    return entries


def _write_without(files: Files, name: str, text: bytes, gone: set[Digest]) -> None:
    for rest in packs(piece.line for piece, _ in rows_of(text) if piece.digest not in gone):
        files.note_segment(files.shelves[SEGMENTS].publish(rest))
    files.remove(SEGMENTS, [name])


def _cleanse_waiting(files: Files, gone: set[Digest], entries: set[EntryId]) -> None:
    """Take these out of what waits. A delta does not know its digests yet: one that may hold them goes, and is asked for anew."""
    for name in sorted(files.shelves[WAITING].names()):
        try:
            delta = files.delta(name)
        except InvalidRecordError:
            continue
        if delta is not None:
            is_hit = any(each.entry_id in entries for each in delta.entries)
        else:
            pieces = [piece for piece, _ in rows_of(_text(files, WAITING, name))]
            is_hit = any(piece.digest in gone for piece in pieces)
            if is_hit:
                for rest in packs(piece.line for piece in pieces if piece.digest not in gone):
                    _take_in_waiting(files, files.shelves[WAITING].publish(rest).name)
        if is_hit:
            files.remove(WAITING, [name])


def _news(files: Files) -> dict[str, tuple[set[str], set[str]]]:
    """Return by shelf what stands and is not known, and what is known and gone."""
    found: dict[str, tuple[set[str], set[str]]] = {}
    for name, shelf in files.shelves.items():
        standing, known = shelf.names() - files.damaged.keys(), files.index.names(name)
        found[name] = standing - known, known - standing
    return found


def _take_in(files: Files, news: Mapping[str, tuple[set[str], set[str]]]) -> bool:
    """Take in what is new; tell whether the index still knows where everything stands."""
    lost = 0
    for shelf, (new, _) in news.items():
        if new:
            # Their writer may have died between its link and its flush, and more is built on them.
            files.volume.sync_directory(files.shelves[shelf].folder)
    with files.index.change():
        for shelf in (SETTLED, COVERAGE, FORGOTTEN, WAITING):
            files.index.drop_files(shelf, news[shelf][1])
    tombs = _read(files, FORGOTTEN, news[FORGOTTEN][0], Tombstone)
    if tombs:
        forget(files, [each for lines in tombs.values() for each in lines], tombs.keys())
    for name in sorted(news[SEGMENTS][0]):
        _take_in_segment(files, name)
    with files.index.change():
        for name, settled in _read(files, SETTLED, news[SETTLED][0], Settled).items():
            files.index.put_settled(settled)
            _note(files, SETTLED, name)
        for name, batches in _read(files, COVERAGE, news[COVERAGE][0], Coverage).items():
            for batch in batches:
                files.index.put_coverage(batch)
            _note(files, COVERAGE, name)
        lost = files.index.drop_files(SEGMENTS, news[SEGMENTS][1])
    for name in sorted(news[WAITING][0]):
        _take_in_waiting(files, name)
    return not lost


def _take_in_segment(files: Files, name: str) -> None:
    text = _text(files, SEGMENTS, name)
    links = files.index.links(piece.digest for piece, _ in rows_of(text))
    gone = {digest for digest, link in links.items() if link.is_forgotten}
    if gone:
        # Its removal was lost with the power.
        _write_without(files, name, text, gone)
    elif text:
        files.note_segment(Packed(name, text))


def _take_in_waiting(files: Files, name: str) -> None:
    try:
        delta = files.delta(name)
    except InvalidRecordError as error:
        files.damaged[name] = error
        return
    text = _text(files, WAITING, name)
    with files.index.change():
        _note(files, WAITING, name)
        if delta is not None:
            files.index.put_waiting(name, f"entry {delta.predecessor}", ())
            return
        pieces = [piece for piece, _ in rows_of(text)]
        inside = {piece.digest for piece in pieces}
        for piece in pieces:
            if piece.parent is not None and piece.parent not in inside:
                files.index.put_waiting(name, piece.parent, inside)


def _read(files: Files, shelf: str, names: Iterable[str], cls: type[R]) -> dict[str, list[R]]:
    found: dict[str, list[R]] = {}
    for name in sorted(names):
        try:
            found[name] = files.records(shelf, name, cls)
        except InvalidRecordError as error:
            files.damaged[name] = error
    return found


def _text(files: Files, shelf: str, name: str) -> bytes:
    """Return a file's lines, or nothing where it cannot be read: that costs itself."""
    try:
        return files.shelves[shelf].text(name) or b""
    except InvalidRecordError as error:
        files.damaged[name] = error
        return b""


def _note(files: Files, shelf: str, name: str) -> None:
    files.index.note_file(shelf, name, len(files.shelves[shelf].text(name) or b""))
