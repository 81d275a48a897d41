"""A review is taken back entry by entry: what came later survives, what was changed since refuses."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from curator.admission.apply import InapplicableError, apply
from curator.admission.undo import invert
from curator.errors import RefusedError
from curator.model.ids import EntryId, RevisionId
from curator.model.memory import Branch, Review, Revision, Undo, branch_digest, changes_between
from curator.model.proposal import Add, Assess, Merge, Operation, Remove, Replace
from tests.admission.test_apply import OPERATIONS
from tests.admission.values import LATER, NEW_IDS, NOW, branch, entry, ids, texts

BASE = branch(entry("a", "one"), entry("b", "two"), entry("c", "three", "low"), entry("d", "four"))


def review(before: Branch, after: Branch, sequence: int = 1) -> Review:
    return Review(
        sequence=sequence,
        id=RevisionId(f"{sequence:08x}-0000-4000-8000-000000000000"),
        branch_name=before.name,
        committed_at=NOW,
        before_digest=branch_digest(before),
        after_digest=branch_digest(after),
        changes=changes_between(before, after),
    )


def undo(of: Review, sequence: int) -> Undo:
    return Undo(
        sequence=sequence,
        id=RevisionId(f"{sequence:08x}-0000-4000-8000-00000000000f"),
        branch_name=of.branch_name,
        committed_at=LATER,
        review_revision_id=of.id,
        before_digest=of.after_digest,
        after_digest=of.before_digest,
    )


def applied(before: Branch, *operations: Operation, sequence: int = 1) -> tuple[Branch, Review]:
    after = apply(before, operations, NOW, [f"{sequence:08x}-4a{number}" for number in range(4)]).branch
    return after, review(before, after, sequence)


def added(to: Branch, entry_id: str, text: str) -> Branch:
    return dataclasses.replace(to, updated_at=LATER, entries=(*to.entries, entry(entry_id, text)))


def test_undo_restores_texts_places_and_times() -> None:
    merge = Merge(entry_ids=ids("c", "a"), content="one and three", importance="normal")
    after, made = applied(BASE, merge, Remove(entry_id=EntryId("d")), Add(content="five", importance="low"))
    assert texts(after) == ["two", "one and three", "five"]

    undone, restored = invert(after, [made], LATER)

    assert undone == made
    assert restored.entries == BASE.entries
    assert restored.updated_at == LATER


def test_an_unrelated_later_write_survives() -> None:
    after, made = applied(BASE, Remove(entry_id=EntryId("b")), Add(content="five", importance="low"))
    later = added(after, "x", "written since")

    assert texts(invert(later, [made], LATER)[1]) == ["one", "two", "three", "four", "written since"]


@pytest.mark.parametrize(
    ("operation", "entry_id"),
    [
        (Replace(entry_id=EntryId("a"), content="uno", importance="high"), "a"),
        (Assess(entry_id=EntryId("a"), importance="high"), "a"),
        (Add(content="five", importance="low"), "00000001-4a0"),
    ],
)
def test_an_entry_that_was_changed_since_refuses_and_is_named(operation: Operation, entry_id: str) -> None:
    after, made = applied(BASE, operation, Remove(entry_id=EntryId("d")))
    changed = tuple(
        dataclasses.replace(each, text="changed by hand") if each.id == entry_id else each for each in after.entries
    )

    with pytest.raises(RefusedError, match=f"entries {entry_id}$|entries {entry_id}[.]") as refused:
        invert(dataclasses.replace(after, entries=changed), [made], LATER)

    assert "hand" not in refused.value.fact


def test_an_entry_that_is_gone_or_there_again_refuses() -> None:
    after, made = applied(BASE, Remove(entry_id=EntryId("d")), Assess(entry_id=EntryId("a"), importance="high"))

    with pytest.raises(RefusedError, match="entries d"):
        invert(added(after, "d", "here again"), [made], LATER)
    with pytest.raises(RefusedError, match="entries a"):
        invert(dataclasses.replace(after, entries=after.entries[1:]), [made], LATER)


def test_the_latest_review_that_is_not_undone_is_taken() -> None:
    first, one = applied(BASE, Add(content="five", importance="low"))
    second, two = applied(first, Add(content="six", importance="low"), sequence=2)
    history: list[Revision] = [one, two]

    undone, back = invert(second, history, LATER)
    assert (undone, texts(back)) == (two, texts(first))

    undone, back = invert(back, [*history, undo(two, 3)], LATER)
    assert (undone, texts(back)) == (one, texts(BASE))

    with pytest.raises(RefusedError, match="no review to undo"):
        invert(back, [*history, undo(two, 3), undo(one, 4)], LATER)


def test_without_a_review_there_is_nothing_to_undo() -> None:
    with pytest.raises(RefusedError, match="no review to undo"):
        invert(BASE, [], LATER)


def test_an_undo_that_a_crash_cut_off_after_its_branch_is_finished() -> None:
    after, made = applied(BASE, Add(content="five", importance="low"), Remove(entry_id=EntryId("a")))
    restored = invert(after, [made], LATER)[1]

    assert invert(restored, [made], LATER) == (made, restored)


def test_an_undo_that_memory_could_not_hold_refuses() -> None:
    full = branch(*(entry(f"e{number}", "x" * 600) for number in range(10)))
    after, made = applied(full, Remove(entry_id=EntryId("e0")))

    with pytest.raises(RefusedError, match="more than 6000 characters"):
        invert(added(after, "x", "y"), [made], LATER)


@given(OPERATIONS, st.lists(st.sampled_from(("x1", "x2", "x3")), unique=True))
def test_undoing_restores_every_entry_whatever_was_applied_and_keeps_what_came_after(
    operations: Sequence[Operation], later: list[str]
) -> None:
    before = branch(entry("a", "one"), entry("b", "two"), entry("c", "three"))
    try:
        after = apply(before, operations, NOW, NEW_IDS)
    except InapplicableError:
        return
    assume(after.is_changed and changes_between(before, after.branch))
    moved = after.branch
    for name in later:
        moved = added(moved, name, f"text of {name}")

    restored = invert(moved, [review(before, after.branch)], LATER)[1]

    assert restored.entries[: len(before.entries)] == before.entries
    assert [each.id for each in restored.entries[len(before.entries) :]] == later
    assert restored.chars == before.chars + sum(len(f"text of {name}") for name in later)


def test_an_earlier_review_is_taken_back_by_its_id_and_the_later_one_stays() -> None:
    first, one = applied(BASE, Add(content="five", importance="low"))
    second, two = applied(first, Add(content="six", importance="low"), sequence=2)

    taken, after = invert(second, [one, two], LATER, one.id)

    assert (taken, texts(after)) == (one, [*texts(BASE), "six"])
    with pytest.raises(RefusedError, match="no review to undo"):
        invert(after, [one, two, undo(one, 3)], LATER, one.id)
