"""Locks that dead processes left."""

import os
from pathlib import Path

import pytest

from curator.doctor.finding import Drop, Reap
from curator.doctor.locks import look_at_locks
from curator.durable.layout import Layout
from curator.model.ids import JobId, ProjectKey
from tests.doctor.trees import DEAD, NOW, bad, levels, make_lock

KEY = ProjectKey("a" * 24)
JOB = JobId("review_" + "b" * 40)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(tmp_path)
    made.project(KEY).root.mkdir(parents=True)
    return made


def all_locks(layout: Layout) -> list[Path]:
    project = layout.project(KEY)
    own = [project.lock, project.mailbox / ".lock", layout.shadow_project(KEY).lock]
    legacy = layout.root / "review-budget.json.lock"
    return [layout.spool_lock, layout.accounting_lock, layout.decision_lock(JOB), legacy, *own]


def test_where_no_lock_stands_all_is_well(layout: Layout) -> None:
    assert levels(look_at_locks(layout, NOW)) == ["ok"]


@pytest.mark.parametrize("number", range(7))
def test_every_domain_s_lock_of_a_dead_owner_is_named(layout: Layout, number: int) -> None:
    path = make_lock(all_locks(layout)[number], DEAD, 40_000)

    (finding,) = bad(look_at_locks(layout, NOW))

    assert finding.mend == Reap(path)
    assert f"process {DEAD} is gone" in finding.fact


def test_a_young_one_is_no_fault_yet(layout: Layout) -> None:
    make_lock(layout.spool_lock, DEAD, 10_000)

    assert levels(look_at_locks(layout, NOW)) == ["note"]


def test_one_of_a_living_owner_is_left_and_named_when_it_is_held_for_long(layout: Layout) -> None:
    make_lock(layout.spool_lock, os.getpid(), 40_000)
    assert levels(look_at_locks(layout, NOW)) == ["ok"]

    make_lock(layout.spool_lock, os.getpid(), 90_000)
    (finding,) = bad(look_at_locks(layout, NOW))
    assert (finding.mend, f"held by process {os.getpid()} for 90 s" in finding.fact) == (None, True)


def test_an_empty_one_belongs_to_nobody(layout: Layout) -> None:
    path = make_lock(layout.spool_lock, DEAD, 40_000)
    path.write_bytes(b"")
    os.utime(path, ns=((NOW - 40_000) * 1_000_000,) * 2)

    (finding,) = bad(look_at_locks(layout, NOW))

    assert "its owner cannot be told" in finding.fact


def test_what_is_left_of_reaping_is_named(layout: Layout) -> None:
    breaker = make_lock(layout.spool / ".spool.lock.breaker", DEAD, 5_000)
    moved = make_lock(layout.spool / ".spool.lock.stale.00000000-0000-4000-8000-000000000000", DEAD, 5_000)
    make_lock(layout.accounting / ".lock.breaker", os.getpid(), 5_000)

    (finding,) = bad(look_at_locks(layout, NOW))

    assert finding.mend == Drop((breaker, moved), are_locks=True)
