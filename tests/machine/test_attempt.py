"""The seed's sentences about a provider attempt, by hand: not one of them is read from the table."""

import itertools

import pytest

from curator.machine.attempt import ATTEMPT
from curator.machine.table import IllegalTransitionError
from curator.model.attempt import AttemptState

RESERVED, DISPATCHED = AttemptState.RESERVED, AttemptState.DISPATCHED
SETTLED, UNKNOWN, CANCELLED = AttemptState.SETTLED, AttemptState.UNKNOWN, AttemptState.CANCELLED
VERBS = ("reserve", "dispatch", "cancel", "settle", "lose", "correct")
ARROWS = {
    (RESERVED, "dispatch"): DISPATCHED,
    (RESERVED, "cancel"): CANCELLED,
    (DISPATCHED, "settle"): SETTLED,
    (DISPATCHED, "lose"): UNKNOWN,
    (UNKNOWN, "correct"): SETTLED,
}


def test_an_attempt_begins_reserved() -> None:
    assert (ATTEMPT.entry, ATTEMPT.initial) == ("reserve", RESERVED)


@pytest.mark.parametrize(("state", "verb"), [*itertools.product(AttemptState, VERBS)])
def test_an_attempt_moves_along_five_arrows_and_no_other(state: AttemptState, verb: str) -> None:
    target = ARROWS.get((state, verb))

    assert ATTEMPT.allows(state, verb) is (target is not None)
    if target is None:
        with pytest.raises(IllegalTransitionError):
            ATTEMPT.step(state, verb)
    else:
        assert ATTEMPT.step(state, verb) is target


def test_an_orphan_that_was_reserved_is_cancelled_for_it_was_provably_not_sent() -> None:
    assert ATTEMPT.step(RESERVED, ATTEMPT.orphaned[RESERVED]) is CANCELLED


def test_an_orphan_that_was_dispatched_is_unknown_for_it_may_have_run() -> None:
    assert ATTEMPT.step(DISPATCHED, ATTEMPT.orphaned[DISPATCHED]) is UNKNOWN


def test_nothing_else_can_be_orphaned() -> None:
    assert set(ATTEMPT.orphaned) == {RESERVED, DISPATCHED}


def test_what_is_settled_or_cancelled_never_changes_again() -> None:
    assert {each.source for each in ATTEMPT.transitions}.isdisjoint({SETTLED, CANCELLED})


def test_no_attempt_is_dispatched_again() -> None:
    assert [each.source for each in ATTEMPT.transitions if each.target is DISPATCHED] == [RESERVED]
