"""A session read whole, for tests to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from curator.model.times import ms_of
from curator.model.trajectory import Node, Progress, read_node
from curator.tracks.trajectory.facts import Ended
from curator.tracks.trajectory.reading import index_file

NOW: Final = ms_of("2026-06-01T00:00:00.000Z")


class Read(NamedTuple):
    nodes: list[Node]
    ended: Ended

    def named(self, entry_id: str) -> Node:
        return next(node for node in self.nodes if node.entry_id == entry_id)

    def path_to(self, entry_id: str) -> list[str]:
        by_digest = {node.digest: node for node in self.nodes}
        at: Node | None = self.named(entry_id)
        path: list[str] = []
        while at is not None:
            path.append(at.entry_id)
            at = by_digest[at.parent] if at.parent is not None else None
        return path[::-1]


def read(path: Path, *, resume: Progress | None = None, until: int | None = None, is_digested: bool = False) -> Read:
    nodes: list[Node] = []
    for event in index_file(str(path), NOW, resume=resume, until=until, is_digested=is_digested):
        if isinstance(event, Ended):
            return Read(nodes, event)
        nodes += [read_node(line) for line in event.lines.splitlines()]
    raise AssertionError("it never ended")
