"""What has to be so before memory changes hands."""

import os
from pathlib import Path

import pytest

from curator.app import App
from curator.doctor.finding import Finding
from curator.doctor.gates import Gate, closed, gates
from curator.durable.probe import Probe
from curator.durable.volume import Volume
from curator.model.event import Degraded
from curator.model.heartbeat import WorkerBeat
from curator.model.ids import ProjectKey
from curator.model.settings import Mode
from curator.model.times import iso, ms_of
from curator.store.heartbeats import HeartbeatStore
from tests.foreign import foreground_add
from tests.kit import HandClock, ScriptedReviewer, World, adding

NOW = ms_of("2099-01-03T12:00:00.000Z")
SAFE = Probe(is_power_safe=True, warnings=())
WELL = (Finding("ok", "reviewer", "known"), Finding("ok", "price", "known"))


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path / "agent", HandClock(NOW))
    made.configure("shadow")
    return made


def opened(world: World) -> App:
    return world.open(ScriptedReviewer(lambda nth: adding(f"Fact {nth} holds."), clock=world.clock))


def rehearsed(world: World, tmp_path: Path, jobs: int = 1) -> tuple[App, ProjectKey]:
    """Let the shadow review so many jobs of a project whose real memory holds one entry."""
    app = opened(world)
    key = world.project(app, tmp_path / "project")
    foreground_add(app.layout.project(key).root, "The extension wrote this.")
    for number in range(jobs):
        app.shop.stores.spool.enqueue(world.job(app, key, f"frontier-{number}"))
    app.review_once()
    return app, key


def gate(app: App, name: str, target: Mode, *findings: Finding, probe: Probe | None = SAFE) -> Gate:
    return next(each for each in gates(app.shop, probe, findings or WELL, target) if each.name == name)


def test_all_are_open_before_external_mode_after_a_good_rehearsal(world: World, tmp_path: Path) -> None:
    app, _ = rehearsed(world, tmp_path)

    found = gates(app.shop, SAFE, WELL, "external")

    assert closed(found) == ()
    assert [each.name for each in found] == ["storage", "doctor", "shadow", "budget", "worker"]
    assert all(each.evidence for each in found)


@pytest.mark.parametrize("probe", [None, Probe(is_power_safe=False, warnings=(Degraded("kept in memory", "Move it"),))])
def test_a_disk_that_forgets_closes_one(world: World, probe: Probe | None) -> None:
    assert not gate(opened(world), "storage", "external", probe=probe).is_open


def test_an_error_that_the_doctor_found_closes_one_and_a_warning_does_not(world: World) -> None:
    app = opened(world)

    assert not gate(app, "doctor", "external", Finding("error", "modes", "open to others")).is_open
    assert gate(app, "doctor", "external", Finding("warning", "clock", "behind")).is_open


def test_without_a_rehearsal_there_is_no_agreement(world: World) -> None:
    told = gate(opened(world), "shadow", "external")

    assert (told.is_open, "curator authority shadow" in told.evidence) == (False, True)


def test_a_shadow_that_remembers_other_things_closes_one(world: World, tmp_path: Path) -> None:
    app, _ = rehearsed(world, tmp_path, jobs=3)

    told = gate(app, "shadow", "external")

    assert (told.is_open, told.evidence.startswith("1 entries in both and 3 in one alone")) == (False, True)


@pytest.mark.parametrize("subject", ["reviewer", "key", "price"])
def test_a_reviewer_whose_cost_cannot_be_limited_closes_one(world: World, subject: str) -> None:
    assert not gate(opened(world), "budget", "external", Finding("warning", subject, "no price")).is_open


def test_a_worker_of_another_kind_closes_one(world: World) -> None:
    app = opened(world)
    at = iso(world.clock.now())
    beat = WorkerBeat(worker_id="host:1", pid=os.getpid(), started_at=at, updated_at=at, state="idle")
    HeartbeatStore(Volume(), app.layout).write(beat, is_lasting=True)

    told = gate(app, "worker", "external")

    assert (told.is_open, f"process {os.getpid()}" in told.evidence) == (False, True)


def test_a_shadow_needs_no_rehearsal_of_itself(world: World) -> None:
    assert closed(gates(opened(world).shop, None, WELL, "shadow")) == ()


def test_going_back_needs_an_empty_queue(world: World, tmp_path: Path) -> None:
    app = opened(world)
    assert closed(gates(app.shop, SAFE, WELL, "embedded")) == ()
    key = world.project(app, tmp_path / "project")
    app.shop.stores.spool.enqueue(world.job(app, key, "frontier"))

    assert closed(gates(app.shop, SAFE, WELL, "embedded")) == ("queue",)
