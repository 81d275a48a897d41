"""Records that wait for somebody."""

import dataclasses
from pathlib import Path

import pytest

from curator.app import App
from curator.doctor.finding import GiveUp
from curator.doctor.records import look_at_admissions, look_at_journal, look_at_projects, look_at_queue
from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.model.feedback import Pending
from curator.model.ids import ProjectKey, WorkerId
from curator.model.ports import CallFailure, Class
from curator.model.times import DAY_MS, iso
from curator.store.standings import StandingStore
from curator.workflow.claim import take
from curator.workflow.line import line_up
from curator.workflow.projects import decide
from tests.doctor.trees import DEAD, bad, levels
from tests.durable.volumes import Crash
from tests.foreign import foreground_add
from tests.kit import START_MS, ScriptedReviewer, World, adding
from tests.workflow.test_stuck import Dying

NOW = START_MS + 60_000


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path / "agent")
    made.configure()
    return made


@pytest.fixture
def app(world: World) -> App:
    return world.open(ScriptedReviewer(adding("The build runs on Linux."), clock=world.clock))


@pytest.fixture
def key(world: World, app: App, tmp_path: Path) -> ProjectKey:
    return world.project(app, tmp_path / "project")


def test_a_quiet_folder_has_nothing_to_tell(app: App, key: ProjectKey) -> None:
    layout = app.layout

    assert bad(look_at_queue(layout, NOW)) == []
    assert levels(look_at_journal(layout, NOW)) == ["ok"]
    assert list(look_at_admissions(layout)) == []
    assert bad(look_at_projects(layout)) == []
    assert key in app.shop.memory(key, "external").layout.root.name


def test_what_cannot_be_read_in_the_queue_is_an_error_with_its_rule(app: App) -> None:
    app.shop.stores.spool.prepare()
    bad_one = app.layout.queued / f"review_{'0' * 40}.json"
    bad_one.write_bytes(b'{"version":1}')

    (finding,) = bad(look_at_queue(app.layout, NOW))

    assert (finding.level, str(bad_one) in finding.fact) == ("error", True)


def test_what_was_set_aside_is_told_with_its_reason(app: App) -> None:
    app.shop.stores.spool.prepare()
    bad_one = app.layout.queued / f"review_{'0' * 40}.json"
    bad_one.write_bytes(b'{"version":1}')
    app.review_once()

    (finding,) = bad(look_at_queue(app.layout, NOW))

    assert finding.level == "warning"
    assert "was set aside: " in finding.fact
    assert "curator jobs release" in str(finding.remedy)


def test_a_job_whose_worker_is_gone_is_told_with_when_it_returns(world: World, app: App, key: ProjectKey) -> None:
    app.shop.stores.spool.enqueue(world.job(app, key, "one"))
    dead = dataclasses.replace(app.shop, worker_id=WorkerId(f"curator:host:{DEAD}"))
    claim = take(dead, line_up(dead).ready[0])
    assert claim is not None

    (held,) = bad(look_at_queue(app.layout, NOW))
    (expired,) = bad(look_at_queue(app.layout, NOW + 3_600_000))

    assert (claim.running.lease_until in held.fact, "curator release" in str(held.remedy)) == (True, True)
    assert "ran out" in expired.fact


def test_a_damaged_attempt_is_an_error_for_it_hides_what_a_day_cost(world: World, app: App, key: ProjectKey) -> None:
    app.shop.stores.spool.enqueue(world.job(app, key, "one"))
    app.review_once()
    (record,) = app.layout.attempts.rglob("*.0.json")
    for path in record.parent.iterdir():
        path.write_bytes(b"{")

    assert set(levels(look_at_journal(app.layout, NOW))) == {"error"}


def test_a_call_of_an_earlier_day_without_an_end_is_told_with_what_settles_it(
    world: World, app: App, key: ProjectKey
) -> None:
    lost = ScriptedReviewer(CallFailure("model_timeout", Class.RETRY, "No answer in time."), clock=world.clock)
    app.shop.stores.spool.enqueue(world.job(app, key, "one"))
    world.open(lost).review_once()

    assert levels(look_at_journal(app.layout, NOW)) == ["ok"], "today's show in the budget of today"
    ok, note = look_at_journal(app.layout, NOW + DAY_MS)

    assert (ok.level, note.level) == ("ok", "note")
    assert note.fact.startswith("1 calls of fixture-provider of earlier days have no end")
    assert "curator budget reconcile" in str(note.remedy)


def test_a_begun_change_is_told_and_one_that_is_stuck_can_be_given_up(world: World, app: App, key: ProjectKey) -> None:
    app.shop.stores.spool.enqueue(world.job(app, key, "one"))
    reviewer = ScriptedReviewer(adding("The build runs on Linux."), clock=world.clock)
    with pytest.raises(Crash):
        world.open(reviewer, volume=Dying("rename main.json")).review_once()

    (begun,) = bad(look_at_admissions(app.layout))
    foreground_add(app.layout.project(key).root, "Pi wrote this.")
    (stuck,) = bad(look_at_admissions(app.layout))

    assert (begun.level, begun.mend) == ("warning", None)
    assert (stuck.level, isinstance(stuck.mend, GiveUp)) == ("error", True)
    assert "branch elsewhere" in stuck.fact
    assert "--fix --yes" in str(stuck.remedy)


def test_a_project_that_is_gone_is_told_with_how_to_follow_it(
    world: World, app: App, key: ProjectKey, tmp_path: Path
) -> None:
    app.shop.stores.spool.enqueue(world.job(app, key, "one"))
    (tmp_path / "project").rename(tmp_path / "moved")

    (finding,) = bad(look_at_projects(app.layout))

    assert "is gone, and 1 of its jobs wait" in finding.fact
    assert "curator project link" in str(finding.remedy)


def test_one_that_leads_to_another_project_is_told(app: App, key: ProjectKey, tmp_path: Path) -> None:
    (tmp_path / "project").rename(tmp_path / "moved")
    (tmp_path / "project").symlink_to(tmp_path / "moved")

    (finding,) = bad(look_at_projects(app.layout))

    assert "now leads to another project" in finding.fact
    assert key[:12] in str(finding.remedy)


def test_what_a_person_paused_is_no_fault_even_if_it_is_gone(
    world: World, app: App, key: ProjectKey, tmp_path: Path
) -> None:
    app.shop.stores.spool.enqueue(world.job(app, key, "one"))
    decide(app.shop, key, "paused")
    (tmp_path / "project").rename(tmp_path / "moved")

    assert levels(look_at_projects(app.layout)) == ["note"]


def test_a_purge_that_is_not_over_is_an_error(app: App, key: ProjectKey) -> None:
    paused = decide(app.shop, key, "paused")
    StandingStore(Volume(), app.layout).change(key, lambda _: dataclasses.replace(paused, begun="purge"))

    (finding,) = bad(look_at_projects(app.layout))

    assert (finding.level, "curator project purge" in str(finding.remedy)) == ("error", True)


def test_who_waits_for_a_job_that_is_over_is_told(world: World, app: App, key: ProjectKey) -> None:
    job = world.job(app, key, "one")
    pending = Pending(job_id=job.id, job_digest=job.digest, branch_name=job.branch.name, queued_at=iso(NOW))
    app.shop.mailbox(key).register(pending)
    app.shop.stores.spool.enqueue(job)
    assert bad(look_at_projects(app.layout)) == []
    app.review_once()
    (app.layout.project(key).ready / f"{job.id}.json").unlink()

    (finding,) = bad(look_at_projects(app.layout))

    assert "still waits for its card" in finding.fact


def test_a_card_that_nobody_can_read_is_an_error(app: App, key: ProjectKey) -> None:
    pending = app.layout.project(key).pending
    pending.mkdir(parents=True, mode=0o700)
    path = pending / f"review_{'0' * 40}.json"
    path.write_bytes(b"{}")
    path.chmod(0o600)

    (finding,) = bad(look_at_projects(app.layout))

    assert (finding.level, str(path) in finding.fact) == ("error", True)


def test_a_standing_that_nobody_can_read_is_an_error(app: App, key: ProjectKey) -> None:
    decide(app.shop, key, "paused")
    path = Layout(app.layout.agent).standings / f"{key}.json"
    path.write_bytes(b"{")

    assert "error" in levels(look_at_projects(app.layout))
