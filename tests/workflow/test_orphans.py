"""Whose owner is gone is closed by the table, by what the provider said after all, and in the day file first."""

import dataclasses
import json
from pathlib import Path

import pytest

from curator.durable.volume import Volume
from curator.model.attempt import Settled
from curator.model.budget import Amount, Exposure
from curator.model.decision import ProviderResult
from curator.model.digest import canonical
from curator.model.event import Stopped
from curator.model.ids import JobId
from curator.store.spool import Spool, Waiting
from curator.workflow.adoption import adopt_all, close_orphans, close_orphans_of
from tests.workflow.adoptions import (
    DAY,
    PROVIDER,
    checkpoint_of,
    in_journal,
    on_disk,
    take,
    take_without_owner,
)


@pytest.mark.parametrize(("name", "state"), [("b", "cancelled"), ("c", "unknown")])
def test_an_orphan_is_closed_by_the_table(tmp_path: Path, name: str, state: str) -> None:
    scene = take_without_owner(name, tmp_path)

    adopt_all(scene.shop)

    assert in_journal(scene) == [state]
    assert on_disk(scene) == [state.replace("ll", "l")]


@pytest.mark.parametrize(("name", "state"), [("b", "reserved"), ("c", "dispatched")])
def test_an_attempt_whose_token_lives_is_copied_and_left_alone(tmp_path: Path, name: str, state: str) -> None:
    scene = take(name, tmp_path)

    adopt_all(scene.shop)
    close_orphans(scene.shop)

    assert in_journal(scene) == on_disk(scene) == [state]


def test_an_attempt_that_is_not_older_than_the_look_is_left_alone(tmp_path: Path) -> None:
    scene = take_without_owner("b", tmp_path, "2026-01-03T00:00:00.070Z")

    adopt_all(scene.shop)
    close_orphans(scene.shop)
    assert in_journal(scene) == ["reserved"]

    scene.clock.at += 1
    close_orphans(scene.shop)
    assert in_journal(scene) == ["cancelled"]
    assert on_disk(scene) == ["canceled"]


def test_a_claim_made_while_the_living_are_counted_keeps_its_attempt(tmp_path: Path) -> None:
    """The protocol's own worker counts the living first and looks at the clock later, and cancels it (W9)."""
    scene = take_without_owner("b", tmp_path, "2026-01-03T00:00:00.069Z")
    volume, layout, clock, chance = Volume(), scene.shop.layout, scene.clock, scene.shop.chance

    class SlowSpool(Spool):
        def claimed(self) -> tuple[Waiting, ...]:
            clock.at += 1_000
            return super().claimed()

    stores = dataclasses.replace(scene.shop.stores, spool=SlowSpool(volume, layout, clock, chance))

    adopt_all(dataclasses.replace(scene.shop, stores=stores))

    assert in_journal(scene) == ["reserved"]


@pytest.mark.parametrize(("name", "state"), [("b", "cancelled"), ("c", "unknown")])
def test_an_orphan_of_a_clock_that_was_ahead_is_closed_before_its_date_comes(
    tmp_path: Path, name: str, state: str
) -> None:
    scene = take_without_owner(name, tmp_path, "2025-01-03T00:00:00.000Z")

    adopt_all(scene.shop)
    close_orphans(scene.shop)

    assert in_journal(scene) == [state]
    assert on_disk(scene) == [state.replace("ll", "l")]


def test_an_attempt_dated_ahead_whose_claim_lives_is_left_alone(tmp_path: Path) -> None:
    scene = take("c", tmp_path, "2025-01-03T00:00:00.000Z")

    adopt_all(scene.shop)
    close_orphans(scene.shop)

    assert in_journal(scene) == on_disk(scene) == ["dispatched"]


def test_a_claim_made_since_the_look_by_a_clock_that_is_set_back_then_keeps_its_attempt(tmp_path: Path) -> None:
    scene = take("b", tmp_path, "2025-01-03T00:00:00.000Z")
    volume, layout, clock, chance = Volume(), scene.shop.layout, scene.clock, scene.shop.chance

    class LateSpool(Spool):
        """The claim is not there at the first look."""

        looks = 0

        def claimed(self) -> tuple[Waiting, ...]:
            self.looks += 1
            return super().claimed() if self.looks > 1 else ()

    spool = LateSpool(volume, layout, clock, chance)
    stores = dataclasses.replace(scene.shop.stores, spool=spool)

    adopt_all(dataclasses.replace(scene.shop, stores=stores))

    assert in_journal(scene) == on_disk(scene) == ["reserved"]
    assert spool.looks > 1


def test_an_attempt_of_an_older_day_is_closed_there(tmp_path: Path) -> None:
    scene = take_without_owner("c", tmp_path, "2026-03-01T00:00:00.000Z")

    closed = adopt_all(scene.shop)

    assert (closed.adopted, closed.unknown) == (1, 1)
    assert on_disk(scene) == ["unknown"]


def test_an_attempt_whose_lease_has_ended_has_no_owner(tmp_path: Path) -> None:
    scene = take("c", tmp_path, "2026-01-03T00:05:00.060Z")

    closed = adopt_all(scene.shop)

    assert (closed.adopted, closed.unknown) == (1, 1)
    assert on_disk(scene) == ["unknown"]


def test_what_the_last_owner_of_one_job_left_is_closed_for_that_job_alone(tmp_path: Path) -> None:
    scene = take("c", tmp_path)
    adopt_all(scene.shop)
    (seen,) = scene.shop.stores.attempts.of_day(DAY)
    assert seen.latest.job_id is not None
    scene.clock.at += 1_000

    others = close_orphans_of(JobId(f"review_{'0' * 40}"), scene.shop)
    its_own = close_orphans_of(seen.latest.job_id, scene.shop)

    assert (others.unknown, its_own.unknown) == (0, 1)
    assert in_journal(scene) == on_disk(scene) == ["unknown"]


def test_a_result_with_provenance_settles_a_dispatched_orphan(tmp_path: Path) -> None:
    scene = take("d", tmp_path)
    for path in scene.shop.layout.running.iterdir():
        path.unlink()

    adopt_all(scene.shop)

    assert in_journal(scene) == on_disk(scene) == ["settled"]
    (seen,) = scene.shop.stores.attempts.of_day(DAY)
    assert isinstance(seen.latest, Settled)
    assert (seen.latest.charged_tokens, seen.latest.charged_cost_nanousd) == (160, 3_100_000)


def test_a_result_proves_that_a_reserved_orphan_was_sent(tmp_path: Path) -> None:
    scene = take("d", tmp_path)
    for path in scene.shop.layout.running.iterdir():
        path.unlink()
    value = json.loads((scene.shop.layout.days / DAY).read_bytes())
    (attempt,) = value["providers"][PROVIDER]
    for key in ("dispatchedAt", "requestDigest", "model", "api"):
        del attempt[key]
    attempt["state"] = "reserved"
    (scene.shop.layout.days / DAY).write_text(json.dumps(value))

    adopt_all(scene.shop)

    assert in_journal(scene) == on_disk(scene) == ["settled"]


def test_a_result_that_cannot_be_read_is_no_result_and_is_told(tmp_path: Path) -> None:
    scene = take("d", tmp_path)
    for path in scene.shop.layout.running.iterdir():
        path.unlink()
    (checkpoint,) = scene.shop.layout.results.glob("*/*.json")
    checkpoint.write_bytes(b"{")

    adopt_all(scene.shop)

    assert in_journal(scene) == ["unknown"]
    assert isinstance(scene.ear.events[0], Stopped)
    assert str(checkpoint) in scene.ear.events[0].fact


def test_a_result_that_comes_after_all_corrects_an_unknown(tmp_path: Path) -> None:
    scene = take_without_owner("c", tmp_path)
    adopt_all(scene.shop)
    scene.shop.stores.decisions.record_result(checkpoint_of(tmp_path, scene))

    assert close_orphans(scene.shop).corrected == 1
    assert close_orphans(scene.shop).corrected == 0

    assert in_journal(scene) == ["settled"]
    assert on_disk(scene) == ["unknown"]
    spent = scene.shop.stores.attempts.exposure(PROVIDER, DAY)
    assert spent == Exposure(actual=Amount(1, 160, 3_100_000))


@pytest.mark.parametrize(("thoughts", "charged"), [(None, Amount(1, 400, 50_000_000)), (0, Amount(1))])
def test_a_result_without_a_word_on_usage_settles_at_the_hold_and_a_told_zero_at_zero(
    tmp_path: Path, thoughts: int | None, charged: Amount
) -> None:
    scene = take("c", tmp_path)
    adopt_all(scene.shop)
    scene.shop.stores.decisions.record_result(silent(checkpoint_of(tmp_path, scene), thoughts))
    for path in scene.shop.layout.running.iterdir():
        path.unlink()

    close_orphans(scene.shop)

    (seen,) = scene.shop.stores.attempts.of_day(DAY)
    assert isinstance(seen.latest, Settled)
    assert (seen.latest.is_estimated, seen.exposure.actual) == (thoughts is None, charged)
    assert on_disk(scene) == ["settled"]


@pytest.mark.parametrize(("thoughts", "corrected"), [(None, 0), (0, 1)])
def test_a_late_result_without_a_word_on_usage_corrects_nothing_and_a_told_zero_does(
    tmp_path: Path, thoughts: int | None, corrected: int
) -> None:
    scene = take_without_owner("c", tmp_path)
    adopt_all(scene.shop)
    scene.shop.stores.decisions.record_result(silent(checkpoint_of(tmp_path, scene), thoughts))

    assert close_orphans(scene.shop).corrected == corrected


def silent(result: ProviderResult, thoughts: int | None = None) -> ProviderResult:
    value = json.loads(canonical(result.encode()))
    usage = value["outcome"]["provenance"]["usage"]
    usage |= dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "totalTokens"), 0)
    usage["cost"] = dict.fromkeys(usage["cost"], 0)
    usage |= {} if thoughts is None else {"reasoning": thoughts}
    return ProviderResult.decode(value)
