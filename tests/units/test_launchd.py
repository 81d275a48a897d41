"""launchd's agents: held to a strict schema, since nothing outside macOS knows the keys, and loaded in the right order."""

import plistlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from curator.errors import ConfigError
from curator.model.digest import Json
from curator.units.commands import SupervisorError
from curator.units.launchd import Launchd
from curator.units.supervisor import Kind, State, Wanted
from tests.units.systems import ODD, FakeLaunchd


def _is_text(value: Json) -> bool:
    return isinstance(value, str) and bool(value)


def _is_path(value: Json) -> bool:
    return isinstance(value, str) and value.startswith("/")


def _is_flag(value: Json) -> bool:
    return isinstance(value, bool)


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= 3600


def _is_command(value: Json) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(map(_is_text, value)) and _is_path(value[0])


def _exactly(rules: Mapping[str, Callable[[Json], bool]]) -> Callable[[Json], bool]:
    return lambda value: (
        isinstance(value, dict) and set(value) == set(rules) and all(rules[key](value[key]) for key in value)
    )


# launchd.plist(5). A key that launchd does not know it passes over in silence: so none but these may stand.
SHARED: Final[Mapping[str, Callable[[Json], bool]]] = {
    "Label": _is_text,
    "ProgramArguments": _is_command,
    "EnvironmentVariables": _exactly({"PI_CODING_AGENT_DIR": _is_path, "PATH": _is_path}),
    "RunAtLoad": _is_flag,
    "ExitTimeOut": _is_count,
    "ProcessType": lambda value: value in ("Background", "Standard", "Adaptive", "Interactive"),
    "Umask": lambda value: value == 0o077,
    "HardResourceLimits": _exactly({"Core": lambda value: value == 0}),
    "StandardOutPath": _is_path,
    "StandardErrorPath": _is_path,
}
SCHEMAS: Final[Mapping[Kind, Callable[[Json], bool]]] = {
    Kind.SERVICE: _exactly(
        {
            **SHARED,
            "KeepAlive": _exactly({"SuccessfulExit": lambda value: value is False}),
            "ThrottleInterval": _is_count,
        }
    ),
    Kind.TIMER: _exactly({**SHARED, "StartInterval": _is_count}),
}


def wanted(kind: Kind, home: Path = Path("/Users/me")) -> Wanted:
    program = home / "bin" / ("curator-service" if kind is Kind.SERVICE else "curator")
    return Wanted("curator", kind, home / ".pi" / "agent", program, "/usr/bin:/bin")


def rendered(launchd: Launchd, what: Wanted) -> dict[str, Json]:
    (file,) = launchd.render(what)
    value: Json = plistlib.loads(file.text.encode())
    assert isinstance(value, dict)
    return value


@pytest.fixture
def system() -> FakeLaunchd:
    return FakeLaunchd()


@pytest.fixture
def launchd(system: FakeLaunchd, tmp_path: Path) -> Launchd:
    return Launchd(system, tmp_path, shared=[str(tmp_path / "shared")])


@pytest.mark.parametrize("home", [Path("/Users/me"), Path(f"/Users/<&>{ODD}")])
@pytest.mark.parametrize("kind", Kind)
def test_the_agent_keeps_the_schema_and_every_odd_path(launchd: Launchd, kind: Kind, home: Path) -> None:
    agent = rendered(launchd, wanted(kind, home))

    assert SCHEMAS[kind](agent)
    words = agent["ProgramArguments"]
    assert isinstance(words, list)
    assert (words[0], words[-1]) == (str(wanted(kind, home).program), f"{home}/.pi/agent")
    assert agent["EnvironmentVariables"] == {"PI_CODING_AGENT_DIR": f"{home}/.pi/agent", "PATH": "/usr/bin:/bin"}


@pytest.mark.parametrize(
    ("key", "value"), [("Umask", 77), ("KeepAlive", True), ("ThrottleInterval", "30"), ("Nice", 5), ("Label", "")]
)
def test_a_planted_slip_would_be_found(launchd: Launchd, key: str, value: Json) -> None:
    assert not SCHEMAS[Kind.SERVICE]({**rendered(launchd, wanted(Kind.SERVICE)), key: value})


def test_the_file_is_where_launchd_looks_and_named_by_its_label(launchd: Launchd, tmp_path: Path) -> None:
    (file,) = launchd.render(wanted(Kind.SERVICE))

    assert file.path == tmp_path / "Library" / "LaunchAgents" / "pi-curator.service.plist"
    assert rendered(launchd, wanted(Kind.SERVICE))["Label"] == "pi-curator.service"
    assert rendered(launchd, wanted(Kind.SERVICE))["StandardErrorPath"] == f"{tmp_path}/Library/Logs/pi-curator.log"


def test_the_timer_runs_once_every_few_minutes_and_is_not_kept_alive(launchd: Launchd) -> None:
    agent = rendered(launchd, wanted(Kind.TIMER))

    assert agent["StartInterval"] == 300
    words = agent["ProgramArguments"]
    assert isinstance(words, list)
    assert words[1:4] == ["review", "--once", "--maintain"]


def test_a_name_with_a_line_break_is_refused(launchd: Launchd) -> None:
    with pytest.raises(ConfigError):
        launchd.render(wanted(Kind.SERVICE, Path("/Users/a\nb")))


def test_taking_up_loads_the_agent_also_where_it_had_been_disabled(launchd: Launchd, system: FakeLaunchd) -> None:
    system.disabled.add("pi-curator.service")

    launchd.take_up("curator", Kind.SERVICE)

    assert system.changes == ["enable", "bootstrap"]
    assert system.loaded == {"pi-curator.service"}


def test_taking_up_anew_waits_until_the_old_process_is_gone(launchd: Launchd, system: FakeLaunchd) -> None:
    launchd.take_up("curator", Kind.SERVICE)
    system.lingering_questions = 3

    launchd.take_up("curator", Kind.SERVICE)

    assert system.changes == ["enable", "bootstrap", "bootout", "enable", "bootstrap"]
    assert system.pauses == 3


def test_a_start_that_never_succeeds_is_told_after_a_bounded_wait(launchd: Launchd, system: FakeLaunchd) -> None:
    system.refuses = frozenset({"bootstrap"})

    with pytest.raises(SupervisorError, match="did not start: Domain does not support"):
        launchd.start("curator", Kind.SERVICE)

    assert 0 < system.pauses <= 20


def test_starting_loads_or_kicks_and_stopping_unloads(launchd: Launchd, system: FakeLaunchd) -> None:
    launchd.start("curator", Kind.SERVICE)
    launchd.start("curator", Kind.SERVICE)
    launchd.restart("curator", Kind.SERVICE)
    launchd.stop("curator", Kind.SERVICE)
    launchd.stop("curator", Kind.SERVICE)

    assert system.changes == ["bootstrap", "kickstart", "bootout", "bootstrap", "bootout"]


def test_the_state_tells_the_process_and_how_the_last_one_ended(launchd: Launchd) -> None:
    assert launchd.state("pi-curator.service").word == "not loaded"

    launchd.start("curator", Kind.SERVICE)

    state = launchd.state("pi-curator.service")
    assert state == State(True, True, "running", pid=4242, last_exit=78)  # noqa: FBT003 - literal state


def test_without_a_login_at_the_screen_launchd_is_not_reachable(launchd: Launchd, system: FakeLaunchd) -> None:
    assert launchd.is_reachable()
    system.answers = False
    assert not launchd.is_reachable()


def test_what_launchd_cannot_do_is_not_claimed(launchd: Launchd) -> None:
    assert launchd.runs_logged_out is None
    assert launchd.environment_file("curator") is None
    assert not launchd.can_fence()


def test_a_variable_is_asked_for_by_its_name(launchd: Launchd, system: FakeLaunchd) -> None:
    system.environment = {"A_KEY": "made-up-secret"}

    assert launchd.known_names(["A_KEY", "B_KEY"]) == {"A_KEY"}


def test_agents_are_read_and_bad_ones_cost_themselves(launchd: Launchd, tmp_path: Path) -> None:
    folder = tmp_path / "Library" / "LaunchAgents"
    folder.mkdir(parents=True)
    (folder / "a.plist").write_bytes(plistlib.dumps({"Label": "a", "Program": "/a", "ProgramArguments": ["a", "b"]}))
    (folder / "binary.plist").write_bytes(plistlib.dumps({"Label": "b"}, fmt=plistlib.FMT_BINARY))
    (folder / "broken.plist").write_bytes(b"<?xml version='1.0'?><plist><dict>")
    (folder / "odd.plist").write_bytes(plistlib.dumps([1]))
    (folder / "empty.plist").touch()
    (folder / "notes.txt").write_text("no agent", "utf-8")

    assert {unit.name: unit.words for unit in launchd.units()} == {"a": ("/a", "a", "b"), "b": ()}


def test_the_log_is_a_file(launchd: Launchd, tmp_path: Path) -> None:
    assert launchd.log("curator", Kind.SERVICE, 9, follow=True) == (
        "tail",
        "-n",
        "9",
        "-F",
        f"{tmp_path}/Library/Logs/pi-curator.log",
    )
