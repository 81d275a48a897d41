"""The door to the system's commands, with real programs: bounded in time, silent about what they print."""

import os
from pathlib import Path

import pytest

from curator.units.commands import Ran, SupervisorError, SystemRunner
from tests.units.systems import executable


@pytest.fixture
def runner(tmp_path: Path) -> SystemRunner:
    return SystemRunner({"PATH": f"{tmp_path}:/usr/bin:/bin", "SEEN": "é"})


def test_a_command_gets_the_environment_no_input_and_its_arguments_as_they_are(
    tmp_path: Path, runner: SystemRunner
) -> None:
    executable(tmp_path / "systemctl", '#!/bin/sh\nprintf "%s|" "$SEEN" "$@"; cat; echo no >&2; exit 3\n')

    assert runner.run(("systemctl", "a b", "$HOME")) == Ran(3, "é|a b|$HOME|", "no\n")


def test_a_command_that_is_missing_or_does_not_run_is_an_answer_too(tmp_path: Path, runner: SystemRunner) -> None:
    executable(tmp_path / "broken", "no program\n").write_bytes(b"\x00\x01")

    assert runner.run(("no-such-command",)).reason == "there is no command no-such-command"
    assert not runner.run(("broken",)).is_good


def test_a_command_that_hangs_is_ended_and_told(tmp_path: Path, runner: SystemRunner) -> None:
    executable(tmp_path / "systemctl", "#!/bin/sh\nexec sleep 60\n")

    with pytest.raises(SupervisorError, match=r"systemctl x did not answer within 0\.2 s"):
        runner.run(("systemctl", "x"), seconds=0.2)


def test_what_a_command_prints_is_never_shown(tmp_path: Path, runner: SystemRunner) -> None:
    executable(tmp_path / "systemctl", "#!/bin/sh\necho KEY=made-up-secret; echo refused. >&2; exit 1\n")

    ran = runner.run(("systemctl",))

    assert "made-up-secret" not in repr(ran)
    assert ran.reason == "refused"


def test_a_silent_failure_is_told_by_its_status() -> None:
    assert Ran(4, err="\n \n").reason == "it ended with status 4"


def test_a_command_that_is_handed_the_terminal_tells_its_status(tmp_path: Path, runner: SystemRunner) -> None:
    executable(tmp_path / "journalctl", "#!/bin/sh\nexit 5\n")

    assert runner.hand_over(("journalctl",)) == 5
    with pytest.raises(SupervisorError, match="no-such-command"):
        runner.hand_over(("no-such-command",))


def test_the_folder_of_the_bus_is_taken_as_given(tmp_path: Path) -> None:
    executable(tmp_path / "x", '#!/bin/sh\necho "$XDG_RUNTIME_DIR"\n')
    path = f"{tmp_path}:{os.environ['PATH']}"

    assert SystemRunner({"PATH": path, "XDG_RUNTIME_DIR": "/r"}).run(("x",)).out == "/r\n"
    guessed = SystemRunner({"PATH": path}).run(("x",)).out.strip()
    assert guessed == (f"/run/user/{os.getuid()}" if Path(f"/run/user/{os.getuid()}").is_dir() else "")
