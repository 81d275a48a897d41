"""A provider's day as it is shown: from the journal, with what counts of earlier days, and with what Pi's panel shows."""

from pathlib import Path
from typing import Final

import pytest

from curator.model.attempt import cancelled_from, corrected_by, dispatched_from, settled_from, unknown_from
from curator.model.budget import Amount, Exposure
from curator.model.digest import Digest
from curator.model.ids import Day
from curator.workflow.inspect.budget import Budget, Panel
from curator.workflow.inspect.status import look
from curator.workflow.projection import project
from tests.workflow.shops import Scene, open_shop
from tests.workflow.test_projection import provenance, reserve

DAY: Final = Day("2026-01-03")
NOW: Final = "2026-01-03T12:00:00.000Z"
BEFORE: Final = "2026-01-01T12:00:00.000Z"
PROVIDER: Final = "fixture-provider"
REQUEST: Final = (Digest("1" * 64), "fixture-reviewer", "fixture-api")
HOLD: Final = Amount(1, 400, 50_000_000)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return open_shop(tmp_path / "agent", NOW)


def budget(scene: Scene) -> Budget:
    (found,) = look(scene.shop.layout, scene.clock.at).budgets
    return found


def test_where_nothing_differs_pis_panel_is_not_mentioned(scene: Scene) -> None:
    sent = dispatched_from(reserve(scene, 1), NOW, REQUEST)
    for step in (sent, settled_from(sent, NOW, provenance())):
        scene.shop.stores.attempts.advance(step)
    scene.shop.stores.attempts.advance(cancelled_from(reserve(scene, 2), NOW))
    project(scene.shop, force=True)

    found = budget(scene)

    assert found.panel is None
    assert (found.exposure, found.earlier) == (Exposure(actual=Amount(1, 160, 3_100_000)), Exposure())


def test_what_is_estimated_or_corrected_is_told_where_pi_shows_it_otherwise(scene: Scene) -> None:
    attempts = scene.shop.stores.attempts
    guessed, lost = (dispatched_from(reserve(scene, number), NOW, REQUEST) for number in (1, 2))
    for step in (guessed, settled_from(guessed, NOW, provenance(0), is_estimated=True), lost):
        attempts.advance(step)
    unknown = unknown_from(lost, NOW)
    attempts.advance(unknown)
    attempts.advance(corrected_by(unknown, NOW, (90, 7), "on the bill"))
    project(scene.shop, force=True)

    found = budget(scene)

    assert found.exposure == Exposure(actual=Amount(2, 490, 50_000_007))
    assert found.panel == Panel(Exposure(actual=Amount(1, 0, 3_100_000), unknown=HOLD), is_current=True)


def test_a_day_file_that_lags_is_said_to_lag(scene: Scene) -> None:
    reserve(scene, 1)

    assert budget(scene).panel == Panel(Exposure(), is_current=False)


def test_what_of_earlier_days_has_no_end_is_shown_apart(scene: Scene) -> None:
    reserve(scene, 1, at=BEFORE)
    reserve(scene, 2)

    found = budget(scene)

    assert (found.exposure, found.earlier) == (Exposure(held=HOLD), Exposure(held=HOLD))
    assert found.counted == Exposure(held=Amount(2, 800, 100_000_000))

    scene.shop.layout.own.mkdir(exist_ok=True, parents=True)
    scene.shop.layout.curator_toml.write_text('[budget]\nunresolved = "expire-after = 1 day"\n', "utf-8")
    assert budget(scene).earlier == Exposure()
