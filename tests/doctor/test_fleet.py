"""Everything that uses memory: current, mismatched, stale or stopped."""

import os
from pathlib import Path

import pytest

from curator.doctor.finding import Finding
from curator.doctor.fleet import judge, look_at_fleet, look_at_workers
from curator.doctor.live import Pi
from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.model.heartbeat import RuntimeBeat, WorkerBeat
from curator.model.ids import file_key, project_key
from curator.model.times import iso
from curator.store.heartbeats import HeartbeatStore
from tests.doctor.trees import DEAD, NOW, bad, levels

ME = os.getpid()
RELEASE = "0.5.4"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path / "agent")


def runtime(
    name: str = "e",
    *,
    pid: int = ME,
    release: str = RELEASE,
    policy: int = 2,
    age_ms: int = 1_000,
    state: str = "running",
    root: Path | None = None,
) -> RuntimeBeat:
    at = iso(NOW - age_ms)
    return RuntimeBeat(
        runtime_id=file_key(f"extension:{name}"),
        kind="worker" if name.startswith("w") else "extension",
        pid=pid,
        release_version=release,
        memory_policy_version=policy,
        started_at=at,
        updated_at=at,
        state="stopped" if state == "stopped" else "running",
        project_root=None if root is None else str(root),
        project_key=None if root is None else project_key(str(root)),
    )


def worker(worker_id: str = "curator:w", *, pid: int = ME, age_ms: int = 1_000, policy: int = 2) -> WorkerBeat:
    at = iso(NOW - age_ms)
    return WorkerBeat(
        worker_id=worker_id, pid=pid, started_at=at, updated_at=at, state="idle", memory_policy_version=policy
    )


def put(layout: Layout, *beats: RuntimeBeat | WorkerBeat) -> None:
    for beat in beats:
        HeartbeatStore(Volume(), layout).write(beat, is_lasting=True)


def fleet(layout: Layout, *pis: Pi) -> list[Finding]:
    return list(look_at_fleet(layout, NOW, RELEASE, pis))


@pytest.mark.parametrize(
    ("beat", "bucket"),
    [
        (runtime(), "current"),
        (runtime("w"), "current"),
        (runtime(state="stopped"), "stopped"),
        (runtime(state="stopped", pid=DEAD, age_ms=90_000), "stopped"),
        (runtime(age_ms=31_000), "stale"),
        (runtime(age_ms=-5_000), "stale"),
        (runtime(pid=DEAD), "stale"),
        (runtime("w", release="0.5.3"), "mismatched"),
        (runtime(policy=1), "mismatched"),
    ],
)
def test_a_runtime_is_put_into_one_bucket(beat: RuntimeBeat, bucket: str) -> None:
    assert [each.bucket for each in judge([beat], NOW, RELEASE)] == [bucket]


def test_the_release_that_counts_is_that_of_the_extension_that_beat_last() -> None:
    new, old = runtime("new", release="0.6.0"), runtime("old", release=RELEASE, age_ms=2_000)

    assert [each.bucket for each in judge([old, new, runtime("w", release="0.6.0")], NOW, RELEASE)].count(
        "current"
    ) == 2
    assert {each.beat.release_version: each.bucket for each in judge([old, new], NOW, RELEASE)}[RELEASE] == "mismatched"


def test_each_is_shown_with_release_policy_process_and_root(layout: Layout, tmp_path: Path) -> None:
    put(layout, runtime(root=tmp_path))

    (finding,) = fleet(layout)

    assert finding.level == "ok"
    assert finding.fact == f"extension, process {ME}, release 0.5.4, policy 2, {tmp_path}: current"


def test_many_that_have_stopped_are_counted(layout: Layout) -> None:
    put(layout, *(runtime(f"e{number}", state="stopped") for number in range(8)))

    assert [finding.fact for finding in fleet(layout)][-1] == "3 more have stopped"


def test_one_that_cannot_be_read_is_an_error_for_the_extension_fails_at_it(layout: Layout) -> None:
    put(layout, runtime())
    (layout.runtimes / f"{'0' * 24}.json").write_bytes(b"{}")

    (finding,) = [each for each in fleet(layout) if each.level == "error"]

    assert str(layout.runtimes / f"{'0' * 24}.json") in str(finding.remedy)


def test_a_pi_process_without_a_sign_of_life_is_named(layout: Layout, tmp_path: Path) -> None:
    put(layout, runtime(pid=ME))

    found = bad(fleet(layout, Pi(ME, None), Pi(4711, tmp_path)))

    assert [f"process 4711 in {tmp_path}" in finding.fact for finding in found] == [True]


def test_one_that_works_in_another_project_than_it_says_is_named(layout: Layout, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    put(layout, runtime(root=tmp_path / "elsewhere"))

    assert len(bad(fleet(layout, Pi(ME, tmp_path / "project")))) == 1
    put(layout, runtime(root=tmp_path / "project"))
    assert bad(fleet(layout, Pi(ME, tmp_path / "project"))) == []
    assert bad(fleet(layout, Pi(ME, tmp_path / "gone"))) == []


def test_a_worker_that_lives_is_well(layout: Layout) -> None:
    put(layout, worker())

    assert levels(look_at_workers(layout, NOW)) == ["ok"]


@pytest.mark.parametrize(
    ("beat", "word"),
    [
        (worker(pid=DEAD), "its process is gone"),
        (worker(age_ms=60_000), "takes it for offline"),
        (worker("host:1"), "another kind"),
    ],
)
def test_a_worker_that_is_not_as_it_should_be_is_named(layout: Layout, beat: WorkerBeat, word: str) -> None:
    put(layout, beat)

    (finding,) = bad(look_at_workers(layout, NOW))

    assert word in finding.fact


def test_a_leftover_of_another_policy_is_an_error_for_the_extension_enqueues_nothing(layout: Layout) -> None:
    put(layout, worker("host:1", pid=DEAD, policy=1))

    assert "error" in levels(look_at_workers(layout, NOW))
