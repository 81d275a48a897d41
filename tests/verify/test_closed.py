"""Closed days of the journal: right as they are made, and each way of being wrong is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curator.model.attempt import Correction, LegacyCarry, Unknown, facts_of
from curator.model.digest import Digest
from curator.model.ids import Day
from curator.model.ports import CallFailure, Class
from curator.model.times import iso
from curator.verify.finding import Severity
from tests.backup.backups import Facts
from tests.kit import ScriptedReviewer
from tests.verify.scene import find, read, write

if TYPE_CHECKING:
    from pathlib import Path

    from curator.model.digest import Json

DAY = Day("2026-01-03")
LATER_MS = 10 * 86_400_000


@pytest.fixture
def facts(tmp_path: Path) -> Facts:
    """A closed day with two settled attempts, a corrected and an unknown one, and a legacy carry."""
    made = Facts(tmp_path, jobs=4, projects=4)
    made.app.review_once(limit=2)
    lost = CallFailure("provider_error", Class.TERMINAL, "Nobody knows.")
    app = made.world.open(ScriptedReviewer(lost, clock=made.world.clock))
    app.review_once()
    attempts = app.shop.stores.attempts
    now = iso(made.world.clock.now())
    carry = LegacyCarry(
        day=DAY,
        provider="older",
        source_digest=Digest("cd" * 32),
        imported_at=now,
        calls=1,
        tokens=2,
        cost_nanousd=3,
    )
    attempts.publish_legacy(carry)
    first = next(seen.latest for seen in attempts.of_day(DAY) if isinstance(seen.latest, Unknown))
    attempts.advance(_corrected(first, now))
    return made


def _corrected(lost: Unknown, now: str) -> Correction:
    said: dict[str, Json] = {"state": "corrected", "correctedAt": now, "source": "operator", "isBilled": True}
    return Correction.decode(facts_of(lost) | said | {"chargedTokens": 9, "chargedCostNanousd": 9})


def closed(facts: Facts) -> Path:
    """Close the day, and return its file."""
    attempts = facts.open().shop.stores.attempts
    assert attempts.close_day(DAY, lambda _: False, facts.world.clock.ms + LATER_MS)
    return facts.app.layout.attempts / f"{DAY}.closed.json"


def test_a_closed_day_is_right(facts: Facts) -> None:
    path = closed(facts)

    assert [path.name for path in path.parent.iterdir()] == [path.name]
    assert (find(facts.world.agent), find(facts.world.agent, Severity.PENDING)) == ([], [])


def test_a_correction_after_the_closing_is_right(facts: Facts) -> None:
    closed(facts)
    app = facts.open()
    (lost,) = app.shop.stores.attempts.of_day(DAY)
    assert isinstance(lost.latest, Unknown)
    app.shop.stores.attempts.advance(_corrected(lost.latest, iso(facts.world.clock.now())))

    assert (find(facts.world.agent), find(facts.world.agent, Severity.PENDING)) == ([], [])


def test_a_folder_that_is_half_cleared_is_on_its_way(facts: Facts) -> None:
    folder = facts.app.layout.attempts / DAY
    kept = {path: path.read_bytes() for path in folder.rglob("*.[23].json")}
    closed(facts)
    for path, content in kept.items():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
        path.write_bytes(content)
        path.chmod(0o600)

    assert find(facts.world.agent) == []
    assert [each.fact for each in find(facts.world.agent, Severity.PENDING)] == ["is closed, and not cleared yet"]


def test_a_row_that_costs_less_is_found(facts: Facts) -> None:
    path = closed(facts)
    rows = read(path)["attempts"]
    assert isinstance(rows, list)
    write(path, read(path) | {"attempts": [str(row).replace(" 160 ", " 1 ") for row in rows]})

    assert ["totals" in each.fact for each in find(facts.world.agent)] == [True]


def test_a_row_that_is_lost_is_found(facts: Facts) -> None:
    path = closed(facts)
    rows = read(path)["attempts"]
    assert isinstance(rows, list)
    write(path, read(path) | {"attempts": rows[1:]})

    assert any("totals" in each.fact for each in find(facts.world.agent))


def test_a_row_that_stands_twice_is_found(facts: Facts) -> None:
    path = closed(facts)
    rows = read(path)["attempts"]
    assert isinstance(rows, list)
    write(path, read(path) | {"attempts": [rows[0], *rows]})

    assert any("twice" in each.fact for each in find(facts.world.agent))


@pytest.mark.parametrize(
    ("fields", "fact"),
    [
        ({"day": "2026-01-04"}, "another day"),
        ({"attempts": ["a row"]}, "is not an attempt's row"),
        ({"legacy": []}, "totals"),
        ({"unresolved": []}, "totals"),
        ({"totals": {}}, "totals"),
        ({"extra": 1}, "may not have"),
    ],
)
def test_anything_else_wrong_is_found(facts: Facts, fields: dict[str, Json], fact: str) -> None:
    path = closed(facts)
    write(path, read(path) | fields)

    assert any(fact in each.fact for each in find(facts.world.agent))


def test_a_charge_left_in_the_folder_that_differs_is_found(facts: Facts) -> None:
    folder = facts.app.layout.attempts / DAY
    (path, *_) = sorted(each for each in folder.rglob("*.2.json") if read(each)["state"] == "settled")
    record = read(path)
    closed(facts)
    path.parent.mkdir(parents=True, mode=0o700)
    folder.chmod(0o700)
    write(path, record | {"chargedTokens": 1})

    assert any("otherwise than in its closed day" in each.fact for each in find(facts.world.agent))
