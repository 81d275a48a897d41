"""The demo's folders: made once, kept, and nobody else's."""

import json
from pathlib import Path

import pytest

from curator.durable.volume import Volume
from curator.errors import InvalidRecordError
from curator.pi.session import read_session
from curator.workflow.demo import demo_folder, lay_out
from curator.workflow.settings_files import read_service


def test_everything_that_a_review_needs_is_laid_out(tmp_path: Path) -> None:
    laid = lay_out(Volume(), tmp_path / "demo")

    session = read_session(laid.session)
    assert session.cwd == str(laid.project)
    assert session.damage_count == 0
    assert len(session.entries) > 20
    assert read_service(laid.layout).mode == "external"


def test_what_stands_is_left_as_it_is(tmp_path: Path) -> None:
    laid = lay_out(Volume(), tmp_path / "demo")
    laid.session.write_bytes(laid.session.read_bytes() + b"\n")
    laid.layout.service_json.write_text(json.dumps({"version": 1, "mode": "embedded"}), "utf-8")

    lay_out(Volume(), tmp_path / "demo")

    assert laid.session.read_bytes().endswith(b"\n\n")
    assert read_service(laid.layout).mode == "embedded"


def test_a_lay_out_that_was_cut_short_is_finished(tmp_path: Path) -> None:
    laid = lay_out(Volume(), tmp_path / "demo")
    laid.session.unlink()
    laid.layout.service_json.unlink()

    lay_out(Volume(), tmp_path / "demo")

    assert laid.session.is_file()
    assert laid.layout.service_json.is_file()


def test_a_folder_with_other_things_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()

    with pytest.raises(InvalidRecordError, match="--keep"):
        lay_out(Volume(), tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["letters"]


def test_a_repository_around_the_demo_is_not_its_project(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()

    laid = lay_out(Volume(), tmp_path / "demo")

    assert (laid.project / ".git").is_dir()


def test_the_folder_is_the_person_s_own() -> None:
    assert demo_folder({"HOME": "/home/user"}) == Path("/home/user/.local/share/curator/demo")
    assert demo_folder({"HOME": "/home/user", "XDG_DATA_HOME": "/data"}) == Path("/data/curator/demo")
