"""What the service does in quiet moments: everything by itself, so that one that is bad costs no other."""

from __future__ import annotations

from pathlib import Path

from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.model.event import Stopped
from curator.model.limits import MERGED_AT_ONCE, STAGED_LEFTOVER_MS
from curator.tracks.trajectory.upkeep import take_in, tend
from tests.kit import HandClock, Listening
from tests.tracks.trajectory.ledgers import chain, delta, files_of, key_of, open_ledger

REFUSED_MS = 3_600_000


def test_what_lies_in_the_inbox_is_taken_and_what_is_bad_is_told(tmp_path: Path) -> None:
    layout, listening = Layout(tmp_path / "agent"), Listening()
    key_of(tmp_path / "project")
    inbox = layout.trajectory_inbox.root
    inbox.mkdir(parents=True)
    (inbox / "a.json").write_text("[")
    (inbox / "b.json").write_bytes(delta(tmp_path / "project", (0,)))

    assert take_in(layout, Volume(), HandClock(), listening) == 1

    (told,) = listening.events
    assert isinstance(told, Stopped)
    assert (told.subject, told.code) == ("trajectory inbox a.json", "refused")


def test_tending_finishes_packs_and_lets_go_of_what_is_old(tmp_path: Path) -> None:
    ledger, listening = open_ledger(tmp_path), Listening()
    nodes = chain(MERGED_AT_ONCE)
    for node in nodes:
        ledger.take([node])
    leftover = ledger.layout.segments / f".{'0' * 8}-0000-4000-8000-{'0' * 12}.tmp"
    leftover.write_bytes(b"half a file")
    now = leftover.stat().st_mtime_ns // 1_000_000 + STAGED_LEFTOVER_MS + 1_000

    tend(Layout(tmp_path / "agent"), Volume(), HandClock(now), listening, REFUSED_MS)

    assert not leftover.exists()
    assert listening.events == []
    assert len(files_of(ledger)) < MERGED_AT_ONCE


def test_a_ledger_that_cannot_be_opened_costs_itself(tmp_path: Path) -> None:
    ledger, listening = open_ledger(tmp_path), Listening()
    ledger.take(chain(1))
    broken = ledger.layout.root.with_name("0" * 24)
    broken.mkdir()
    (broken / "index.sqlite").mkdir()

    tend(Layout(tmp_path / "agent"), Volume(), HandClock(), listening, REFUSED_MS)

    (told,) = listening.events
    assert isinstance(told, Stopped)
    assert (told.subject, told.code) == (f"trajectory {'0' * 24}", "index")
