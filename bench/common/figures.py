"""Figures, the bars that they are held to, and how both are printed: a table for a person, or one JSON object."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from curator.model.digest import Json

_NAME_CHARS: Final = 58


@dataclasses.dataclass(frozen=True, slots=True)
class Figure:
    """One measured number; one with a bar is a claim, and one without stands beside it."""

    name: str
    value: float
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the number keeps its bar; a number that could not be measured keeps none."""
        if math.isnan(self.value):
            return self.at_most is None and self.at_least is None
        return not (
            (self.at_most is not None and self.value > self.at_most)
            or (self.at_least is not None and self.value < self.at_least)
        )

    @property
    def bar(self) -> str:
        """The bar in words."""
        if self.at_most is not None:
            return f"<= {self.at_most:g}"
        return "" if self.at_least is None else f">= {self.at_least:g}"

    def encode(self) -> dict[str, Json]:
        """Return the JSON of the figure."""
        value: Json = None if math.isnan(self.value) else round(self.value, 4)
        said: dict[str, Json] = {"name": self.name, "value": value, "unit": self.unit}
        if self.bar:
            said |= {"bar": self.bar, "holds": self.holds}
        return said


@dataclasses.dataclass(slots=True)
class Report:
    """What one script found, in the order in which it found it."""

    title: str
    figures: list[Figure] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)
    """What was left out, and why; what a number rests on."""
    tables: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    """Lines under a heading, for whoever looks for a cause."""

    def add(self, *figures: Figure) -> None:
        """Take in figures."""
        self.figures.extend(figures)

    def note(self, text: str) -> None:
        """Take in a remark."""
        self.notes.append(text)

    @property
    def holds(self) -> bool:
        """Whether every bar is kept."""
        return all(figure.holds for figure in self.figures)

    def show(self, *, as_json: bool) -> int:
        """Print everything and return the exit status: 1 where a bar is missed."""
        if as_json:
            print(json.dumps(self._encode()))
        else:
            self._print()
        return 0 if self.holds else 1

    def _encode(self) -> dict[str, Json]:
        tables: dict[str, Json] = {heading: list(lines) for heading, lines in self.tables.items()}
        figures: list[Json] = [figure.encode() for figure in self.figures]
        return {"title": self.title, "holds": self.holds, "figures": figures, "notes": list(self.notes), **tables}

    def _print(self) -> None:
        print(self.title)
        for figure in self.figures:
            verdict = "" if not figure.bar else "  held" if figure.holds else "  MISSED"
            value = "-" if math.isnan(figure.value) else f"{figure.value:.4g}"
            print(f"  {figure.name:<{_NAME_CHARS}}{value:>9} {figure.unit:<8}{figure.bar:>9}{verdict}")
        for heading, lines in self.tables.items():
            print(f"\n  {heading}")
            for line in lines:
                print(f"    {line}")
        for note in self.notes:
            print(f"  note: {note}")
        sys.stdout.flush()


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of them lie, by nearest rank; not a number where there are none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def median(values: Sequence[float]) -> float:
    """Return the median; not a number where there are no values."""
    return statistics.median(values) if values else math.nan


def shares(counts: Mapping[str, int], of: int) -> list[str]:
    """Return lines of a table: how often each thing happened, divided by `of`, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [f"{count / of:6.2f}  {name}" for name, count in ordered]


def options(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with what every script takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="a small run: the same bars on fewer things")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--on", type=Path, metavar="DIR", help="measure on the disk of DIR (default: temporary files)")
    return parser
