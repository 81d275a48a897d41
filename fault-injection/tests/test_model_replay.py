"""What really happened is a trace of the model; and a trace in a wrong order is refused, with its step named."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from pathlib import Path

import pytest
from faults.campaign import BEYOND_LEASE_MS, Stage
from faults.figures import note
from faults.model.again import again, lives, recoveries, refusals, refused
from faults.model.rules import take
from faults.model.state import Attempt, Branch, Event, Frozen, Held, Job, Kind, State, Worker
from faults.model.trace import Replayed, Trace, replay
from faults.recording import Asked, Recording, Verb
from faults.scenarios import SCENARIOS

SAMPLE = {"overslept", "retried", "held"}
"""In each run: of these scenarios, every second life, some recoveries and refusals. With time, of them all, everything."""

SPINE = frozenset(Kind) - {Kind.LEAVE, Kind.HURRY, Kind.TAKE_OVER, Kind.EXPIRE, Kind.CRASH}
"""What must have been met when all scenarios have run; the rest leaves no file, or is one of two ways."""


def told(replayed: Replayed) -> str:
    return "" if replayed.refusal is None else str(replayed.refusal)


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_is_a_trace_of_the_model(stage_folder: Path, name: str) -> None:
    replayed = replay(Stage(SCENARIOS[name], stage_folder).recording)

    print(f"{name}: {len(replayed.events)} events")
    note("model", {"scenarios replayed": 1})
    assert told(replayed) == ""


def test_together_the_scenarios_take_every_step_of_the_model(stage_folder: Path) -> None:
    met: Counter[Kind] = Counter()
    for scenario in SCENARIOS.values():
        met.update(event.kind for event in replay(Stage(scenario, stage_folder).recording).events)

    print(", ".join(f"{count} {kind.value}" for kind, count in met.most_common()))
    assert SPINE - set(met) == set()


@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("kind", ["life", "recovery", "enospc"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_whatever_comes_of_a_crash_or_of_a_refusal_is_a_trace_of_the_model(
    stage_folder: Path, name: str, kind: str, *, is_long: bool
) -> None:
    if not is_long and name not in SAMPLE:
        pytest.skip("only in the whole campaign: CURATOR_FAULTS=long")
    stage = Stage(SCENARIOS[name], stage_folder)
    traces = {
        "life": lambda: lives(stage),
        "recovery": lambda: recoveries(stage, 1 if is_long else 12),
        "enospc": lambda: refused(stage, 1 if is_long else 13),
    }

    count, told_of = refusals(traces[kind]())

    print(f"{name}: {count} traces of kind {kind}")
    note("model", {f"traces replayed, {kind}": count})
    assert count > 0
    assert told_of == []


def test_a_trace_is_made_again_from_its_words(stage_folder: Path) -> None:
    stage = Stage(SCENARIOS["renewed"], stage_folder)

    for traces in (lives(stage), recoveries(stage), refused(stage)):
        for words, replayed in traces:
            assert again(stage, words.split()[1:]) == replayed


# Planted: what was recorded, in an order that nobody may see.

RESERVED, DISPATCHED, SETTLED = r".*\.0\.json", r".*\.1\.json", r".*\.2\.json"
RESULT, DECISION = ".*/provider-results/.*json", ".*/proposal-decisions/.*json"
INTENT, COMPLETION, TOMBSTONE = r".*\.intent\.json", r".*\.complete\.json", ".*/retired/.*json"
BRANCH, REVISION, RECEIPT, CARD = (
    ".*/branches/.*",
    ".*/revisions/.*json",
    ".*/commit-receipts/.*json",
    ".*/ready/.*json",
)
STAMP, RUNNING, OUTCOME, CLOSING = ".*/curator/jobs/.*json", ".*/running/.*", ".*/outcomes/.*", ".*/finished/.*json"

WRONG = [
    (DISPATCHED, RESERVED, "dispatch.reserved"),
    (RUNNING, STAMP, "claim.stamped"),
    (RESERVED, RUNNING, "its token is not its claim's"),
    (SETTLED, DISPATCHED, "settle.dispatched"),
    (SETTLED, RESULT, "settle.result"),
    (RESULT, DISPATCHED, "result.answered"),
    (DECISION, RESULT, "prove.completed"),
    (INTENT, DECISION, "intent.decided"),
    (BRANCH, INTENT, "no begun change leads there"),
    (REVISION, BRANCH, "revision.row"),
    (COMPLETION, REVISION, "complete.row"),
    (CARD, COMPLETION, "card.whole"),
    (RECEIPT, COMPLETION, "receipt.row"),
    (TOMBSTONE, RECEIPT, "tombstone.row"),
    (OUTCOME, RECEIPT, "outcome.receipt"),
    (CLOSING, OUTCOME, "close.outcome"),
]
"""What is done too early, before what, and what forbids it."""

GONE_EARLY = [
    (".*/queued/review.*json", ".*/running/.*", "drop queued.covered"),
    (".*/running/review.*json", CLOSING, "drop running.closed"),
    (r".*\.intent\.json", TOMBSTONE, "drop intent.row"),
    (r".*\.complete\.json", r".*\.intent\.json", "drop completion.row"),
]
"""What is removed too early, before what, and what forbids it."""


@pytest.fixture
def applied(stage_folder: Path) -> Recording:
    return Stage(SCENARIOS["applied"], stage_folder).recording


@pytest.mark.parametrize(("early", "late", "why"), WRONG, ids=[f"{why}-{early}" for early, _, why in WRONG])
def test_a_publication_before_its_time_is_refused(applied: Recording, early: str, late: str, why: str) -> None:
    replayed = replay(sooner(applied, early, late))

    assert why in told(replayed)
    assert replayed.refusal is not None
    assert re.search(early, replayed.refusal.step)


@pytest.mark.parametrize(("early", "late", "why"), GONE_EARLY, ids=[why for _, _, why in GONE_EARLY])
def test_a_removal_before_its_time_is_refused(applied: Recording, early: str, late: str, why: str) -> None:
    gone = next(
        at for at, each in enumerate(applied.asked) if each.verb is Verb.UNLINK and re.fullmatch(early, each.path)
    )
    is_removal = why == "drop completion.row"
    before = next(
        at
        for at, each in enumerate(applied.asked)
        if re.fullmatch(late, each.path) and each.verb in ((Verb.UNLINK,) if is_removal else (Verb.LINK, Verb.RENAME))
    )
    asked = [each for at, each in enumerate(applied.asked) if at != gone]
    asked.insert(before, applied.asked[gone])

    assert why in told(replay(dataclasses.replace(applied, asked=tuple(asked))))


@pytest.mark.parametrize(
    ("missing", "why"),
    [
        (RESERVED, "dispatch.reserved"),
        (DISPATCHED, "no attempt says that it sent it"),
        (RESULT, "settle.result"),
        (BRANCH, "revision.row"),
        (REVISION, "complete.row"),
        (RECEIPT, "tombstone.row"),
    ],
)
def test_a_publication_that_is_left_out_is_refused(applied: Recording, missing: str, why: str) -> None:
    asked = [each for each in applied.asked if not is_publication(each, missing)]

    assert why in told(replay(dataclasses.replace(applied, asked=tuple(asked))))


def test_a_lease_that_ran_out_is_not_renewed(stage_folder: Path) -> None:
    renewed = Stage(SCENARIOS["renewed"], stage_folder).recording
    late = [
        dataclasses.replace(each, now=each.now + BEYOND_LEASE_MS) if each.verb is Verb.RENAME else each
        for each in renewed.asked
    ]

    assert "renew.lease" in told(replay(dataclasses.replace(renewed, asked=tuple(late))))


def test_a_second_call_of_an_attempt_is_refused(applied: Recording) -> None:
    call = next(each for each in applied.asked if each.mark is not None and each.mark.kind == "request")
    at = applied.asked.index(call)

    twice = dataclasses.replace(applied, asked=(*applied.asked[:at], call, *applied.asked[at:]))

    assert "call.once" in told(replay(twice))


def test_a_name_that_the_model_does_not_know_is_refused(applied: Recording) -> None:
    link = next(each for each in applied.asked if each.verb is Verb.LINK)
    stranger = dataclasses.replace(link, path="no-forgetti/curator/somewhere/else.json")

    assert "knows no such name" in told(replay(dataclasses.replace(applied, asked=(*applied.asked, stranger))))


def test_a_record_that_was_written_in_place_is_seen_at_the_end(applied: Recording) -> None:
    link = next(each for each in applied.asked if is_publication(each, ".*/queued/.*"))
    staged = next(each for each in applied.asked if each.verb is Verb.STAGE and each.path == link.source)
    in_place = dataclasses.replace(staged, path=link.path)

    assert "in the model" in told(replay(dataclasses.replace(applied, asked=(*applied.asked, in_place))))


FROZEN = Frozen("applied", ("seed",), ("seed", "more"))
BESIDE = [
    (Event(Kind.HOLD, 0), Job(), "hold.waits"),
    (Event(Kind.RELEASE, 0, next=1), Job(queued=1), "release.held"),
    (Event(Kind.DROP_HELD, 0), Job(held=Held.HELD), "drop held.covered"),
    (Event(Kind.RENEW, 0, 1), Job(running=1), "renew.lease"),
    (Event(Kind.CORRECT, 0, 1, "operator"), Job(attempts=(Attempt(1, ("seed",), "dispatched"),)), "correct.unknown"),
    (Event(Kind.UNDO, 0, value=()), Job(intent=FROZEN), "undo.rolled"),
    (Event(Kind.SEED, 0, value=()), Job(), "seed.new"),
    (Event(Kind.AGE, 0, word="outcome"), Job(outcome="failed"), "age.closed"),
]
"""What only people, Pi and age do: the event, the job to which it may not happen, and why not."""


@pytest.mark.parametrize(("event", "job", "why"), BESIDE, ids=[why for _, _, why in BESIDE])
def test_what_happens_beside_the_spine_has_its_guards_too(event: Event, job: Job, why: str) -> None:
    state = State((job,), (Branch(("seed",)),), (Worker(0, 1),))

    assert take(state, event) == why
    assert isinstance(take(state, event, frozenset({why})), State)


def is_publication(each: Asked, pattern: str) -> bool:
    return each.verb in (Verb.LINK, Verb.RENAME) and re.fullmatch(pattern, each.path) is not None


def sooner(recording: Recording, early: str, late: str) -> Recording:
    """Publish one record, its staging included, right before another one."""
    target = next(at for at, each in enumerate(recording.asked) if is_publication(each, late))
    moved = next(each for each in recording.asked if is_publication(each, early))
    staged = [each for each in recording.asked if each.verb is Verb.STAGE and each.path == moved.source]
    others = [each for each in recording.asked if each is not moved and each not in staged]
    place = others.index(recording.asked[target])
    return dataclasses.replace(recording, asked=(*others[:place], *staged, moved, *others[place:]))


@pytest.mark.parametrize(("ahead", "is_allowed"), [(0, True), (BEYOND_LEASE_MS, False)])
def test_a_lease_runs_by_the_clock_of_its_holder(stage_folder: Path, ahead: int, *, is_allowed: bool) -> None:
    recording = Stage(SCENARIOS["renewed"], stage_folder).recording
    trace = Trace(recording.start)
    renewal = max(at for at, each in enumerate(recording.asked) if each.verb is Verb.RENAME and "running" in each.path)
    for asked in recording.asked[:renewal]:
        assert trace.tried(asked, 1) == ""
    stranger = dataclasses.replace(
        recording.asked[renewal], is_done=False, now=recording.asked[renewal].now + BEYOND_LEASE_MS
    )
    assert trace.tried(stranger, 2) == ""

    told = trace.tried(dataclasses.replace(recording.asked[renewal], now=recording.asked[renewal].now + ahead), 1)

    assert (told == "") is is_allowed
