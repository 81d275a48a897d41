"""The ledger of one project's trajectory: what was said there, as a graph; what was settled, and what reviews covered.

INVARIANT  What `take`, `settle`, `cover` and `forget` returned from survives power loss. A node stands only when its
           parent does, or when that was forgotten. Files are the authority; the index is a cache of them.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from curator.durable.trajectory_layout import TrajectoryLayout
    from curator.durable.volume import Volume
    from curator.model.digest import Digest
    from curator.model.ids import SessionKey
    from curator.model.ledger import Coverage, Covered, Settled, Source
    from curator.model.ports import Clock
    from curator.model.trajectory import Node


@dataclasses.dataclass(frozen=True, slots=True)
class Taken:
    """What became of nodes that were handed in, by digest and in the order in which they came."""

    new: tuple[Digest, ...] = ()
    """Now in the ledger, with what their coming has healed."""
    known: tuple[Digest, ...] = ()
    """There before, or forgotten: nothing was written."""
    waiting: tuple[Digest, ...] = ()
    """Kept apart until their ancestor comes."""
    refused: tuple[Digest, ...] = ()
    """Not what their digest says."""


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

    def take(self, nodes: Sequence[Node]) -> Taken:
        """Take nodes in, in any order; durable when it returns. Taking them again changes nothing."""
        raise NotImplementedError

    def settle(self, checkpoint: Settled) -> None:
        """Note where a session had come to rest; its node may still be to come."""
        raise NotImplementedError

    def cover(self, batch: Coverage) -> None:
        """Note what became of turns or nodes, all of the batch or nothing; durable when it returns.

        What is in that state already stays as it is. Raises `RefusedError` naming the first digest that the table does
        not let go there, or that another plan has leased.
        """
        raise NotImplementedError

    def coverage(self, digests: Iterable[Digest]) -> dict[Digest, Covered]:
        """Return what became of those that anybody covered; what is not in it is pending."""
        raise NotImplementedError

    def forget(self, digests: Iterable[Digest], reason: str) -> None:
        """Let the text of nodes go for good: from segments, from what waits, and from the search.

        Raises `NotFoundError` for one that is neither here nor waiting; then nothing is forgotten. One that is forgotten
        already is skipped.
        """
        raise NotImplementedError

    def has(self, digests: Iterable[Digest]) -> set[Digest]:
        """Return those that are here. What waits, or was forgotten, is not."""
        raise NotImplementedError

    def node(self, digest: Digest) -> Node | None:
        """Return a node, proved by its digest, or None where none is here."""
        raise NotImplementedError

    def path_to(self, leaf: Digest) -> Iterator[Node]:
        """Yield the nodes from the root to `leaf`; forgotten ones are left out. Holds no lock between two of them.

        Raises `NotFoundError` for a leaf that is not here.
        """
        raise NotImplementedError

    def leaves(self) -> Iterator[Leaf]:
        """Yield every end of the graph, and every node that a checkpoint names, in the order of their digests."""
        raise NotImplementedError

    def source(self, session: SessionKey) -> Source | None:
        """Return how far a session file was read."""
        raise NotImplementedError

    def read_through(self, source: Source) -> None:
        """Note how far a session file was read; only after all before it was taken. The last word counts."""
        raise NotImplementedError
