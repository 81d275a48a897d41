"""Power cuts of real ext4: every image of its device that a cut may leave is mounted, recovered twice, and judged.

The program `python -m faults.block` does it, in a mount namespace of its own that takes every mount with it when it ends,
however it ends.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Final, TypedDict

import pytest
from faults.backfill_stories import BACKFILL_STORIES
from faults.block.log import BLOCK, OVER, START, Entry, Kind, images, line_of
from faults.block.mounts import LOGFLUSH, NOLOGFLUSH, why_not
from faults.block.planted import PLANTS
from faults.figures import note
from faults.recording import Mark
from faults.scenarios import SCENARIOS

BROKEN: Final = 3
"""The program's status where a promise was broken."""
ROOT: Final = Path(__file__).parents[2]
IS_LONG: Final = os.environ.get("CURATOR_FAULTS") == "long"
CUT: Final = (*SCENARIOS, *BACKFILL_STORIES) if IS_LONG else ("applied", "shadow")
"""In each run two scenarios are cut off, at one flush of a few."""
ENDED: Final = ("applied", "retried", "shadow", "undone", "held", "maintained") if IS_LONG else ("applied",)
PLANTED: Final = tuple(plant for plant in PLANTS if plant != "nothing") if IS_LONG else ("queued-names", "result-bytes")


class Told(TypedDict):
    """The last line of the program."""

    images: int
    judged: int
    points: int
    states: dict[str, int]
    seconds: float
    violations: list[str]


def cut(tmp_path: Path, *arguments: str) -> Told:
    """Run the program, and return its report; a violation leaves the log and says how to judge it again."""
    reason = why_not()
    if reason:
        pytest.skip(f"no power can be cut here: {reason}")
    log = tmp_path / "device.log"
    command = ["unshare", "-m", sys.executable, "-m", "faults.block", *arguments]
    paths = os.pathsep.join(str(ROOT / each) for each in (".", "service", "fault-injection"))
    environ = {**os.environ, "PYTHONPATH": paths}
    ran = subprocess.run(
        [*command, "--log", str(log)], cwd=ROOT, env=environ, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    out = ran.stdout.decode("utf-8")
    assert ran.returncode in (0, BROKEN), ran.stderr.decode("utf-8")
    print(out.rpartition("\n{")[0])
    if ran.returncode == BROKEN:
        print(f"again: PYTHONPATH={paths} {shlex.join(command)} --replay {log}")
    told: Told = json.loads(out.splitlines()[-1])
    if "--plant" not in arguments:
        kind = "endings in mid-run" if "--shutdown" in arguments else "power cuts"
        note("block", {f"images, {kind}": told["images"], f"distinct images judged, {kind}": told["judged"]})
    return told


# --- what the images are ---------------------------------------------------------------------------------------------


def block(at: int, letter: bytes) -> Entry:
    return Entry(Kind.WRITE, at * BLOCK, letter * BLOCK)


def marked(kind: str) -> Entry:
    return Entry(Kind.MARK, 0, line_of(Mark(kind)))


def letters_of(durable: bytearray, kept: tuple[tuple[int, bytes], ...]) -> str:
    content = bytearray(durable)
    for offset, body in kept:
        content[offset : offset + len(body)] = body
    return content[::BLOCK].decode()


def test_what_was_flushed_is_in_every_image_and_of_the_rest_any_subset_may_be() -> None:
    flush = Entry(Kind.FLUSH)
    two = Entry(Kind.WRITE, 0, b"c" * BLOCK + b"d" * BLOCK)
    log = [block(0, b"a"), flush, Entry(Kind.MARK, 0, line_of(START)), block(1, b"b"), flush, marked("told"), two]
    log.append(Entry(Kind.MARK, 0, line_of(OVER)))

    seen = {
        (image.flush, letters_of(image.durable, image.kept), tuple(mark.kind for mark in image.said))
        for image in images(b"." * 2 * BLOCK, log, subsets=400, seed=1)
    }

    # A mark that stands between two flushes has been told or not; a write of two blocks reaches the disk in halves.
    assert {each for each in seen if each[0] == 0} == {(0, "a.", ()), (0, "ab", ())}
    assert {each[1] for each in seen if each[0] == 1} == {"ab", "cb", "ad", "cd"}
    assert {each[2] for each in seen if each[0] == 1} == {(), ("told",)}


def test_the_same_seed_chooses_the_same_images() -> None:
    log = [Entry(Kind.MARK, 0, line_of(START)), *(block(at, b"a") for at in range(9)), Entry(Kind.FLUSH)]

    one, same, other = (
        [image.kept for image in images(b"." * 9 * BLOCK, log, subsets=6, seed=seed)] for seed in (1, 1, 2)
    )

    assert one == same
    assert one != other


# --- real ext4 -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CUT)
def test_every_power_cut_of_real_ext4_is_recovered_with_every_promise_kept(name: str, tmp_path: Path) -> None:
    told = cut(tmp_path, name, "--subsets", "3", "--every", "1" if IS_LONG else "8")

    assert told["violations"] == []
    assert told["points"] > 1, "the device was flushed"
    assert told["images"] > told["points"] // 8, "and what it had not flushed was lost in more ways than one"
    assert told["judged"] > 1


@pytest.mark.parametrize("plant", PLANTED)
def test_a_missing_flush_is_found_by_what_real_ext4_forgets(plant: str, tmp_path: Path) -> None:
    told = cut(tmp_path, "applied", "--subsets", "0", "--limit", "1", "--plant", plant)

    assert len(told["violations"]) == 1


@pytest.mark.parametrize("how", [NOLOGFLUSH, LOGFLUSH], ids=["without its journal", "with its journal"])
@pytest.mark.parametrize("name", ENDED)
def test_a_filesystem_that_ends_in_mid_run_costs_no_promise(name: str, how: int, tmp_path: Path) -> None:
    told = cut(tmp_path, name, "--shutdown", "--how", str(how), "--every", "3" if IS_LONG else "17")

    assert told["violations"] == []
    # Each point has shown that nothing could be written any more; most processes had something to write.
    assert told["states"]["refused"] > told["states"].get("went_on", 0)
