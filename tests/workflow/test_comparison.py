"""Two proposals for one job, compared: by the entries that they are about, and by what additions say."""

from curator.model.ids import EntryId
from curator.model.proposal import Add, Assess, Merge, Operation, Remove, Replace
from curator.workflow.comparison import compare

LINT = Add(content="Always run make lint before committing.", importance="high")
SPRINT = Add(content="The staging host is rebuilt every Monday.", importance="normal")
RAISED = Assess(entry_id=EntryId("m1"), importance="high")


def test_what_both_propose_is_the_same_in_any_order() -> None:
    found = compare((LINT, SPRINT), (SPRINT, LINT))

    assert found.same == (LINT, SPRINT)
    assert (found.changed, found.missing, found.added) == ((), (), ())


def test_additions_that_say_alike_are_one_that_changed() -> None:
    alike = Add(content="Run make lint before you commit.", importance="normal")

    found = compare((LINT,), (SPRINT, alike))

    assert found.changed == ((LINT, alike),)
    assert (found.missing, found.added) == ((), (SPRINT,))


def test_operations_on_one_entry_are_one_that_changed() -> None:
    pairs: list[tuple[Operation, Operation]] = [
        (Remove(entry_id=EntryId("m1")), Replace(entry_id=EntryId("m1"), content="New.", importance="low")),
        (RAISED, Merge(entry_ids=(EntryId("m2"), EntryId("m1")), content="Both.", importance="low")),
    ]

    for one, other in pairs:
        assert compare((one,), (other,)).changed == ((one, other),)


def test_what_has_nothing_in_common_is_missing_and_added() -> None:
    found = compare((LINT, RAISED), (Remove(entry_id=EntryId("m2")),))

    assert (found.same, found.changed) == ((), ())
    assert (found.missing, found.added) == ((LINT, RAISED), (Remove(entry_id=EntryId("m2")),))
