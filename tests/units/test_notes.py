"""What a person is told of a service: each lack with its remedy, each name without its value."""

import dataclasses
import json
from pathlib import Path

import pytest

from curator.units.launchd import Launchd
from curator.units.notes import Note, notes_of
from curator.units.supervisor import Kind, Supervisor, Wanted
from curator.units.surroundings import Needs
from curator.units.systemd import Systemd
from tests.units.systems import FakeLaunchd, FakeSystemd, executable

SECRET = "made-up-secret"
NOTHING = Needs()


@pytest.fixture
def system(tmp_path: Path) -> FakeSystemd:
    return FakeSystemd(tmp_path)


@pytest.fixture
def systemd(system: FakeSystemd, tmp_path: Path) -> Systemd:
    return Systemd(system, {}, tmp_path, shared=[])


def told(
    supervisor: Supervisor, home: Path, needs: Needs = NOTHING, *, has_fence: bool = True, **environ: str
) -> dict[str, Note]:
    wanted = Wanted("curator", Kind.SERVICE, home / "agent", home / "bin" / "curator-service", "/usr/bin", has_fence)
    notes = notes_of(supervisor, wanted, needs, {"PATH": str(home / "bin"), **environ}, home)
    assert SECRET not in json.dumps([dataclasses.asdict(note) for note in notes])
    lacks = [note.is_lack for note in notes]
    assert lacks == sorted(lacks)
    return {note.subject: note for note in notes}


def test_agent_folder_and_path_are_told(systemd: Systemd, tmp_path: Path) -> None:
    notes = told(systemd, tmp_path)

    assert notes["agent folder"].fact == str(tmp_path / "agent")
    assert notes["PATH"].fact == "/usr/bin"


def test_node_and_pi_are_told_where_they_are_and_missed_where_not(systemd: Systemd, tmp_path: Path) -> None:
    executable(tmp_path / "bin" / "node")

    notes = told(systemd, tmp_path)

    assert notes["node"] == Note("node", str(tmp_path / "bin" / "node"))
    assert notes["pi"].is_lack
    assert notes["pi"].remedy is not None


def test_a_name_that_the_service_does_not_see_is_told_with_both_ways_to_give_it(
    systemd: Systemd, tmp_path: Path
) -> None:
    note = told(systemd, tmp_path, Needs(names=("A_KEY",)), A_KEY=SECRET)["A_KEY"]

    assert note.is_lack
    assert note.remedy is not None
    assert str(tmp_path / ".config" / "curator" / "curator.env") in note.remedy
    assert "systemctl --user import-environment A_KEY" in note.remedy


@pytest.mark.parametrize("where", ["manager", "file"])
def test_a_name_that_it_sees_is_no_lack(system: FakeSystemd, systemd: Systemd, tmp_path: Path, where: str) -> None:
    if where == "manager":
        system.environment = {"A_KEY": SECRET}
    else:
        path = systemd.environment_file("curator")
        assert path is not None
        path.parent.mkdir(parents=True)
        path.touch(0o600)
        path.write_text(f"A_KEY={SECRET}\n", "utf-8")

    assert not told(systemd, tmp_path, Needs(names=("A_KEY",)))["A_KEY"].is_lack


def test_keys_that_others_may_read_are_told(systemd: Systemd, tmp_path: Path) -> None:
    path = systemd.environment_file("curator")
    assert path is not None
    path.parent.mkdir(parents=True)
    path.write_text(f"A_KEY={SECRET}\n", "utf-8")
    path.chmod(0o644)

    assert told(systemd, tmp_path)["keys"].remedy == f"Run: chmod 600 '{path}'"


def test_a_proxy_of_the_terminal_is_told_by_name(systemd: Systemd, tmp_path: Path) -> None:
    assert told(systemd, tmp_path, HTTPS_PROXY=f"http://{SECRET}@h")["HTTPS_PROXY"].is_lack


def test_a_key_that_a_command_prints_is_told_with_the_way_out_of_the_fence(systemd: Systemd, tmp_path: Path) -> None:
    executable(tmp_path / "bin" / "pass")

    note = told(systemd, tmp_path, Needs(programs=("pass",), has_command=True))["key"]

    assert note.remedy is not None
    assert "systemctl --user edit curator.service" in note.remedy


def test_a_program_of_the_persons_that_is_missing_stays_unnamed(systemd: Systemd, tmp_path: Path) -> None:
    notes = told(systemd, tmp_path, Needs(programs=(SECRET,)))

    assert notes["key"].is_lack


@pytest.mark.parametrize(("lingers", "is_lack"), [(True, False), (False, True), (None, True)])
def test_whether_it_outlives_the_login_is_told(
    system: FakeSystemd, systemd: Systemd, tmp_path: Path, *, lingers: bool | None, is_lack: bool
) -> None:
    system.lingers = lingers

    note = told(systemd, tmp_path)["logged out"]

    assert note.is_lack is is_lack
    assert (note.remedy == "To keep it running: loginctl enable-linger") is is_lack


def test_an_open_fence_a_passing_program_and_an_unknown_model_are_told(systemd: Systemd, tmp_path: Path) -> None:
    notes = told(systemd, tmp_path, Needs(fault="models.json: is gone"), has_fence=False, XDG_CACHE_HOME=str(tmp_path))

    assert all(notes[subject].is_lack for subject in ("fence", "program", "reviewer"))


def test_launchd_is_told_with_its_own_limits(tmp_path: Path) -> None:
    launchd = Launchd(FakeLaunchd(environment={"B_KEY": SECRET}), tmp_path, shared=[])

    notes = told(launchd, tmp_path, Needs(names=("A_KEY", "B_KEY"), has_command=True))

    assert notes["logged out"].is_lack
    assert "every 30 s" in notes["limits"].fact
    assert not notes["B_KEY"].is_lack
    assert "launchctl setenv A_KEY" in (notes["A_KEY"].remedy or "")
    assert "key" not in notes
