"""A process that dies anywhere leaves an index that the next one brings in step: the campaign's stories lose theirs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.model.digest import Digest
from curator.model.ids import EntryId, session_key
from curator.model.ledger import Coverage, CoverageState, Delta, Payload, Settled
from curator.model.limits import MERGED_AT_ONCE
from curator.tracks.trajectory.ledger import Ledger
from curator.tracks.trajectory.search import search
from curator.tracks.trajectory.verify import check
from tests.durable.volumes import Crash, Mortal, Unflushed
from tests.kit import HandClock
from tests.tracks.trajectory.ledgers import AT, chain, digests, files_of, key_of, open_ledger

NODES = chain(6)
SESSION = "session-of-pi"
Step = Callable[[Ledger], object]


def delta(first: int, count: int) -> Delta:
    """What a session said from an entry on."""
    ids = [EntryId(f"p{first + number}") for number in range(count)]
    entries = tuple(
        Payload(entry_id=each, after=ids[at - 1] if at else None, at=AT, role="user", text=f"USER: {each}")
        for at, each in enumerate(ids)
    )
    predecessor = EntryId(f"p{first - 1}") if first else None
    return Delta(session_id=SESSION, predecessor=predecessor, entries=entries, settled_leaf=ids[-1], settled_at=AT)


def nothing(_ledger: Ledger) -> None:
    """Begin without a past."""


def past(ledger: Ledger) -> None:
    """Leave nodes in two files, and some that wait."""
    ledger.take(NODES[:2])
    ledger.take(NODES[2:3])
    ledger.take(NODES[4:])
    search(ledger, "said")


def many(ledger: Ledger) -> None:
    for node in chain(MERGED_AT_ONCE - 1, name="m"):
        ledger.take([node])


def waiting(ledger: Ledger) -> None:
    ledger.append(delta(0, 2))
    ledger.append(delta(4, 2))


def cover(ledger: Ledger) -> None:
    """Go on from where it stands, as a plan does."""
    found = ledger.coverage([NODES[0].digest]).get(NODES[0].digest)
    for state in (CoverageState.LEASED, CoverageState.PROCESSED)[bool(found) :]:
        ledger.cover(Coverage(state=state, digests=(NODES[0].digest,), by="plan", at=AT))


CASES: tuple[tuple[str, Step, Step], ...] = (
    ("take", nothing, lambda ledger: ledger.take(NODES)),
    ("heal", past, lambda ledger: ledger.take(NODES[3:4])),
    ("pack", many, lambda ledger: ledger.take(chain(MERGED_AT_ONCE, name="m"))),
    ("forget", past, lambda ledger: ledger.forget(digests([NODES[1], NODES[4]]), "gone")),
    ("wait", nothing, waiting),
    ("append", waiting, lambda ledger: ledger.append(delta(2, 2))),
    ("settle", past, lambda ledger: ledger.settle(settled(NODES[2].digest))),
    ("cover", past, cover),
)


def settled(leaf: Digest) -> Settled:
    return Settled(session_key=session_key(SESSION), entry_id=EntryId("e2"), leaf=leaf, at=AT)


def said(ledger: Ledger) -> object:
    """All that a ledger answers."""
    leaves = list(ledger.leaves())
    paths = [[node.digest for node in ledger.path_to(leaf.digest)] for leaf in leaves]
    covered = ledger.coverage(digests(NODES))
    waits = sorted(name for name in files_of(ledger) if name.startswith("waiting/"))
    return leaves, paths, covered, waits, {node.digest for node in search(ledger, "said")}


@pytest.mark.parametrize(("name", "before", "step"), CASES, ids=[name for name, _, _ in CASES])
def test_a_death_anywhere_is_made_good_by_doing_it_again(tmp_path: Path, name: str, before: Step, step: Step) -> None:
    del name
    start = tmp_path / "start"
    start.mkdir()
    ready = open_ledger(start)
    before(ready)
    ready.close()
    healthy = copied(start, tmp_path / "healthy")
    step(healthy)
    healthy.tend()
    expected = said(healthy)

    for survive in range(200):
        ledger = copied(start, tmp_path / f"dead-{survive}", Mortal(survive))
        try:
            step(ledger)
        except Crash:
            pass
        else:
            assert survive > 3
            return
        after = Ledger(ledger.layout, Unflushed(), HandClock())
        step(after)
        after.tend()
        assert said(after) == expected, f"after {survive} verbs"
        assert list(check(after, lambda _lines: None)) == []
        after.close()
    pytest.fail("it never ends")


def copied(start: Path, place: Path, volume: Volume | None = None) -> Ledger:
    """The same ledger, index included, elsewhere."""
    shutil.copytree(start, place)
    layout = Layout(place / "agent").trajectory(key_of(start / "project"))
    return Ledger(layout, volume or Unflushed(), HandClock())
