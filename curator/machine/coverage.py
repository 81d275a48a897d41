"""What has become of a piece of a trajectory, seen from reviews. Indexing says nothing here: what nobody covered is pending."""

from __future__ import annotations

from typing import Final

from curator.machine.table import Machine, Transition
from curator.model.ledger import CoverageState

_S = CoverageState

COVERAGE: Final = Machine(
    name="coverage",
    entry="index",
    initial=_S.PENDING,
    transitions=(
        Transition(_S.PENDING, "lease", _S.LEASED, "a plan has begun with it; no other plan may"),
        Transition(_S.PENDING, "exclude", _S.EXCLUDED, "a rule or a person leaves it out"),
        Transition(_S.PENDING, "spoil", _S.DAMAGED, "its source cannot be read as it was said"),
        Transition(_S.LEASED, "return", _S.PENDING, "its plan stopped, and gives it back"),
        Transition(_S.LEASED, "finish", _S.PROCESSED, "the result of its review is durable"),
        Transition(_S.LEASED, "drop", _S.EXCLUDED, "its plan leaves it out after all"),
        Transition(_S.LEASED, "spoil", _S.DAMAGED, "its source turned out not to be what was planned"),
        Transition(_S.EXCLUDED, "include", _S.PENDING, "a person or a later plan wants it after all"),
    ),
    orphaned={_S.LEASED: "return"},
)


def verb_between(source: CoverageState, target: CoverageState) -> str | None:
    """Return the arrow that leads from one state to another, or None where the table has none."""
    return next((each.verb for each in COVERAGE.transitions if (each.source, each.target) == (source, target)), None)
