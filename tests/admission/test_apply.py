"""Each operation, by hand; the capacity of memory, at its edges; and what holds of any batch."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.admission.apply import InapplicableError, apply, capacity_fault
from curator.model.ids import EntryId
from curator.model.memory import Branch, changes_between
from curator.model.proposal import Add, Assess, Importance, Merge, Operation, Remove, Replace
from tests.admission.values import AT, NEW_IDS, NOW, branch, entry, ids, texts

BASE = branch(entry("a", "one", session="s"), entry("b", "two"), entry("c", "three", "low"))


def test_an_add_appends_an_entry_of_the_review() -> None:
    after = apply(BASE, [Add(content="four", importance="high")], NOW, NEW_IDS)

    assert after.is_changed
    assert after.branch.updated_at == NOW
    assert after.branch.entries[:3] == BASE.entries
    assert after.branch.entries[3].encode() == {
        "id": "0000000a-4aa",
        "text": "four",
        "createdAt": NOW,
        "updatedAt": NOW,
        "createdBy": "background_review",
        "updatedBy": "background_review",
        "importance": "high",
        "importanceAssessedAt": NOW,
    }


def test_an_add_of_what_memory_holds_changes_nothing_not_even_the_time() -> None:
    after = apply(BASE, [Add(content="two", importance="high")], NOW, NEW_IDS)

    assert not after.is_changed
    assert after.branch == BASE


def test_a_replace_keeps_who_wrote_the_entry_and_where() -> None:
    after = apply(BASE, [Replace(entry_id=EntryId("a"), content="uno", importance="high")], NOW, NEW_IDS).branch

    assert after.entries[0].encode() == {
        "id": "a",
        "text": "uno",
        "createdAt": AT,
        "updatedAt": NOW,
        "sourceSessionId": "s",
        "createdBy": "assistant_tool",
        "updatedBy": "background_review",
        "importance": "high",
        "importanceAssessedAt": NOW,
    }
    assert after.entries[1:] == BASE.entries[1:]


def test_a_replace_by_the_same_words_counts_as_a_change() -> None:
    after = apply(BASE, [Replace(entry_id=EntryId("a"), content="one", importance="normal")], NOW, NEW_IDS)

    assert after.is_changed
    assert after.branch.entries[0].updated_at == NOW


def test_a_merge_says_several_at_the_place_of_the_first_that_it_names() -> None:
    merge = Merge(entry_ids=ids("c", "a"), content="one and three", importance="normal")

    after = apply(BASE, [merge], NOW, NEW_IDS).branch

    assert [each.id for each in after.entries] == ["b", "c"]
    assert texts(after) == ["two", "one and three"]
    assert after.entries[1].created_at == AT


def test_a_merge_may_keep_the_words_of_one_of_its_own() -> None:
    after = apply(BASE, [Merge(entry_ids=ids("a", "b"), content="two", importance="low")], NOW, NEW_IDS).branch

    assert texts(after) == ["two", "three"]
    assert after.entries[0].id == "a"


def test_a_remove_deletes_and_an_assess_weighs_without_touching_the_text() -> None:
    operations: list[Operation] = [Remove(entry_id=EntryId("b")), Assess(entry_id=EntryId("c"), importance="high")]

    after = apply(BASE, operations, NOW, NEW_IDS).branch

    assert texts(after) == ["one", "three"]
    weighed = dataclasses.replace(BASE.entries[2], importance="high", importance_assessed_at=NOW)
    assert after.entries[1] == weighed


def test_a_branch_is_never_changed_in_place() -> None:
    before = BASE.encode()
    apply(BASE, [Remove(entry_id=EntryId("a")), Add(content="x", importance="low")], NOW, NEW_IDS)

    assert BASE.encode() == before


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        (
            Replace(entry_id=EntryId("z"), content="x", importance="low"),
            "names the entry z, which memory does not have",
        ),
        (Remove(entry_id=EntryId("z")), "names the entry z, which memory does not have"),
        (Assess(entry_id=EntryId("z"), importance="low"), "names the entry z, which memory does not have"),
        (
            Merge(entry_ids=ids("a", "z"), content="x", importance="low"),
            "names the entry z, which memory does not have",
        ),
        (Replace(entry_id=EntryId("a"), content="two", importance="low"), "says what another entry says already"),
        (Merge(entry_ids=ids("a", "b"), content="three", importance="low"), "says what another entry says already"),
    ],
)
def test_what_does_not_fit_refuses_and_is_named_by_its_number(operation: Operation, reason: str) -> None:
    with pytest.raises(InapplicableError) as refused:
        apply(BASE, [Add(content="four", importance="low"), operation], NOW, NEW_IDS)

    assert (refused.value.number, refused.value.reason) == (2, reason)


def test_an_operation_sees_what_the_ones_before_it_did() -> None:
    with pytest.raises(InapplicableError):
        apply(BASE, [Remove(entry_id=EntryId("a")), Remove(entry_id=EntryId("a"))], NOW, NEW_IDS)

    moved: list[Operation] = [
        Remove(entry_id=EntryId("b")),
        Replace(entry_id=EntryId("a"), content="two", importance="low"),
    ]
    assert texts(apply(BASE, moved, NOW, NEW_IDS).branch) == ["two", "three"]


def test_only_four_operations_are_looked_at() -> None:
    adds = [Add(content=f"more {number}", importance="low") for number in range(6)]

    assert texts(apply(BASE, adds, NOW, NEW_IDS).branch)[3:] == ["more 0", "more 1", "more 2", "more 3"]


def test_an_id_that_is_taken_is_not_given_twice() -> None:
    with pytest.raises(InapplicableError, match="taken"):
        apply(BASE, [Add(content="four", importance="low")], NOW, ["b"])


def sized(*sizes: int) -> Branch:
    return branch(*(entry(f"e{number}", "x" * size) for number, size in enumerate(sizes)))


@pytest.mark.parametrize(
    ("before", "after", "fits"),
    [
        (4_499, 4_500, True),
        (4_499, 4_501, False),
        (4_500, 4_500, True),
        (4_500, 4_501, False),
        (4_500, 4_499, True),
        (6_000, 5_999, True),
        (5_999, 6_000, False),
        (6_001, 6_001, False),
        (7_000, 6_000, True),
        (0, 4_500, True),
        (0, 4_501, False),
    ],
)
def test_memory_may_fill_to_its_target_and_beyond_it_only_shrink(before: int, after: int, fits: bool) -> None:  # noqa: FBT001 - a case of the table
    assert (capacity_fault(sized(before), sized(after), 6_000) is None) == fits


@pytest.mark.parametrize(("max_chars", "target"), [(6_000, 4_500), (1_001, 750), (1, 0), (64_000, 4_500)])
def test_the_target_is_three_quarters_of_the_jobs_bound_and_never_more_than_the_stores(
    max_chars: int, target: int
) -> None:
    assert capacity_fault(sized(0), sized(target), max_chars) is None
    assert capacity_fault(sized(0), sized(target + 1), max_chars) is not None


def test_capacity_counts_utf_16_units_and_entries() -> None:
    smiles = branch(entry("a", "\U0001f600" * 2_251))
    assert capacity_fault(branch(), smiles, 6_000) is not None
    assert capacity_fault(branch(), sized(*[1] * 200), 6_000) is None
    assert capacity_fault(branch(), sized(*[1] * 201), 6_000) is not None


IMPORTANCE: st.SearchStrategy[Importance] = st.sampled_from(("high", "normal", "low"))
IDS = st.sampled_from(("a", "b", "c")).map(EntryId)
WORDS = st.sampled_from(("one", "two", "three", "four", "five"))
OPERATIONS: st.SearchStrategy[Sequence[Operation]] = st.lists(
    st.one_of(
        st.builds(Add, content=WORDS, importance=IMPORTANCE),
        st.builds(Replace, entry_id=IDS, content=WORDS, importance=IMPORTANCE),
        st.builds(Remove, entry_id=IDS),
        st.builds(Assess, entry_id=IDS, importance=IMPORTANCE),
        st.builds(
            Merge,
            entry_ids=st.permutations(ids("a", "b", "c")).map(lambda order: tuple(order[:2])),
            content=WORDS,
            importance=IMPORTANCE,
        ),
    ),
    max_size=4,
)


@given(OPERATIONS)
def test_whatever_is_applied_no_text_and_no_id_stands_twice(operations: Sequence[Operation]) -> None:
    try:
        after = apply(BASE, operations, NOW, NEW_IDS)
    except InapplicableError:
        return
    assert len(set(texts(after.branch))) == len(after.branch.entries)
    assert len({each.id for each in after.branch.entries}) == len(after.branch.entries)
    assert after.is_changed == (after.branch != BASE)
    assert not (changes_between(BASE, after.branch) and not after.is_changed)
    assert len(after.messages) == len(operations)
