"""A day's limits, and what of earlier days has no end: a wait for the budget burns no try, and ends when the day does."""

from pathlib import Path
from typing import Final

import pytest

from curator.app import App
from curator.model.attempt import AttemptState
from curator.model.budget import Amount, Exposure
from curator.model.event import BudgetExhausted, Stopped
from curator.model.ids import Day
from curator.model.ports import CallFailure, Class
from curator.model.times import DAY_MS, day_of, ms_of, next_midnight
from tests.kit import START_MS, adding
from tests.workflow.lives import HOUR, Life

PROVIDER: Final = "fixture-provider"
LOST: Final = CallFailure("model_timeout", Class.RETRY, "No answer in time.")
HOLD: Final = Amount(1, 400, 50_000_000)
PAID: Final = Amount(1, 160, 3_100_000)


def a_life(tmp_path: Path, *script: str | CallFailure, **limits: float) -> Life:
    life = Life(tmp_path, *script)
    life.world.clock.ms = START_MS + 9 * HOUR
    life.world.configure("external", **limits)
    life.reopen()
    return life


def exposure(app: App) -> Exposure:
    return app.shop.stores.attempts.exposure(PROVIDER, Day(day_of(app.shop.clock.now())))


def waits_until(life: Life) -> list[int]:
    queued = life.app.shop.stores.spool.queued()
    return [ms_of(each.available_at) for each in queued if each.available_at is not None]


def refused(life: Life) -> list[BudgetExhausted]:
    return [event for event in life.world.heard.events if isinstance(event, BudgetExhausted)]


def next_day(life: Life) -> None:
    life.world.clock.ms = next_midnight(life.world.clock.ms)
    life.reopen()


def test_a_wait_for_the_budget_ends_when_the_day_does_and_burns_no_try(tmp_path: Path) -> None:
    life = a_life(tmp_path, adding("One."), LOST, LOST, adding("Two."), maxCallsPerDay=1)
    jobs = [life.enqueue("entry-1"), life.enqueue("entry-2")]
    for _ in range(3):
        life.app.review_once()
        next_day(life)
        assert len(waits_until(life)) == 1
    life.world.configure(maxCallsPerDay=100)
    for _ in range(2):
        life.reopen()
        life.app.review_once()
        life.world.clock.ms += HOUR

    assert [life.app.shop.stores.finished.stands(job.id) for job in jobs] == [True, True]
    assert life.reviewer.briefs[-1].attempt == 3, "two calls were lost, and no wait is one"


def test_it_is_due_at_midnight_and_not_a_millisecond_before(tmp_path: Path) -> None:
    life = a_life(tmp_path, maxCallsPerDay=1)
    life.enqueue("entry-1")
    second = life.enqueue("entry-2")
    life.app.review_once()
    midnight = next_midnight(life.world.clock.ms)
    assert waits_until(life) == [midnight]
    assert [event.limit for event in refused(life)] == ["calls"]

    life.world.clock.ms = midnight - 1_000
    life.reopen()
    life.app.review_once()
    assert not life.app.shop.stores.finished.stands(second.id)

    life.world.clock.ms = midnight
    life.reopen()
    life.app.review_once()

    assert life.app.shop.stores.finished.stands(second.id)
    assert exposure(life.app).actual == PAID, "the new day has one call of its own"


def test_what_was_lost_yesterday_counts_against_today(tmp_path: Path) -> None:
    life = a_life(tmp_path, LOST, adding("Heard."), maxCallsPerDay=1)
    life.enqueue("entry-1")
    life.app.review_once()
    for _ in range(3):
        next_day(life)
        life.app.review_once()

    assert [event.exposure for event in refused(life)] == [Exposure(unknown=HOLD)] * 3
    assert len(life.reviewer.asked) == 1

    life.layout.curator_toml.write_text('[budget]\nunresolved = "expire-after = 3 days"\n', "utf-8")
    life.reopen()
    life.app.shop.stores.spool.hurry(life.app.shop.stores.spool.waiting()[0])
    life.app.review_once()
    assert len(life.reviewer.asked) == 1, "the third day after it is one of the three"

    next_day(life)
    life.app.review_once()

    assert len(life.reviewer.asked) == 2
    assert exposure(life.app).actual == PAID


@pytest.mark.parametrize(
    ("limits", "limit"),
    [({"maxCallsPerDay": 2}, "calls"), ({"maxTokensPerDay": 959}, "tokens"), ({"maxCostPerDayUsd": 0.103}, "cost")],
)
def test_each_limit_counts_what_is_spent_today_and_what_was_lost_before(
    tmp_path: Path, limits: dict[str, float], limit: str
) -> None:
    life = a_life(tmp_path, LOST, adding("One."), adding("Two."), **limits)
    life.enqueue("entry-1")
    life.enqueue("entry-2")
    life.app.review_once()
    life.world.clock.ms += DAY_MS
    life.reopen()

    life.app.review_once()

    (told,) = refused(life)
    assert (told.limit, told.exposure) == (limit, Exposure(actual=PAID, unknown=HOLD))
    assert len(life.reviewer.asked) == 2


@pytest.mark.parametrize(
    ("limits", "limit"),
    [({"maxTokensPerDay": 399}, "tokens"), ({"maxCostPerDayUsd": 0.049}, "cost")],
)
def test_a_hold_that_alone_exceeds_a_limit_is_a_configuration_error_and_burns_nothing(
    tmp_path: Path, limits: dict[str, float], limit: str
) -> None:
    life = a_life(tmp_path, **limits)
    job = life.enqueue("entry-1")
    for _ in range(5):
        life.app.review_once()
        life.world.clock.ms += HOUR
        life.reopen()

    told = [event for event in life.world.heard.events if isinstance(event, Stopped)]
    assert {event.code for event in told} == {"config"}
    assert f"more than the day's limit of {limit}" in told[0].fact
    assert refused(life) == [], "no midnight would help"
    assert life.app.shop.stores.attempts.days() == ()

    life.world.configure()
    life.reopen()
    life.app.review_once()

    assert life.app.shop.stores.finished.stands(job.id)
    assert life.reviewer.briefs[-1].attempt == 1


def test_lowering_a_limit_below_what_is_spent_stops_new_calls(tmp_path: Path) -> None:
    life = a_life(tmp_path)
    life.enqueue("entry-1")
    life.app.review_once()
    life.world.configure(maxTokensPerDay=400)
    life.app = life.app.reloaded()
    life.enqueue("entry-2")

    life.app.review_once()

    assert [event.limit for event in refused(life)] == ["tokens"]
    assert len(life.reviewer.asked) == 1
    states = [seen.state for seen in life.app.shop.stores.attempts.of_day(Day(day_of(life.world.clock.ms)))]
    assert states == [AttemptState.SETTLED]
