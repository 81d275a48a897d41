"""Search what was said: words are indexed when somebody asks, and what is found is read from the files and proved.

The first search after much was taken in takes its time; whoever takes in pays nothing for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from curator.errors import UsageError
from curator.model.digest import MalformedJsonError
from curator.model.limits import FOUND_MAX
from curator.model.record import Violation
from curator.model.trajectory import read_node

if TYPE_CHECKING:
    from collections.abc import Callable

    from curator.model.trajectory import Node
    from curator.tracks.trajectory.index import Spot
    from curator.tracks.trajectory.ledger import Ledger

_AT_ONCE: Final = 2_000
"""So many nodes are indexed under one hold of the lock."""
_TERM: Final = re.compile(r'"([^"]*)"|(\S+)')


def search(ledger: Ledger, words: str, limit: int = FOUND_MAX, tell: Callable[[int], None] | None = None) -> list[Node]:
    """Return the nodes in which all of the words stand, the best first.

    What stands in quotes is one phrase; a star ends the beginning of a word. `tell` is told how many nodes are still to
    be indexed. Raises `UsageError` where no word is given.
    """
    asked = _asked(words)
    index_words(ledger, tell)

    bound = min(limit, FOUND_MAX)
    found = ledger.ask(lambda: _find(ledger, asked, bound))
    if found is None:
        # A place that it names holds something else: the index is not what the files say.
        ledger.rebuild()
        index_words(ledger, tell)
        found = ledger.ask(lambda: _find(ledger, asked, bound))
    return found or []


def _find(ledger: Ledger, asked: str, limit: int) -> list[Node] | None:
    """Return what is found, read from its file, or None where a file does not hold what the index says."""
    nodes: list[Node] = []
    for digest, spot in ledger.files.index.find(asked, limit):
        node = _read(ledger, spot)
        if node is None or node.digest != digest:
            return None
        nodes.append(node)
    return nodes


def _read(ledger: Ledger, spot: Spot) -> Node | None:
    line = ledger.files.line(spot)
    try:
        return None if line is None else read_node(line)
    except (Violation, MalformedJsonError):
        return None


def index_words(ledger: Ledger, tell: Callable[[int], None] | None = None) -> None:
    """Index the words of every node that came since the last search."""
    while (left := ledger.ask(lambda: _index_some(ledger))) is not None and left > 0:
        if tell is not None:
            tell(left)


def _index_some(ledger: Ledger) -> int:
    """Index some nodes; return how many are left."""
    index = ledger.files.index
    untold = index.untold(_AT_ONCE)
    if untold:
        said: list[tuple[int, str]] = []
        for number, spot in untold:
            node = _read(ledger, spot)
            said.append((number, "" if node is None else node.text))
        with index.change():
            index.tell(said)
    return index.counts()["untold"]


def _asked(words: str) -> str:
    """Return what a person typed in SQLite's own language: each word as a string, so that none is an operator."""
    terms: list[str] = []
    for found in _TERM.finditer(words):
        phrase, word = found.group(1), found.group(2)
        text = phrase if phrase is not None else word.rstrip("*")
        if any(char.isalnum() for char in text):
            star = "*" if phrase is None and word.endswith("*") else ""
            terms.append('"' + text.replace('"', '""') + '"' + star)
    if not terms:
        raise UsageError("there is no word to search for", remedy="Give a word, or a phrase in quotes")
    return " ".join(terms)
