"""Cases A-078 and A-079: the audit's database is locked, damaged, gone or held by a reader, and no job depends on it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.acceptance.processes import Place
from tests.cases.scene import Here


def shadow_of(place: Place) -> Path:
    """Return the audit's database."""
    return place.layout.own / "shadow.sqlite"


def damaged(path: Path) -> None:
    """Write bytes that begin as a database does, and are none."""
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 2_000)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def removed(path: Path) -> None:
    path.unlink()


def made_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("harm", [damaged, emptied, removed, made_folder], ids=lambda harm: harm.__name__)
def test_a_079_a_side_database_that_is_damaged_or_gone_costs_no_job(harm: object, tmp_path: Path) -> None:
    assert callable(harm)
    place = Here(tmp_path)
    place.configure()
    first = place.enqueue(key := place.project())
    place.review()
    assert place.run("audit").status == 0
    harm(shadow_of(place))
    second = place.enqueue(key, "entry-2", "USER: We decided that dates are stored in UTC.")

    ran = place.run("review", "--once", "--maintain")

    assert (ran.status, [place.ending(job) for job in (first, second)]) == (0, ["applied", "applied"])
    asked = place.run("audit", "jobs", "--json")
    assert (asked.status, asked.err.count("\n") <= 2) == (0, True)
    assert [job.id for job in (first, second) if job.id not in asked.out] == []
    assert harm in (removed, emptied) or str(shadow_of(place)) in ran.err + asked.err


def test_a_079_a_side_database_that_another_has_locked_costs_no_job(tmp_path: Path) -> None:
    place = Here(tmp_path)
    place.configure()
    place.enqueue(key := place.project())
    place.review()
    assert place.run("audit").status == 0
    second = place.enqueue(key, "entry-2", "USER: We decided that dates are stored in UTC.")
    with sqlite3.connect(shadow_of(place)) as holder:
        holder.execute("BEGIN EXCLUSIVE")

        ran = place.run("review", "--once", "--maintain")

        assert (ran.status, place.ending(second)) == (0, "applied")
        holder.rollback()
    holder.close()
    assert second.id in place.run("audit", "jobs", "--json").out


def test_a_078_a_reader_that_never_ends_makes_no_log_grow_and_no_review_wait(tmp_path: Path) -> None:
    place = Here(tmp_path)
    place.configure()
    key = place.project()
    place.enqueue(key)
    place.review()
    place.run("audit")
    reader = sqlite3.connect(shadow_of(place))
    reader.execute("BEGIN")
    reader.execute("SELECT COUNT(*) FROM jobs").fetchone()
    size = shadow_of(place).stat().st_size
    jobs = [place.enqueue(key, f"more-{turn}", f"USER: From now on, always use tool {turn}.") for turn in range(6)]

    assert place.review().status == 0
    asked = place.run("audit", "jobs", "--json")

    beside = {path.name: path.stat().st_size for path in place.layout.own.glob("shadow.sqlite*")}
    assert {place.ending(job) for job in jobs} == {"applied"}
    assert [job.id for job in jobs if job.id not in asked.out] == [], "what cannot be written is told from the files"
    assert str(shadow_of(place)) in asked.err
    assert "shadow.sqlite-wal" not in beside
    assert sum(beside.values()) < 2 * size + (1 << 20)
    reader.close()
    assert jobs[-1].id in place.run("audit", "jobs", "--json").out
