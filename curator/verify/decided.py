"""What a person decided: about projects, and about who changes memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curator.model.limits import JOURNAL_BYTES_MAX
from curator.verify.finding import Finding, error
from curator.verify.shape import Fields, Shape, listing, moment, one, text
from curator.verify.shapes.common import ONE, PROJECT_KEY
from curator.verify.tree import alone

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.verify.tree import Tree

_MODE: Final = one("embedded", "shadow", "external")
_STANDING: Final = Shape(
    {"version": ONE, "kind": one("curator-project"), "projectKey": PROJECT_KEY, "changedAt": moment}
    | {"wish": one("active", "paused", "excluded")},
    {"projectRoot": text(1, 4_096), "begun": one("link", "purge"), "purgedAt": moment}
    | {"linkedTo": PROJECT_KEY, "linkedFrom": PROJECT_KEY},
)
_SWITCH: Final = Shape(
    {"version": ONE, "kind": one("curator-authority"), "before": _MODE, "after": _MODE, "switchedAt": moment}
    | {"closedGates": listing(text(1), 0, 16)},
    {"reason": text(1, 500)},
)


def check_decided(tree: Tree) -> Iterator[Finding]:
    """Yield what is wrong with the standings of projects and the changes of mode."""
    for path in tree.records(tree.layout.standings):
        yield from tree.judge(path, _STANDING, JOURNAL_BYTES_MAX, _standing)
    for path in tree.records(tree.layout.switches):
        yield from tree.judge(path, _SWITCH, JOURNAL_BYTES_MAX, alone)


def _standing(path: Path, standing: Fields) -> Iterator[Finding]:
    if standing["projectKey"] != path.stem:
        yield error(path, "is about another project than its name says")
    elif standing.get("linkedTo") == path.stem:
        yield error(path, "goes on as itself")
