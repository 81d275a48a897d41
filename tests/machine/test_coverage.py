"""What becomes of a turn, by hand: nothing is reviewed because it was indexed, and nothing is reviewed by two plans."""

import itertools

import pytest

from curator.machine.coverage import COVERAGE, verb_between
from curator.model.ledger import CoverageState

PENDING, LEASED, PROCESSED = CoverageState.PENDING, CoverageState.LEASED, CoverageState.PROCESSED
EXCLUDED, DAMAGED = CoverageState.EXCLUDED, CoverageState.DAMAGED
ARROWS = {
    (PENDING, "lease"): LEASED,
    (PENDING, "exclude"): EXCLUDED,
    (PENDING, "spoil"): DAMAGED,
    (LEASED, "return"): PENDING,
    (LEASED, "finish"): PROCESSED,
    (LEASED, "drop"): EXCLUDED,
    (LEASED, "spoil"): DAMAGED,
    (EXCLUDED, "include"): PENDING,
}


def test_indexing_says_nothing_of_a_review() -> None:
    assert (COVERAGE.entry, COVERAGE.initial) == ("index", PENDING)


@pytest.mark.parametrize(("state", "verb"), [*itertools.product(CoverageState, sorted({verb for _, verb in ARROWS}))])
def test_a_turn_moves_along_these_arrows_and_no_other(state: CoverageState, verb: str) -> None:
    target = ARROWS.get((state, verb))

    assert ({each.target for each in COVERAGE.transitions if (each.source, each.verb) == (state, verb)}) == (
        set() if target is None else {target}
    )


@pytest.mark.parametrize(("source", "target"), [*itertools.product(CoverageState, repeat=2)])
def test_an_arrow_is_known_by_its_two_ends(source: CoverageState, target: CoverageState) -> None:
    named = [verb for (state, verb), end in ARROWS.items() if (state, end) == (source, target)]

    assert verb_between(source, target) == (named[0] if named else None)
    assert len(named) <= 1


def test_what_a_plan_had_in_hand_goes_back_when_it_is_gone() -> None:
    assert COVERAGE.step(LEASED, COVERAGE.orphaned[LEASED]) is PENDING
    assert set(COVERAGE.orphaned) == {LEASED}


def test_what_is_processed_or_damaged_stays_so() -> None:
    assert all(each.source not in (PROCESSED, DAMAGED) for each in COVERAGE.transitions)
