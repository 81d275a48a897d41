"""systemd's units: right in systemd's own eyes, fenced, and moved by the fewest commands."""

import dataclasses
import json
import re
from pathlib import Path

import pytest

from curator.units.commands import SupervisorError
from curator.units.supervisor import Kind, State, Unit, Wanted
from curator.units.systemd import FENCE, Systemd
from curator.units.templates import load
from tests.units.systems import ODD, FakeSystemd, analyze, executable, read_by_systemd

EXPOSURE_MAX = 41
"""In tenths; systemd calls up to 4.9 `OK`. What is left: a home to live in, the network, and rights a user never had."""


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A person's systemd with a home of its own."""

    home: Path
    system: FakeSystemd
    systemd: Systemd

    def wanted(self, kind: Kind, *, name: str = "plain", has_fence: bool = True) -> Wanted:
        program = "curator-service" if kind is Kind.SERVICE else "curator"
        agent = self.home / name / "agent"
        agent.mkdir(parents=True, exist_ok=True)
        return Wanted(
            "curator", kind, agent, executable(self.home / name / "bin" / program), "/usr/bin:/bin", has_fence
        )

    def write(self, wanted: Wanted) -> tuple[Path, ...]:
        files = self.systemd.render(wanted)
        for file in files:
            file.path.parent.mkdir(parents=True, exist_ok=True)
            file.path.write_text(file.text, "utf-8")
        return tuple(file.path for file in files)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    system = FakeSystemd(tmp_path / ".config" / "systemd" / "user")
    return Place(tmp_path, system, Systemd(system, {}, tmp_path, shared=[str(tmp_path / "etc")]))


@pytest.mark.parametrize("name", ["plain", ODD])
@pytest.mark.parametrize("has_fence", [True, False])
@pytest.mark.parametrize("kind", Kind)
def test_systemd_finds_nothing_to_complain_about(place: Place, kind: Kind, name: str, *, has_fence: bool) -> None:
    paths = place.write(place.wanted(kind, name=name, has_fence=has_fence))

    ran = analyze("--user", "verify", "--man=no", *map(str, paths), runtime=place.home)

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


@pytest.mark.parametrize(
    "word", ["Typ=notify", "Environment=A b=c", "ProtectSystem=mostly", "ExecStart=/no/such/program"]
)
def test_a_planted_slip_would_be_found(place: Place, word: str) -> None:
    path = place.write(place.wanted(Kind.SERVICE))[0]
    path.write_text(path.read_text("utf-8").replace("[Service]\n", f"[Service]\n{word}\n", 1), "utf-8")

    ran = analyze("--user", "verify", "--man=no", str(path), runtime=place.home)

    assert ran.stderr


@pytest.mark.parametrize("kind", Kind)
def test_the_service_is_exposed_no_further_than_its_work_wants(place: Place, kind: Kind) -> None:
    wanted = dataclasses.replace(place.wanted(kind), agent=Path("/home/me/.pi/agent"), program=Path("/bin/true"))
    service = place.write(wanted)[-1]

    ran = analyze("security", "--offline=true", f"--threshold={EXPOSURE_MAX}", str(service), runtime=place.home)

    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout.splitlines()[-1]


@pytest.mark.parametrize("kind", Kind)
def test_systemd_reads_every_odd_path_as_it_is(place: Place, kind: Kind) -> None:
    wanted = place.wanted(kind, name=ODD)
    service = place.write(wanted)[-1]

    told = read_by_systemd(service.parent, service.name)

    assert f"ReadWritePaths: {wanted.agent}\n" in told
    assert f"Environment: PI_CODING_AGENT_DIR={wanted.agent}\n" in told
    assert "Environment: PATH=/usr/bin:/bin\n" in told
    assert "UMask: 0077\n" in told
    # It is told with a shell's escapes; the odd name needs the detour through one.
    command = re.search(r"^\t+Command Line: (/bin/sh .*)$", told, re.MULTILINE)
    assert command is not None
    assert command[1].count("100% é日") == 2


@pytest.mark.parametrize("kind", Kind)
def test_the_unit_names_absolute_paths_and_lets_write_the_agent_folder_and_the_cache_alone(
    place: Place, kind: Kind
) -> None:
    wanted = place.wanted(kind)

    text = place.systemd.render(wanted)[-1].text

    once = "" if kind is Kind.SERVICE else " review --once --maintain"
    assert f"ExecStart={wanted.program}{once} --agent-dir {wanted.agent}\n" in text
    assert re.findall(r"^ReadWritePaths=(.*)$", text, re.MULTILINE) == [str(wanted.agent)]
    assert f"EnvironmentFile=-{place.home}/.config/curator/curator.env\n" in text
    # Pi is started in a folder of the cache, which the fence would make read-only with the rest of the home.
    assert "CacheDirectory=curator\n" in text
    assert "CacheDirectoryMode=0700\n" in text
    for line in (
        "ProtectSystem=strict",
        "NoNewPrivileges=yes",
        "UMask=0077",
        "LimitCORE=0",
        "KillMode=mixed",
        "MemoryMax=1G",
    ):
        assert f"{line}\n" in text


def test_the_daemon_is_watched_and_a_wrong_configuration_does_not_spin(place: Place) -> None:
    lines = place.systemd.render(place.wanted(Kind.SERVICE))[0].text.splitlines()

    for line in (
        "Type=notify",
        "Restart=on-failure",
        "RestartPreventExitStatus=2 78",
        "WatchdogSec=120",
        "TimeoutStopSec=90",
    ):
        assert line in lines


def test_the_timer_starts_the_run_that_is_written_beside_it(place: Place) -> None:
    timer, service = place.systemd.render(place.wanted(Kind.TIMER))

    assert (timer.path.name, service.path.name) == ("curator-review.timer", "curator-review.service")
    assert "Unit=curator-review.service\n" in timer.text
    assert "Type=oneshot\n" in service.text
    assert "[Install]" not in service.text


def test_an_agent_folder_behind_a_link_is_writable_where_it_leads(place: Place, tmp_path: Path) -> None:
    wanted = place.wanted(Kind.SERVICE)
    link = tmp_path / "link"
    link.symlink_to(wanted.agent)

    text = place.systemd.render(dataclasses.replace(wanted, agent=link))[0].text

    assert f"ReadWritePaths={wanted.agent}\n" in text
    assert f"--agent-dir {link}\n" in text


@pytest.mark.parametrize(
    ("agent", "word"),
    [("/home/me/.pi/agent", "yes"), ("/tmp/a", "no"), ("/var/tmp/a", "no")],  # noqa: S108 - named, not written
)
def test_a_temporary_folder_of_its_own_does_not_hide_the_agent_folder(place: Place, agent: str, word: str) -> None:
    wanted = dataclasses.replace(
        place.wanted(Kind.SERVICE), agent=Path(agent), program=Path("/usr/bin/curator-service")
    )

    assert f"PrivateTmp={word}\n" in place.systemd.render(wanted)[0].text


@pytest.mark.parametrize("template", ["curator.service", "curator-review.service"])
def test_what_is_tried_before_is_what_the_unit_asks_for(place: Place, template: str) -> None:
    blanks = re.findall(rb"^(\w+)=@(?:HAS_FENCE|HAS_OWN_TMP|RIGHTS|SYSTEM)@$", load("systemd", template), re.MULTILINE)

    assert place.systemd.can_fence()

    assert sorted(key.decode() for key in blanks) == sorted(key for key, _ in FENCE)
    assert all(f"--property={key}={value}" in place.system.asked[-1] for key, value in FENCE)


def test_without_a_fence_nothing_is_asked_for_that_could_keep_the_service_from_starting(place: Place) -> None:
    text = place.systemd.render(place.wanted(Kind.SERVICE, has_fence=False))[0].text

    values = {key: re.findall(rf"^{key}=(.*)$", text, re.MULTILINE) for key, _ in FENCE}
    assert values.pop("CapabilityBoundingSet") == ["~"]
    assert set(map(tuple, values.values())) == {("no",)}
    assert "NoNewPrivileges=yes\n" in text


def test_both_services_share_their_limits_and_their_fence() -> None:
    parts = [
        load("systemd", name).split(b"Environment=@AGENT")[1].split(b"\n[Install]")[0].strip() for name in TEMPLATES
    ]

    assert parts[0] == parts[1]


TEMPLATES = ("curator.service", "curator-review.service")


@pytest.mark.parametrize("kind", Kind)
def test_taking_up_reads_enables_and_starts_anew(place: Place, kind: Kind) -> None:
    place.write(place.wanted(kind))
    name = place.systemd.names("curator", kind)[0]

    place.systemd.take_up("curator", kind)

    assert place.system.changes == ["daemon-reload", f"enable {name}", f"restart {name}"]
    assert place.system.active == {name}


def test_laying_down_stops_what_systemd_knows_and_asks_for_nothing_else(place: Place) -> None:
    place.systemd.lay_down("curator", Kind.TIMER)
    assert place.system.changes == []

    place.write(place.wanted(Kind.TIMER))
    place.systemd.take_up("curator", Kind.TIMER)
    place.systemd.lay_down("curator", Kind.TIMER)

    assert (place.system.active, place.system.enabled) == (set(), set())


@pytest.mark.parametrize("verb", ["enable", "restart"])
def test_a_refusal_says_how_far_it_came_and_why(place: Place, verb: str) -> None:
    place.write(place.wanted(Kind.SERVICE))
    place.system.refuses = frozenset({verb})

    with pytest.raises(
        SupervisorError, match=r"curator\.service was written.*: Job for curator\.service failed"
    ) as refused:
        place.systemd.take_up("curator", Kind.SERVICE)

    assert refused.value.exit_status == 69


def test_starting_and_stopping_mean_the_timer_and_stopping_its_run_as_well(place: Place) -> None:
    place.write(place.wanted(Kind.TIMER))
    place.systemd.forget()

    place.systemd.start("curator", Kind.TIMER)
    place.systemd.restart("curator", Kind.TIMER)
    place.systemd.stop("curator", Kind.TIMER)

    assert place.system.changes[1:] == [
        "start curator-review.timer",
        "restart curator-review.timer",
        "stop curator-review.timer curator-review.service",
    ]


def test_the_state_is_read_from_properties(place: Place) -> None:
    place.write(place.wanted(Kind.SERVICE))
    assert place.systemd.state("curator.service").word == "not found"

    place.systemd.take_up("curator", Kind.SERVICE)

    state = place.systemd.state("curator.service")
    assert state == State(True, True, "active (running)", pid=4242, restarts=3, last_exit=0)  # noqa: FBT003 - literal state


def test_where_no_bus_answers_that_is_the_state(place: Place) -> None:
    place.system.answers = False

    assert not place.systemd.is_reachable()
    assert place.systemd.state("curator.service").word == "not known: systemd does not answer"


def test_names_are_looked_up_and_values_never_kept(place: Place) -> None:
    place.system.environment = {"A_KEY": "made-up-secret", "OTHER": "x"}

    assert place.systemd.known_names(["A_KEY", "B_KEY"]) == {"A_KEY"}
    assert "made-up-secret" not in json.dumps(place.system.asked)


@pytest.mark.parametrize(("lingers", "answer"), [(True, True), (False, False), (None, None)])
def test_lingering_is_asked_of_logind(place: Place, *, lingers: bool | None, answer: bool | None) -> None:
    place.system.lingers = lingers

    assert place.systemd.runs_logged_out is answer


def test_the_log_is_that_of_the_service_that_does_the_work(place: Place) -> None:
    assert "--user-unit=curator-review.service" in place.systemd.log("curator", Kind.TIMER, 5, follow=False)
    assert place.systemd.log("curator", Kind.SERVICE, 5, follow=True)[-1] == "--follow"


def test_units_are_read_with_their_drop_ins_and_bad_ones_cost_themselves(place: Place, tmp_path: Path) -> None:
    folder, shared = tmp_path / ".config" / "systemd" / "user", tmp_path / "etc"
    for path, text in {
        folder / "a.service": "[Service]\nExecStart=/a\n",
        folder / "a.service.d" / "x.conf": "[Service]\nExecStart=\nExecStart=/b now\n",
        folder / "a.timer": "[Timer]\nOnBootSec=1\n",
        folder / "every.timer": "[Timer]\nUnit=a.service\n",
        folder / "other.timer": "[Timer]\nUnit=c.service\n",
        folder / "empty.service": "",
        shared / "a.service": "[Service]\nExecStart=/shadowed\n",
        shared / "c.service": "[Service]\nExecStart=/c\n",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (folder / "masked.service").symlink_to("/dev/null")
    (folder / "folder.service").mkdir()

    units = place.systemd.units()

    assert {unit.name: unit.words for unit in units} == {"a.service": ("/b", "now"), "c.service": ("/c",)}
    assert place.systemd.triggers(units[0]) == ("a.timer", "every.timer")
    assert place.systemd.triggers(Unit("none.service", folder, ())) == ()


def test_configuration_may_lie_elsewhere(tmp_path: Path) -> None:
    systemd = Systemd(FakeSystemd(tmp_path), {"XDG_CONFIG_HOME": str(tmp_path / "c")}, tmp_path)

    assert systemd.places("curator", Kind.SERVICE) == (tmp_path / "c" / "systemd" / "user" / "curator.service",)
    assert systemd.environment_file("curator") == tmp_path / "c" / "curator" / "curator.env"
