"""A revision tells at least one change, so what changes nothing makes none, however it is asked."""

import pytest

from curator.admission.apply import apply
from curator.model.memory import changes_between
from curator.model.proposal import Add, Assess, Operation, Replace
from tests.made_up import AT, LATER, branch, entry

ADDED = apply(branch(), (Add(content="Use pnpm.", importance="high"),), AT, ["new-1"]).branch
(ENTRY,) = ADDED.entries


@pytest.mark.parametrize(
    "operation",
    [
        Assess(entry_id=ENTRY.id, importance="high"),
        Replace(entry_id=ENTRY.id, content="Use pnpm.", importance="high"),
        Add(content="Use pnpm.", importance="low"),
    ],
)
def test_what_says_the_same_in_the_same_millisecond_changes_nothing(operation: Operation) -> None:
    again = apply(ADDED, (operation,), AT, ["new-2"])

    assert not again.is_changed
    assert again.branch == ADDED


@pytest.mark.parametrize(
    "operation",
    [Assess(entry_id=ENTRY.id, importance="high"), Replace(entry_id=ENTRY.id, content="Use pnpm.", importance="high")],
)
def test_what_says_the_same_later_is_a_change_that_a_revision_can_tell(operation: Operation) -> None:
    again = apply(ADDED, (operation,), LATER, ["new-2"])

    assert again.is_changed
    assert len(changes_between(ADDED, again.branch)) == 1


def test_no_operation_at_all_changes_nothing() -> None:
    assert not apply(branch(entry()), (), AT, []).is_changed
