"""The ledger: whatever order nodes come in, they make one graph; nothing is lost, and nothing forgotten comes back."""

from __future__ import annotations

import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from curator.errors import BusyError, InvalidRecordError, NotFoundError, RefusedError
from curator.model.digest import Digest
from curator.model.ids import EntryId, session_key
from curator.model.ledger import Coverage, CoverageState, Settled, Source
from curator.model.limits import MERGED_AT_ONCE, WAITING_MAX, WAITING_MS
from curator.model.trajectory import Node, Progress, Tip, make_node
from curator.tracks.trajectory.ledger import Ledger
from tests.kit import HandClock
from tests.tracks.trajectory.ledgers import AT, chain, digests, files_of, open_ledger, texts

SESSION = session_key("one")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return open_ledger(tmp_path)


def settled(node: Node) -> Settled:
    return Settled(session_key=SESSION, entry_id=node.entry_id, leaf=node.digest, at=AT)


def covering(state: CoverageState, *nodes: Node, by: str = "plan-1") -> Coverage:
    return Coverage(state=state, digests=tuple(digests(nodes)), by=by, at=AT)


def source(leaf: Digest, byte: int = 100) -> Source:
    tip = Tip(entry_id=EntryId("e1"), digest=leaf)
    return Source(
        session_key=SESSION,
        path="/sessions/one.jsonl",
        progress=Progress(session_id="one", byte=byte, line=3, prefix_digest=Digest("ab" * 32), tips=(tip,)),
        leaves=(tip,),
        nodes=2,
        damaged={"the line is not JSON": 1},
        unknown={},
        read_at=AT,
    )


# Taking.


def test_what_was_taken_is_read_back_from_root_to_leaf_by_another_process(ledger: Ledger, tmp_path: Path) -> None:
    nodes = chain(5)

    taken = ledger.take(nodes)

    assert (list(taken.new), taken.known, taken.waiting, taken.refused) == (digests(nodes), (), (), 0)
    again = open_ledger(tmp_path)
    assert list(again.path_to(nodes[-1].digest)) == nodes
    assert again.node(nodes[2].digest) == nodes[2]
    assert again.has(digests(nodes)) == set(digests(nodes))


def test_taking_again_writes_nothing(ledger: Ledger) -> None:
    nodes = chain(5)
    ledger.take(nodes)
    before = files_of(ledger)

    taken = ledger.take(nodes[1:])

    assert (taken.new, list(taken.known)) == ((), digests(nodes[1:]))
    assert files_of(ledger) == before


def test_a_fork_shares_its_prefix_once(ledger: Ledger) -> None:
    trunk = chain(3)
    fork = chain(2, trunk[1].digest, "fork")
    ledger.take(trunk)

    taken = ledger.take([*trunk[:2], *fork])

    assert (list(taken.known), list(taken.new)) == (digests(trunk[:2]), digests(fork))
    assert {leaf.digest for leaf in ledger.leaves()} == {trunk[-1].digest, fork[-1].digest}
    assert sum(content.count(b"") > 0 for content in files_of(ledger).values()) == 2


def test_what_lacks_its_ancestor_waits_and_heals_when_that_comes(ledger: Ledger) -> None:
    nodes = chain(6)
    ledger.take(nodes[:1])

    early = ledger.take(nodes[4:])
    earlier = ledger.take(nodes[2:4])
    before = ledger.has(digests(nodes))
    healed = ledger.take(nodes[1:2])

    assert (list(early.waiting), list(earlier.waiting)) == (digests(nodes[4:]), digests(nodes[2:4]))
    assert before == {nodes[0].digest}
    assert list(healed.new) == digests(nodes[1:])
    assert list(ledger.path_to(nodes[-1].digest)) == nodes
    assert not any("waiting/" in name for name in files_of(ledger))


def test_what_waits_already_is_not_kept_twice(ledger: Ledger) -> None:
    late = chain(4)[2:]
    ledger.take(late)
    before = files_of(ledger)

    assert set(ledger.take(late[::-1]).waiting) == set(digests(late))
    assert files_of(ledger) == before


def test_what_waits_is_bounded(ledger: Ledger) -> None:
    lost = [
        make_node(Digest(f"{number:064x}"), EntryId("e"), AT, "user", "USER: x") for number in range(WAITING_MAX + 1)
    ]
    ledger.take(lost[:1])

    with pytest.raises(BusyError, match="wait for their beginning already"):
        ledger.take(lost)

    assert len(files_of(ledger)) == WAITING_MAX


def test_nodes_in_the_wrong_order_stand_in_the_right_one(ledger: Ledger) -> None:
    nodes = chain(4)

    assert list(ledger.take(reversed(nodes)).new) == digests(nodes)


def test_a_line_that_is_not_what_its_digest_says_is_refused_and_the_rest_is_taken(ledger: Ledger) -> None:
    nodes = chain(3)
    lines = [node.line.encode() for node in nodes]
    lines[2] = lines[2].replace(b"said 2", b"said 3")

    taken = ledger.take_lines([*lines, b"not a node", b'{"digest":"x"}'])

    assert (list(taken.new), taken.refused) == (digests(nodes[:2]), 3)


def test_small_files_are_packed_and_every_node_is_still_found(ledger: Ledger, tmp_path: Path) -> None:
    nodes = chain(5 * MERGED_AT_ONCE)

    for node in nodes:
        ledger.take([node])

    assert len([name for name in files_of(ledger) if name.startswith("segments/")]) < MERGED_AT_ONCE + 5
    assert list(open_ledger(tmp_path).path_to(nodes[-1].digest)) == nodes


def test_packing_what_a_file_holds_already_keeps_that_file(ledger: Ledger) -> None:
    nodes = chain(MERGED_AT_ONCE - 1)
    ledger.take(nodes)
    # A removal that the power took back: each line stands in a file of its own as well.
    for node in nodes:
        ledger.files.shelves["segments"].publish(node.line.encode() + b"\n")

    ledger.tend()

    assert len(files_of(ledger)) == 1
    assert list(ledger.path_to(nodes[-1].digest)) == nodes


def test_a_damaged_file_costs_itself_and_is_named_where_it_is_needed(ledger: Ledger, tmp_path: Path) -> None:
    nodes = chain(4)
    ledger.take(nodes[:2])
    kept = set(files_of(ledger))
    ledger.take(nodes[2:])
    damaged = ledger.layout.root / next(iter(set(files_of(ledger)) - kept))
    damaged.write_bytes(damaged.read_bytes()[:-4])

    again = open_ledger(tmp_path)

    assert again.node(nodes[1].digest) == nodes[1]
    with pytest.raises(InvalidRecordError, match=damaged.name):
        again.node(nodes[2].digest)
    again.rebuild()
    assert again.has(digests(nodes)) == set(digests(nodes[:2]))
    # Reading the session again brings back what stood in it.
    damaged.unlink()
    assert list(open_ledger(tmp_path).take(nodes).new) == digests(nodes[2:])


def test_a_lost_ancestor_is_said(ledger: Ledger, tmp_path: Path) -> None:
    nodes = chain(4)
    ledger.take(nodes[:2])
    first = ledger.layout.root / next(iter(files_of(ledger)))
    ledger.take(nodes[2:])
    first.unlink()

    with pytest.raises(InvalidRecordError, match=nodes[1].digest):
        list(open_ledger(tmp_path).path_to(nodes[-1].digest))


def test_everything_is_private(ledger: Ledger) -> None:
    ledger.take(chain(2))
    ledger.settle(settled(chain(2)[1]))

    for path in ledger.layout.root.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_an_index_that_is_gone_damaged_or_of_another_number_is_made_anew(ledger: Ledger, tmp_path: Path) -> None:
    nodes = chain(3)
    ledger.take(nodes)
    ledger.close()
    index = ledger.layout.index

    def renumber() -> None:
        connection = sqlite3.connect(index)
        connection.execute("pragma user_version = 99")
        connection.execute("drop table node")
        connection.close()

    for spoil in (
        index.unlink,
        lambda: index.write_bytes(b"SQLite format 3\0 no more"),
        lambda: index.write_bytes(b""),
        renumber,
    ):
        spoil()
        assert list(open_ledger(tmp_path).path_to(nodes[-1].digest)) == nodes


def test_an_index_that_lags_behind_takes_in_what_stands(ledger: Ledger, tmp_path: Path) -> None:
    nodes = chain(3)
    ledger.take(nodes[:2])
    ledger.close()
    before = ledger.layout.index.read_bytes()
    ledger.take(nodes[2:])
    ledger.close()
    ledger.layout.index.write_bytes(before)

    assert list(open_ledger(tmp_path).path_to(nodes[-1].digest)) == nodes


def test_no_ledger_is_made_for_a_question(ledger: Ledger) -> None:
    digest = chain(1)[0].digest

    assert (ledger.has([digest]), ledger.node(digest), ledger.coverage([digest])) == (set(), None, {})
    assert list(ledger.leaves()) == []
    with pytest.raises(NotFoundError):
        list(ledger.path_to(digest))
    assert not ledger.layout.root.exists()


# Checkpoints and sources.


def test_a_checkpoint_is_apart_from_its_node_and_may_come_first(ledger: Ledger) -> None:
    nodes = chain(3)
    ledger.settle(settled(nodes[1]))
    ledger.settle(settled(nodes[1]))
    before = list(ledger.leaves())

    ledger.take(nodes)

    assert before == []
    found = {leaf.digest: leaf for leaf in ledger.leaves()}
    assert (found[nodes[1].digest].is_settled, found[nodes[1].digest].sessions) == (True, frozenset({SESSION}))
    assert (found[nodes[2].digest].is_settled, found[nodes[2].digest].sessions) == (False, frozenset())
    assert len([name for name in files_of(ledger) if name.startswith("settled/")]) == 1


def test_a_source_is_noted_only_over_what_was_taken(ledger: Ledger) -> None:
    nodes = chain(2)
    with pytest.raises(RefusedError, match="was not taken"):
        ledger.read_through(source(nodes[1].digest))
    assert ledger.source(SESSION) is None

    ledger.take(nodes)
    ledger.read_through(source(nodes[1].digest))
    ledger.read_through(source(nodes[1].digest, byte=200))

    assert ledger.source(SESSION) == source(nodes[1].digest, byte=200)
    assert [leaf.sessions for leaf in ledger.leaves()] == [{SESSION}]


# Coverage.


def test_indexing_implies_no_review(ledger: Ledger) -> None:
    nodes = chain(2)
    ledger.take(nodes)

    assert ledger.coverage(digests(nodes)) == {}


def test_coverage_goes_along_the_table_and_is_found_by_another_process(ledger: Ledger, tmp_path: Path) -> None:
    one, two = chain(2)
    for state in (CoverageState.LEASED, CoverageState.LEASED, CoverageState.PROCESSED):
        ledger.cover(covering(state, one))
    ledger.cover(covering(CoverageState.EXCLUDED, two, by="cursor"))
    ledger.close()
    ledger.layout.index.unlink()

    found = open_ledger(tmp_path).coverage(digests([one, two]))

    assert (found[one.digest].state, found[one.digest].by) == (CoverageState.PROCESSED, "plan-1")
    assert (found[two.digest].state, found[two.digest].by) == (CoverageState.EXCLUDED, "cursor")
    assert len([name for name in files_of(ledger) if name.startswith("coverage/")]) == 3


def test_a_batch_is_covered_whole_or_not_at_all(ledger: Ledger) -> None:
    one, two = chain(2)
    ledger.cover(covering(CoverageState.DAMAGED, two))

    with pytest.raises(RefusedError, match=f"{two.digest}: is damaged, and cannot become leased"):
        ledger.cover(covering(CoverageState.LEASED, one, two))

    assert ledger.coverage([one.digest]) == {}


def test_what_one_plan_has_leased_no_other_plan_moves(ledger: Ledger) -> None:
    (node,) = chain(1)
    ledger.cover(covering(CoverageState.LEASED, node))

    for state in (CoverageState.LEASED, CoverageState.PENDING, CoverageState.PROCESSED):
        with pytest.raises(RefusedError, match="is leased by plan-1"):
            ledger.cover(covering(state, node, by="plan-2"))
    ledger.cover(covering(CoverageState.PENDING, node))
    ledger.cover(covering(CoverageState.LEASED, node, by="plan-2"))

    assert ledger.coverage([node.digest])[node.digest].by == "plan-2"


# Forgetting.


def test_what_is_forgotten_is_gone_from_every_file_and_does_not_come_back(ledger: Ledger, tmp_path: Path) -> None:
    nodes = chain(4)
    ledger.take(nodes[:2])
    ledger.take(nodes[2:])

    ledger.forget([nodes[1].digest], "it was a key")
    taken = ledger.take(nodes)

    assert taken.new == ()
    assert ledger.has(digests(nodes)) == {*digests(nodes)} - {nodes[1].digest}
    assert ledger.node(nodes[1].digest) is None
    assert list(texts(ledger, nodes[-1].digest)) == [node.text for node in nodes if node != nodes[1]]
    assert open_ledger(tmp_path).take(nodes).new == ()


def test_forgetting_what_waits_leaves_what_waits_beside_it(ledger: Ledger) -> None:
    nodes = chain(4)
    ledger.take(nodes[1:])

    ledger.forget([nodes[1].digest], "it was a key")
    taken = ledger.take(nodes)

    assert set(taken.new) == {nodes[0].digest, nodes[2].digest, nodes[3].digest}
    assert list(texts(ledger, nodes[-1].digest)) == [nodes[0].text, nodes[2].text, nodes[3].text]


def test_forgetting_what_is_not_here_forgets_nothing(ledger: Ledger) -> None:
    nodes = chain(2)
    ledger.take(nodes)
    with pytest.raises(NotFoundError, match="0" * 64):
        ledger.forget([nodes[0].digest, Digest("0" * 64)], "it was a key")

    assert ledger.has(digests(nodes)) == set(digests(nodes))


def test_what_could_not_be_read_again_is_not_kept(ledger: Ledger) -> None:
    (node,) = chain(1)
    ledger.take([node])
    before = files_of(ledger)

    with pytest.raises(RefusedError, match="reason"):
        ledger.forget([node.digest], "why " * 100)
    with pytest.raises(RefusedError, match="by"):
        ledger.cover(covering(CoverageState.LEASED, node, by="two words"))

    assert files_of(ledger) == before


def test_a_forgotten_leaf_leaves_its_parent_as_the_end(ledger: Ledger) -> None:
    nodes = chain(3)
    ledger.take(nodes)
    ledger.forget([nodes[2].digest], "it was a key")
    after_leaf = [leaf.digest for leaf in ledger.leaves()]
    ledger.forget([nodes[0].digest], "it was a key")

    assert after_leaf == [nodes[1].digest]
    assert [leaf.digest for leaf in ledger.leaves()] == [nodes[1].digest]


def test_what_waits_too_long_goes(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path)
    ledger.take(chain(3)[1:])
    ledger.tend()
    assert any("waiting/" in name for name in files_of(ledger))

    waiting = next(ledger.layout.waiting.iterdir())
    late = HandClock(waiting.stat().st_mtime_ns // 1_000_000 + WAITING_MS + 1_000)
    Ledger(ledger.layout, ledger.files.volume, late).tend()

    assert not any("waiting/" in name for name in files_of(ledger))


# Releases and processes.


def test_the_same_node_of_another_release_is_another_node(ledger: Ledger) -> None:
    one = make_node(None, EntryId("e0"), AT, "user", "USER: said")
    other = make_node(None, EntryId("e0"), AT, "user", "USER: said otherwise")

    assert len(ledger.take([one, other]).new) == 2


def test_several_at_once_lose_nothing_of_each_other_s(tmp_path: Path) -> None:
    root = chain(1)
    open_ledger(tmp_path).take(root)
    branches = [chain(12, root[0].digest, f"branch{number}x") for number in range(3)]

    def take(branch: list[Node]) -> None:
        ledger = open_ledger(tmp_path)
        for node in branch:
            ledger.take([node])
        ledger.close()

    with ThreadPoolExecutor(len(branches)) as pool:
        list(pool.map(take, branches))

    ledger = open_ledger(tmp_path)
    assert {leaf.digest for leaf in ledger.leaves()} == {branch[-1].digest for branch in branches}
    assert all(list(ledger.path_to(branch[-1].digest)) == [*root, *branch] for branch in branches)
