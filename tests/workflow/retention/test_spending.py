"""Past days shrink, and cost what they cost."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from curator.model.times import day_of
from tests.kit import START_MS, adding
from tests.workflow.lives import BUSY, DAY, ENDS, HOUR, Life


@pytest.fixture
def life(tmp_path: Path) -> Life:
    return Life(tmp_path)


def test_closing_past_days_changes_no_figure_of_any_day(tmp_path: Path) -> None:
    life = Life(tmp_path, adding("One."), BUSY, ENDS, adding("Two."))
    for number in range(4):
        life.review(f"entry-{number}")
        life.world.clock.ms += DAY
    attempts = life.app.shop.stores.attempts
    before = {day: attempts.exposure("fixture-provider", day) for day in attempts.days()}
    assert sum(each.total.calls for each in before.values()) >= 4

    life.pass_by(30 * DAY)

    attempts = life.app.shop.stores.attempts
    assert {day: attempts.exposure("fixture-provider", day) for day in attempts.days()} == before
    assert sorted(path.name for path in life.layout.attempts.iterdir()) == [f"{day}.closed.json" for day in before]


def test_today_and_yesterday_stay_open(life: Life) -> None:
    life.review()
    day = day_of(START_MS)

    life.pass_by(47 * HOUR)
    assert (life.layout.attempts / day).is_dir()

    life.pass_by(2 * HOUR)
    assert not (life.layout.attempts / day).exists()
    assert (life.layout.attempts / f"{day}.closed.json").is_file()


def test_a_day_of_a_job_that_waits_stays_open(tmp_path: Path) -> None:
    life = Life(tmp_path, BUSY)
    life.enqueue()
    life.app.review_once()

    life.pass_by(10 * DAY)

    assert (life.layout.attempts / day_of(START_MS)).is_dir()


def test_the_protocols_days_go_when_they_are_closed_and_old_and_identities_with_them(life: Life) -> None:
    life.review()
    day = life.layout.days / day_of(START_MS)
    assert day.is_file()
    assert len(list(life.layout.identities.iterdir())) == 1

    life.pass_by(23 * HOUR)
    assert day.is_file()

    life.pass_by(49 * HOUR)
    assert not day.exists()
    assert list(life.layout.identities.iterdir()) == []


def test_a_day_with_an_attempt_that_nobody_knows_the_end_of_stays_and_so_do_its_identities(tmp_path: Path) -> None:
    life = Life(tmp_path, ENDS)
    life.review()

    life.pass_by(30 * DAY)

    day = life.layout.days / day_of(START_MS)
    assert [each["state"] for each in json.loads(day.read_text("utf-8"))["providers"]["fixture-provider"]] == [
        "unknown"
    ]
    assert len(list(life.layout.identities.iterdir())) == 1
    closed = (life.layout.attempts / f"{day.name}.closed.json").read_text("utf-8")
    assert [each["state"] for each in json.loads(closed)["unresolved"]] == ["unknown"]


def test_the_days_of_today_stay_whatever_their_age(life: Life) -> None:
    life.review()
    day = life.layout.days / day_of(START_MS)
    for path in (day, *life.layout.identities.iterdir()):
        os.utime(path, (0, 0))

    life.app.maintain()

    assert day.is_file()
    assert len(list(life.layout.identities.iterdir())) == 1


def test_an_old_day_that_lags_behind_is_brought_up_before_its_attempts_are_closed(life: Life) -> None:
    life.review()
    day = life.layout.days / day_of(START_MS)
    text = day.read_text("utf-8")
    value = json.loads(text)
    attempt = value["providers"]["fixture-provider"][0]
    sent = {key: attempt[key] for key in attempt if key not in ("settledAt", "chargedTokens", "chargedCostNanodollars")}
    sent.pop("provenance")
    value["providers"]["fixture-provider"] = [sent | {"state": "dispatched"}]
    day.write_text(json.dumps(value), "utf-8")

    life.pass_by(3 * DAY)

    assert json.loads(day.read_text("utf-8")) == json.loads(text)
    life.pass_by(2 * DAY)
    assert not day.exists()
