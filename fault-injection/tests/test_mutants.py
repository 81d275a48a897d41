"""Every planted bug is found, or argued: if one lives without a reason, the campaign is blind there."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator

import pytest
from faults.arguments import ARGUED, argument_for
from faults.campaign import Scenario, Stage
from faults.figures import note
from faults.mutants import DROP_BYTES, DROP_NAMES, SWAP, Mutant, Verdict, mutants_of, try_mutant, try_second_lives
from faults.scenarios import SCENARIOS, SECOND_LIVES
from faults.tree import scratch

SECOND = ("applied", "held", "retried", "shadow", "failed", "overslept", "maintained", "closed-late", *SECOND_LIVES)
"""Stories whose second lives are asked about a flush that no first life needs."""

STAGES = 4
"""In each run: so many scenarios are asked about one mutant. With time, all that have a place for it."""

SWAPS_SHARE = 3
"""In each run: one pair of neighbours in so many is swapped. With time, all."""


@pytest.fixture
def stages() -> Iterator[list[Stage]]:
    yield from staged(SCENARIOS)


@pytest.fixture
def second_stages() -> Iterator[list[Stage]]:
    stories = SCENARIOS | SECOND_LIVES
    yield from staged({name: stories[name] for name in SECOND})


def staged(stories: dict[str, Scenario]) -> Iterator[list[Stage]]:
    folders = [scratch() for _ in stories]
    yield [Stage(story, folder) for story, folder in zip(stories.values(), folders, strict=True)]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def planted(stages: list[Stage], *kinds: str) -> list[Mutant]:
    return [mutant for mutant in mutants_of(stage.recording for stage in stages) if mutant.kind in kinds]


def tell(verdicts: list[Verdict]) -> list[str]:
    """Print a table of what became of them, and return who lives without a reason."""
    ends: Counter[str] = Counter()
    living: list[str] = []
    for verdict in verdicts:
        argument = argument_for(verdict.mutant)
        ending = verdict.ending(argument)
        ends[ending] += 1
        print(f"{ending}: {verdict.mutant}: {verdict.killed_by or argument}")
        if ending == "ALIVE":
            living.append(str(verdict.mutant))
    print(", ".join(f"{count} {ending}" for ending, count in ends.items()))
    note("mutants", {f"flushes and verbs: {ending}": count for ending, count in ends.items()})
    return living


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kinds", [(DROP_BYTES, DROP_NAMES), (SWAP,)], ids=["flushes dropped", "neighbours swapped"])
def test_every_mutant_is_killed_or_argued(stages: list[Stage], kinds: tuple[str, ...], *, is_long: bool) -> None:
    mutants = planted(stages, *kinds)

    tried = [mutant for mutant in mutants if is_long or not argument_for(mutant)]
    if SWAP in kinds and not is_long:
        tried = tried[::SWAPS_SHARE]
    verdicts = [try_mutant(mutant, stages, stages_max=None if is_long else STAGES) for mutant in tried]

    assert len(mutants) > 100
    assert tell(verdicts) == []


@pytest.mark.timeout(900)
def test_a_flush_that_no_first_life_needs_is_needed_by_a_second_one(
    stages: list[Stage], second_stages: list[Stage], *, is_long: bool
) -> None:
    if not is_long:
        pytest.skip("only in the whole campaign: CURATOR_FAULTS=long")
    dropped = [mutant for mutant in planted(stages, DROP_NAMES) if not argument_for(mutant)]
    spare = [mutant for mutant in dropped if not try_mutant(mutant, stages).killed_by]

    verdicts = [try_second_lives(mutant, second_stages) for mutant in spare]

    tell(verdicts)
    assert [str(verdict.mutant) for verdict in verdicts if not verdict.killed_by] == []


def test_every_argument_is_about_a_mutant_that_there_is(stages: list[Stage], *, is_long: bool) -> None:
    if not is_long:
        pytest.skip("only in the whole campaign: CURATOR_FAULTS=long")
    mutants = planted(stages, DROP_BYTES, DROP_NAMES, SWAP)

    idle = [
        f"{kind}: {where}"
        for kind, where, _ in ARGUED
        if not any(mutant.kind == kind and where in mutant.where for mutant in mutants)
    ]

    assert idle == []
