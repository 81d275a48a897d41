"""The whole campaign fails where it tried too little, although each of its tests passed."""

from __future__ import annotations

from collections import Counter

from faults.figures import Figures
from faults.floors import FLOORS, below, closing

ENOUGH: Figures = {
    "model": Counter({"states": 1_653_318}),
    "crash": Counter(
        {
            "distinct states, kill": 2_000,
            "distinct states, strict after a kill": 50_000,
            "arrow job: claim": 3,
            "row 1: done": 4,
            "violations": 0,
        }
    ),
    "kill": Counter({"deaths": 600, "refusals": 400, "violations": 0}),
    "block": Counter({"images, power cuts": 900, "images, endings in mid-run": 100}),
    "mutants": Counter({"flushes and verbs: killed": 90, "wrong tables killed": 10, "guards taken away and argued": 1}),
}


def without(layer: str, name: str) -> Figures:
    return {**ENOUGH, layer: Counter({each: count for each, count in ENOUGH[layer].items() if each != name})}


def test_each_floor_is_missed_where_its_figures_are() -> None:
    layers = {each.layer for each in FLOORS}

    assert below(ENOUGH, layers) == []
    assert below(without("crash", "distinct states, strict after a kill"), layers) == [
        "crash: 2,000 distinct states judged, and 50,000 is the least"
    ]
    assert len(below(without("kill", "refusals"), layers)) == 1
    assert len(below(without("block", "images, endings in mid-run"), layers)) == 1
    assert len(below({}, layers)) == len(FLOORS)


def test_only_the_layers_that_ran_are_asked() -> None:
    assert below({}, {"world"}) == []


def test_what_was_passed_over_for_a_sample_is_not_counted_as_judged() -> None:
    sampled: Figures = {"crash": Counter({"distinct states passed over for a sample": 60_000})}

    assert len(below(sampled, {"crash"})) == 1


def test_the_end_tells_of_what_was_met_of_mutants_and_of_violations() -> None:
    lines = [*closing(ENOUGH)]

    assert "sometimes: 1 of 1 arrows met" in lines
    assert "mutants: 100 killed, 1 argued, 0 ALIVE" in lines
    assert lines[-1] == "violations: 0"
    assert "sometimes: 0 of 1 arrows met" in [*closing({"crash": Counter({"arrow job: claim": 0})})]
