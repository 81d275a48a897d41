"""From a session file to nodes: a pure function of a path, in memory that does not grow with the file.

It runs in this process, in a pool, or on a Dask worker, and gives the same nodes each time: what depends on the machine
or the hour does not reach them. A bookmark (`label`) gets no node: Pi leaves bookmarks out when it copies a branch to a
fork, and the fork shares its nodes only so. An entry whose parent was not written before it is a root, as it is to Pi.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from curator.model.digest import Digest
from curator.model.trajectory import Progress, Role
from curator.tracks.trajectory.facts import Ended


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
    path: str, now: int, *, resume: Progress | None = None, until: int | None = None
) -> Iterator[Batch | Ended]:
    """Read a session from its first byte, or go on from `resume`, up to `until` or the end; last comes an `Ended`.

    Where going on is impossible, because the file was written anew or a branch grew out of an older entry, it is read
    from its first byte: nodes that are there already are the same nodes. `now` judges dates and nothing else.

    Raises `NotFoundError`, `StorageError`, and `InvalidRecordError` for what is no session, or was written anew while
    it was read; what came before that is to be thrown away then.
    """
    raise NotImplementedError
