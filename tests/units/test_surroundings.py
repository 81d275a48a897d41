"""What a service lacks: found by name, with no value ever kept."""

import json
from pathlib import Path

import pytest

from curator.errors import ConfigError
from curator.model.digest import Json
from curator.model.settings import ReviewerProfile
from curator.units.surroundings import (
    Needs,
    file_names,
    find_program,
    find_programs,
    is_open,
    is_passing,
    names_in,
    needs_of,
    network_names,
)
from tests.units.systems import executable

PROFILE = ReviewerProfile(provider="local", model="m")


def models(agent: Path, **block: Json) -> None:
    agent.mkdir(parents=True, exist_ok=True)
    model: dict[str, Json] = {"id": "m", "api": "openai-completions"}
    given: dict[str, Json] = {"baseUrl": "http://127.0.0.1:9/v1", "models": [model], **block}
    (agent / "models.json").write_text(json.dumps({"providers": {"local": given}}), "utf-8")


def test_the_program_beside_the_command_is_taken(tmp_path: Path) -> None:
    own = executable(tmp_path / "own" / "curator")
    executable(tmp_path / "other" / "curator")

    assert find_program("curator", {"PATH": str(tmp_path / "other")}, [tmp_path, own.parent]) == own


def test_the_name_on_path_wins_where_it_leads_to_the_same_file(tmp_path: Path) -> None:
    own = executable(tmp_path / "tools" / "curator-1.2" / "curator")
    link = tmp_path / "bin" / "curator"
    link.parent.mkdir()
    link.symlink_to(own)

    assert find_program("curator", {"PATH": str(link.parent)}, [own.parent]) == link


def test_without_one_beside_it_path_is_asked(tmp_path: Path) -> None:
    program = executable(tmp_path / "curator")

    assert find_program("curator", {"PATH": str(tmp_path)}, [tmp_path / "none"]) == program


def test_a_program_that_is_not_installed_is_an_error_with_its_remedy(tmp_path: Path) -> None:
    (tmp_path / "curator").write_text("no program", "utf-8")

    with pytest.raises(ConfigError, match="curator is not installed"):
        find_program("curator", {"PATH": str(tmp_path)}, [tmp_path])


def test_a_program_in_a_cache_will_not_stay(tmp_path: Path) -> None:
    assert is_passing(executable(tmp_path / ".cache" / "uv" / "curator"), {}, tmp_path)
    assert is_passing(tmp_path / "c" / "curator", {"XDG_CACHE_HOME": str(tmp_path / "c")}, tmp_path)
    assert not is_passing(tmp_path / ".local" / "bin" / "curator", {}, tmp_path)


def test_path_leads_to_node_to_pi_to_what_prints_a_key_and_to_the_system(tmp_path: Path) -> None:
    for name in ("node", "pass"):
        executable(tmp_path / name / name)
    environ = {"PATH": f"{tmp_path}/node:{tmp_path}/pass:{tmp_path}/unused"}

    programs = find_programs(environ, ["pass", "gone"])

    assert programs.path == f"{tmp_path}/node:{tmp_path}/pass:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
    assert programs.missing == ("pi", "gone")


def test_a_folder_that_lives_as_long_as_a_login_is_replaced_by_where_it_leads(tmp_path: Path) -> None:
    executable(tmp_path / "versions" / "22" / "node")
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    (runtime / "shell-1").symlink_to(tmp_path / "versions" / "22")

    programs = find_programs({"PATH": f"{runtime}/shell-1", "XDG_RUNTIME_DIR": str(runtime)}, [])

    assert programs.path.startswith(f"{tmp_path}/versions/22:")


@pytest.mark.parametrize(
    ("template", "names"),
    [
        ("$A_KEY", ["A_KEY"]),
        ("Bearer ${A_KEY} $B", ["A_KEY", "B"]),
        ("$$A $!B", []),
        ("literal", []),
        ("${not a name} $1", []),
    ],
)
def test_names_are_found_as_pi_finds_them(template: str, names: list[str]) -> None:
    assert list(names_in(template)) == names


def test_the_offline_reviewer_needs_nothing(tmp_path: Path) -> None:
    assert needs_of(tmp_path, None) == Needs()
    assert needs_of(tmp_path, ReviewerProfile(provider="offline", model="rules-1")) == Needs()


def test_key_and_headers_of_the_reviewer_are_needed_each_once(tmp_path: Path) -> None:
    models(tmp_path, apiKey="$A_KEY", headers={"X-One": "${B_KEY}", "X-Two": "$A_KEY", "X-Three": "plain"})

    assert needs_of(tmp_path, PROFILE) == Needs(("A_KEY", "B_KEY"))


def test_the_key_of_a_login_goes_before_that_of_the_model(tmp_path: Path) -> None:
    models(tmp_path, apiKey="$A_KEY")
    (tmp_path / "auth.json").write_text(json.dumps({"local": {"type": "api_key", "key": "$LOGIN_KEY"}}), "utf-8")

    assert needs_of(tmp_path, PROFILE).names == ("LOGIN_KEY",)


@pytest.mark.parametrize("raw", [b"{", b'{"local": 1}', b'{"local": {"key": 1}}', b""])
def test_a_broken_login_file_is_left_to_the_check_that_tells_it(tmp_path: Path, raw: bytes) -> None:
    models(tmp_path, apiKey="$A_KEY")
    (tmp_path / "auth.json").write_bytes(raw)

    assert needs_of(tmp_path, PROFILE).names == ("A_KEY",)


@pytest.mark.parametrize(
    ("command", "program"), [("!pass show x", "pass"), ('!"/my bin/op" read', "/my bin/op"), ("!$(secret)", None)]
)
def test_a_command_that_prints_the_key_needs_its_program(tmp_path: Path, command: str, program: str | None) -> None:
    models(tmp_path, apiKey=command)

    needs = needs_of(tmp_path, PROFILE)

    assert needs.programs == (() if program is None else (program,))
    assert needs.has_command
    assert needs.names == ()


def test_a_model_that_cannot_be_read_is_a_fault_and_no_failure(tmp_path: Path) -> None:
    fault = needs_of(tmp_path, PROFILE).fault

    assert fault is not None
    assert "models.json" in fault


def test_the_ways_to_the_network_are_named() -> None:
    assert network_names({"https_proxy": "http://u:p@h", "NO_PROXY": "", "HOME": "/x"}) == ("https_proxy",)


def test_an_environment_file_tells_names_alone(tmp_path: Path) -> None:
    path = tmp_path / "curator.env"
    path.write_text("# C=1\n; D=1\nA_KEY=made-up=secret\n B_KEY = x\nnonsense\n", "utf-8")

    assert file_names(path) == {"A_KEY", "B_KEY"}
    assert file_names(tmp_path / "none") == frozenset()
    assert file_names(tmp_path) == frozenset()


@pytest.mark.parametrize(("mode", "answer"), [(0o600, False), (0o640, True), (0o604, True)])
def test_a_file_that_others_may_read_is_open(tmp_path: Path, mode: int, *, answer: bool) -> None:
    path = tmp_path / "curator.env"
    path.touch()
    path.chmod(mode)

    assert is_open(path) is answer
    assert not is_open(tmp_path / "none")
