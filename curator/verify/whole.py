"""The whole check, room by room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.errors import NotFoundError
from curator.verify.accounting import check_accounting
from curator.verify.admissions import check_admissions
from curator.verify.beats import check_beats
from curator.verify.checkpoints import check_checkpoints
from curator.verify.closed import check_closed_days
from curator.verify.closings import check_closings
from curator.verify.decided import check_decided
from curator.verify.journal import check_journal
from curator.verify.names import check_names
from curator.verify.plans import check_plans
from curator.verify.revisions import check_memory
from curator.verify.spool import check_spool
from curator.verify.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.verify.finding import Finding


def verify(layout: Layout, looked: Callable[[Path], None]) -> Iterator[Finding]:
    """Yield everything that is wrong, on its way, or nobody's, under an agent folder; change nothing.

    `looked` is told each record as it is judged. Works on a live folder and on a copy; a live one may be a little
    further on with each record, so an error is told only if a second look finds it too. Raises `NotFoundError` where
    no such folder stands, `StorageError` where the disk cannot be read.
    """
    if not layout.root.is_dir():
        fact = f"{layout.root}: no such folder"
        raise NotFoundError(fact, remedy="Name the agent folder, the one above `no-forgetti`, with --agent-dir")
    tree = Tree(layout, looked)
    yield from check_names(layout)
    yield from check_beats(tree)
    yield from check_decided(tree)
    yield from check_spool(tree)
    yield from check_journal(tree)
    yield from check_closed_days(tree)
    yield from check_accounting(tree)
    yield from check_checkpoints(tree)
    yield from check_closings(tree)
    for project in tree.projects():
        yield from check_memory(tree, project)
        yield from check_admissions(tree, project)
    yield from check_plans(tree)
    for shadow in tree.shadows():
        yield from check_memory(tree, shadow)
        yield from check_admissions(tree, shadow)
