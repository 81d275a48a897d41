"""How a graph grows: what may stand, what waits for its ancestor, and what heals when that comes.

INVARIANT  A node is published after its parent, or with it and behind it. What waits goes only when it stands.
CRASH      Between a node's coming and the going of what waited for it both stand; whoever comes next heals again.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from curator.errors import BusyError, RefusedError
from curator.model.digest import Digest, canonical
from curator.model.ids import EntryId, session_key
from curator.model.ledger import Settled
from curator.model.limits import DELTA_ENTRIES_MAX, DELTA_OVERLAP_MAX, WAITING_MAX
from curator.model.trajectory import seal_node
from curator.tracks.trajectory.files import SETTLED, WAITING
from curator.tracks.trajectory.parts import parts_of
from curator.tracks.trajectory.piece import Piece, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from curator.model.ids import SessionKey
    from curator.model.ledger import Delta
    from curator.tracks.trajectory.files import Files
    from curator.tracks.trajectory.index import Link

_SNAPSHOT: Final = "Send only what came since the last delta, and name the entry before it as the predecessor"


@dataclasses.dataclass(slots=True)
class Grown:
    """What became of what was handed in."""

    new: list[Piece] = dataclasses.field(default_factory=list)
    known: list[Digest] = dataclasses.field(default_factory=list)
    waiting: list[Digest] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, slots=True)
class _Told:
    """What a delta says of its own session: which node each of its entries is."""

    session: SessionKey
    nodes: Mapping[EntryId, Digest]


class Growth:
    """One addition to a ledger's graph, with all that it heals. Used under the ledger's lock."""

    def __init__(self, files: Files) -> None:
        """Begin; what a dead process left unhealed comes first."""
        self.files = files
        self.grown = Grown()
        self._agenda: list[tuple[list[str], _Told | None]] = []
        """What came, and may have been waited for."""
        self._kept: set[str] = set()
        """Files in which something was kept apart by now."""
        self._agenda.append((self._missing_that_stand(), None))
        self._heal()

    def take(self, pieces: Iterable[Piece]) -> Grown:
        """Take nodes in, in any order."""
        self._add(pieces, None)
        self._heal()
        return self.grown

    def append(self, delta: Delta) -> Grown | None:
        """Take in what a session said after an entry; None where that is unknown, and the delta waits.

        Raises `RefusedError` for one that repeats more than a bounded overlap, `BusyError` where too much waits already.
        """
        base = self._base(delta, None)
        if base is None and delta.predecessor is not None:
            for part in parts_of(delta):
                self._keep_apart([canonical(part.encode()).encode()], f"entry {part.predecessor}")
            return None
        self._append(delta, base, is_asked_for=False)
        self._heal()
        return self.grown

    def _add(self, pieces: Iterable[Piece], told: _Told | None, *, is_moved: bool = False) -> None:
        """Publish what may stand, and keep apart what may not; `is_moved` where the file in which they wait will go."""
        given = {piece.digest: piece for piece in pieces}
        asked = {*given, *(piece.parent for piece in given.values() if piece.parent is not None)}
        links = self.files.index.links(asked)
        self.grown.known += [digest for digest in given if digest in links]
        fresh = {digest: piece for digest, piece in given.items() if digest not in links}
        above = {digest: self._standing_above(piece.parent, links) for digest, piece in fresh.items()}
        stand, missing = _sorted(fresh, above, links)
        self.files.put_nodes(stand)
        self.grown.new += stand
        self._agenda.append(([key for piece in stand for key in (piece.digest, f"entry {piece.entry}")], told))
        kept = (
            () if is_moved else self.files.index.waiting_in(each.digest for group in missing.values() for each in group)
        )
        for ancestor, group in missing.items():
            apart = [piece for piece in group if piece.digest not in kept]
            if apart:
                self._keep_apart([piece.line for piece in apart], ancestor, [piece.digest for piece in apart])
            self.grown.waiting += [piece.digest for piece in group]

    def _standing_above(self, parent: Digest | None, links: dict[Digest, Link]) -> Digest | None:
        """Return the nearest ancestor that is not forgotten, whether it is here or not; None above a root.

        A node that was forgotten while it waited has ancestors that never came.
        """
        link = None if parent is None else links.get(parent)
        while link is not None and link.is_forgotten:
            parent = link.parent
            link = None if parent is None else self.files.index.link(parent)
            if parent is not None and link is not None:
                links[parent] = link
        return parent

    def _append(self, delta: Delta, base: Digest | None, *, is_asked_for: bool) -> None:
        """Make nodes of a delta whose beginning is known, and note where the session came to rest."""
        session = session_key(delta.session_id)
        nodes: dict[EntryId, Digest] = {}
        pieces: list[Piece] = []
        for entry in delta.entries:
            parent = base if entry.after is None else nodes[entry.after]
            digest, line = seal_node(parent, entry.entry_id, entry.at, entry.role, entry.text)
            nodes[entry.entry_id] = digest
            pieces.append(Piece(digest, parent, entry.entry_id, line.encode()))
        known = self.files.index.links(nodes.values())
        if not is_asked_for and len(nodes) > len(known) > DELTA_OVERLAP_MAX:
            fact = f"the delta repeats {len(known)} entries that are here; more than {DELTA_OVERLAP_MAX} make it a snapshot"
            raise RefusedError(fact, remedy=_SNAPSHOT)
        told = _Told(session, nodes)
        self._add(pieces, told)
        self._agenda.append(([f"entry {entry}" for entry in nodes], told))
        leaf = delta.settled_leaf
        end = None if leaf is None else nodes.get(leaf, base)
        if leaf is not None and end is not None:
            settle(self.files, Settled(session_key=session, entry_id=leaf, leaf=end, at=delta.settled_at))

    def _heal(self) -> None:
        """Take in what waited for anything on the agenda, and what waited for that."""
        while self._agenda:
            keys, told = self._agenda.pop()
            for name in self.files.index.waiting_for(keys):
                self._kept.discard(name)
                if not self._heal_one(name, told):
                    continue
                if name in self._kept:
                    # All of it waits on, for what is above a forgotten node.
                    self.files.index.wait_no_more(name, keys)
                else:
                    self.files.remove(WAITING, [name])

    def _heal_one(self, name: str, told: _Told | None) -> bool:
        """Take in what waits in a file; tell whether it need not stand any more."""
        delta = self.files.delta(name)
        if delta is None:
            self._add(
                [piece for piece, _ in rows_of(self.files.shelves[WAITING].text(name) or b"")], None, is_moved=True
            )
            return True
        base = self._base(delta, told)
        if base is not None:
            self._append(delta, base, is_asked_for=True)
        return base is not None

    def _keep_apart(self, lines: Sequence[bytes], missing: str, digests: Iterable[Digest] = ()) -> None:
        if self.files.index.file_count(WAITING) >= WAITING_MAX:
            fact = f"{self.files.layout.waiting}: {WAITING_MAX} pieces wait for their beginning already"
            raise BusyError(fact, remedy="Send the beginnings that are wanted, or read the sessions themselves")
        self._kept.update(self.files.put_waiting(lines, missing, digests))

    def _base(self, delta: Delta, told: _Told | None) -> Digest | None:
        """Return the node that a delta follows, or None where that cannot be said."""
        session, entry = session_key(delta.session_id), delta.predecessor
        if entry is None:
            return None
        if told is not None and told.session == session and entry in told.nodes:
            return told.nodes[entry]
        return resolve(self.files, session, entry)

    def _missing_that_stand(self) -> list[str]:
        index = self.files.index
        missing = index.missing()
        links = index.links(Digest(each) for each in missing if not each.startswith("entry "))
        return [each for each in missing if each in links or index.by_entry(EntryId(each.removeprefix("entry ")))]


def settle(files: Files, checkpoint: Settled) -> None:
    """Note a checkpoint, unless it stands."""
    if not files.index.is_settled(checkpoint):
        files.put_records(SETTLED, [checkpoint], lambda: files.index.put_settled([checkpoint]))


def resolve(files: Files, session: SessionKey, entry: EntryId) -> Digest | None:
    """Return which node an entry of a session is, or None where that cannot be said.

    Pi's ids are unique in a file only. Where several nodes have one, the session's own checkpoints decide.
    """
    settled = files.index.settled_at(session, entry)
    links = files.index.links(settled)
    found = [digest for digest in settled if digest in links] or files.index.by_entry(entry)
    if len(found) > 1:
        found = [digest for digest in found if _is_of_session(files, digest, session)]
    return found[0] if len(found) == 1 else None


def _is_of_session(files: Files, digest: Digest, session: SessionKey) -> bool:
    """Tell whether a session had come to rest at a node, or not far below it."""
    for leaf, sessions in files.index.settled_leaves().items():
        above: Digest | None = leaf if session in sessions else None
        for _ in range(DELTA_ENTRIES_MAX):
            if above is None or above == digest:
                break
            link = files.index.link(above)
            above = None if link is None else link.parent
        if above == digest:
            return True
    return False


def _sorted(
    fresh: Mapping[Digest, Piece], parents: Mapping[Digest, Digest | None], standing: Mapping[Digest, object]
) -> tuple[list[Piece], dict[Digest, list[Piece]]]:
    """Return what may stand, and by missing ancestor what may not; parents before children in both.

    `parents` passes over what was forgotten.
    """
    lacks: dict[Digest, Digest | None] = {}
    stand: list[Piece] = []
    missing: dict[Digest, list[Piece]] = {}
    for piece in fresh.values():
        chain: list[Piece] = []
        at: Piece | None = piece
        while at is not None and at.digest not in lacks:
            chain.append(at)
            parent = parents[at.digest]
            at = None if parent is None else fresh.get(parent)
        if not chain:
            continue
        above = parents[chain[-1].digest]
        lack = lacks.get(above, None if above in standing else above) if above is not None else None
        for each in reversed(chain):
            lacks[each.digest] = lack
            (stand if lack is None else missing.setdefault(lack, [])).append(each)
    return stand, missing
