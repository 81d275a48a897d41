"""Every verb that is dropped, done twice or done in another folder is found, or argued."""

from __future__ import annotations

from collections import Counter

import pytest
from faults.campaign import Stage
from faults.figures import note
from faults.mutants import Mutant
from faults.verb_arguments import VERBS_ARGUED, verb_argument_for
from faults.verb_mutants import KINDS, TWICE, play, try_verb_mutant, verb_mutants_of

SHARE = 24
"""In each run: one mutant in so many is planted. With time, all."""


@pytest.mark.timeout(900)
def test_every_verb_done_otherwise_is_killed_or_argued(stages: list[Stage], *, is_long: bool) -> None:
    mutants = verb_mutants_of(stages)
    tried = [each for each in mutants if is_long or not verb_argument_for(each)][:: 1 if is_long else SHARE]

    ends: Counter[str] = Counter()
    living: list[str] = []
    for mutant in tried:
        verdict = try_verb_mutant(mutant, mutants[mutant])
        argument = verb_argument_for(mutant)
        ending = verdict.ending(argument)
        ends[f"verb {mutant.kind}: {ending}"] += 1
        print(f"{ending}: {mutant}: {verdict.killed_by or argument}")
        if ending == "ALIVE":
            living.append(str(mutant))

    ends["verbs done otherwise: generated"] = len(mutants)
    print(dict(ends))
    note("mutants", ends)
    assert {mutant.kind for mutant in tried} == set(KINDS)
    assert len(mutants) > 700
    assert living == []


def test_a_volume_that_nobody_told_what_to_do_otherwise_ends_a_story_as_it_should(stages: list[Stage]) -> None:
    for stage in stages:
        site = next(each.site for each in stage.recording.asked if each.stack and each.mark is None)

        _, wrong = play(stage, Mutant("nothing", site))

        # An index that is not there the second time may keep the run from the site, and changes nothing else.
        assert wrong in {"", "the run no longer comes there"}, stage.scenario.name


def test_a_run_that_would_never_end_is_stopped(stages: list[Stage]) -> None:
    mutant, places = next(
        (mutant, places)
        for mutant, places in verb_mutants_of(stages).items()
        if mutant.kind == TWICE and mutant.where.startswith("link in durable/aside.py:_linked")
    )

    assert "the run does not end" in try_verb_mutant(mutant, places).killed_by


def test_every_argument_is_about_a_mutant_that_there_is(stages: list[Stage], *, is_long: bool) -> None:
    if not is_long:
        pytest.skip("only in the whole campaign: CURATOR_FAULTS=long")
    mutants = verb_mutants_of(stages)

    idle = [
        f"{kind}: {where}"
        for kind, where, _ in VERBS_ARGUED
        if not any(mutant.kind == kind and where in mutant.where for mutant in mutants)
    ]

    assert idle == []
