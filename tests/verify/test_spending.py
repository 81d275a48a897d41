"""The figures are proved call by call: a healthy journal adds up, and each thing that does not is named by its path."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from curator.cli.proof import prove_figures
from curator.durable.clock import SystemClock
from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.model.attempt import LegacyCarry, corrected_by, dispatched_from, settled_from, unknown_from
from curator.model.digest import Digest
from curator.model.ids import Day
from curator.model.ports import CallFailure, Class
from curator.model.times import DAY_MS, day_of, day_start
from curator.store.attempts import AttemptStore
from curator.verify.spending import COLUMNS, Figures, Shown, prove
from curator.workflow.inspect.budget import every_figure
from curator.workflow.projection import project
from tests.kit import adding
from tests.made_up import provenance
from tests.workflow.lives import HOUR, Life
from tests.workflow.shops import open_shop
from tests.workflow.test_projection import reserve

TODAY: Final = Day(day_of(SystemClock().now()))
CLOSED: Final = Day("2026-01-03")
OPEN: Final = Day("2026-01-04")
REQUEST: Final = (Digest("1" * 64), "m", "a")
LOST: Final = CallFailure("model_timeout", Class.RETRY, "No answer in time.")


def lay(layout: Layout, day: Day) -> None:
    """Lay calls of every end into a day: settled, estimated, lost, billed, not billed, held, and a legacy carry."""
    store = AttemptStore(Volume(), layout)
    scene = open_shop(layout.agent, f"{day}T12:00:00.000Z")
    base = int(day.replace("-", "")) * 10
    at = f"{day}T12:00:00.000Z"
    for number, end in enumerate(("settled", "estimated", "lost", "billed", "waived", "held", "sent")):
        if end in ("held", "sent") and day == CLOSED:
            continue
        draft = reserve(scene, base + number, at)
        sent = dispatched_from(draft, at, REQUEST)
        if end != "held":
            store.advance(sent)
        if end in ("settled", "estimated"):
            told = dataclasses.replace(provenance(0 if end == "estimated" else 160), provider="fixture-provider")
            store.advance(settled_from(sent, at, told, is_estimated=end == "estimated"))
        if end in ("lost", "billed", "waived"):
            unknown = unknown_from(sent, at)
            store.advance(unknown)
            if end != "lost":
                store.advance(corrected_by(unknown, at, (90, 7) if end == "billed" else None, "on the bill"))
    store.publish_legacy(
        LegacyCarry(
            day=day,
            provider="fixture-provider",
            source_digest=Digest("cd" * 32),
            imported_at=at,
            calls=3,
            tokens=1_234,
            cost_nanousd=5,
        )
    )


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A closed day, an open one, and today, with all kinds of calls in each."""
    layout = Layout(tmp_path / "agent")
    layout.root.mkdir(parents=True)
    for day in (CLOSED, OPEN, TODAY):
        lay(layout, day)
    store = AttemptStore(Volume(), layout)
    assert store.close_day(CLOSED, lambda _: False, day_start(CLOSED) + DAY_MS)
    project(open_shop(layout.agent, f"{TODAY}T13:00:00.000Z").shop, force=True)
    return layout


def places(layout: Layout) -> set[str]:
    return {str(each.path.relative_to(layout.own.parent)) for each in prove_figures(layout).findings}


def test_a_healthy_journal_comes_to_what_is_shown(layout: Layout) -> None:
    proof = prove_figures(layout)

    assert proof.findings == ()
    assert (proof.calls, proof.days) == (4 + 2 * 7, 3)


def test_so_does_one_that_curator_made_and_closed_by_itself(tmp_path: Path) -> None:
    life = Life(tmp_path, adding("One."), LOST, adding("Two."))
    for number in range(3):
        life.enqueue(f"entry-{number}")
    for _ in range(4):
        life.app.review_once()
        life.world.clock.ms += HOUR
        life.reopen()
    assert prove_figures(life.layout).findings == ()
    life.pass_by(10 * DAY_MS)
    life.pass_by(DAY_MS)

    proof = prove_figures(life.layout)

    assert (proof.findings, proof.calls) == ((), 4)
    assert list(life.layout.attempts.glob("*.closed.json"))


def change(path: Path, **fields: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | fields) + "\n", "utf-8")


def step(layout: Layout, day: Day, state: str) -> Path:
    found = sorted((layout.attempts / day).rglob("*.json"))
    return next(path for path in found if json.loads(path.read_text("utf-8")).get("state") == state)


def settled_otherwise(layout: Layout) -> Path:
    path = step(layout, OPEN, "settled")
    change(path, chargedTokens=161)
    return path


def closed_otherwise(layout: Layout) -> Path:
    path = layout.attempts / f"{CLOSED}.closed.json"
    totals = json.loads(path.read_text("utf-8"))["totals"]
    totals["fixture-provider"]["unknown"]["costNanousd"] -= 50_000_000
    change(path, totals=totals)
    return path


def row_otherwise(layout: Layout) -> Path:
    path = layout.attempts / f"{CLOSED}.closed.json"
    rows = json.loads(path.read_text("utf-8"))["attempts"]
    change(path, attempts=[row.replace(" 160 ", " 16 ") for row in rows])
    return path


def torn(layout: Layout) -> Path:
    path = step(layout, OPEN, "unknown")
    path.write_bytes(path.read_bytes()[:40])
    return path


def torn_carry(layout: Layout) -> Path:
    path = next((layout.attempts / OPEN).glob("legacy.*.json"))
    path.write_bytes(b"{")
    return path


def torn_closing(layout: Layout) -> Path:
    path = layout.attempts / f"{CLOSED}.closed.json"
    path.write_bytes(b"{")
    return path


@pytest.mark.parametrize("damage", [settled_otherwise, closed_otherwise, row_otherwise, torn, torn_carry, torn_closing])
def test_what_does_not_add_up_is_named_by_its_path(layout: Layout, damage: Callable[[Layout], Path]) -> None:
    path = damage(layout)

    assert str(path.relative_to(layout.own.parent)) in places(layout)


def test_an_answer_that_is_kept_and_told_another_usage_is_named(tmp_path: Path) -> None:
    life = Life(tmp_path)
    life.review()
    (path,) = life.layout.results.rglob("review_attempt_*.json")
    path.write_text(path.read_text("utf-8").replace('"totalTokens":160', '"totalTokens":16'), "utf-8")

    assert {each.path for each in prove_figures(life.layout).findings} == {path}


def truth(layout: Layout) -> Shown:
    days, budgets = every_figure(layout, TODAY)
    (budget,) = budgets
    panel = budget.exposure if budget.panel is None else budget.panel.exposure
    return Shown(
        days={
            (day, provider, name): (part.calls, part.tokens, part.cost_nanousd)
            for (day, provider), each in days.items()
            for name, part in zip(COLUMNS, (each.actual, each.held, each.unknown), strict=True)
        },
        earlier={
            (budget.provider, name): (part.calls, part.tokens, part.cost_nanousd)
            for name, part in zip(
                COLUMNS, (budget.earlier.actual, budget.earlier.held, budget.earlier.unknown), strict=True
            )
        },
        panel={
            (budget.provider, name): (part.calls, part.tokens, part.cost_nanousd)
            for name, part in zip(COLUMNS, (panel.actual, panel.held, panel.unknown), strict=True)
        },
        today=TODAY,
        since="0000-00-00",
    )


@pytest.mark.parametrize("figure", range(3))
@pytest.mark.parametrize("by", [-1, 1])
def test_any_one_figure_that_is_shown_otherwise_is_found(layout: Layout, figure: int, by: int) -> None:
    shown = truth(layout)
    assert prove(layout, shown).findings == ()

    def off(figures: Figures) -> Figures:
        moved = [number + by * (index == figure) for index, number in enumerate(figures)]
        return moved[0], moved[1], moved[2]

    for key, figures in shown.days.items():
        found = prove(layout, dataclasses.replace(shown, days={**shown.days, key: off(figures)})).findings
        assert [each.path.name.startswith(key[0]) for each in found] == [True], key
    for part, figures in shown.earlier.items():
        found = prove(layout, dataclasses.replace(shown, earlier={**shown.earlier, part: off(figures)})).findings
        assert len(found) == 1, part
    for part, figures in shown.panel.items():
        found = prove(layout, dataclasses.replace(shown, panel={**shown.panel, part: off(figures)})).findings
        assert len(found) == 1, part


def test_a_day_or_what_is_left_of_an_earlier_one_that_is_not_shown_at_all_is_found(layout: Layout) -> None:
    shown = truth(layout)
    rest = {key: figures for key, figures in shown.days.items() if key[0] != OPEN}

    assert {each.path.name for each in prove(layout, dataclasses.replace(shown, days=rest)).findings} == {OPEN}
    assert len(prove(layout, dataclasses.replace(shown, earlier={})).findings) == 6, "three figures, held and unknown"
