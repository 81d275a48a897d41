"""The extension's heartbeats: hints, each for itself."""

import json
import os
from pathlib import Path

from curator.model.times import ms_of
from curator.pi.runtimes import extension_release, is_fresh, read_runtimes
from tests.golden_fixtures import real_pi


def test_the_heartbeats_of_real_pi_are_read_newest_first(tmp_path: Path) -> None:
    beats = read_runtimes(real_pi("consumed", tmp_path) / "no-forgetti" / "runtimes")
    assert [beat.kind for beat in beats] == ["extension", "worker", "extension"]
    assert beats[0].project_root == "/tmp/curator-pi/proj"  # noqa: S108 - read, not used
    assert extension_release(beats) == "0.5.4"


def test_one_heartbeat_that_cannot_be_read_costs_itself(tmp_path: Path) -> None:
    folder = real_pi("consumed", tmp_path) / "no-forgetti" / "runtimes"
    (folder / ("0" * 24 + ".json")).write_text("{")
    (folder / ("1" * 24 + ".json")).write_text('{"version":2}')
    (folder / ("2" * 24 + ".json")).symlink_to(folder / "nowhere")
    (folder / ".DS_Store").write_bytes(b"\0")
    os.mkfifo(folder / ("3" * 24 + ".json"))
    assert len(read_runtimes(folder)) == 3


def test_a_beat_is_fresh_for_thirty_seconds_and_not_before_its_time(tmp_path: Path) -> None:
    folder = real_pi("queued", tmp_path) / "no-forgetti" / "runtimes"
    path = next(folder.iterdir())
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"state": "running"}))
    (beat,) = read_runtimes(folder)
    at = ms_of(beat.updated_at)
    assert [is_fresh(beat, at + after) for after in (-1, 0, 30_000, 30_001)] == [False, True, True, False]


def test_a_stopped_process_is_not_fresh_but_tells_its_release(tmp_path: Path) -> None:
    (beat,) = read_runtimes(real_pi("queued", tmp_path) / "no-forgetti" / "runtimes")
    assert not is_fresh(beat, ms_of(beat.updated_at))
    assert extension_release([beat]) == "0.5.4"


def test_no_folder_means_that_nothing_ever_ran(tmp_path: Path) -> None:
    assert read_runtimes(tmp_path / "runtimes") == ()
    assert extension_release([]) is None
