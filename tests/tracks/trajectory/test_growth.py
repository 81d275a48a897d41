"""However a graph grows, in any order, with gaps, duplicates, forks and forgetting in between, it ends as the same one."""

from __future__ import annotations

import dataclasses
import zlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curator.model.digest import Digest
from curator.model.trajectory import Node
from curator.tracks.trajectory.ledger import Ledger
from tests.tracks.trajectory.ledgers import chain, digests, files_of, open_ledger


@dataclasses.dataclass(frozen=True)
class Told:
    """One thing that happens to a ledger."""

    nodes: tuple[int, ...] = ()
    is_forgetting: bool = False
    is_reopened: bool = False


def _forest() -> list[Node]:
    """A root with forks in forks, and a second root: what sessions and their copies leave."""
    trunk = chain(6)
    fork = chain(4, trunk[2].digest, "f")
    return [*trunk, *fork, *chain(3, fork[1].digest, "g"), *chain(3, None, "other")]


FOREST = _forest()
BATCH = st.lists(st.integers(0, len(FOREST) - 1), min_size=1, max_size=6).map(tuple)
STEPS = st.lists(
    st.one_of(
        BATCH.map(Told),
        BATCH.map(lambda nodes: Told(nodes[:1], is_forgetting=True)),
        st.just(Told(is_reopened=True)),
    ),
    max_size=12,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_any_order_with_duplicates_gaps_forks_and_forgetting_ends_in_one_graph(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Told]
) -> None:
    place = tmp_path_factory.mktemp("order")
    ledger = open_ledger(place)
    given, gone = set[Digest](), set[Digest]()
    for step in steps:
        chosen = [FOREST[number] for number in step.nodes]
        if step.is_reopened:
            ledger.close()
            ledger = open_ledger(place)
        elif not step.is_forgetting:
            taken = ledger.take(chosen)
            given |= set(digests(chosen))
            assert {*taken.new, *taken.known, *taken.waiting} >= set(digests(chosen))
        elif chosen[0].digest in given:
            ledger.forget(digests(chosen), "a person's word")
            gone.add(chosen[0].digest)
        assert_follows_the_rule(ledger, given, gone)

    ledger.take(FOREST)

    assert ledger.has(digests(FOREST)) == set(digests(FOREST)) - gone
    assert not any("waiting/" in name for name in files_of(ledger))
    for leaf in set(digests(FOREST)) - gone:
        assert [each.digest for each in ledger.path_to(leaf)] == [each for each in way_to(leaf) if each not in gone]
    assert not any(f'"digest":"{digest}"'.encode() in all_text(ledger) for digest in gone)
    ledger.close()


def assert_follows_the_rule(ledger: Ledger, given: set[Digest], gone: set[Digest]) -> None:
    """What was given stands when all above it was given or forgotten; else it waits."""
    standing = {each for each in given - gone if all(above in given | gone for above in way_to(each))}
    ledger.tend()

    assert ledger.has(given) == standing


def way_to(leaf: Digest) -> list[Digest]:
    parents = {node.digest: node.parent for node in FOREST}
    way = [leaf]
    while (above := parents[way[-1]]) is not None:
        way.append(above)
    return way[::-1]


def all_text(ledger: Ledger) -> bytes:
    """All nodes that any file still holds."""
    return b"".join(
        zlib.decompress(content)
        for name, content in files_of(ledger).items()
        if name.startswith(("segments/", "waiting/"))
    )
