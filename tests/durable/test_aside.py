"""What is set aside is never lost on the way."""

from pathlib import Path

import pytest

from curator.durable.aside import move_aside
from curator.durable.volume import Volume
from tests.durable.volumes import Crash, Mortal, Recorded

NOW = 1_767_398_400_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "there" / "record.json"
    made.parent.mkdir(mode=0o700)
    made.write_bytes(b"evidence")
    return made


def test_a_file_is_moved_whole_and_private(path: Path, tmp_path: Path) -> None:
    path.chmod(0o644)

    target = move_aside(Volume(), path, tmp_path / "aside", NOW)

    assert target == tmp_path / "aside" / f"record.json.{NOW}.bad"
    assert (target.read_bytes(), target.stat().st_mode & 0o777, path.exists()) == (b"evidence", 0o600, False)


def test_nothing_is_made_of_nothing(tmp_path: Path) -> None:
    assert move_aside(Volume(), tmp_path / "none.json", tmp_path / "aside", NOW) is None
    assert not (tmp_path / "aside").exists()


def test_what_was_set_aside_in_the_same_moment_is_kept(path: Path, tmp_path: Path) -> None:
    move_aside(Volume(), path, tmp_path / "aside", NOW)
    path.write_bytes(b"another")
    move_aside(Volume(), path, tmp_path / "aside", NOW)

    assert sorted(each.read_bytes() for each in (tmp_path / "aside").iterdir()) == [b"another", b"evidence"]


def test_a_folder_and_a_link_are_moved_as_they_are(path: Path, tmp_path: Path) -> None:
    link = path.with_name("link.json")
    link.symlink_to(path)

    folder = move_aside(Volume(), path.parent, tmp_path / "aside", NOW)
    assert folder is not None
    moved = move_aside(Volume(), folder / "link.json", tmp_path / "aside", NOW)

    assert moved is not None
    assert moved.is_symlink()
    assert (folder / "record.json").read_bytes() == b"evidence"


def test_the_new_name_is_flushed_before_the_old_one_goes(path: Path, tmp_path: Path) -> None:
    volume = Recorded()

    move_aside(volume, path, tmp_path / "aside", NOW)

    names = [each for each in volume.asked if each.split()[0] in ("link", "flush", "unlink")]
    assert names[-4:] == [f"link record.json.{NOW}.bad", "flush aside", "unlink record.json", "flush there"]


def test_a_crash_at_any_verb_loses_nothing_and_moving_again_goes_on(path: Path, tmp_path: Path) -> None:
    for survive in range(20):
        try:
            move_aside(Mortal(survive), path, tmp_path / "aside", NOW + survive)
        except Crash:
            kept = [each.read_bytes() for each in (path, *(tmp_path / "aside").glob("*")) if each.exists()]
            assert set(kept) == {b"evidence"}
            move_aside(Volume(), path, tmp_path / "aside", NOW + survive)
        else:
            break
        assert [each.read_bytes() for each in (tmp_path / "aside").iterdir()] == [b"evidence"]
        assert not path.exists()
        next((tmp_path / "aside").iterdir()).rename(path)
    assert survive > 4
