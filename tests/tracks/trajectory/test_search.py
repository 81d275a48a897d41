"""Search: words are found wherever they were said, what was forgotten is not, and no answer is given by the index alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from curator.errors import UsageError
from curator.model.digest import Digest
from curator.model.ids import EntryId
from curator.model.trajectory import Node, make_node
from curator.tracks.trajectory.index import Spot
from curator.tracks.trajectory.ledger import Ledger
from curator.tracks.trajectory.search import index_words, search
from tests.tracks.trajectory.ledgers import AT, digests, open_ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return open_ledger(tmp_path)


def saying(*texts: str) -> list[Node]:
    nodes: list[Node] = []
    parent: Digest | None = None
    for number, text in enumerate(texts):
        nodes.append(make_node(parent, EntryId(f"e{number}"), AT, "user", text))
        parent = nodes[-1].digest
    return nodes


def test_all_words_must_stand_in_what_is_found(ledger: Ledger) -> None:
    nodes = saying("Run the linter first", "The linter is slow", "Nothing of it", "")
    ledger.take(nodes)

    assert set(search(ledger, "linter")) == set(nodes[:2])
    assert search(ledger, "LINTER first") == nodes[:1]
    assert search(ledger, "lint*  slow") == nodes[1:2]
    assert search(ledger, '"linter is"') == nodes[1:2]
    assert search(ledger, "absent") == []
    assert len(search(ledger, "linter", limit=1)) == 1


def test_what_came_after_a_search_is_found_by_the_next(ledger: Ledger) -> None:
    nodes = saying("one word", "another word")
    ledger.take(nodes[:1])
    first = search(ledger, "word")
    ledger.take(nodes[1:])

    assert (first, set(search(ledger, "word"))) == (nodes[:1], set(nodes))


@pytest.mark.parametrize("words", ['AND OR NOT NEAR("x', "text:word", "col^umn", "a'b;drop table said", "words NOT x"])
def test_no_word_is_an_operator(ledger: Ledger, words: str) -> None:
    ledger.take(saying("plain words"))

    assert search(ledger, words) == []


@pytest.mark.parametrize("words", ["", '""', "* - ^"])
def test_no_word_is_said(ledger: Ledger, words: str) -> None:
    with pytest.raises(UsageError, match="no word"):
        search(ledger, words)


def test_what_was_forgotten_is_not_found_and_no_byte_of_it_stays_in_the_index(ledger: Ledger) -> None:
    nodes = saying("plain", "the peculiarword here")
    ledger.take(nodes)
    assert search(ledger, "peculiarword") == nodes[1:]

    ledger.forget([nodes[1].digest], "a person's word")

    assert search(ledger, "peculiarword") == []
    assert search(ledger, "plain") == nodes[:1]
    ledger.close()
    for path in ledger.layout.root.rglob("*"):
        assert path.is_dir() or b"peculiarword" not in path.read_bytes(), path


@pytest.mark.parametrize(
    "places",
    [lambda first, second: (second, first), lambda first, _: (first, Spot(first.name, 3, 17))],
    ids=["of another node", "of nothing"],
)
def test_a_hit_is_read_from_its_file_and_an_index_that_lies_is_made_anew(
    ledger: Ledger, places: Callable[[Spot, Spot], tuple[Spot, Spot]]
) -> None:
    nodes = saying("first words", "second words")
    ledger.take(nodes)
    index_words(ledger)

    def lie() -> None:
        index, name = ledger.files.index, next(iter(ledger.files.shelves["segments"].names()))
        first, second = (index.spots([each])[each] for each in digests(nodes))
        rows = [
            (bytes.fromhex(node.digest), None, "e0", spot.byte, spot.size)
            for node, spot in zip(nodes, places(first, second), strict=True)
        ]
        with index.change():
            index.put_nodes(index.note_file("segments", name, 0), rows)

    ledger.ask(lie)

    assert search(ledger, "first") == nodes[:1]
    assert search(ledger, "second") == nodes[1:]


def test_an_empty_ledger_has_nothing_to_find(ledger: Ledger) -> None:
    assert search(ledger, "anything") == []
