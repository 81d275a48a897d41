"""Another worker's attempts come into the journal in their state, and whoever is gone is closed by the table."""

import dataclasses
import json
from pathlib import Path

import pytest

from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.errors import ConflictError, InvalidRecordError
from curator.model.attempt import AttemptState, Unknown
from curator.model.budget import Amount, Exposure
from curator.model.digest import Json
from curator.model.event import Stopped
from curator.model.ids import AttemptId, Day
from curator.model.times import DAY_MS
from curator.store.accounting import AccountingStore, Look
from curator.workflow.adoption import Closed, adopt, adopt_all, close_orphans, import_legacy
from tests.golden_fixtures import golden
from tests.workflow.adoptions import (
    DAY,
    NOW,
    PROVIDER,
    in_journal,
    on_disk,
    rewrite,
    take,
    take_without_owner,
)
from tests.workflow.shops import Scene, open_shop


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
