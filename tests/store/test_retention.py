"""What each store asks of the disk when it lets go: in which order, under which lock, with how many flushes."""

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from curator.durable.layout import Layout
from curator.durable.lock import try_protocol_lock
from curator.durable.volume import Volume
from curator.model.decision import Evidence
from curator.model.ids import JobId
from curator.store.accounting import AccountingStore
from curator.store.decisions import DecisionStore
from curator.store.finished import FinishedStore
from curator.store.proofs import ProofStore
from curator.store.spool import Spool
from curator.store.spool.retention import forget_letters, forget_outcomes, live_jobs, outcome_ages
from tests.durable.volumes import Crash, Mortal, Recorded
from tests.made_up import AT_MS, DAY, Counted, StillClock, attempt_of, job, result

NOW: Final = AT_MS
OLD: Final = (1, 1)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path)


def decided(layout: Layout) -> JobId:
    """Leave a decision, its result and its spans, all old."""
    store, of = DecisionStore(Volume(), layout), job()
    spans = Evidence(job_id=of.id, job_digest=of.digest, attempt_id=attempt_of(of), spans=(), dropped=())
    store.record_evidence(spans)
    store.record_result(result(of))
    store.elect(result(of))
    age(layout.agent)
    return of.id


_LOOKED: Final[list[list[Path]]] = []
"""Who wants to know which folders are listed."""


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if event == "os.scandir" and _LOOKED:
        _LOOKED[-1].append(Path(str(arguments[0])))


sys.addaudithook(_hear)


@contextlib.contextmanager
def looking(looked: list[Path]) -> Iterator[None]:
    """Write down which folders the interpreter lists."""
    _LOOKED.append(looked)
    try:
        yield
    finally:
        _LOOKED.pop()


def age(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, OLD)


def standing(layout: Layout, job_id: JobId) -> tuple[bool, bool, bool]:
    """Whether a decision, its result and its spans stand."""
    of = attempt_of(job())
    places = (layout.decision(job_id), layout.result(job_id, of), layout.evidence_of(job_id, of))
    return tuple(path.exists() for path in places)  # type: ignore[return-value]  # three of them


# --- decisions, results, spans ---------------------------------------------------------------------------------------


def test_a_decision_goes_before_its_result_and_a_result_before_its_spans_each_flushed(layout: Layout) -> None:
    job_id = decided(layout)
    volume = Recorded()

    assert DecisionStore(volume, layout).forget([job_id], NOW) == {}

    of = attempt_of(job())
    assert volume.since(f"unlink {job_id}.json") == [
        "flush proposal-decisions",
        f"unlink {of}.json",
        f"remove {job_id}",
        "flush provider-results",
        f"unlink {job_id}.{of}.json",
        f"flush {layout.evidence_shard(job_id).name}",
    ]


def test_a_crash_at_any_verb_leaves_nothing_without_what_it_is_made_of(layout: Layout, tmp_path: Path) -> None:
    job_id = decided(layout)
    whole = Recorded()
    shutil.copytree(layout.agent, tmp_path.parent / "whole")
    DecisionStore(whole, Layout(tmp_path.parent / "whole")).forget([job_id], NOW)
    for survive in range(len(whole.asked)):
        left = Layout(tmp_path.parent / f"left-{survive}")
        shutil.copytree(layout.agent, left.agent)
        with pytest.raises(Crash):
            DecisionStore(Mortal(survive), left).forget([job_id], NOW)

        assert standing(left, job_id) in {(True, True, True), (False, True, True), (False, False, True), (False,) * 3}
        DecisionStore(Volume(), left).forget([job_id], NOW)
        assert standing(left, job_id) == (False, False, False)


def test_a_removal_that_a_dead_process_did_not_flush_is_flushed_before_the_next_one(layout: Layout) -> None:
    job_id = decided(layout)
    layout.decision(job_id).unlink()
    volume = Recorded()

    DecisionStore(volume, layout).forget([job_id], NOW)

    assert volume.asked[: volume.asked.index(f"unlink {attempt_of(job())}.json")] == ["flush proposal-decisions"]


def test_what_was_written_since_stays(layout: Layout) -> None:
    job_id = decided(layout)
    young = layout.results / job_id / f"{attempt_of(job(), 2)}.json"
    young.write_text("{}", "utf-8")

    DecisionStore(Volume(), layout).forget([job_id], NOW)

    assert young.exists()
    assert not layout.result(job_id, attempt_of(job())).exists()


def spans_of(layout: Layout, job_id: JobId, at: tuple[int, int] = OLD) -> Path:
    """Put spans under a name of the job; nobody reads them."""
    path = layout.evidence_of(job_id, attempt_of(job()))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}", "utf-8")
    os.utime(path, at)
    return path


def test_spans_of_another_job_in_the_shard_stay_and_so_do_young_ones_and_the_shard(layout: Layout) -> None:
    job_id = decided(layout)
    other = spans_of(layout, JobId(job_id[:-2] + ("00" if job_id[-2:] != "00" else "11")))
    young = layout.evidence_of(job_id, attempt_of(job(), 2))
    young.write_text("{}", "utf-8")
    leftover = other.with_name(f"{job_id}.{attempt_of(job())}.json.1.{'0' * 8}.tmp")
    leftover.write_text("{}", "utf-8")
    os.utime(leftover, OLD)

    store = DecisionStore(Volume(), layout)
    assert store.newest([job_id]) == {job_id: young.stat().st_mtime_ns // 1_000_000}
    store.forget([job_id], NOW)

    assert other.parent == young.parent == leftover.parent
    assert sorted(young.parent.iterdir()) == sorted([other, young])
    young.unlink()
    other.unlink()
    store.forget([job_id], NOW)
    assert young.parent.is_dir()


def test_a_removal_of_spans_that_a_dead_process_did_not_flush_is_flushed_by_the_next(layout: Layout) -> None:
    job_id = decided(layout)
    layout.evidence_of(job_id, attempt_of(job())).unlink()
    volume = Recorded()

    DecisionStore(volume, layout).forget([job_id], NOW)

    assert volume.asked[-1] == f"flush {layout.evidence_shard(job_id).name}"


def test_many_jobs_cost_one_flush_and_one_look_a_shard(layout: Layout) -> None:
    jobs = [JobId(f"review_{shard:02x}{number:038x}") for shard in (3, 7) for number in range(20)]
    paths = [spans_of(layout, each, (2, 2)) for each in jobs]
    volume = Recorded()
    store = DecisionStore(volume, layout)
    looked: list[Path] = []

    with looking(looked):
        known = store.jobs()
        newest = store.newest(jobs)
        store.forget(jobs, NOW)

    assert known == set(jobs)
    assert newest == dict.fromkeys(jobs, 2_000)
    assert not any(path.exists() for path in paths)
    assert [volume.asked.count(f"flush {shard}") for shard in ("03", "07")] == [1, 1]
    assert [looked.count(layout.evidence / shard) for shard in ("03", "07")] == [3, 3]


def test_a_job_whose_lock_somebody_holds_is_named_and_keeps_everything(layout: Layout) -> None:
    job_id = decided(layout)
    held = try_protocol_lock(layout.decision_lock(job_id))
    assert held is not None

    busy = DecisionStore(Volume(), layout).forget([job_id], NOW)
    held.release()

    assert list(busy) == [job_id]
    assert standing(layout, job_id) == (True, True, True)


# --- proofs ----------------------------------------------------------------------------------------------------------


def proven(layout: Layout) -> tuple[ProofStore, JobId]:
    project = layout.project(job().project_key)
    for path in (project.tombstone(job().id), project.receipt(job().id)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}", "utf-8")
        os.utime(path, OLD)
    return ProofStore(Volume(), project), job().id


def test_a_tombstone_goes_before_its_receipt_and_its_going_is_flushed_first(layout: Layout) -> None:
    _, job_id = proven(layout)
    volume = Recorded()

    ProofStore(volume, layout.project(job().project_key)).forget([job_id], NOW)

    assert volume.asked == [f"unlink {job_id}.json", "flush retired", f"unlink {job_id}.json", "flush commit-receipts"]


@pytest.mark.parametrize("missing", ["tombstone", "receipt", None])
def test_both_are_old_or_neither_is(layout: Layout, missing: str | None) -> None:
    store, job_id = proven(layout)
    project = layout.project(job().project_key)
    if missing is not None:
        {"tombstone": project.tombstone, "receipt": project.receipt}[missing](job_id).unlink()
    assert store.aged(NOW) == (job_id,)

    for path in (project.tombstone(job_id), project.receipt(job_id)):
        if path.exists():
            os.utime(path)
            assert store.aged(NOW) == ()
            os.utime(path, OLD)


def test_a_job_that_has_begun_again_keeps_both(layout: Layout) -> None:
    store, job_id = proven(layout)
    project = layout.project(job().project_key)
    project.intent(job_id).write_text("{}", "utf-8")

    store.forget([job_id], NOW)

    assert project.tombstone(job_id).exists()
    assert project.receipt(job_id).exists()


# --- the spool -------------------------------------------------------------------------------------------------------


def spool_with(layout: Layout, volume: Volume, outcomes: int) -> tuple[Spool, list[JobId]]:
    spool = Spool(volume, layout, StillClock(), Counted())
    Spool(Volume(), layout, StillClock(), Counted()).prepare()
    jobs = [JobId(f"review_{number:040x}") for number in range(outcomes)]
    for number, job_id in enumerate(jobs):
        path = layout.outcomes / f"{job_id}.json"
        path.write_text("{}", "utf-8")
        os.utime(path, (number, number))
    return spool, jobs


def test_outcomes_go_in_small_batches_with_one_flush_each(layout: Layout) -> None:
    volume = Recorded()
    spool, jobs = spool_with(layout, volume, 70)
    assert [job_id for job_id, _ in outcome_ages(spool)] == jobs

    forget_outcomes(spool, jobs, NOW)

    assert volume.asked.count("flush outcomes") == 3
    assert list(layout.outcomes.iterdir()) == []


def test_an_outcome_of_a_job_that_came_back_or_was_written_anew_stays(layout: Layout) -> None:
    spool, jobs = spool_with(layout, Volume(), 3)
    (layout.queued / f"{jobs[0]}.json").write_text("{}", "utf-8")
    os.utime(layout.outcomes / f"{jobs[1]}.json")

    forget_outcomes(spool, jobs, NOW)

    assert sorted(path.stem for path in layout.outcomes.iterdir()) == jobs[:2]


def test_whoever_waits_runs_or_is_held_is_alive_readable_or_not(layout: Layout) -> None:
    spool, jobs = spool_with(layout, Volume(), 4)
    for folder, job_id in zip((layout.queued, layout.running, layout.held), jobs, strict=False):
        (folder / f"{job_id}.json").write_text("{", "utf-8")
    (layout.queued / "notes.json").write_text("{", "utf-8")

    assert live_jobs(spool) == frozenset(jobs[:3])


def test_at_most_so_many_letters_go_at_once_the_oldest_first(layout: Layout) -> None:
    spool, _ = spool_with(layout, Volume(), 0)
    for number in range(5):
        path = layout.dead_letter / f"{number}.bad"
        path.write_text("x", "utf-8")
        os.utime(path, (number, number))

    assert forget_letters(spool, NOW, NOW, 2) == 2
    assert sorted(path.name for path in layout.dead_letter.iterdir()) == ["2.bad", "3.bad", "4.bad"]


# --- closing records, identities -------------------------------------------------------------------------------------


def test_a_closing_record_is_flushed_before_anything_relies_on_it(layout: Layout) -> None:
    of = job().id
    path = layout.finished / of[7:9] / f"{of}.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}", "utf-8")
    volume = Recorded()

    assert FinishedStore(volume, layout).make_sure([of, JobId("review_" + "0" * 40)]) == {of}
    assert volume.asked == [f"flush {of[7:9]}"]


def test_an_identity_of_a_day_that_stands_or_is_today_stays_whatever_its_time(layout: Layout) -> None:
    store = AccountingStore(Volume(), layout)
    layout.identities.mkdir(parents=True)
    layout.days.mkdir()
    path = layout.identities / attempt_of(job())
    path.write_text("nobody reads this", "utf-8")
    os.utime(path, (AT_MS / 1000, AT_MS / 1000))

    assert store.retire_identities(DAY, 10) == 0
    (layout.days / DAY).write_text("stands", "utf-8")
    assert store.retire_identities(type(DAY)("2026-02-01"), 10) == 0
    assert path.exists()
