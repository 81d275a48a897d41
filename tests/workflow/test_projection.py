"""What the journal knows shows in the protocol's day file, and nothing foreign is lost on the way."""

import dataclasses
import json
from pathlib import Path
from typing import Final

import pytest

from curator.durable.read import stamp_of
from curator.errors import InvalidRecordError
from curator.model.accounting import DayFile
from curator.model.attempt import Reserved, cancelled_from, dispatched_from, settled_from, unknown_from
from curator.model.digest import Digest, Json, digest_of_text
from curator.model.event import Degraded
from curator.model.ids import Day, JobId, LeaseToken, attempt_id
from curator.model.outcome import Provenance
from curator.model.times import DAY_MS
from curator.workflow.adoption import adopt_all
from curator.workflow.projection import project, project_days
from tests.golden_fixtures import golden
from tests.workflow.shops import Scene, open_shop

DAY: Final = Day("2026-01-03")
NOW: Final = "2026-01-03T12:00:00.000Z"


def provenance(tokens: int = 160) -> Provenance:
    usage: dict[str, Json] = {"input": tokens, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": tokens}
    cost: dict[str, Json] = {"input": 0.001, "output": 0.002, "cacheRead": 0.0001, "cacheWrite": 0, "total": 0.0031}
    return Provenance.decode(
        {
            "provider": "fixture-provider",
            "model": "fixture-reviewer",
            "api": "fixture-api",
            "startedAt": NOW,
            "completedAt": NOW,
            "durationMs": 0,
            "usage": {**usage, "cost": cost},
        }
    )


def reserve(scene: Scene, number: int, at: str = NOW) -> Reserved:
    digest, token = digest_of_text(f"job {number}"), LeaseToken(f"{number:032x}")
    draft = Reserved(
        id=attempt_id(digest, 1, token),
        day=Day(at[:10]),
        provider="fixture-provider",
        job_id=JobId(f"review_{number:040x}"),
        job_digest=digest,
        claim_attempt=1,
        lease_token=token,
        reserved_at=at,
        hold_tokens=400,
        hold_cost_nanousd=50_000_000,
        origin="curator",
    )
    reserved = scene.shop.stores.attempts.reserve(draft, None)
    assert isinstance(reserved, Reserved)
    return reserved


def live_one_of_each(scene: Scene) -> None:
    """Leave one attempt in each of the five states in the journal."""
    attempts, request = scene.shop.stores.attempts, (Digest("1" * 64), "fixture-reviewer", "fixture-api")
    for number, end in enumerate(("reserved", "cancelled", "dispatched", "settled", "unknown")):
        reserved = reserve(scene, number)
        if end == "cancelled":
            attempts.advance(cancelled_from(reserved, NOW))
        if end in ("dispatched", "settled", "unknown"):
            sent = dispatched_from(reserved, NOW, request)
            attempts.advance(sent)
            if end == "settled":
                attempts.advance(settled_from(sent, NOW, provenance(), is_estimated=True))
            if end == "unknown":
                attempts.advance(unknown_from(sent, NOW))


def day_file(scene: Scene, day: Day = DAY) -> DayFile:
    return DayFile.decode(json.loads((scene.shop.layout.days / day).read_bytes()))


def states(scene: Scene, day: Day = DAY) -> list[str]:
    return [attempt.state for attempt in day_file(scene, day).providers["fixture-provider"]]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return open_shop(tmp_path / "agent", NOW)


def test_every_state_of_the_journal_shows_in_the_day_file(scene: Scene) -> None:
    live_one_of_each(scene)

    assert project(scene.shop, force=True)

    assert sorted(states(scene)) == ["canceled", "dispatched", "reserved", "settled", "unknown"]
    assert len(scene.shop.stores.accounting.identities()) == 5


def test_a_settled_attempt_charges_exactly_its_provenances_usage_though_it_was_estimated(scene: Scene) -> None:
    live_one_of_each(scene)
    project(scene.shop, force=True)

    settled = next(each for each in day_file(scene).providers["fixture-provider"] if each.state == "settled").encode()

    assert (settled["chargedTokens"], settled["chargedCostNanodollars"]) == (160, 3_100_000)


def test_nothing_is_written_where_nothing_changed(scene: Scene) -> None:
    live_one_of_each(scene)
    project(scene.shop, force=True)
    before = stamp_of(scene.shop.layout.days / DAY)

    project(scene.shop, force=True)
    project(open_shop(scene.shop.layout.agent, NOW).shop, force=True)

    assert stamp_of(scene.shop.layout.days / DAY) == before


def test_an_empty_journal_makes_no_file(scene: Scene) -> None:
    assert project(scene.shop, force=True)

    assert not scene.shop.layout.accounting.exists()


def test_it_runs_at_most_once_a_second_and_exactly_when_forced(scene: Scene) -> None:
    reserved = reserve(scene, 1)
    assert project(scene.shop)
    scene.shop.stores.attempts.advance(cancelled_from(reserved, NOW))
    scene.clock.at += 999
    assert not project(scene.shop)
    assert states(scene) == ["reserved"]

    scene.clock.at += 1
    assert project(scene.shop)
    assert states(scene) == ["canceled"]
    reserve(scene, 2)
    assert project(scene.shop, force=True)
    assert states(scene) == ["canceled", "reserved"]


def test_foreign_attempts_and_a_legacy_carry_are_kept(tmp_path: Path) -> None:
    scene = open_shop(golden("q", tmp_path), NOW)
    foreign = day_file(scene).providers["fixture-provider"]
    path = scene.shop.layout.days / DAY
    carry = {"sourceDigest": "a" * 64, "importedAt": NOW, "calls": 1, "tokens": 2, "costNanodollars": 3}
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"legacyCarry": {"other": carry}}))
    reserve(scene, 1)

    project(scene.shop, force=True)

    after = day_file(scene)
    assert after.providers["fixture-provider"][:5] == foreign
    assert len(after.providers["fixture-provider"]) == 6
    assert after.legacy_carry is not None
    assert after.legacy_carry["other"].encode() == carry


def test_adopted_attempts_stand_in_the_day_file_as_their_owner_wrote_them(tmp_path: Path) -> None:
    scene = open_shop(golden("q", tmp_path), NOW)
    adopt_all(scene.shop)
    before = stamp_of(scene.shop.layout.days / DAY)

    project(scene.shop, force=True)

    assert stamp_of(scene.shop.layout.days / DAY) == before


def test_what_another_hand_made_of_our_attempt_gives_way_to_the_journal(scene: Scene) -> None:
    reserved = reserve(scene, 1)
    project(scene.shop, force=True)
    path = scene.shop.layout.days / DAY
    path.write_text(path.read_text().replace('"state":"reserved"', f'"state":"canceled","canceledAt":"{NOW}"'))
    scene.shop.stores.attempts.advance(dispatched_from(reserved, NOW, (Digest("1" * 64), "m", "a")))

    project(scene.shop, force=True)

    assert states(scene) == ["dispatched"]


def test_an_attempt_in_flight_over_midnight_is_brought_up_in_its_own_day(scene: Scene) -> None:
    reserved = reserve(scene, 1)
    project(scene.shop, force=True)
    scene.clock.at += DAY_MS
    scene.shop.stores.attempts.advance(cancelled_from(reserved, NOW))

    project(scene.shop)

    assert states(scene) == ["canceled"]


def test_named_days_are_brought_up_exactly(scene: Scene) -> None:
    reserve(scene, 1, "2025-12-30T23:59:59.999Z")
    reserve(scene, 2, "2025-12-31T00:00:00.000Z")

    project_days(scene.shop, [Day("2025-12-31"), Day("2025-12-30")])

    assert states(scene, Day("2025-12-30")) == states(scene, Day("2025-12-31")) == ["reserved"]


def test_a_day_that_is_gone_is_made_anew_with_what_was_adopted(tmp_path: Path) -> None:
    scene = open_shop(golden("q", tmp_path), NOW)
    adopt_all(scene.shop)
    before = day_file(scene)
    (scene.shop.layout.days / DAY).unlink()

    project_days(scene.shop, [DAY])

    assert sorted(states(scene)) == sorted(each.state for each in before.providers["fixture-provider"])


def test_a_corrupt_day_is_told_and_kept_and_stops_nothing(scene: Scene) -> None:
    reserve(scene, 1)
    scene.shop.layout.days.mkdir(parents=True)
    path = scene.shop.layout.days / DAY
    path.write_bytes(b"{")
    path.chmod(0o600)

    assert not project(scene.shop, force=True)
    with pytest.raises(InvalidRecordError):
        project_days(scene.shop, [DAY])

    assert path.read_bytes() == b"{"
    (told,) = scene.ear.events
    assert isinstance(told, Degraded)
    assert str(path) in told.fact


def test_a_legacy_budget_of_the_journal_is_carried_into_the_day_file(tmp_path: Path) -> None:
    scene = open_shop(golden("l", tmp_path), NOW)
    adopt_all(scene.shop)

    project(scene.shop, force=True)

    carry = (day_file(scene).legacy_carry or {})["fixture-provider"]
    imported = golden("l2", tmp_path) / "no-forgetti" / "review-spool" / "accounting" / "days" / DAY
    theirs = (DayFile.decode(json.loads(imported.read_bytes())).legacy_carry or {})["fixture-provider"]
    assert carry == dataclasses.replace(theirs, imported_at=NOW)
