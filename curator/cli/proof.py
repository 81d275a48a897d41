"""What is shown of spend, taken as a person sees it, and held against the files while others may write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curator.durable.clock import SystemClock
from curator.model.ids import Day
from curator.model.times import day_of
from curator.verify.spending import COLUMNS, Figures, Proof, Shown, prove
from curator.workflow.inspect.budget import every_figure, settings_of

if TYPE_CHECKING:
    from curator.durable.layout import Layout
    from curator.model.budget import Amount, Exposure

_LOOKS_MAX: Final = 5
"""A service may write while it is added up; so often a difference is looked at again."""


def prove_figures(layout: Layout) -> Proof:
    """Return what adding up came to; a difference counts only if what is shown stood still meanwhile."""
    shown = _shown(layout)
    proof = prove(layout, shown)
    for _ in range(_LOOKS_MAX - 1):
        before, shown = shown, _shown(layout) if proof.findings else shown
        if shown == before:
            break
        proof = prove(layout, shown)
    return proof


def _shown(layout: Layout) -> Shown:
    today = Day(day_of(SystemClock().now()))
    days, budgets = every_figure(layout, today)
    panels = {each.provider: each.exposure if each.panel is None else each.panel.exposure for each in budgets}
    return Shown(
        days={(day, provider, name): figures for (day, provider), each in days.items() for name, figures in _of(each)},
        earlier={(each.provider, name): figures for each in budgets for name, figures in _of(each.earlier)},
        panel={(provider, name): figures for provider, each in panels.items() for name, figures in _of(each)},
        today=today,
        since=settings_of(layout).budget.counts_from(today),
    )


def _of(exposure: Exposure) -> list[tuple[str, Figures]]:
    amounts = (exposure.actual, exposure.held, exposure.unknown)
    return [(name, _figures(amount)) for name, amount in zip(COLUMNS, amounts, strict=True)]


def _figures(amount: Amount) -> Figures:
    return amount.calls, amount.tokens, amount.cost_nanousd
