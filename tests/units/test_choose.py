"""Which service manager there is, what its units are named, and what cron does where there is none."""

import subprocess
from pathlib import Path

import pytest

from curator.errors import ConfigError
from curator.units.choose import choose, cron_line, wanted_of
from curator.units.supervisor import Kind, base_of
from curator.units.surroundings import Needs
from tests.units.systems import ODD, FakeLaunchd, FakeSystemd, executable


def test_macos_has_launchd_and_everything_else_is_asked_for_systemd(tmp_path: Path) -> None:
    assert choose("darwin", FakeLaunchd(), {}, tmp_path).title == "launchd"
    assert choose("linux", FakeSystemd(tmp_path), {}, tmp_path).title == "systemd"


def test_the_usual_agent_folder_has_the_plain_name_and_each_other_one_its_own(tmp_path: Path) -> None:
    names = {base_of(tmp_path / name, tmp_path) for name in ("a", "b", "\udcff", ".pi/agent")}

    assert "curator" in names
    assert len(names) == 4
    assert base_of(tmp_path / "a", tmp_path) in names


@pytest.mark.parametrize(("kind", "name"), [(Kind.SERVICE, "curator-service"), (Kind.TIMER, "curator")])
def test_each_kind_starts_its_own_program(tmp_path: Path, kind: Kind, name: str) -> None:
    program = executable(tmp_path / "bin" / name)

    wanted = wanted_of(kind, tmp_path / "agent", Needs(), {}, tmp_path, [program.parent])

    assert (wanted.program, wanted.kind) == (program, kind)
    with pytest.raises(ConfigError):
        wanted_of(kind, tmp_path, Needs(), {"PATH": str(tmp_path)}, tmp_path, [])


def test_the_line_for_cron_survives_cron_and_the_shell(tmp_path: Path) -> None:
    folder = tmp_path / ODD
    executable(folder / "curator", '#!/bin/sh\nprintf "%s\\n" "$PATH" "$@"\n')
    executable(folder / "curator-service")
    wanted = wanted_of(Kind.SERVICE, folder / "agent", Needs(), {}, tmp_path, [folder])

    line = cron_line(wanted, {}, [folder])

    assert line.startswith("*/5 * * * * ")
    # cron ends the command at a bare percent sign, and gives the shell an escaped one bare.
    command = line.removeprefix("*/5 * * * * ").replace(r"\%", "\0")
    assert "%" not in command
    ran = subprocess.run(
        ["/bin/sh", "-c", command.replace("\0", "%")], capture_output=True, encoding="utf-8", check=True
    )
    assert ran.stdout.splitlines() == [
        wanted.path,
        "review",
        "--once",
        "--maintain",
        "--agent-dir",
        str(folder / "agent"),
    ]
