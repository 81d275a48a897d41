"""`curator service`: a person's whole way with it, against commands of systemd that stand on PATH and write down their calls."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import CURATOR, Home, Ran, assert_refused, environ_of, make_home, run, run_process
from tests.units.systems import executable

SECRET = "made-up-secret-0123456789"

# It is up or down as a whole, by one file; that is enough to see what a person is told.
SYSTEMCTL = """#!/bin/sh
echo "systemctl $*" >>"$CALLS"
[ -e "$CALLS.down" ] && { echo 'Failed to connect to bus' >&2; exit 1; }
case "$2 $3 $4" in
show-environment*) echo "OTHER=$SECRET_VALUE" ;;
"show nf.service"*) [ -e "$CALLS.nf" ] && printf 'ActiveState=active\\nSubState=running\\nUnitFileState=enabled\\n' ;;
"show "*" --property=LoadState") echo loaded ;;
"show "*) printf 'ActiveState=active\\nSubState=running\\nMainPID=7\\nNRestarts=2\\nExecMainStatus=75\\nUnitFileState=enabled\\n' ;;
"disable --now nf.service") rm "$CALLS.nf" ;;
"restart "*) [ ! -e "$CALLS.broken" ] || { echo 'Job for curator.service failed.' >&2; exit 1; } ;;
esac
exit 0
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A home with commands of systemd in reach."""

    home: Home

    @property
    def bin(self) -> Path:
        return self.home.path / "bin"

    @property
    def units(self) -> Path:
        return self.home.path / ".config" / "systemd" / "user"

    @property
    def calls(self) -> list[str]:
        path = self.home.path / "calls"
        return path.read_text("utf-8").splitlines() if path.exists() else []

    @property
    def environ(self) -> dict[str, str]:
        path = f"{self.bin}:{os.environ['PATH']}"
        agent = str(self.home.layout.agent)
        calls = str(self.home.path / "calls")
        return environ_of(self.home.path, PATH=path, CALLS=calls, SECRET_VALUE=SECRET, PI_CODING_AGENT_DIR=agent)

    def run(self, *arguments: str, **environ: str) -> Ran:
        return run("service", *arguments, cwd=self.home.path, environ={**self.environ, **environ})

    def mark(self, name: str) -> None:
        (self.home.path / f"calls.{name}").touch()

    @property
    def unit(self) -> Path:
        (path,) = self.units.glob("curator*.service")
        return path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(make_home(tmp_path))
    for name in ("curator", "curator-service"):
        installed = Path(sys.executable).with_name(name)
        if installed.exists():
            # Installed beside this Python: then PATH leads to the same file, and its name is the one that lasts.
            place.bin.mkdir(parents=True, exist_ok=True)
            (place.bin / name).symlink_to(installed)
        else:
            executable(place.bin / name)
    for name in ("node", "pi"):
        executable(place.bin / name)
    executable(place.bin / "systemctl", SYSTEMCTL)
    executable(place.bin / "systemd-run", '#!/bin/sh\necho "systemd-run" >>"$CALLS"\n')
    executable(place.bin / "loginctl", '#!/bin/sh\necho "loginctl $*" >>"$CALLS"\necho no\n')
    executable(place.bin / "journalctl", '#!/bin/sh\necho "journalctl $*" >>"$CALLS"\necho a line\nexit 4\n')
    return place


def lay_rival(place: Place) -> Path:
    place.units.mkdir(parents=True)
    path = place.units / "nf.service"
    path.write_text("[Service]\nExecStart=/usr/bin/node /opt/no-forgetti.mjs review\n", "utf-8")
    place.mark("nf")
    return path


def changes(place: Place) -> list[str]:
    return [
        call for call in place.calls if not call.startswith(("systemctl --user show", "loginctl show", "systemd-run"))
    ]


def test_it_is_installed_started_and_told_with_the_way_back(place: Place) -> None:
    ran = place.run("install")

    assert (ran.status, ran.err) == (0, "")
    text = place.unit.read_text("utf-8")
    assert f"ExecStart={place.bin}/curator-service --agent-dir {place.home.layout.agent}\n" in text
    assert f"Environment=PATH={place.bin}:/usr/local/bin:" in text
    assert f"Wrote {place.unit}\n" in ran.out
    assert "loginctl enable-linger" in ran.out
    assert ran.out.rstrip().endswith("To undo this: `curator service uninstall`.")
    assert changes(place) == [
        f"systemctl --user {verb}"
        for verb in ("daemon-reload", f"enable {place.unit.name}", f"restart {place.unit.name}")
    ]


def test_no_value_of_the_environment_is_written_or_shown(place: Place) -> None:
    place.home.service(reviewer={"provider": "local", "model": "m"})
    models = '{"providers": {"local": {"baseUrl": "http://127.0.0.1:9", "api": "openai-completions", "apiKey": "$MY_KEY", "models": [{"id": "m"}]}}}'
    (place.home.layout.agent / "models.json").write_text(models, "utf-8")

    told = [
        place.run(*words, MY_KEY=SECRET)
        for words in (["install", "--print"], ["install"], ["status"], ["status", "--json"])
    ]

    assert all(SECRET not in ran.out + ran.err for ran in told)
    assert all("MY_KEY" in ran.out for ran in told)
    assert SECRET not in place.unit.read_text("utf-8")


def test_printing_shows_the_unit_and_what_would_be_done_and_does_nothing(place: Place) -> None:
    before = sorted(place.home.path.rglob("*"))
    path = lay_rival(place)

    ran = place.run("install", "--print", "--linger")

    assert ran.status == 0
    assert "Type=notify\n" in ran.out
    assert f"# {place.units}/curator" in ran.out
    assert "Would ask to stop nf.service" in ran.out
    assert "systemctl --user disable --now nf.service" in ran.out
    assert "Would run: loginctl enable-linger" in ran.out
    assert changes(place) == []
    known = {path, place.units, place.units.parent, place.units.parent.parent}
    assert {each for each in place.home.path.rglob("*") if not each.name.startswith("calls")} == {*before, *known}


@pytest.mark.parametrize("words", [(), ("--timer",)])
def test_printing_needs_neither_systemd_nor_a_configuration(tmp_path: Path, words: tuple[str, ...]) -> None:
    for name in ("curator", "curator-service"):
        executable(tmp_path / "bin" / name)
    environ = environ_of(tmp_path, PATH=str(tmp_path / "bin"))

    ran = run("service", "install", "--print", *words, cwd=tmp_path, environ=environ)

    assert (ran.status, ran.err) == (0, "")
    assert f"# {tmp_path}/.config/systemd/user/curator" in ran.out


def test_the_timer_takes_the_place_of_the_daemon_and_back(place: Place) -> None:
    place.run("install")

    timer = place.run("install", "--timer")

    assert timer.out.startswith("Removed ")
    assert [path.suffix for path in sorted(place.units.iterdir())] == [".service", ".timer"]
    assert "review --once" in place.unit.read_text("utf-8")
    assert place.run("install").status == 0
    assert [path.suffix for path in place.units.iterdir()] == [".service"]


def test_a_second_installation_changes_no_file(place: Place) -> None:
    place.run("install")

    assert f"Unchanged: {place.unit}\n" in place.run("install").out


def test_without_a_bus_nothing_is_written_and_three_ways_out_are_named(place: Place) -> None:
    place.mark("down")

    ran = place.run("install")

    assert_refused(
        ran, 69, "systemd does not answer", "curator-service", "*/5 * * * * PATH=", f"{place.bin}/curator review --once"
    )
    assert not place.units.exists()


def test_without_a_configuration_nothing_is_written(place: Place) -> None:
    place.home.layout.service_json.unlink()

    assert_refused(place.run("install"), 78, "curator config init")
    assert not place.units.exists()


def test_a_unit_of_the_persons_own_is_not_touched(place: Place) -> None:
    place.run("install")
    place.unit.write_text("[Service]\nExecStart=/mine\n", "utf-8")

    assert_refused(place.run("install"), 65, place.unit, "move it away")
    assert_refused(place.run("uninstall"), 65, place.unit)
    assert place.unit.read_text("utf-8") == "[Service]\nExecStart=/mine\n"


def test_the_other_worker_is_named_with_its_command_and_nothing_is_written(place: Place) -> None:
    path = lay_rival(place)

    ran = place.run("install")

    assert_refused(ran, 75, path, "--yes", "systemctl --user disable --now nf.service")
    assert changes(place) == []
    assert "rival     nf.service" in place.run("status").out


def test_the_other_worker_is_stopped_when_told_so(place: Place) -> None:
    lay_rival(place)

    ran = place.run("install", "--yes")

    assert ran.status == 0
    assert ran.out.startswith("Stopped nf.service for good. To undo this: systemctl --user enable --now nf.service\n")
    assert changes(place)[0] == "systemctl --user disable --now nf.service"


@pytest.mark.parametrize(("answer", "status"), [("y\n", 0), ("n\n", 75)])
def test_on_a_terminal_it_asks_first(place: Place, answer: str, status: int) -> None:
    lay_rival(place)
    terminal, theirs = os.openpty()
    os.write(terminal, answer.encode())

    command = [*CURATOR, "service", "install"]
    ran = subprocess.run(
        command, stdin=theirs, env={**place.environ, "TERM": "xterm"}, capture_output=True, check=False
    )

    os.close(terminal)
    os.close(theirs)
    assert ran.returncode == status, ran.stderr
    assert b"Stop it for good?" in ran.stdout
    assert ("systemctl --user disable --now nf.service" in place.calls) == (status == 0)


def test_lingering_is_switched_on_when_told_so(place: Place) -> None:
    ran = place.run("install", "--linger")

    assert "loginctl enable-linger" in place.calls
    assert "To undo this: loginctl disable-linger" in ran.out


def test_a_service_that_does_not_start_is_told_with_its_log(place: Place) -> None:
    place.mark("broken")

    ran = place.run("install")

    assert ran.status == 69
    assert (
        "was written and enabled, but did not start: Job for curator.service failed. See `curator service logs`"
        in ran.err
    )


def test_removing_tells_what_is_gone_and_what_stays(place: Place) -> None:
    place.run("install")
    unit = place.unit

    assert f"Would stop and remove {unit}\n" in place.run("uninstall", "--print").out
    assert unit.exists()
    ran = place.run("uninstall")

    assert ran.status == 0
    assert f"Removed {unit}\n" in ran.out
    assert "Queue and memory are as they were" in ran.out
    assert f"systemctl --user disable --now {unit.name}" in place.calls
    assert "nothing was done" in place.run("uninstall").out


@pytest.mark.parametrize("verb", ["start", "stop", "restart"])
def test_it_is_started_and_stopped(place: Place, verb: str) -> None:
    assert_refused(place.run(verb), 66, "curator service install")
    place.run("install")

    assert place.run(verb).status == 0

    assert place.calls[-1] == f"systemctl --user {verb} {place.unit.name}"


def test_the_log_is_shown_as_it_comes_with_its_own_status(place: Place) -> None:
    place.run("install")

    ran = run_process("service", "logs", "-n", "7", "--follow", cwd=place.home.path, environ=place.environ)

    assert (ran.status, ran.out) == (4, "a line\n")
    assert place.calls[-1] == f"journalctl --user-unit={place.unit.name} --lines=7 --no-pager --follow"


def test_the_status_tells_state_lacks_and_log(place: Place) -> None:
    assert "none; `curator service install`" in place.run("status").out
    place.run("install")

    ran, document = place.run(), place.run("status", "--json").document

    assert (
        f"state     {place.unit.name}: active (running), process 7, restarted 2 times, last exit 75, starts at each login"
        in ran.out
    )
    assert "lacks     logged out" in ran.out
    assert "log       `curator service logs`" in ran.out
    assert document["kind"] == "service"
    assert document["files"] == [str(place.unit)]
    assert document["missingPrograms"] == []


def test_a_program_that_went_away_under_its_unit_is_told(place: Place) -> None:
    place.run("install")
    (place.bin / "curator-service").rename(place.bin / "elsewhere")

    assert (
        f"program   {place.bin}/curator-service is gone. Run `curator service install` again."
        in place.run("status").out
    )


def test_looking_changes_nothing(place: Place) -> None:
    place.run("install")
    before = changes(place)

    place.run("status")

    assert changes(place) == before


def test_each_agent_folder_has_a_unit_of_its_own(place: Place) -> None:
    place.run("install")
    other = place.home.path / ".pi" / "agent"
    other.mkdir(parents=True)
    run("config", "init", cwd=place.home.path, environ={**place.environ, "PI_CODING_AGENT_DIR": str(other)})

    assert place.run("install", "--agent-dir", str(other)).status == 0

    assert len(list(place.units.glob("curator*.service"))) == 2
    assert (place.units / "curator.service").read_text("utf-8").count(f"--agent-dir {other}\n") == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's environment can have come by sudo")
def test_it_is_not_installed_for_root_by_sudo(place: Place) -> None:
    assert_refused(place.run("install", SUDO_USER="me"), 2, "without sudo")
