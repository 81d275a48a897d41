"""Only a staged name is swept, and only when no writer can still be at it."""

import os
import time
from pathlib import Path

import pytest

from curator.durable.sweep import sweep
from curator.durable.volume import Volume
from curator.errors import StorageError

UUID = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
JOB = "review_" + "0" * 40
HOUR_S = 3_600
NOW_MS = time.time_ns() // 1_000_000

LEFTOVERS = (f"{JOB}.json.4711.{UUID}.tmp", f".{UUID}.tmp", f"2026-01-03.4711.{UUID}.tmp", f".spool.lock.stale.{UUID}")
OTHERS = (
    f"{JOB}.json",
    f"{JOB}.json.4711.aaaaaaaa.tmp",
    ".main.json.4711.tmp",
    "tmp9f2k1",
    ".spool.lock",
    f"{UUID}.tmp",
    f".{UUID}.tmp.json",
    f"{JOB}.json.4711.{UUID}.bad",
)


def leave(folder: Path, name: str, age_s: int) -> Path:
    path = folder / name
    path.write_bytes(b"")
    os.utime(path, (NOW_MS / 1000 - age_s,) * 2)
    return path


@pytest.mark.parametrize("name", LEFTOVERS)
def test_an_aged_leftover_goes_and_a_young_one_stays(tmp_path: Path, name: str) -> None:
    path = leave(tmp_path, name, HOUR_S - 10)
    assert sweep(Volume(), tmp_path, NOW_MS) == 0

    leave(tmp_path, name, HOUR_S + 10)
    assert sweep(Volume(), tmp_path, NOW_MS) == 1
    assert not path.exists()


@pytest.mark.parametrize("name", OTHERS)
def test_what_no_writer_of_the_protocol_stages_stays_however_old(tmp_path: Path, name: str) -> None:
    path = leave(tmp_path, name, 365 * 86_400)

    assert sweep(Volume(), tmp_path, NOW_MS) == 0
    assert path.exists()


def test_a_symlink_with_a_staged_name_is_removed_itself(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"kept")
    link = tmp_path / f".{UUID}.tmp"
    link.symlink_to("target")
    os.utime(link, (1, 1), follow_symlinks=False)

    assert sweep(Volume(), tmp_path, NOW_MS) == 1
    assert (tmp_path / "target").read_bytes() == b"kept"


def test_a_folder_that_is_not_there_has_nothing_to_sweep(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert sweep(Volume(), tmp_path / "gone", NOW_MS) == 0
    assert sweep(Volume(), tmp_path / "file", NOW_MS) == 0


def test_a_folder_that_may_not_be_looked_into_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        sweep(Volume(), tmp_path / ("x" * 300), NOW_MS)
