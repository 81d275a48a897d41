"""From a session file to nodes: a pure function of a path, in memory that does not grow with the file.

It runs in this process, in a pool, or on a Dask worker, and gives the same nodes each time: what depends on the machine
or the hour does not reach them. A bookmark (`label`) gets no node: Pi leaves bookmarks out when it copies a branch to a
fork, and the fork shares its nodes only so. An entry whose parent was not written before it is a root, as it is to Pi.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from curator.errors import InvalidRecordError, NotFoundError, StorageError
from curator.model.digest import Digest
from curator.model.ids import EntryId
from curator.model.limits import LEAVES_MAX, NODE_BATCH_BYTES, TIPS_MAX
from curator.model.trajectory import Progress, Role, Tip, seal_node
from curator.pi.session import derived_id
from curator.pi.stream import LINE_BYTES_MAX, Fault, Head, Line, lines, load, open_session, place_of, read_head
from curator.tracks.trajectory.entry import Said, clean_text, hear_entry, is_bookmark
from curator.tracks.trajectory.facts import Ended
from curator.tracks.trajectory.glimpse import glimpse_answer, glimpse_tool
from curator.tracks.trajectory.known import Known
from curator.tracks.trajectory.tally import Tally

_BLOCK_BYTES: Final = 65_536
_HEARD_MAX: Final = 1_024
_HEARD_CHARS_MAX: Final = 262_144


@dataclasses.dataclass(frozen=True, slots=True)
class Batch:
    """Some nodes, parents before children: about a megabyte of lines. The tuples are parallel."""

    digests: tuple[Digest, ...]
    parents: tuple[Digest | None, ...]
    roles: tuple[Role, ...]
    chars: tuple[int, ...]
    """The length of each text, in Python's characters."""
    lines: bytes
    """Each node's canonical text and a line end: what `read_node` reads."""


def index_file(
    path: str, now: int, *, resume: Progress | None = None, until: int | None = None, is_digested: bool = False
) -> Iterator[Batch | Ended]:
    """Read a session from its first byte, or go on from `resume`, up to `until` or the end; last comes an `Ended`.

    Where going on is impossible, because the file was written anew or a branch grew out of an older entry, it is read
    from its first byte: nodes that are there already are the same nodes. `now` judges dates and nothing else. Where
    `is_digested`, the ending tells the digest of all that was read, if it was read from the first byte.

    Raises `NotFoundError`, `StorageError`, and `InvalidRecordError` for what is no session, or was written anew while
    it was read; what came before that is to be thrown away then.
    """
    where = Path(path)
    try:
        with open_session(where) as file:
            start = resume if resume is not None and _still_holds(file, resume) else None
            try:
                yield from _Reading(where, file, now, start, is_digested=is_digested).run(until)
            except _GrowsElsewhere:
                yield from _Reading(where, file, now, None, is_digested=is_digested).run(until)
    except FileNotFoundError:
        raise NotFoundError(f"{where}: was taken away while it was read", remedy="Run again") from None
    except OSError as error:
        raise StorageError(where, error) from error


class _GrowsElsewhere(Exception):  # noqa: N818 - not a fault: reading starts over
    """An entry follows one that was read another time."""


class _Reading:
    """One reading of one file."""

    def __init__(self, path: Path, file: BinaryIO, now: int, start: Progress | None, *, is_digested: bool) -> None:
        self._path = path
        self._file = file
        self._start = start
        self._known = Known()
        self._tally = Tally(now)
        self._hash = hashlib.sha256() if is_digested and start is None else None
        self._tips: dict[Digest, str] = {}
        """The nodes that nothing follows yet, and their entries."""
        self._bookmarks: dict[Digest, str] = {}
        """The last bookmark on a node: what Pi writes next may follow it."""
        self._last: tuple[str, str] = ("", "")
        self._heard: list[Said] = []
        """What waits to be cleaned and given its node; `_heard_chars` is its length."""
        self._heard_chars = 0
        self._last_id = ""
        self._batch = _Gathered()
        for tip in start.tips if start is not None else ():
            self._known.add(tip.entry_id, tip.digest)
            self._tips.setdefault(tip.digest, tip.entry_id)
            self._last = (tip.entry_id, tip.digest)
            self._last_id = tip.entry_id

    def run(self, until: int | None) -> Iterator[Batch | Ended]:
        first = _first_block(self._file)
        with contextlib.closing(self._known):
            head = read_head(self._path, next(lines(self._file), None))
            byte, number = (self._start.byte, self._start.line) if self._start is not None else (0, 0)
            tail: tuple[int, int, tuple[Tip, ...]] | None = None
            line: Line | None = None
            witness = self._hash.update if self._hash is not None else None
            for line in lines(self._file, byte, number, until, witness):
                if not line.is_ended:
                    # Somebody may still write on at this line, so the next reading begins with it.
                    self._settle()
                    tail = (line.byte, line.number - 1, self._open_tips())
                if line.byte:
                    self._take(line, head)
                if len(self._heard) >= _HEARD_MAX or self._heard_chars > _HEARD_CHARS_MAX:
                    self._settle()
                    if self._batch.size > NODE_BATCH_BYTES:
                        yield self._batch.close()
            self._settle()
            if self._batch.size:
                yield self._batch.close()
            if line is not None:
                byte, number = line.byte + line.size, line.number
            self._prove(first, byte)
            yield self._ended(head, byte, tail or (byte, number, self._open_tips()))

    def _take(self, line: Line, head: Head) -> None:
        self._tally.lines += 1
        if line.size > LINE_BYTES_MAX:
            self._tally.note(Fault.OVER_LONG, line)
            place = place_of(line.raw)
            if place is not None and head.version > 1:
                self._hear(Said(place[0], place[1], None, "other", ""))
        elif (head.version == 1 or not self._glimpse(line)) and line.raw.strip():
            self._parse(line, head)

    def _glimpse(self, line: Line) -> bool:
        """Take one of the lines that most are, if this is one."""
        said = glimpse_tool(line.raw)
        if said is not None:
            self._tally.count_time(said.at)
            self._hear(said)
            return True
        answer = glimpse_answer(line.raw)
        if answer is None:
            return False
        self._tally.count_answer(answer, line)
        self._hear(answer.said)
        return True

    def _parse(self, line: Line, head: Head) -> None:
        value = load(line.raw)
        if not isinstance(value, dict):
            is_padding = not line.raw.strip(b"\0\r\n")
            fault = Fault.NUL_BYTES if is_padding else Fault.NOT_JSON if line.is_ended else Fault.TORN_TAIL
            self._tally.note(fault, line)
            return
        if value.get("type") == "session":
            return
        if head.version == 1:
            # Version 1 has no ids, and each entry follows the one before it.
            value["id"], value["parentId"] = derived_id(head.id, line.number), self._last_id or None
        said = hear_entry(value)
        if said is None:
            self._tally.note(Fault.NOT_AN_ENTRY, line)
            return
        if said.role == "tool":
            said.text = clean_text(said.text)
        if value.get("type") == "custom":
            # It may tell how far a review came, by an entry that must have its node.
            self._settle()
        self._tally.count(value, said.at, line, self._known)
        said.is_mark = is_bookmark(value)
        self._hear(said)

    def _hear(self, said: Said) -> None:
        self._heard.append(said)
        self._heard_chars += len(said.text)
        self._last_id = said.id

    def _settle(self) -> None:
        """Clean what was heard, and give it its nodes: each of the two in a row, for the processor's cache's sake."""
        for said in self._heard:
            if said.role != "tool":
                said.text = clean_text(said.text)
        for said in self._heard:
            if said.is_mark:
                self._mark(said)
            else:
                self._add(said)
        self._heard.clear()
        self._heard_chars = 0

    def _parent_of(self, said: Said) -> str:
        """Return the digest of what an entry follows; nothing for a root."""
        parent_id = said.parent_id
        if parent_id is None:
            return ""
        if parent_id == self._last[0]:
            return self._last[1]
        digest = self._known.get(parent_id)
        if digest is None:
            if self._start is not None:
                raise _GrowsElsewhere
            self._tally.missing_parents += 1
            return ""
        return digest

    def _add(self, said: Said) -> None:
        above = self._parent_of(said)
        parent = Digest(above) if above else None
        digest, text = seal_node(parent, EntryId(said.id), said.at, said.role, said.text)
        self._known.add(said.id, digest)
        self._last = (said.id, digest)
        self._tally.roles[said.role] += 1
        tips = self._tips
        if parent is not None:
            tips.pop(parent, None)
        tips[digest] = said.id
        if len(tips) > LEAVES_MAX:
            del tips[next(iter(tips))]
        self._batch.add(digest, parent, said.role, len(said.text), text)

    def _mark(self, said: Said) -> None:
        above = self._parent_of(said)
        self._known.add(said.id, above)
        self._last = (said.id, above)
        if above in self._tips:
            self._bookmarks[Digest(above)] = said.id

    def _open_tips(self) -> tuple[Tip, ...]:
        """Return where the next entries may follow, the likeliest last."""
        tips: list[Tip] = []
        for digest, entry_id in list(self._tips.items())[-TIPS_MAX // 2 :]:
            tips.append(Tip(entry_id=EntryId(entry_id), digest=digest))
            mark = self._bookmarks.get(digest)
            if mark is not None:
                tips.append(Tip(entry_id=EntryId(mark), digest=digest))
        return tuple(tips)

    def _prove(self, first: bytes, byte: int) -> None:
        """Prove that what was read is still there, as far as its beginning and its length tell."""
        here, there = os.fstat(self._file.fileno()), self._path.stat()
        is_same = (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino) and here.st_size >= byte
        if not is_same or not _first_block(self._file).startswith(first):
            raise InvalidRecordError(self._path, "was written anew while it was read", remedy="Run again")

    def _ended(self, head: Head, size: int, tail: tuple[int, int, tuple[Tip, ...]]) -> Ended:
        byte, line, tips = tail
        leaves = tuple(Tip(entry_id=EntryId(entry_id), digest=digest) for digest, entry_id in self._tips.items())
        return Ended(
            path=str(self._path),
            progress=Progress(
                session_id=head.id, byte=byte, line=line, prefix_digest=_prefix_digest(self._file, byte), tips=tips
            ),
            facts=self._tally.facts(head),
            leaves=leaves,
            size=size,
            content_digest=Digest(self._hash.hexdigest()) if self._hash is not None else None,
            is_whole=self._start is None,
        )


class _Gathered:
    """The batch that is being filled."""

    def __init__(self) -> None:
        self.size = 0
        self._digests: list[Digest] = []
        self._parents: list[Digest | None] = []
        self._roles: list[Role] = []
        self._chars: list[int] = []
        self._lines: list[str] = []

    def add(self, digest: Digest, parent: Digest | None, role: Role, chars: int, text: str) -> None:
        self._digests.append(digest)
        self._parents.append(parent)
        self._roles.append(role)
        self._chars.append(chars)
        self._lines.append(text)
        self.size += len(text)

    def close(self) -> Batch:
        """Return what was gathered, and begin anew."""
        batch = Batch(
            digests=tuple(self._digests),
            parents=tuple(self._parents),
            roles=tuple(self._roles),
            chars=tuple(self._chars),
            lines=("\n".join(self._lines) + "\n").encode(),
        )
        self.size = 0
        for column in (self._digests, self._parents, self._roles, self._chars, self._lines):
            column.clear()
        return batch


def _first_block(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read(_BLOCK_BYTES)


def _prefix_digest(file: BinaryIO, byte: int) -> Digest:
    """Return a digest of the first and the last block below `byte`."""
    file.seek(0)
    first = file.read(min(byte, _BLOCK_BYTES))
    file.seek(max(0, byte - _BLOCK_BYTES))
    last = file.read(min(byte, _BLOCK_BYTES))
    return Digest(hashlib.sha256(b"%d\n%b%b" % (byte, first, last)).hexdigest())


def _still_holds(file: BinaryIO, progress: Progress) -> bool:
    """Tell whether the file still begins with what was read."""
    is_long_enough = os.fstat(file.fileno()).st_size >= progress.byte
    return is_long_enough and _prefix_digest(file, progress.byte) == progress.prefix_digest
