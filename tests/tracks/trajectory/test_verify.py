"""The check of a trajectory names each kind of damage, and a healthy one passes."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from curator.model.digest import canonical
from curator.model.ids import session_key
from curator.model.ledger import Coverage, CoverageState, Settled
from curator.tracks.trajectory.ledger import Ledger
from curator.tracks.trajectory.verify import Flaw, check
from tests.tracks.trajectory.ledgers import AT, chain, digests, open_ledger
from tests.tracks.trajectory.test_ledger import source

NODES = chain(4)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger with something of every kind in it."""
    made = open_ledger(tmp_path)
    made.take(NODES[:1])
    made.take(NODES[1:3])
    made.take(chain(2, NODES[3].digest, "late"))
    made.settle(Settled(session_key=session_key("one"), entry_id=NODES[2].entry_id, leaf=NODES[2].digest, at=AT))
    made.cover(Coverage(state=CoverageState.LEASED, digests=(NODES[0].digest,), by="plan", at=AT))
    made.read_through(source(NODES[2].digest))
    return made


def flaws(ledger: Ledger) -> list[Flaw]:
    return list(check(ledger, lambda _lines: None))


def only(ledger: Ledger, folder: str) -> Path:
    return min((ledger.layout.root / folder).iterdir())


def add(ledger: Ledger, folder: str, *lines: str) -> None:
    """Put a file with these lines there, under the name that is right for it."""
    text = "".join(f"{line}\n" for line in lines).encode()
    path = ledger.layout.root / folder / f"{hashlib.sha256(text).hexdigest()}.z"
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.write_bytes(zlib.compress(text))
    path.chmod(0o600)


def test_a_healthy_ledger_has_no_flaw_and_every_line_is_looked_at(ledger: Ledger) -> None:
    looked: list[int] = []

    assert list(check(ledger, looked.append)) == []
    assert sum(looked) >= 6


def test_no_ledger_has_no_flaw(tmp_path: Path) -> None:
    assert flaws(open_ledger(tmp_path)) == []


def tear(ledger: Ledger) -> None:
    path = only(ledger, "segments")
    path.write_bytes(path.read_bytes()[:-3])


def forge(ledger: Ledger) -> None:
    add(ledger, "segments", NODES[0].line.replace("said 0", "said more"))


def orphan(ledger: Ledger) -> None:
    add(ledger, "segments", chain(2, name="lost")[1].line)


def bring_back(ledger: Ledger) -> None:
    ledger.forget([NODES[2].digest], "gone")
    add(ledger, "segments", NODES[2].line)


def cover_wrongly(ledger: Ledger) -> None:
    batch = Coverage(state=CoverageState.PROCESSED, digests=(NODES[1].digest,), by="plan", at=AT, number=9)
    add(ledger, "coverage", canonical(batch.encode()))


def cover_twice(ledger: Ledger) -> None:
    batch = Coverage(state=CoverageState.EXCLUDED, digests=(NODES[1].digest,), by="plan", at=AT, number=1)
    add(ledger, "coverage", canonical(batch.encode()))


def lose_what_was_read(ledger: Ledger) -> None:
    path = only(ledger, "sources")
    value = json.loads(path.read_bytes())
    value["leaves"][0]["digest"] = "0" * 64
    path.write_text(json.dumps(value))


def open_to_others(ledger: Ledger) -> None:
    only(ledger, "segments").chmod(0o644)


def put_a_stranger(ledger: Ledger) -> None:
    (ledger.layout.segments / "notes.txt").write_text("mine")
    (ledger.layout.segments / "notes.txt").chmod(0o600)


def spoil_settled(ledger: Ledger) -> None:
    add(ledger, "settled", '{"kind":"something else"}')


def spoil_forgotten(ledger: Ledger) -> None:
    add(ledger, "forgotten", '{"kind":"something else"}')


def spoil_waiting(ledger: Ledger) -> None:
    add(ledger, "waiting", '{"kind":"something else"}')


@pytest.mark.parametrize(
    ("damage", "fact"),
    [
        (tear, "does not hold what its name says"),
        (forge, "holds a line that is no node"),
        (orphan, "and not its parent"),
        (cover_wrongly, "from pending to processed"),
        (cover_twice, "whose number 1 is another's"),
        (lose_what_was_read, "says that all was taken up to"),
        (open_to_others, "may be read by others"),
        (put_a_stranger, "belongs to nobody"),
        (spoil_settled, "is not trajectory-settled"),
        (spoil_forgotten, "is not trajectory-tombstone"),
        (spoil_waiting, "cannot be read"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_damage_is_named_where_it_is(ledger: Ledger, damage: Callable[[Ledger], None], fact: str) -> None:
    damage(ledger)

    found = flaws(ledger)

    assert [flaw for flaw in found if fact in flaw.fact] != [], found
    assert all("USER:" not in flaw.fact for flaw in found)


def test_a_text_that_comes_back_is_taken_out_by_whoever_looks(ledger: Ledger) -> None:
    bring_back(ledger)

    (flaw,) = flaws(ledger)
    assert "which was forgotten" in flaw.fact
    assert ledger.has([NODES[2].digest]) == set()
    assert flaws(ledger) == []
    assert set(digests(NODES[:2])) <= ledger.has(digests(NODES))
