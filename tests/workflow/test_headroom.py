"""Jobs that wait for the budget go on when there is room again; nothing else that waits is hurried."""

from pathlib import Path
from typing import Final

import pytest

from curator.model.ports import CallFailure, Class, Hold
from curator.model.times import DAY_MS, next_midnight
from curator.workflow.headroom import has_room, let_go_on
from tests.kit import START_MS, adding
from tests.workflow.lives import HOUR, Life

LOST: Final = CallFailure("model_timeout", Class.RETRY, "No answer in time.")


def waiting_life(tmp_path: Path, *script: str | CallFailure, **limits: float) -> Life:
    """Live a morning in which the first job meets the reviewer, and the second one the limit."""
    life = Life(tmp_path, *(script or (adding("One."), adding("Two."))))
    life.world.clock.ms = START_MS + 9 * HOUR
    life.world.configure("external", **limits)
    life.reopen()
    life.enqueue("entry-1")
    life.enqueue("entry-2")
    life.app.review_once()
    return life


def due(life: Life) -> list[int]:
    return [each.glimpse.due_ms for each in life.app.shop.stores.spool.waiting()]


@pytest.mark.parametrize(
    ("tight", "wide"),
    [
        ({"maxCallsPerDay": 1}, {"maxCallsPerDay": 2}),
        ({"maxTokensPerDay": 559}, {"maxTokensPerDay": 560}),
        ({"maxCostPerDayUsd": 0.053}, {"maxCostPerDayUsd": 0.06}),
    ],
)
def test_a_limit_that_is_raised_lets_the_jobs_go_on_at_once(
    tmp_path: Path, tight: dict[str, float], wide: dict[str, float]
) -> None:
    life = waiting_life(tmp_path, **tight)
    assert due(life) == [next_midnight(life.world.clock.ms)]
    life.world.configure("external", **wide)
    life.app = life.app.reloaded()

    life.app.review_once()

    assert life.world.texts(life.app, life.key) == ["One.", "Two."]


def test_without_room_nobody_is_hurried(tmp_path: Path) -> None:
    life = waiting_life(tmp_path, maxCallsPerDay=1)
    before = life.tree()

    assert let_go_on(life.app.shop) == 0
    assert life.tree() == before


def test_room_that_is_too_small_costs_no_try(tmp_path: Path) -> None:
    life = waiting_life(tmp_path, maxTokensPerDay=500)
    for _ in range(5):
        life.reopen()
        life.app.review_once()
    assert due(life) == [next_midnight(life.world.clock.ms)]
    assert has_room(life.app.shop)
    assert not has_room(life.app.shop, Hold(400, 0))

    life.world.clock.ms = next_midnight(life.world.clock.ms)
    life.reopen()
    life.app.review_once()

    assert life.world.texts(life.app, life.key) == ["One.", "Two."]
    assert life.reviewer.briefs[-1].attempt == 1


def test_what_waits_for_its_own_time_is_left_alone(tmp_path: Path) -> None:
    life = waiting_life(tmp_path, LOST)
    at = due(life)
    assert max(at) % DAY_MS

    assert let_go_on(life.app.shop) == 0
    assert due(life) == at


def test_without_a_reviewer_there_is_no_room(tmp_path: Path) -> None:
    life = waiting_life(tmp_path, maxCallsPerDay=1)
    life.layout.service_json.write_text('{"version":1,"mode":"embedded"}', "utf-8")
    life.reopen()

    assert not has_room(life.app.shop)
    assert let_go_on(life.app.shop) == 0
