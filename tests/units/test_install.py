"""Putting units in place and taking them away: never a person's own file, never two kinds at once."""

import dataclasses
from pathlib import Path

import pytest

from curator.durable.volume import Volume
from curator.errors import ConflictError
from curator.units.commands import SupervisorError
from curator.units.install import install, installed_kind, standing_paths, uninstall
from curator.units.launchd import Launchd
from curator.units.supervisor import Kind, Wanted
from curator.units.systemd import Systemd
from tests.units.systems import FakeLaunchd, FakeSystemd


def wanted(kind: Kind, agent: str = "/home/me/.pi/agent") -> Wanted:
    return Wanted("curator", kind, Path(agent), Path("/usr/bin/curator-service"), "/usr/bin:/bin")


@pytest.fixture
def system(tmp_path: Path) -> FakeSystemd:
    return FakeSystemd(tmp_path / ".config" / "systemd" / "user")


@pytest.fixture
def systemd(system: FakeSystemd, tmp_path: Path) -> Systemd:
    return Systemd(system, {}, tmp_path, shared=[])


def test_the_unit_is_written_privately_and_started(system: FakeSystemd, systemd: Systemd) -> None:
    done = install(Volume(), systemd, wanted(Kind.SERVICE))

    path = system.folder / "curator.service"
    assert (done.written, done.unchanged, done.removed) == ((path,), (), ())
    assert path.stat().st_mode & 0o777 == 0o600
    assert (system.active, system.enabled) == ({"curator.service"}, {"curator.service"})
    assert [path.name for path in system.folder.iterdir()] == ["curator.service"]


def test_a_second_time_writes_nothing_and_another_folder_is_written_anew(system: FakeSystemd, systemd: Systemd) -> None:
    install(Volume(), systemd, wanted(Kind.SERVICE))

    assert install(Volume(), systemd, wanted(Kind.SERVICE)).unchanged == (system.folder / "curator.service",)
    assert install(Volume(), systemd, wanted(Kind.SERVICE, "/b")).written == (system.folder / "curator.service",)
    assert system.changes[-1] == "restart curator.service"


@pytest.mark.parametrize(("first", "second"), [(Kind.SERVICE, Kind.TIMER), (Kind.TIMER, Kind.SERVICE)])
def test_the_other_kind_is_laid_down_first(system: FakeSystemd, systemd: Systemd, first: Kind, second: Kind) -> None:
    install(Volume(), systemd, wanted(first))

    done = install(Volume(), systemd, wanted(second))

    assert done.removed == systemd.places("curator", first)
    assert installed_kind(systemd, "curator") is second
    assert system.active == {systemd.names("curator", second)[0]}


@pytest.mark.parametrize("kind", Kind)
def test_removing_leaves_nothing_behind(system: FakeSystemd, systemd: Systemd, kind: Kind) -> None:
    install(Volume(), systemd, wanted(kind))

    done = uninstall(Volume(), systemd, "curator")

    assert (done.paths, done.was_told) == (systemd.places("curator", kind), True)
    assert list(system.folder.iterdir()) == []
    assert (system.active, system.enabled) == (set(), set())
    assert system.changes[-1] == "daemon-reload"
    assert uninstall(Volume(), systemd, "curator").paths == ()


def test_files_and_their_link_go_also_where_nobody_answers(system: FakeSystemd, systemd: Systemd) -> None:
    install(Volume(), systemd, wanted(Kind.SERVICE))
    link = system.folder / "default.target.wants" / "curator.service"
    link.parent.mkdir()
    link.symlink_to(system.folder / "curator.service")
    system.answers = False

    done = uninstall(Volume(), systemd, "curator")

    assert not done.was_told
    assert not link.is_symlink()
    assert not (system.folder / "curator.service").exists()


@pytest.mark.parametrize("text", ["[Service]\nExecStart=/mine\n", None])
@pytest.mark.parametrize("name", ["curator.service", "curator-review.timer"])
def test_what_a_person_put_there_is_never_touched(
    system: FakeSystemd, systemd: Systemd, name: str, text: str | None
) -> None:
    system.folder.mkdir(parents=True)
    path = system.folder / name
    if text is None:
        path.symlink_to("/dev/null")
    else:
        path.write_text(text, "utf-8")

    with pytest.raises(ConflictError, match="curator did not write it, so move it away"):
        install(Volume(), systemd, wanted(Kind.SERVICE))
    with pytest.raises(ConflictError):
        uninstall(Volume(), systemd, "curator")

    assert path.is_symlink() if text is None else path.read_text("utf-8") == text
    assert [each.name for each in system.folder.iterdir()] == [name]
    assert system.changes == []


def test_a_service_that_does_not_start_stays_written_so_that_its_log_can_be_read(
    system: FakeSystemd, systemd: Systemd
) -> None:
    system.refuses = frozenset({"restart"})

    with pytest.raises(SupervisorError, match="did not start") as failed:
        install(Volume(), systemd, wanted(Kind.SERVICE))

    assert "curator service logs" in failed.value.remedy
    assert standing_paths(systemd, "curator", Kind.SERVICE) != ()


def test_folders_of_the_persons_keep_their_modes_and_links(
    system: FakeSystemd, systemd: Systemd, tmp_path: Path
) -> None:
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir(mode=0o755)
    system.folder.parent.parent.mkdir()
    system.folder.parent.symlink_to(dotfiles)

    install(Volume(), systemd, wanted(Kind.SERVICE))

    assert (dotfiles / "user" / "curator.service").is_file()
    assert dotfiles.stat().st_mode & 0o777 == 0o755
    assert system.folder.parent.is_symlink()


def test_an_agent_of_launchd_comes_and_goes_alike(tmp_path: Path) -> None:
    system = FakeLaunchd()
    launchd = Launchd(system, tmp_path, shared=[])
    install(Volume(), launchd, wanted(Kind.SERVICE))
    install(Volume(), launchd, wanted(Kind.TIMER))
    assert system.loaded == {"pi-curator.review"}

    done = uninstall(Volume(), launchd, "curator")

    assert done.paths == (tmp_path / "Library" / "LaunchAgents" / "pi-curator.review.plist",)
    assert system.loaded == set()


def test_two_agent_folders_have_two_services(system: FakeSystemd, systemd: Systemd) -> None:
    install(Volume(), systemd, wanted(Kind.SERVICE))
    install(Volume(), systemd, dataclasses.replace(wanted(Kind.SERVICE, "/b"), base="curator-0123abcd"))

    assert system.active == {"curator.service", "curator-0123abcd.service"}
