"""Cases A-051 and A-052: disks without room and disks without inodes, each one mounted for the test."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.acceptance.test_bad_ground import on_a_disk
from tests.cases.scene import Here, needs

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or needs("unshare"), reason="a disk of its own takes root and unshare"
)


@pytest.mark.parametrize("free_pages", [0, 1, 8])
def test_a_051_a_full_disk_is_reported_and_leaves_nothing_half_written(free_pages: int, tmp_path: Path) -> None:
    place = Here(tmp_path)
    place.configure()
    job = place.enqueue(key := place.project())
    before = place.texts(key)
    shrink = f"truncate -s -{free_pages * 4096} ballast" if free_pages else "true"

    ran = on_a_disk(place, f"cat /dev/zero > ballast 2> /dev/null; {shrink}")

    assert ran.status == 74
    assert "No space left on device" in ran.err
    assert "Traceback" not in ran.err
    assert "completed" not in ran.out
    assert [path for path in place.layout.root.rglob("*.json") if path.stat().st_size == 0] == []
    assert place.texts(key) == before
    place.review_later()
    assert (place.ending(job), len(place.texts(key))) == ("applied", 1)


def test_a_052_a_disk_without_inodes_is_told_apart_from_one_without_room(tmp_path: Path) -> None:
    place = Here(tmp_path)
    place.configure()
    job = place.enqueue(place.project())

    ran = on_a_disk(
        place, "n=0; while touch filler.$n; do n=$((n+1)); done 2> /dev/null; true", size="8m,nr_inodes=200"
    )
    for filler in place.layout.agent.glob("filler.*"):
        filler.unlink()

    assert ran.status == 74
    assert "inode" in ran.err
    assert "are free" in ran.err
    place.review_later()
    assert place.ending(job) == "applied"


def test_a_052_what_is_over_is_let_go_and_the_number_of_files_stays_bounded(tmp_path: Path) -> None:
    place = Here(tmp_path)
    place.configure()
    job = place.enqueue(place.project())
    place.review()
    (outcome,) = place.layout.outcomes.glob("*.json")
    for number in range(600):
        shutil.copy2(outcome, outcome.with_name(f"review_{number:040x}.json"))

    ran = place.run("review", "--once", "--maintain")

    assert ran.status == 0
    assert len(list(place.layout.outcomes.glob("*.json"))) <= 500
    assert place.ending(job) == "applied"
