"""The ledger of one project's trajectory: what was said there, as a graph; what was settled, and what reviews covered.

INVARIANT  What `take`, `append`, `settle`, `cover` and `forget` returned from survives power loss. A node stands only
           when its parent does, or when that was forgotten. Files are the authority; the index is a cache of them.
CRASH      Every step is one file that is published, or is finished by the next opening; doing it again changes nothing.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from typing import TYPE_CHECKING, Final, TypeVar

from curator.durable.ages import ages_in
from curator.durable.publish import ensure_directory, replace
from curator.durable.read import list_names, mode_of
from curator.durable.records import read_record
from curator.durable.sweep import sweep
from curator.errors import InvalidRecordError, NotFoundError, RefusedError
from curator.machine.coverage import COVERAGE as TABLE
from curator.machine.coverage import verb_between
from curator.model.ids import SessionKey, session_key
from curator.model.ledger import CoverageState, Source, Tombstone
from curator.model.limits import DIRECTORY_NAMES_MAX, SOURCE_BYTES_MAX, WAITING_MS
from curator.model.times import iso
from curator.model.trajectory import read_node
from curator.tracks.trajectory.files import COVERAGE, FORGOTTEN, SEGMENTS, SETTLED, WAITING, Files, line_of
from curator.tracks.trajectory.growth import Growth, settle
from curator.tracks.trajectory.piece import piece_of, rows_of
from curator.tracks.trajectory.shelf import NAME
from curator.tracks.trajectory.step import catch_up, forget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from curator.durable.trajectory_layout import TrajectoryLayout
    from curator.durable.volume import Volume
    from curator.model.digest import Digest
    from curator.model.ids import EntryId
    from curator.model.ledger import Coverage, Covered, Delta, Settled
    from curator.model.ports import Clock
    from curator.model.trajectory import Node
    from curator.tracks.trajectory.growth import Grown

T = TypeVar("T")
SOURCE_NAME: Final = re.compile(r"[0-9a-f]{32}\.json")
_AT_ONCE: Final = 256
"""So many nodes of a path are fetched under one hold of the lock."""


@dataclasses.dataclass(frozen=True, slots=True)
class Taken:
    """What became of nodes that were handed in, by digest."""

    new: tuple[Digest, ...] = ()
    """Now in the ledger, parents before children; with what their coming has healed."""
    known: tuple[Digest, ...] = ()
    """There before, or forgotten: nothing was written."""
    waiting: tuple[Digest, ...] = ()
    """Kept apart until their ancestor comes."""
    refused: int = 0
    """How many lines are not what their digest says."""


@dataclasses.dataclass(frozen=True, slots=True)
class Leaf:
    """An end of the graph, or a node at which a session had come to rest."""

    digest: Digest
    sessions: frozenset[SessionKey]
    """The sessions known to have ended here; none where only the graph says so."""
    is_settled: bool
    """Whether a checkpoint names it; otherwise it is inferred."""


class Ledger:
    """One project's trajectory. Any number of processes may have it open; each call takes the lock for itself."""

    def __init__(self, layout: TrajectoryLayout, volume: Volume, clock: Clock) -> None:
        """Open it; nothing is read or made yet."""
        self.layout = layout
        self._volume = volume
        self._clock = clock
        self._files = Files(layout, volume)

    # What was said.

    def take(self, nodes: Iterable[Node]) -> Taken:
        """Take nodes in, in any order; durable when it returns. Taking them again changes nothing."""
        return self.take_lines(node.line.encode() for node in nodes)

    def take_lines(self, lines: Iterable[bytes]) -> Taken:
        """Take nodes in by their canonical lines, without line ends: what `Batch.lines.splitlines()` gives."""
        found = [piece_of(line) for line in lines]
        pieces = [piece for piece in found if piece is not None]
        refused = len(found) - len(pieces)

        def step() -> Taken:
            return self._taken(Growth(self._files).take(pieces), refused)

        return self._change(step)

    def append(self, delta: Delta) -> Taken | None:
        """Take in what a session said after one of its entries; None where that entry is unknown, and the delta waits.

        Raises `RefusedError` for a snapshot: one that repeats more than a bounded overlap.
        """

        def step() -> Taken | None:
            grown = Growth(self._files).append(delta)
            return None if grown is None else self._taken(grown, 0)

        return self._change(step)

    def settle(self, checkpoint: Settled) -> None:
        """Note where a session had come to rest; its node may still be to come."""
        self._change(lambda: settle(self._files, checkpoint))

    def _taken(self, grown: Grown, refused: int) -> Taken:
        self._files.merge(SEGMENTS, SETTLED)
        new = tuple(piece.digest for piece in grown.new)
        # What waited a moment ago may have been healed by what came with it.
        waiting = tuple(digest for digest in grown.waiting if digest not in set(new))
        return Taken(new, tuple(dict.fromkeys(grown.known)), waiting, refused)

    def missing_of(self, session: SessionKey) -> EntryId | None:
        """Return the entry that is missing of a session, so that what came of it waits; None where nothing does.

        Where several are, one that stands in nothing that waits: with it the others come.
        """

        def step() -> EntryId | None:
            if not self._files.index.missing():
                return None
            waiting = [each for each in self._files.deltas() if session_key(each.session_id) == session]
            held = {entry.entry_id for each in waiting for entry in each.entries}
            return min(
                (each.predecessor for each in waiting if each.predecessor and each.predecessor not in held),
                default=None,
            )

        return self.ask(step)

    def forget(self, digests: Iterable[Digest], reason: str) -> None:
        """Let the text of nodes go for good: from segments, from what waits, and from the search.

        Raises `NotFoundError` for one that is neither here nor waiting; then nothing is forgotten. One that is forgotten
        already is skipped.
        """
        wanted = list(dict.fromkeys(digests))

        def step() -> None:
            parents = self._parents_of(wanted)
            at = iso(self._clock.now())
            tombs = [Tombstone(digest=each, parent=parent, reason=reason, at=at) for each, parent in parents.items()]
            if tombs:
                packed = self._files.publish_records(FORGOTTEN, tombs)
                forget(self._files, tombs, [each.name for each in packed])

        self._change(step)

    def _parents_of(self, wanted: Sequence[Digest]) -> dict[Digest, Digest | None]:
        """Return the parents of those that are not forgotten yet."""
        links = self._files.index.links(wanted)
        waiting = self._files.index.waiting_in(each for each in wanted if each not in links)
        parents: dict[Digest, Digest | None] = {}
        for digest in wanted:
            link = links.get(digest)
            if link is not None and not link.is_forgotten:
                parents[digest] = link.parent
            elif link is None and digest in waiting:
                parents[digest] = self._waiting_parent(waiting[digest], digest)
            elif link is None:
                raise NotFoundError(f"{digest}: no such node", remedy="See `curator trajectory show`")
        return parents

    def _waiting_parent(self, name: str, digest: Digest) -> Digest | None:
        text = self._files.shelves[WAITING].text(name) or b""
        return next((piece.parent for piece, _ in rows_of(text) if piece.digest == digest), None)

    # What reviews covered.

    def cover(self, batch: Coverage) -> None:
        """Note what became of turns or nodes, all of the batch or nothing; durable when it returns.

        What is in that state already stays as it is. Raises `RefusedError` naming the first digest that the table does
        not let go there, or that another plan has leased.
        """

        def step() -> None:
            covered = self._files.index.coverage(batch.digests)
            fresh = tuple(each for each in dict.fromkeys(batch.digests) if _moves(each, covered.get(each), batch))
            if fresh:
                number = self._files.index.last_number() + 1
                record = dataclasses.replace(batch, digests=fresh, number=number)
                self._files.put_records(COVERAGE, [record], lambda: self._files.index.put_coverage(record))
                self._files.merge(COVERAGE)

        self._change(step)

    def coverage(self, digests: Iterable[Digest]) -> dict[Digest, Covered]:
        """Return what became of those that anybody covered; what is not in it is pending."""
        wanted = list(digests)
        return self.ask(lambda: self._files.index.coverage(wanted)) or {}

    # Looking.

    def has(self, digests: Iterable[Digest]) -> set[Digest]:
        """Return those that are here. What waits, or was forgotten, is not."""
        wanted = list(digests)

        def step() -> set[Digest]:
            return {each for each, link in self._files.index.links(wanted).items() if not link.is_forgotten}

        return self.ask(step) or set()

    def node(self, digest: Digest) -> Node | None:
        """Return a node, proved by its digest, or None where none is here."""
        found = self.ask(lambda: self._lines([digest]))
        return read_node(found[0]) if found else None

    def path_to(self, leaf: Digest) -> Iterator[Node]:
        """Yield the nodes from the root to `leaf`; forgotten ones are left out. Holds no lock between two of them.

        Raises `NotFoundError` for a leaf that is not here, `InvalidRecordError` where an ancestor was lost by damage.
        """
        path = self.ask(lambda: self._path(leaf))
        if path is None:
            raise NotFoundError(f"{leaf}: no such node", remedy="See `curator trajectory show`")
        for at in range(0, len(path), _AT_ONCE):
            lines = self.ask(functools.partial(self._lines, path[at : at + _AT_ONCE]))
            yield from map(read_node, lines or ())

    def leaves(self) -> Iterator[Leaf]:
        """Yield every end of the graph, and every node that a checkpoint names, in the order of their digests."""
        named: dict[Digest, set[SessionKey]] = {}
        for source in self.sources():
            for tip in source.leaves:
                named.setdefault(tip.digest, set()).add(source.session_key)
        found = self.ask(lambda: (self._settled(), self._files.index.ends()))
        settled, ends = found or ({}, [])
        for digest in sorted({*settled, *ends}):
            sessions = named.get(digest, set()) | settled.get(digest, set())
            yield Leaf(digest, frozenset(sessions), digest in settled)

    # How far session files were read.

    def source(self, session: SessionKey) -> Source | None:
        """Return how far a session file was read."""
        path = self.layout.source(session)
        source = read_record(path, Source, SOURCE_BYTES_MAX)
        if source is not None and source.session_key != session:
            raise InvalidRecordError(path, "is of another session than its name says")
        return source

    def sources(self) -> Iterator[Source]:
        """Yield how far each session file was read."""
        for name in list_names(self.layout.sources, DIRECTORY_NAMES_MAX):
            if SOURCE_NAME.fullmatch(name):
                source = self.source(SessionKey(name.removesuffix(".json")))
                if source is not None:
                    yield source

    def read_through(self, source: Source) -> None:
        """Note how far a session file was read; the last word counts.

        Raises `RefusedError` where one of its leaves was not taken: a file that counts as read is not read again.
        """

        def step() -> None:
            links = self._files.index.links(tip.digest for tip in source.leaves)
            lost = next((tip.digest for tip in source.leaves if tip.digest not in links), None)
            if lost is not None:
                raise RefusedError(f"{lost}: was not taken, and its source is not read to the end without it")
            ensure_directory(self._volume, self.layout.sources)
            replace(self._volume, self.layout.source(source.session_key), line_of(source) + b"\n")

        self._change(step)

    # The lock and the index.

    @property
    def files(self) -> Files:
        """What it is made of, for whoever looks deeper; used within `ask`."""
        return self._files

    def close(self) -> None:
        """Let go of the index."""
        self._files.index.close()

    def rebuild(self) -> None:
        """Make the index anew from the files."""
        self._files.drop_index()
        self._change(lambda: None)

    def tend(self) -> None:
        """Finish what was begun, pack what is small, and let go of what has waited too long."""
        before = self._clock.now() - WAITING_MS

        def step() -> None:
            Growth(self._files)
            self._files.merge(SEGMENTS, SETTLED, COVERAGE, FORGOTTEN)
            for folder in self._files.folders():
                sweep(self._volume, folder, self._clock.now())
            old = [each.name for each in ages_in(self.layout.waiting) if each.mtime_ms < before]
            self._files.remove(WAITING, [name for name in old if NAME.fullmatch(name)])

        self.ask(step)

    def ask(self, step: Callable[[], T]) -> T | None:
        """Ask its files something, under its lock; where there is no ledger, none is made for a question."""
        return None if mode_of(self.layout.root) is None else self._change(step)

    def _change(self, step: Callable[[], T]) -> T:
        def current() -> T:
            catch_up(self._files)
            return step()

        return self._files.held(current)

    def _lines(self, digests: Sequence[Digest]) -> list[bytes]:
        spots = self._files.index.spots(digests)
        found = [self._files.line(spots[each]) for each in digests if each in spots]
        return [line for line in found if line is not None]

    def _path(self, leaf: Digest) -> list[Digest] | None:
        """Return what stands on the way to a leaf, or None where that does not."""
        path: list[Digest] = []
        at: Digest | None = leaf
        while at is not None:
            link = self._files.index.link(at)
            if link is None and path:
                raise InvalidRecordError(
                    self.layout.segments, f"lacks the node {at}", remedy="Run `curator trajectory verify`"
                )
            if link is None or (link.is_forgotten and at == leaf):
                return None
            if not link.is_forgotten:
                path.append(at)
            at = link.parent
        return path[::-1]

    def _settled(self) -> dict[Digest, set[SessionKey]]:
        """Return the nodes that checkpoints name and that stand."""
        settled = self._files.index.settled_leaves()
        links = self._files.index.links(settled)
        return {
            digest: found for digest, found in settled.items() if digest in links and not links[digest].is_forgotten
        }


def _moves(digest: Digest, covered: Covered | None, batch: Coverage) -> bool:
    """Tell whether a digest goes to another state, by an arrow of the table. Raises `RefusedError` where it may not."""
    state = TABLE.initial if covered is None else covered.state
    is_leased = covered is not None and state is CoverageState.LEASED
    if covered is not None and is_leased and covered.by != batch.by:
        raise RefusedError(f"{digest}: is leased by {covered.by}", remedy="Wait for that plan, or cancel it")
    if state is batch.state:
        return False
    verb = verb_between(state, batch.state)
    if verb is None:
        raise RefusedError(f"{digest}: is {state}, and cannot become {batch.state}")
    return TABLE.step(state, verb) is batch.state
