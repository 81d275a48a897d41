"""What the whole campaign must have tried at least: figures below a floor fail it, whatever its tests say."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faults.figures import Figures


class Floor(NamedTuple):
    """So much of something, at least."""

    layer: str
    what: str
    starts: tuple[str, ...]
    """How the names of the figures begin that add up to it."""
    least: int

    def reached(self, figures: Figures) -> int:
        """Return how much of it there was."""
        counts = figures.get(self.layer, Counter())
        return sum(count for name, count in counts.items() if name.startswith(self.starts))


FLOORS: Final = (
    Floor("model", "states of the model", ("states",), 1_000_000),
    Floor("crash", "distinct states judged", ("distinct states, ",), 50_000),
    Floor("kill", "points of death and of refusal", ("deaths", "refusals"), 1_000),
    Floor("block", "images of ext4", ("images, ",), 1_000),
)
_SOMETIMES: Final = {"arrow": "arrows", "row": "rows of the admission table", "call site": "call sites"}
"""What must have been met, by how its figures begin."""
_MUTANTS: Final = {"killed": ("killed", "missed"), "argued": ("argued",), "ALIVE": ("ALIVE",)}
"""How a planted bug ends, by the words at the ends of its figures; what is equivalent or impossible is none."""


def below(figures: Figures, layers: set[str]) -> list[str]:
    """Name each floor, among those of some layers, that was not reached."""
    return [
        f"{each.layer}: {reached:,} {each.what}, and {each.least:,} is the least"
        for each in FLOORS
        if each.layer in layers and (reached := each.reached(figures)) < each.least
    ]


def closing(figures: Figures) -> Iterator[str]:
    """Yield what a person wants to know at the end: the floors, what was met sometimes, the mutants, the violations."""
    for floor in FLOORS:
        if floor.layer in figures:
            yield f"{floor.layer}: {floor.reached(figures):,} {floor.what}; the long form asks for {floor.least:,}"
    crash = figures.get("crash", Counter())
    for start, what in _SOMETIMES.items():
        met = [count > 0 for name, count in crash.items() if name.startswith(f"{start} ")]
        if met:
            yield f"sometimes: {sum(met)} of {len(met)} {what} met"
    mutants = figures.get("mutants", Counter())
    if mutants:
        ends = {
            end: sum(count for name, count in mutants.items() if name.endswith(words))
            for end, words in _MUTANTS.items()
        }
        yield "mutants: " + ", ".join(f"{count:,} {end}" for end, count in ends.items())
    yield f"violations: {sum(counts['violations'] for counts in figures.values())}"
