"""A rollback is the inverse of what was promoted: entry by entry, or byte for byte, or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curator.errors import InvalidRecordError, RefusedError
from curator.model.ids import EntryId
from curator.tracks.backfill.promote import propose
from curator.tracks.backfill.records import new_entry_id
from curator.tracks.backfill.rollback import look_back, restore, roll_back
from curator.workflow.undo import undo
from tests.tracks.backfill.places import MAIN, Planned, add, remove, replace

BUILD = "The build runs on Linux."


@pytest.fixture
def planned(tmp_path: Path) -> Planned:
    return Planned(tmp_path)


def promoted(planned: Planned) -> tuple[Planned, EntryId]:
    """Two promotions, the second of which says anew what the first added; and the entry that both are about."""
    first = new_entry_id(planned.plan.id, 1, 0)
    planned.stage((add("Tests run with pytest."),))
    planned.promote()
    planned.stage((replace(first, "Tests run with pytest -n 2."), remove(planned.branch.entries[0].id)))
    planned.promote()
    assert planned.texts == ["Tests run with pytest -n 2."]
    return planned, first


def test_a_rollback_gives_the_same_entries_again(planned: Planned) -> None:
    before = planned.entries
    promoted(planned)

    taken = roll_back(planned.plan, planned.shelf, planned.shop)

    assert taken.numbers == (2, 1)
    assert planned.entries == before
    assert planned.findings() == []
    assert [planned.shelf.rollback(number) is not None for number in (1, 2)] == [True, True]


def test_an_exact_rollback_gives_the_same_bytes_again(planned: Planned) -> None:
    strange = json.dumps(json.loads(planned.file.read_bytes()) | {"later": "key"}).encode()
    planned.file.write_bytes(strange)
    promoted(planned)

    restore(planned.plan, planned.shelf, planned.shop)

    assert planned.file.read_bytes() == strange
    assert planned.findings() == []
    kinds = [revision.kind for revision in planned.shop.memory(planned.key, "external").revisions(MAIN)]
    assert kinds == ["review", "review", "undo", "undo"]


def test_a_rollback_keeps_unrelated_later_writes(planned: Planned) -> None:
    promoted(planned)
    planned.foreground("Written later.")

    roll_back(planned.plan, planned.shelf, planned.shop)

    assert planned.texts == [BUILD, "Written later."]
    assert planned.findings() == []


def test_an_exact_rollback_refuses_where_anything_came_later(planned: Planned) -> None:
    promoted(planned)
    planned.foreground("Written later.")
    before = planned.file.read_bytes()

    with pytest.raises(RefusedError, match="memory was written after promotion 2"):
        restore(planned.plan, planned.shelf, planned.shop)

    assert planned.file.read_bytes() == before


def test_an_exact_rollback_refuses_where_something_came_between(planned: Planned) -> None:
    planned.stage((add("Tests run with pytest."),))
    planned.promote()
    planned.foreground("Written between.")
    planned.stage((add("Use uv."),))
    planned.promote()
    before = planned.file.read_bytes()

    with pytest.raises(RefusedError, match="memory was written after promotion 1"):
        restore(planned.plan, planned.shelf, planned.shop)

    assert planned.file.read_bytes() == before
    roll_back(planned.plan, planned.shelf, planned.shop)
    assert planned.texts == [BUILD, "Written between."]


def test_a_rollback_refuses_by_the_names_of_what_was_changed_since_and_takes_nothing_back(planned: Planned) -> None:
    _, entry = promoted(planned)
    planned.file.write_text(planned.file.read_text("utf-8").replace("pytest -n 2", "pytest -n 4"), "utf-8")
    before = planned.file.read_bytes()

    for attempt in (look_back, roll_back):
        with pytest.raises(RefusedError, match=f"changed since revision 2: entries {entry}"):
            attempt(planned.plan, planned.shelf, planned.shop)

    assert planned.file.read_bytes() == before


def test_looking_at_a_rollback_changes_nothing(planned: Planned) -> None:
    promoted(planned)
    before = planned.file.read_bytes()

    ahead = look_back(planned.plan, planned.shelf, planned.shop)

    assert ([entry.text for entry in ahead.after.entries], ahead.numbers) == ([BUILD], (2, 1))
    assert planned.file.read_bytes() == before


def test_what_was_undone_by_hand_is_not_taken_back_twice(planned: Planned) -> None:
    promoted(planned)
    undo(planned.shop, planned.key, MAIN)

    taken = roll_back(planned.plan, planned.shelf, planned.shop)

    assert taken.numbers == (1,)
    assert planned.texts == [BUILD]
    assert roll_back(planned.plan, planned.shelf, planned.shop).numbers == ()


def test_what_was_rolled_back_may_be_promoted_again(planned: Planned) -> None:
    planned.stage((add("Tests run with pytest."),))
    planned.promote()
    restore(planned.plan, planned.shelf, planned.shop)

    assert [part.windows for part in propose(planned.plan, planned.shelf, planned.shop).parts] == [(1,)]
    planned.promote()
    assert planned.texts == [BUILD, "Tests run with pytest."]
    assert planned.findings() == []


def test_without_its_snapshot_a_promotion_is_taken_back_entry_by_entry_alone(planned: Planned) -> None:
    before = planned.entries
    planned.stage((add("Tests run with pytest."),))
    planned.promote()
    planned.shelf.layout.snapshot(1).unlink()

    with pytest.raises(InvalidRecordError, match="is not there, and its promotion needs it"):
        restore(planned.plan, planned.shelf, planned.shop)
    roll_back(planned.plan, planned.shelf, planned.shop)

    assert planned.entries == before
