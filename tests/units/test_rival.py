"""The other worker's own units: found however they start it, and stopped only when asked."""

import plistlib
from pathlib import Path

import pytest

from curator.units.commands import SupervisorError
from curator.units.launchd import Launchd
from curator.units.rival import find_rivals, runs_rival, stop_commands, stop_rival, undo_commands
from curator.units.systemd import Systemd
from tests.units.systems import FakeLaunchd, FakeSystemd

AGENT = Path("/home/me/.pi/agent")


@pytest.fixture
def system(tmp_path: Path) -> FakeSystemd:
    return FakeSystemd(tmp_path / ".config" / "systemd" / "user")


@pytest.fixture
def systemd(system: FakeSystemd, tmp_path: Path) -> Systemd:
    return Systemd(system, {}, tmp_path, shared=[])


def lay(system: FakeSystemd, name: str, text: str, *, is_on: bool = True) -> None:
    system.folder.mkdir(parents=True, exist_ok=True)
    (system.folder / name).write_text(text, "utf-8")
    system.known.add(name)
    if is_on:
        system.enabled.add(name)


@pytest.mark.parametrize(
    "words",
    [
        ("/usr/bin/no-forgetti", "review"),
        ("no-forgetti", "review", "--poll-ms", "5000"),
        ("/usr/bin/node", "/opt/nf/bin/no-forgetti.mjs", "review"),
        ("-/usr/bin/no-forgetti", "review"),
        ("/usr/bin/env", "node", "--enable-source-maps", "/x/no-forgetti.js", "review"),
        ("/usr/bin/npx", "no-forgetti@0.5.4", "review"),
        ("/bin/sh", "-lc", "exec no-forgetti review --agent-dir /a"),
        ("/bin/sh", "-c", "cd /x && node './my nf/no-forgetti.mjs' review; true"),
    ],
)
def test_a_command_that_runs_the_other_worker_is_recognized(words: tuple[str, ...]) -> None:
    assert runs_rival(words)


@pytest.mark.parametrize(
    "words",
    [
        ("/usr/bin/no-forgetti", "doctor"),
        ("/usr/bin/curator", "review", "--once", "--agent-dir", "/a/no-forgetti"),
        ("/usr/bin/curator-service", "--agent-dir", "/home/no-forgetti"),
        ("/usr/bin/vim", "no-forgetti.md", "reviews"),
        ("/usr/bin/no-forgetti-backup", "review"),
        (),
    ],
)
def test_what_only_looks_like_it_is_not(words: tuple[str, ...]) -> None:
    assert not runs_rival(words)


def test_a_rival_is_found_with_the_timers_that_start_it(system: FakeSystemd, systemd: Systemd) -> None:
    lay(system, "nf.service", "[Service]\nExecStart=/usr/bin/no-forgetti review --once\n", is_on=False)
    lay(system, "nf.timer", "[Timer]\nOnBootSec=1\n")
    lay(system, "mail.service", "[Service]\nExecStart=/usr/bin/mail\n")

    (rival,) = find_rivals(systemd, AGENT)

    assert (rival.name, rival.names) == ("nf.service", ("nf.timer", "nf.service"))
    assert undo_commands(systemd, rival) == (("systemctl", "--user", "enable", "--now", "nf.timer"),)


def test_a_rival_that_is_neither_running_nor_enabled_is_nobodys_concern(system: FakeSystemd, systemd: Systemd) -> None:
    lay(system, "nf.service", "[Service]\nExecStart=/usr/bin/no-forgetti review\n", is_on=False)

    assert find_rivals(systemd, AGENT) == ()


def test_where_nobody_answers_it_is_named_to_be_safe(system: FakeSystemd, systemd: Systemd) -> None:
    lay(system, "nf.service", "[Service]\nExecStart=/usr/bin/no-forgetti review\n", is_on=False)
    system.answers = False

    assert [rival.name for rival in find_rivals(systemd, AGENT)] == ["nf.service"]


@pytest.mark.parametrize(
    ("argument", "is_rival"),
    [("", True), ("--agent-dir /elsewhere", False), (f"--agent-dir {AGENT}", True), (f"--agent-dir={AGENT}/", True)],
)
def test_another_agent_folder_is_another_matter(
    system: FakeSystemd, systemd: Systemd, argument: str, *, is_rival: bool
) -> None:
    lay(system, "nf.service", f"[Service]\nExecStart=/usr/bin/no-forgetti review {argument}\n")

    assert bool(find_rivals(systemd, AGENT)) is is_rival


def test_stopping_it_stops_the_timer_as_well_and_for_good(system: FakeSystemd, systemd: Systemd) -> None:
    lay(system, "nf.service", "[Service]\nExecStart=/usr/bin/no-forgetti review --once\n", is_on=False)
    lay(system, "nf.timer", "[Timer]\nOnBootSec=1\n")
    system.active.add("nf.service")
    (rival,) = find_rivals(systemd, AGENT)

    stop_rival(systemd, rival)

    assert system.changes == ["disable --now nf.timer", "disable --now nf.service"]
    assert find_rivals(systemd, AGENT) == ()


def test_a_rival_that_does_not_go_is_an_error_with_its_reason(system: FakeSystemd, systemd: Systemd) -> None:
    lay(system, "nf.service", "[Service]\nExecStart=/usr/bin/no-forgetti review\n")
    (rival,) = find_rivals(systemd, AGENT)
    system.refuses = frozenset({"disable"})

    with pytest.raises(SupervisorError, match=r"nf\.service was not stopped: Job for nf\.service failed"):
        stop_rival(systemd, rival)


def test_an_agent_of_launchd_is_found_and_unloaded(tmp_path: Path) -> None:
    system = FakeLaunchd(loaded={"me.nf"})
    launchd = Launchd(system, tmp_path, shared=[])
    folder = tmp_path / "Library" / "LaunchAgents"
    folder.mkdir(parents=True)
    words = ["/usr/local/bin/node", "/x/no-forgetti.mjs", "review"]
    (folder / "nf.plist").write_bytes(plistlib.dumps({"Label": "me.nf", "ProgramArguments": words}))
    (rival,) = find_rivals(launchd, AGENT)
    assert [command[1] for command in stop_commands(launchd, rival)] == ["disable", "bootout"]
    assert undo_commands(launchd, rival)[-1][-1] == str(folder / "nf.plist")

    stop_rival(launchd, rival)

    assert (system.loaded, system.disabled) == (set(), {"me.nf"})
    assert find_rivals(launchd, AGENT) == ()
