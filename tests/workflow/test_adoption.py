"""Another worker's attempts come into the journal in their state, and whoever is gone is closed by the table."""

import dataclasses
import json
from pathlib import Path
from typing import Final

import pytest

from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.errors import ConflictError, InvalidRecordError
from curator.model.accounting import DayFile
from curator.model.attempt import AttemptState, Settled, Unknown
from curator.model.budget import Amount, Exposure
from curator.model.decision import ProviderResult
from curator.model.digest import Json, canonical, parse
from curator.model.event import Stopped
from curator.model.ids import AttemptId, Day, JobId
from curator.model.job import Running
from curator.model.times import DAY_MS
from curator.store.accounting import AccountingStore, Look
from curator.store.spool import Spool, Waiting
from curator.workflow.adoption import Closed, adopt, adopt_all, close_orphans, close_orphans_of, import_legacy
from tests.golden_fixtures import golden
from tests.workflow.shops import Scene, open_shop

DAY: Final = Day("2026-01-03")
NOW: Final = "2026-01-03T00:05:00.000Z"
ON_TIME: Final = "2026-01-03T00:00:01.000Z"
PROVIDER: Final = "fixture-provider"


def take(name: str, tmp_path: Path, now: str = NOW) -> Scene:
    """Open a shop over a scenario of the protocol's worker."""
    return open_shop(golden(name, tmp_path), now)


def take_without_owner(name: str, tmp_path: Path, now: str = NOW) -> Scene:
    """Open a shop over a scenario whose running job has been given up."""
    scene = take(name, tmp_path, now)
    for path in scene.shop.layout.running.iterdir():
        path.unlink()
    return scene


def in_journal(scene: Scene) -> list[str]:
    found = sorted(scene.shop.stores.attempts.of_day(DAY), key=lambda seen: seen.latest.claim_attempt)
    return [str(seen.state) for seen in found]


def on_disk(scene: Scene) -> list[str]:
    file = DayFile.decode(parse((scene.shop.layout.days / DAY).read_bytes()))
    return [attempt.state for attempts in file.providers.values() for attempt in attempts]


def rewrite(scene: Scene, change: dict[str, Json]) -> None:
    """Change the one attempt of the day file, as a foreign worker would."""
    path = scene.shop.layout.days / DAY
    value = json.loads(path.read_bytes())
    (attempt,) = value["providers"][PROVIDER]
    attempt |= change
    fresh = path.with_name("fresh")
    fresh.write_text(json.dumps(value))
    fresh.chmod(0o600)
    fresh.rename(path)


def checkpoint_of(tmp_path: Path, scene: Scene) -> ProviderResult:
    """Return what the provider would have said of the scenario's one attempt."""
    source = Layout(golden("d", tmp_path / "source"))
    (path,) = source.results.glob("*/*.json")
    theirs = ProviderResult.decode(parse(path.read_bytes()))
    (attempt,) = scene.shop.stores.attempts.of_day(DAY)
    job = running_job(scene, tmp_path).job
    outcome = dataclasses.replace(theirs.outcome, job_id=job.id, job_digest=job.digest)
    value = dataclasses.replace(theirs, attempt_id=attempt.id, job=job, outcome=outcome, proposal_digest=None)
    encoded = value.encode()
    outcome_value = encoded["outcome"]
    assert isinstance(outcome_value, dict)
    error: dict[str, Json] = {"code": "invalid_proposal", "message": "not usable", "retryable": True}
    kept = ("version", "jobId", "jobDigest", "completedAt", "provenance")
    failed = {key: outcome_value[key] for key in kept} | {"status": "failed", "error": error}
    return ProviderResult.decode(encoded | {"outcome": failed})


def running_job(scene: Scene, tmp_path: Path) -> Running:
    """Return the running record as the scenario had it before it was given up."""
    name = scene.shop.layout.agent.parent.name
    (path,) = Layout(golden(name, tmp_path / "again")).running.glob("*.json")
    return Running.decode(parse(path.read_bytes()))


def test_the_worked_mix_comes_out_as_the_protocols_own_worker_closes_it(tmp_path: Path) -> None:
    scene = take("q", tmp_path)

    closed = adopt_all(scene.shop)

    assert in_journal(scene) == ["settled", "unknown", "cancelled", "unknown", "cancelled"]
    assert on_disk(scene) == ["settled", "unknown", "canceled", "unknown", "canceled"]
    assert closed == Closed(5, 1, 0, 1, 0, frozenset({DAY}))
    assert {seen.latest.origin for seen in scene.shop.stores.attempts.of_day(DAY)} == {"adopted"}


def test_the_worked_mix_costs_what_the_protocols_own_worker_counts(tmp_path: Path) -> None:
    scene = take("q", tmp_path, "2026-01-03T00:00:00.000Z")
    adopt_all(scene.shop)

    spent = scene.shop.stores.attempts.exposure(PROVIDER, DAY)

    hold = Amount(1, 400, 50_000_000)
    assert spent == Exposure(actual=Amount(1, 160, 3_100_000), held=hold + hold, unknown=hold)
    assert spent.total == Amount(4, 1360, 153_100_000)


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


def test_older_days_without_anything_open_are_not_copied(tmp_path: Path) -> None:
    scene = take_without_owner("c", tmp_path, "2026-03-01T00:00:00.000Z")
    adopt_all(scene.shop)
    fresh = open_shop(scene.shop.layout.agent, "2026-03-02T00:00:00.000Z")

    assert adopt_all(fresh.shop) == Closed(0, 0, 0, 0, 0, frozenset())


def test_adopting_twice_changes_nothing_more(tmp_path: Path) -> None:
    scene = take("q", tmp_path)
    adopt_all(scene.shop)
    fresh = open_shop(scene.shop.layout.agent, NOW)
    before = {path: path.read_bytes() for path in scene.shop.layout.root.rglob("*") if path.is_file()}

    assert adopt_all(fresh.shop) == close_orphans(fresh.shop) == Closed(0, 0, 0, 0, 0, frozenset())

    assert {path: path.read_bytes() for path in scene.shop.layout.root.rglob("*") if path.is_file()} == before


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


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ({"state": "dispatched", "dispatchedAt": NOW}, "dispatched"),
        ({"state": "canceled", "canceledAt": NOW}, "cancelled"),
        ({"state": "unknown", "dispatchedAt": NOW, "unknownAt": NOW}, "unknown"),
    ],
)
def test_the_journal_follows_a_foreign_attempt_that_moves_on(
    tmp_path: Path, change: dict[str, Json], state: str
) -> None:
    scene = take("b", tmp_path)
    adopt(scene.shop)
    rewrite(scene, change)

    adopt(scene.shop)

    assert in_journal(scene) == [state]


def test_a_sleeper_that_settles_what_was_given_up_corrects_it(tmp_path: Path) -> None:
    scene = take_without_owner("c", tmp_path)
    adopt(scene.shop)
    theirs = Layout(golden("e", tmp_path))
    (settled,) = json.loads((theirs.days / DAY).read_bytes())["providers"][PROVIDER]
    keys = ("settledAt", "chargedTokens", "chargedCostNanodollars", "provenance")
    path = scene.shop.layout.days / DAY
    value = json.loads(path.read_bytes())
    del value["providers"][PROVIDER][0]["unknownAt"]
    path.write_text(json.dumps(value))
    rewrite(scene, {"state": "settled"} | {key: settled[key] for key in keys})

    adopt(scene.shop)

    (seen,) = scene.shop.stores.attempts.of_day(DAY)
    assert isinstance(seen.latest, Unknown)
    assert seen.correction is not None
    assert seen.exposure == Exposure(actual=Amount(1, 160, 3_100_000))


def test_a_sleeper_that_dispatches_while_it_is_judged_wins_and_is_judged_anew(tmp_path: Path) -> None:
    """The day file moves between the judgement and the lock: what stands there counts."""
    agent = golden("b", tmp_path)

    class Sleeper(Volume):
        scene: Scene | None = None

        def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
            if self.scene is not None and path.suffix == ".json":
                scene, self.scene = self.scene, None
                rewrite(scene, {"state": "dispatched", "dispatchedAt": NOW})
            return super().stage(path, data, hidden=hidden, flush=flush)

    volume = Sleeper()
    scene = open_shop(agent, NOW, volume=volume)
    for path in scene.shop.layout.running.iterdir():
        path.unlink()
    volume.scene = scene

    adopt_all(scene.shop)

    assert in_journal(scene) == ["unknown"]
    assert on_disk(scene) == ["unknown"]


def test_nothing_is_read_at_a_reserve_while_the_day_file_stands_still(tmp_path: Path) -> None:
    scene = take("q", tmp_path)

    class Counts(AccountingStore):
        looks = 0

        def look(self, day: Day) -> Look:
            self.looks += 1
            return super().look(day)

    accounting = Counts(Volume(), scene.shop.layout)
    shop = dataclasses.replace(scene.shop, stores=dataclasses.replace(scene.shop.stores, accounting=accounting))
    adopt(shop)
    before = accounting.looks

    adopt(shop)

    assert before > 0
    assert accounting.looks == before


def test_a_corrupt_day_is_told_and_costs_itself_alone(tmp_path: Path) -> None:
    scene = take_without_owner("c", tmp_path, "2026-01-04T00:00:00.000Z")
    today = scene.shop.layout.days / "2026-01-04"
    today.write_bytes(b"{}")
    today.chmod(0o600)

    adopt(scene.shop)
    adopt_all(scene.shop)

    assert in_journal(scene) == ["unknown"]
    assert [isinstance(event, Stopped) and str(today) in event.fact for event in scene.ear.events] == [True, True]


def test_a_foreign_attempt_in_a_day_that_became_unreadable_stays_held(tmp_path: Path) -> None:
    scene = take("b", tmp_path)
    adopt_all(scene.shop)
    for path in scene.shop.layout.running.iterdir():
        path.unlink()
    (scene.shop.layout.days / DAY).write_bytes(b"{")

    close_orphans(scene.shop)

    assert in_journal(scene) == ["reserved"]


def test_a_foreign_attempt_whose_day_is_gone_is_closed_here_alone(tmp_path: Path) -> None:
    scene = take("b", tmp_path)
    adopt_all(scene.shop)
    for path in (*scene.shop.layout.running.iterdir(), scene.shop.layout.days / DAY):
        path.unlink()

    close_orphans(scene.shop)

    assert in_journal(scene) == ["cancelled"]
    assert not (scene.shop.layout.days / DAY).exists()


def test_one_attempt_that_is_nobodys_claim_is_told_and_the_rest_is_taken(tmp_path: Path) -> None:
    scene = take("q", tmp_path)
    path = scene.shop.layout.days / DAY
    value = json.loads(path.read_bytes())
    value["providers"][PROVIDER][0]["id"] = AttemptId("review_attempt_" + "0" * 40)
    path.write_text(json.dumps(value))

    assert adopt_all(scene.shop).adopted == 4
    assert isinstance(scene.ear.events[0], Stopped)


def test_an_identity_alone_is_no_attempt(tmp_path: Path) -> None:
    scene = take_without_owner("b", tmp_path)
    (scene.shop.layout.days / DAY).unlink()

    assert adopt_all(scene.shop).adopted == 0
    assert len(scene.shop.stores.accounting.identities()) == 1


def test_a_legacy_budget_of_today_counts_as_unknown_once(tmp_path: Path) -> None:
    scene = take("l", tmp_path)

    assert import_legacy(scene.shop)
    assert not import_legacy(scene.shop)
    assert not import_legacy(open_shop(scene.shop.layout.agent, NOW).shop)

    spent = scene.shop.stores.attempts.exposure(PROVIDER, DAY)
    assert spent == Exposure(unknown=Amount(7, 12345, 123_456_789))
    assert scene.shop.layout.legacy_budget.exists()


def test_a_legacy_budget_of_another_day_counts_for_nothing(tmp_path: Path) -> None:
    scene = take("l", tmp_path)
    scene.clock.at += DAY_MS

    assert not import_legacy(scene.shop)


def test_a_legacy_budget_that_the_other_worker_imported_is_the_same_one(tmp_path: Path) -> None:
    scene = take("l2", tmp_path)

    adopt_all(scene.shop)

    assert scene.ear.events == []
    assert not import_legacy(scene.shop)
    (carry,) = scene.shop.stores.attempts.legacy(DAY)
    assert carry.imported_at == "2026-01-03T00:00:00.050Z"
    assert scene.shop.stores.attempts.exposure(PROVIDER, DAY) == Exposure(unknown=Amount(7, 12345, 123_456_789))


def test_another_legacy_budget_of_the_same_day_is_an_error_that_stops_nothing_else(tmp_path: Path) -> None:
    scene = take("l2", tmp_path)
    path = scene.shop.layout.legacy_budget
    path.write_text(path.read_text().replace('"calls":7', '"calls":8'))

    adopt_all(scene.shop)

    (told,) = scene.ear.events
    assert isinstance(told, Stopped)
    assert str(path) in told.fact
    with pytest.raises(ConflictError):
        import_legacy(scene.shop)
    assert scene.shop.stores.attempts.exposure(PROVIDER, DAY).unknown.calls == 7


def test_a_legacy_budget_that_cannot_be_read_is_an_error_that_stops_nothing_else(tmp_path: Path) -> None:
    scene = take("q", tmp_path)
    scene.shop.layout.legacy_budget.write_text("{}")

    assert adopt_all(scene.shop).adopted == 5
    with pytest.raises(InvalidRecordError):
        import_legacy(scene.shop)


def test_identities_are_never_deleted(tmp_path: Path) -> None:
    scene = take("q", tmp_path)
    before = scene.shop.stores.accounting.identities()

    adopt_all(scene.shop)
    close_orphans(scene.shop)

    assert AccountingStore(Volume(), scene.shop.layout).identities() == before


def test_states_are_named_as_the_journal_names_them(tmp_path: Path) -> None:
    scene = take("q", tmp_path)
    adopt_all(scene.shop)

    assert set(in_journal(scene)) <= {state.value for state in AttemptState}
