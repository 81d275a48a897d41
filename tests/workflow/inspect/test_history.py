"""A branch's history, told backwards: what the disk proves is shown, what it does not is said to be gone."""

import dataclasses

from curator.admission.apply import apply
from curator.model.ids import BranchName, EntryId, RevisionId
from curator.model.memory import (
    Branch,
    Entry,
    Review,
    Revision,
    Undo,
    branch_digest,
    changes_between,
    empty_branch,
)
from curator.model.proposal import Add, Merge, Replace
from curator.workflow.inspect.history import Line, brought_by, history_of, lines_between

AT = "2026-01-01T00:00:00.000Z"
EMPTY = empty_branch(BranchName("main"), AT)


def entry(entry_id: str, text: str) -> Entry:
    return Entry(id=EntryId(entry_id), text=text, created_at=AT, updated_at=AT, importance="normal")


def branch(*entries: Entry) -> Branch:
    return dataclasses.replace(EMPTY, entries=entries)


def uuid(number: int) -> RevisionId:
    return RevisionId(f"00000000-0000-4000-8000-{number:012d}")


def review(number: int, before: Branch, after: Branch) -> Review:
    return Review(
        sequence=number,
        id=uuid(number),
        branch_name=BranchName("main"),
        committed_at=AT,
        before_digest=branch_digest(before),
        after_digest=branch_digest(after),
        changes=changes_between(before, after),
    )


def undo(number: int, of: Review, before: Branch, after: Branch) -> Undo:
    return Undo(
        sequence=number,
        id=uuid(number),
        branch_name=BranchName("main"),
        committed_at=AT,
        review_revision_id=of.id,
        before_digest=branch_digest(before),
        after_digest=branch_digest(after),
    )


def told(current: Branch, *revisions: Revision) -> list[list[tuple[str, str | None, str | None]]]:
    return [[_sides(line) for line in step.lines] for step in history_of(current, revisions)]


def _sides(line: Line) -> tuple[str, str | None, str | None]:
    before, after = line.before, line.after
    return line.kind, None if before is None else before.text, None if after is None else after.text


def test_additions_changes_and_removals_are_told_in_order() -> None:
    first = branch(entry("a", "one"))
    second = branch(entry("a", "one more"), entry("b", "two"))
    third = branch(entry("b", "two"))

    history = told(third, review(1, EMPTY, first), review(2, first, second), review(3, second, third))

    assert history == [
        [("add", None, "one")],
        [("replace", "one", "one more"), ("add", None, "two")],
        [("remove", "one more", None)],
    ]


def test_a_new_weight_of_the_same_words_is_an_assessment() -> None:
    before = branch(entry("a", "one"))
    after = branch(dataclasses.replace(entry("a", "one"), importance="high"))

    assert told(after, review(1, before, after)) == [[("assess", "one", "one")]]


def test_what_was_changed_by_others_since_is_not_shown_as_ours() -> None:
    after = branch(entry("a", "one"))
    now = branch(entry("a", "one, as a person put it"))

    assert told(now, review(1, EMPTY, after)) == [[("add", None, None)]]


def test_an_undo_tells_what_came_back() -> None:
    first = branch(entry("a", "one"), entry("b", "two"))
    second = branch(entry("a", "changed"), entry("c", "three"))
    change = review(2, first, second)

    history = told(first, review(1, EMPTY, first), change, undo(3, change, second, first))

    assert history == [
        [("add", None, "one"), ("add", None, "two")],
        [("replace", "one", None), ("remove", "two", None), ("add", None, None)],
        [("replace", None, "one"), ("add", None, "two"), ("remove", None, None)],
    ]


def test_an_undo_of_an_unknown_review_has_no_lines() -> None:
    lost = review(1, EMPTY, branch(entry("a", "one")))

    assert told(EMPTY, undo(1, lost, EMPTY, EMPTY)) == [[]]


def test_two_known_states_are_compared_whole() -> None:
    before = branch(entry("a", "one"), entry("b", "two"))
    after = branch(entry("b", "two, and more"), entry("c", "three"))

    assert [_sides(line) for line in lines_between(before, after)] == [
        ("remove", "one", None),
        ("replace", "two", "two, and more"),
        ("add", None, "three"),
    ]


def test_what_a_decision_says_is_believed_as_far_as_the_revision_proves_it() -> None:
    before = branch(entry("a", "one"), entry("b", "two"), entry("c", "three"))
    operations = (
        Replace(entry_id=EntryId("a"), content="one more", importance="high"),
        Merge(entry_ids=(EntryId("b"), EntryId("c")), content="two and three", importance="normal"),
        Add(content="four", importance="low"),
    )
    after = apply(before, operations, AT, ["", "", "d"]).branch
    change = review(1, before, after)

    brought = brought_by(change, operations)
    forged = brought_by(change, [dataclasses.replace(operations[0], content="made up"), *operations[1:]])

    assert {key: made.text for key, made in brought.items()} == {"a": "one more", "b": "two and three", "d": "four"}
    assert {key: made.text for key, made in forged.items()} == {"b": "two and three", "d": "four"}
    (step,) = history_of(EMPTY, [change], lambda _: brought)
    assert [_sides(line) for line in step.lines] == [
        ("replace", "one", "one more"),
        ("replace", "two", "two and three"),
        ("remove", "three", None),
        ("add", None, "four"),
    ]
