"""What the layers tell of their runs, added up over processes: a line a figure in one file, if somebody wants to know."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FILE: Final = "CURATOR_FAULTS_FIGURES"
"""Names the file in the environment; without it nothing is noted."""

Figures: TypeAlias = "dict[str, Counter[str]]"


def note(layer: str, counts: Mapping[str, int]) -> None:
    """Add counts to those of a layer."""
    name = os.environ.get(FILE)
    if name is None:
        return
    lines = "".join(f"{layer}\t{what}\t{count}\n" for what, count in counts.items())
    with open(name, "ab", buffering=0) as file:  # noqa: PTH123 - one write, so that no other process's comes between
        file.write(lines.encode())


def read(path: Path) -> Figures:
    """Return the sums, by layer and figure."""
    figures: Figures = {}
    for line in path.read_text("utf-8").splitlines() if path.exists() else []:
        layer, what, count = line.split("\t")
        figures.setdefault(layer, Counter())[what] += int(count)
    return figures
