"""The admission table, row by row by hand, and every combination that a disk can show."""

import dataclasses
import itertools
from collections import Counter

import pytest

from curator.machine.admission import ADMISSION, Place, RevisionSeen, Seen, Step, next_step, table

BASE, RESULT, ELSEWHERE = Place.BASE, Place.RESULT, Place.ELSEWHERE
NONE_DUE, ABSENT, PRESENT = RevisionSeen.NONE_DUE, RevisionSeen.ABSENT, RevisionSeen.PRESENT
EVERY = tuple(
    Seen(*combination)
    for combination in itertools.product(
        (False, True), (False, True), Place, RevisionSeen, (False, True), (False, True)
    )
)


def seen(marks: str = "", branch: Place = ELSEWHERE, revision: RevisionSeen = NONE_DUE) -> Seen:
    """Return what is seen; `marks` names what stands: t(ombstone), i(ntent), c(ompletion), r(eceipt)."""
    return Seen("t" in marks, "i" in marks, branch, revision, "c" in marks, "r" in marks)


@pytest.mark.parametrize(
    ("what", "step"),
    [
        # Nothing has begun.
        (seen(), Step.DECIDE),
        # The change is frozen: branch, then revision, then completion.
        (seen("i", BASE, ABSENT), Step.WRITE_BRANCH),
        (seen("i", RESULT, ABSENT), Step.WRITE_REVISION),
        (seen("i", RESULT, PRESENT), Step.COMPLETE),
        (seen("i", ELSEWHERE, PRESENT), Step.COMPLETE),
        # Memory was not to change: nothing is asked of the branch.
        (seen("i", BASE, NONE_DUE), Step.COMPLETE),
        (seen("i", RESULT, NONE_DUE), Step.COMPLETE),
        (seen("i", ELSEWHERE, NONE_DUE), Step.COMPLETE),
        # The change is whole; later writers may have moved the branch.
        (seen("ic", RESULT, PRESENT), Step.RECEIPT),
        (seen("ic", ELSEWHERE, PRESENT), Step.RECEIPT),
        (seen("ic", ELSEWHERE, NONE_DUE), Step.RECEIPT),
        (seen("icr", RESULT, PRESENT), Step.RETIRE),
        (seen("icr", ELSEWHERE, NONE_DUE), Step.RETIRE),
        # Removal began, and goes on whatever is left.
        (seen("ticr", RESULT, PRESENT), Step.REMOVE),
        (seen("tir", BASE, ABSENT), Step.REMOVE),
        (seen("tcr"), Step.REMOVE),
        # Over.
        (seen("tr"), Step.DONE),
        (seen("r"), Step.DONE),
        # A tombstone without a receipt holds all that the receipt says.
        (seen("t"), Step.REBUILD_RECEIPT),
        (seen("ti", RESULT, PRESENT), Step.REBUILD_RECEIPT),
        (seen("tic", RESULT, PRESENT), Step.REBUILD_RECEIPT),
        (seen("tc"), Step.REBUILD_RECEIPT),
    ],
)
def test_each_row_says_what_comes_next(what: Seen, step: Step) -> None:
    assert next_step(what) is step


@pytest.mark.parametrize(
    "what",
    [
        # Memory stands neither where the change began nor where it leads.
        seen("i", ELSEWHERE, ABSENT),
        # The change was told and was not made.
        seen("i", BASE, PRESENT),
        # Whole without its revision.
        seen("ic", BASE, ABSENT),
        seen("ic", RESULT, ABSENT),
        seen("icr", RESULT, ABSENT),
        # A receipt before the change was whole.
        seen("ir", BASE, ABSENT),
        seen("ir", RESULT, PRESENT),
        # A completion of nothing.
        seen("c"),
        seen("cr"),
    ],
)
def test_what_no_row_is_about_fails_closed(what: Seen) -> None:
    assert next_step(what) is None


def test_at_most_one_row_matches_any_of_144_combinations() -> None:
    matches = Counter(sum(row.matches(what) for row in ADMISSION) for what in EVERY)

    assert len(EVERY) == 144
    assert set(matches) == {0, 1}


def test_every_row_is_about_something() -> None:
    assert all(any(row.matches(what) for what in EVERY) for row in ADMISSION)
    assert {row.step for row in ADMISSION} == set(Step)


def _after(what: Seen, step: Step) -> Seen:
    """Return what is seen once a step of an applied change was taken."""
    changes: dict[Step, dict[str, object]] = {
        Step.DECIDE: {"intent": True, "branch": BASE, "revision": ABSENT},
        Step.WRITE_BRANCH: {"branch": RESULT},
        Step.WRITE_REVISION: {"revision": PRESENT},
        Step.COMPLETE: {"completion": True},
        Step.RECEIPT: {"receipt": True},
        Step.REBUILD_RECEIPT: {"receipt": True},
        Step.RETIRE: {"tombstone": True},
        Step.REMOVE: {"intent": False, "completion": False},
    }
    return dataclasses.replace(what, **changes[step])  # type: ignore[arg-type]  # each names fields of Seen


def test_from_every_matched_combination_the_steps_lead_to_the_end_and_none_is_taken_twice() -> None:
    for start in EVERY:
        what, taken = start, list[Step]()
        while (step := next_step(what)) is not None and step is not Step.DONE:
            assert step not in taken, f"{start} comes back to {step}"
            taken.append(step)
            what = _after(what, step)
        assert step is Step.DONE or taken == [], f"{start} gets stuck after {taken}"


def test_no_step_undoes_what_stands_on_disk_before_the_receipt_is_there() -> None:
    for what in EVERY:
        if not what.receipt:
            assert next_step(what) is not Step.REMOVE


def test_the_table_prints_a_line_a_row() -> None:
    lines = table().splitlines()

    assert len(lines) == 2 + len(ADMISSION)
    assert lines[0] == "| step | tombstone | intent | branch | revision | completion | receipt |"
    assert lines[2] == "| decide status, publish intent | no | no | any | any | no | no |"
    assert lines[3] == "| write branch | no | yes | at base | absent | no | no |"
