"""`curator config`: making the configuration, and looking at what a review needs."""

import json
import stat
from pathlib import Path

import pytest

from curator.durable.layout import Layout
from curator.model.digest import Json
from tests.cli.commands import Ran, assert_refused, environ_of, on_a_terminal, run

SECRET = "made-up-key-0123456789"


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    agent = tmp_path / ".pi" / "agent"
    agent.mkdir(parents=True)
    model: dict[str, Json] = {"id": "some-model", "api": "openai-completions"}
    block: Json = {"baseUrl": "http://127.0.0.1:9/v1", "apiKey": "$MADE_UP_KEY", "models": [model]}
    (agent / "models.json").write_text(json.dumps({"providers": {"local": block}}), "utf-8")
    return agent


def speak(agent: Path, api: str) -> None:
    path = agent / "models.json"
    path.write_text(path.read_text("utf-8").replace("openai-completions", api), "utf-8")


def curator(tmp_path: Path, *arguments: str) -> Ran:
    return run(*arguments, cwd=tmp_path, environ=environ_of(tmp_path, MADE_UP_KEY=SECRET))


def test_a_fresh_machine_gets_the_offline_reviewer_in_external_mode(tmp_path: Path) -> None:
    ran = curator(tmp_path, "config", "init")

    path = Layout(tmp_path / ".pi" / "agent").service_json
    assert ran.status == 0
    assert str(path) in ran.out
    told = json.loads(path.read_text("utf-8"))
    assert (told["mode"], told["reviewer"]["provider"], told["reviewer"]["model"]) == ("external", "offline", "rules-1")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert curator(tmp_path, "config", "check").status == 0


def test_flags_choose_reviewer_and_mode_and_force_replaces(tmp_path: Path, agent: Path) -> None:
    curator(tmp_path, "config", "init")

    refused = curator(tmp_path, "config", "init", "--mode", "shadow")
    forced = curator(
        tmp_path, "config", "init", "--mode", "shadow", "--reviewer", "local/some-model", "--force", "--json"
    )

    assert_refused(refused, 78, Layout(agent).service_json, "--force")
    service = forced.document["service"]
    assert isinstance(service, dict)
    assert service["mode"] == "shadow"
    assert isinstance(service["reviewer"], dict)
    assert service["reviewer"]["model"] == "some-model"


def test_the_reviewer_that_stands_is_kept_unless_another_is_named(tmp_path: Path, agent: Path) -> None:
    curator(tmp_path, "config", "init", "--reviewer", "local/some-model")

    told = curator(tmp_path, "config", "init", "--mode", "embedded", "--force", "--json").document["service"]

    assert isinstance(told, dict)
    assert isinstance(told["reviewer"], dict)
    assert (told["mode"], told["reviewer"]["model"]) == ("embedded", "some-model")
    speak(agent, "made-up-api")
    assert_refused(curator(tmp_path, "config", "init", "--force"), 78, "made-up-api")
    assert curator(tmp_path, "config", "init", "--mode", "embedded", "--force").status == 0


@pytest.mark.parametrize("api", ["google-generative-ai", "made-up-api"])
def test_an_api_that_this_release_does_not_speak_is_an_error_and_named(tmp_path: Path, agent: Path, api: str) -> None:
    curator(tmp_path, "config", "init", "--reviewer", "local/some-model")
    speak(agent, api)

    ran = curator(tmp_path, "config", "check")
    again = curator(tmp_path, "config", "init", "--reviewer", "local/some-model", "--force")

    assert ran.status == 78
    (line,) = [line for line in ran.out.splitlines() if line.startswith("ERROR")]
    assert line.startswith("ERROR    reviewer: ")
    for word in (
        api,
        "this release speaks anthropic-messages, openai-completions, openai-responses",
        "--reviewer offline",
    ):
        assert word in line
    assert_refused(again, 78, api, "openai-completions")


def test_a_missing_models_json_is_said_to_be_missing(tmp_path: Path, agent: Path) -> None:
    (agent / "models.json").unlink()

    ran = curator(tmp_path, "config", "init", "--reviewer", "local/some-model")

    assert_refused(ran, 78, f"there is no models.json in {agent}", "Add it there, or use --reviewer offline")
    assert "service.json" not in ran.err
    curator(tmp_path, "config", "init", "--mode", "embedded")
    service = Layout(agent).service_json
    service.write_text(service.read_text("utf-8").replace("offline", "local"), "utf-8")
    checked = curator(tmp_path, "config", "check")
    assert "there is no models.json" in checked.out
    assert "curator config init --reviewer offline --force" in checked.out


@pytest.mark.parametrize(
    ("reviewer", "words"),
    [
        ("local/another", ["another", "models.json", "Add it there, or use --reviewer offline"]),
        ("nobody/x", ["nobody"]),
        ("somebody", ["PROVIDER/MODEL"]),
    ],
)
def test_a_reviewer_that_cannot_be_is_refused_before_anything_is_written(
    tmp_path: Path, agent: Path, reviewer: str, words: list[str]
) -> None:
    ran = curator(tmp_path, "config", "init", "--reviewer", reviewer)

    assert_refused(ran, 78, *words)
    assert "service.json" not in ran.err
    assert not Layout(agent).service_json.exists()


def test_the_check_shows_what_is_there_and_never_a_key(tmp_path: Path, agent: Path) -> None:
    curator(tmp_path, "config", "init", "--reviewer", "local/some-model")

    plain, document = curator(tmp_path, "config", "check"), curator(tmp_path, "config", "check", "--json").document

    assert plain.status == 0
    assert str(agent) in plain.out
    assert SECRET not in plain.out
    findings = document["findings"]
    assert isinstance(findings, list)
    levels = {str(each["subject"]): each["level"] for each in findings if isinstance(each, dict)}
    assert (levels["reviewer"], levels["key"], levels["price"]) == ("ok", "ok", "warning")


@pytest.mark.parametrize(("more", "is_coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_on_a_terminal_what_wants_attention_has_a_colour(
    tmp_path: Path, agent: Path, more: dict[str, str], *, is_coloured: bool
) -> None:
    curator(tmp_path, "config", "init", "--reviewer", "local/some-model")
    environ = environ_of(tmp_path, TERM="xterm-256color", MADE_UP_KEY=SECRET, PI_CODING_AGENT_DIR=str(agent)) | more

    shown = on_a_terminal("config", "check", environ=environ)

    assert "price: models.json has no price" in shown
    assert ("\x1b[33mwarning" in shown) is is_coloured


def test_a_missing_key_is_an_error_of_the_check(tmp_path: Path, agent: Path) -> None:
    curator(tmp_path, "config", "init", "--reviewer", "local/some-model", "--agent-dir", str(agent))

    ran = run("config", "check", cwd=tmp_path, environ=environ_of(tmp_path))

    assert ran.status == 78
    assert "ERROR    key:" in ran.out
    assert "MADE_UP_KEY" in ran.out


def test_unknown_fields_are_named_by_every_command_that_reads_them(tmp_path: Path, agent: Path) -> None:
    curator(tmp_path, "config", "init")
    path = Layout(agent).service_json
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "colour": SECRET}), "utf-8")

    for words in (["review", "--once"], ["authority"], ["config", "init"]):
        ran = curator(tmp_path, *words)
        assert_refused(ran, 78, path, "unknown key colour")
        assert SECRET not in ran.err
    assert "unknown key colour" in curator(tmp_path, "config", "check").out
    assert "unknown key colour" in curator(tmp_path, "status").out


def test_a_forced_init_mends_a_broken_configuration(tmp_path: Path, agent: Path) -> None:
    layout = Layout(agent)
    layout.root.mkdir()
    layout.service_json.write_bytes(b"{")

    assert curator(tmp_path, "config", "init", "--force").status == 0
    assert curator(tmp_path, "config", "check").status == 0


def test_a_symlink_is_not_written_through(tmp_path: Path, agent: Path) -> None:
    layout = Layout(agent)
    layout.root.mkdir()
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text("{}", "utf-8")
    layout.service_json.symlink_to(elsewhere)

    assert_refused(curator(tmp_path, "config", "init"), 78, layout.service_json)
    assert_refused(curator(tmp_path, "config", "init", "--force"), 78, layout.service_json)
    assert elsewhere.read_text("utf-8") == "{}"
