"""The specification, explored whole within bounds; and each of its guards is missed when it is taken away."""

from __future__ import annotations

import pytest
from faults.figures import note
from faults.model.explore import explore
from faults.model.program import Bounds
from faults.model.rules import GUARDS, take
from faults.model.state import Branch, Event, Job, Kind, State

BESIDE = {
    Kind.RENEW,
    Kind.HOLD,
    Kind.RELEASE,
    Kind.SET_ASIDE,
    Kind.DROP_HELD,
    Kind.HURRY,
    Kind.UNDO,
    Kind.SEED,
    Kind.AGE,
}
"""What only a replayed trace does; `test_model_replay.py` plants their bugs."""

NAMES = [guard.name for kind, guards in GUARDS.items() if kind not in BESIDE for guard in guards]

DOUBLED = {
    "claim.waits": "claim.open",
    "result.once": "call.once",
    "outcome.unbegun": "prove.lease",
}
"""Guards for which another one stands.

A job that neither waits nor runs is over; one request has one answer; and who slept after proving its lease elects what
the next one would have elected, or what the branch has left behind. The last is for a person, who cancels between two steps.
"""

SMALL = (
    Bounds(jobs=1, workers=1, crashes=1, writes=1, sleeps=0, failures=0),
    Bounds(jobs=1, workers=2, crashes=0, writes=1, sleeps=1, failures=0),
    Bounds(jobs=1, workers=2, crashes=1, writes=0, sleeps=0, failures=0),
    Bounds(jobs=2, workers=2, crashes=0, writes=0, sleeps=0, failures=0),
    Bounds(jobs=1, workers=2, crashes=0, writes=0, sleeps=1, failures=1),
)
"""Where a guard that was taken away is looked for, the smallest first."""

SHORT = (
    Bounds(jobs=1, workers=2, crashes=2, writes=1, sleeps=0, failures=0),
    Bounds(jobs=1, workers=2, crashes=0, writes=0, sleeps=1, failures=1),
    Bounds(jobs=1, workers=1, crashes=1, writes=1, sleeps=0, failures=1),
    Bounds(jobs=2, workers=2, crashes=0, writes=1, sleeps=0, failures=0),
    Bounds(jobs=2, workers=2, crashes=1, writes=0, sleeps=0, failures=0, is_reduced=True),
)
LONG = (
    Bounds(jobs=2, workers=2, crashes=2, writes=1, sleeps=0, failures=0, is_reduced=True),
    Bounds(jobs=2, workers=2, crashes=1, writes=1, sleeps=0, failures=0),
    Bounds(jobs=2, workers=2, crashes=0, writes=0, sleeps=1, failures=0, is_reduced=True),
    Bounds(jobs=1, workers=2, crashes=1, writes=1, sleeps=1, failures=0),
)
"""Two workers, two jobs on one branch, two crashes and a foreground write; and, nothing reduced, as much as fits."""


@pytest.mark.parametrize("bounds", SHORT, ids=str)
def test_every_state_within_small_bounds_keeps_every_promise(bounds: Bounds) -> None:
    explored = explore(bounds)

    print(explored.line())
    note("model", {"states": explored.states})
    assert explored.breach is None
    assert explored.ends > 0


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("bounds", LONG, ids=str)
def test_every_state_within_the_bounds_keeps_every_promise(bounds: Bounds, *, is_long: bool) -> None:
    if not is_long:
        pytest.skip("only in the whole campaign: CURATOR_FAULTS=long")

    explored = explore(bounds)

    print(explored.line())
    note("model", {"states": explored.states})
    assert explored.breach is None
    assert explored.states > 10_000


@pytest.mark.parametrize("name", [name for name in NAMES if name not in DOUBLED])
def test_a_guard_that_is_taken_away_is_missed(name: str) -> None:
    breach = first_breach(frozenset({name}))

    print(f"{name}: {breach}")
    assert breach


@pytest.mark.parametrize("name", DOUBLED)
def test_a_guard_for_which_another_stands_changes_nothing_alone(name: str) -> None:
    for bounds in (SMALL[0], SMALL[-1]):
        assert explore(bounds, frozenset({name})).line() == explore(bounds).line()
    assert first_breach(frozenset({DOUBLED[name]}))


@pytest.mark.parametrize(
    "bounds",
    [
        Bounds(jobs=2, workers=2, crashes=0, writes=0, sleeps=0, failures=0),
        Bounds(jobs=1, workers=2, crashes=1, writes=1, sleeps=0, failures=0),
    ],
    ids=str,
)
def test_what_is_reduced_comes_to_the_same_ends(bounds: Bounds) -> None:
    whole, reduced = explore(bounds), explore(bounds._replace(is_reduced=True))

    assert reduced.states < whole.states
    assert (reduced.ends, reduced.depth) == (whole.ends, whole.depth)


def test_an_exploration_is_the_same_each_time() -> None:
    assert explore(SMALL[0]).line() == explore(SMALL[0]).line()


def test_a_second_job_of_a_branch_is_judged_anew_where_the_first_has_moved_it() -> None:
    taken = (1, 1)
    state = State((Job(), Job()), (Branch(("seed",)),))
    both = [Event(kind, job) for job in (0, 1) for kind in (Kind.ENQUEUE, Kind.STAMP)]
    claims = [
        step
        for job in (0, 1)
        for step in (
            Event(Kind.CLAIM, job, next=1),
            Event(Kind.DROP_QUEUED, job),
            Event(Kind.BASE, job, 1),
            Event(Kind.RESERVE, job, 1),
            Event(Kind.DISPATCH, job, 1),
            Event(Kind.CALL, job, 1),
            Event(Kind.RESULT, job, 1, "completed"),
            Event(Kind.SETTLE, job, 1),
        )
    ]
    first = [
        Event(Kind.PROVE, 0, 1, next=1),
        Event(Kind.ELECT, 0, 1, next=1),
        Event(Kind.INTENT, 0, word="applied", value=("job 0", "seed"), base=("seed",)),
        Event(Kind.WRITE, 0),
        Event(Kind.REVISION, 0),
        Event(Kind.COMPLETE, 0),
    ]
    for event in (*both, *claims, *first):
        after = take(state, event)
        assert isinstance(after, State), f"{event}: {after}"
        state = after

    again = take(state, Event(Kind.BASE, *taken))
    assert isinstance(again, State)
    assert take(again, Event(Kind.PROVE, *taken, next=1)) == "prove.fits"
    assert isinstance(take(again, Event(Kind.REBASE, *taken, next=2)), State)


def first_breach(off: frozenset[str]) -> str:
    """Return the promise that is broken first without some guards, or nothing."""
    return next((str(told) for bounds in SMALL if (told := explore(bounds, off).breach)), "")
