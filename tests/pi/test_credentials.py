"""Keys: from where Pi has them, right before a call, and never shown."""

import json
import time
from pathlib import Path

import pytest

from curator.errors import ReviewerSetupError
from curator.model.digest import Json
from curator.model.reviewer_facts import Credential, ModelFacts
from curator.pi.credentials import check_key, find_credential, key_kind, variables_of
from curator.pi.models import Model

ENVIRON = {"PATH": "/usr/bin:/bin", "KEY": "from-environment", "EMPTY": ""}


def model(key: str | None = "from-models", headers: dict[str, str] | None = None) -> Model:
    facts = ModelFacts("p", "m", "openai-completions", "http://127.0.0.1:1/v1", 1_000, 1_000)
    return Model(facts, key, headers or {})


def auth(tmp_path: Path, entry: Json) -> Path:
    (tmp_path / "auth.json").write_text(json.dumps({"p": entry}))
    return tmp_path


def refusal(agent_dir: Path, chosen: Model, **more: float) -> ReviewerSetupError:
    with pytest.raises(ReviewerSetupError) as caught:
        find_credential(agent_dir, chosen, ENVIRON, command_s_max=more.get("seconds", 10))
    assert caught.value.setup_code == "auth_unavailable"
    return caught.value


@pytest.mark.parametrize(
    ("source", "key"),
    [
        ("literal", "literal"),
        ("MY_API_KEY", "MY_API_KEY"),
        ("$KEY", "from-environment"),
        ("${KEY}-x", "from-environment-x"),
        ("a$KEY.b", "afrom-environment.b"),
        ("$$KEY", "$KEY"),
        ("$!echo", "!echo"),
        ("100$", "100$"),
        ("${not a name}", "${not a name}"),
        ("${open", "${open"),
        ("!printf 'from-command\\n'", "from-command"),
        ('!printf %s "$KEY"', "from-environment"),
    ],
)
def test_a_key_is_a_literal_a_name_or_a_command(tmp_path: Path, source: str, key: str) -> None:
    assert find_credential(tmp_path, model(source), ENVIRON) == Credential(key)


def test_what_pi_stored_goes_before_models_json(tmp_path: Path) -> None:
    agent_dir = auth(tmp_path, {"type": "api_key", "key": "stored"})
    assert find_credential(agent_dir, model(), ENVIRON).api_key == "stored"
    assert find_credential(agent_dir, model(None), ENVIRON).api_key == "stored"


def test_a_stored_file_without_the_provider_leaves_the_key_of_models_json(tmp_path: Path) -> None:
    (tmp_path / "auth.json").write_text("{}")
    assert find_credential(tmp_path, model(), ENVIRON).api_key == "from-models"


def test_headers_are_resolved_like_keys(tmp_path: Path) -> None:
    found = find_credential(tmp_path, model(headers={"x-org": "$KEY", "x-team": "t"}), ENVIRON)
    assert found.headers == {"x-org": "from-environment", "x-team": "t"}


def test_a_login_is_not_passed_over_for_another_key(tmp_path: Path) -> None:
    error = refusal(auth(tmp_path, {"type": "oauth", "access": "secret", "refresh": "secret"}), model())
    assert "OAuth" in error.fact
    assert "through Pi" in error.remedy
    assert "secret" not in str(error)


@pytest.mark.parametrize("entry", [7, {}, {"type": "api_key"}, {"type": "api_key", "key": ""}, {"key": "secret"}])
def test_a_stored_entry_that_is_no_key_is_refused(tmp_path: Path, entry: Json) -> None:
    assert "secret" not in str(refusal(auth(tmp_path, entry), model()))


@pytest.mark.parametrize(
    ("source", "fact"),
    [
        (None, "neither auth.json nor models.json"),
        ("$MISSING", "$MISSING"),
        ("$EMPTY", "$EMPTY"),
        ("!echo secret; exit 3", "failed with status 3"),
        ("!true", "is empty"),
        ("!printf 'secret\\nsecret'", "cannot be sent"),
        ("!yes secret", "printed too much"),
        ("!echo secret >&2; sleep 60 & wait", "took over 0.2 s"),
        ("!sleep 60 & echo secret", "took over 0.2 s"),
        ("secret\x00", "cannot be sent"),
        ("sécret", "cannot be sent"),
    ],
)
def test_a_key_that_cannot_be_had_says_why_without_showing_anything(
    tmp_path: Path, source: str | None, fact: str
) -> None:
    began = time.monotonic()
    error = refusal(tmp_path, model(source), seconds=0.2)
    assert fact in error.fact
    assert "secret" not in str(error)
    assert "jobs wait" in error.remedy
    assert time.monotonic() - began < 30


def test_a_header_that_would_be_two_is_refused(tmp_path: Path) -> None:
    assert "x-team" in refusal(tmp_path, model(headers={"x-team": "a\r\nx-evil: 1"})).fact
    assert "name" in refusal(tmp_path, model(headers={"x: y\r\n": "a"})).fact


def test_a_stored_file_that_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "auth.json").mkdir()
    assert "not a regular file" in refusal(tmp_path, model()).fact


def test_a_stored_file_that_is_broken_is_refused_without_its_text(tmp_path: Path) -> None:
    (tmp_path / "auth.json").write_text('{"p": {"type": "api_key", "key": "secret"')
    assert "secret" not in str(refusal(tmp_path, model()))


def test_a_credential_does_not_show_itself() -> None:
    shown = repr(Credential("secret-key", {"x": "secret-header"}))
    assert "secret" not in shown


# --- what is said of a key without looking for it --------------------------------------------------------------------


def test_a_key_a_login_and_nothing_are_told_apart(tmp_path: Path) -> None:
    assert key_kind(tmp_path, "p", None) is None
    assert key_kind(tmp_path, "p", "$NOT_SET") == "key"
    (tmp_path / "auth.json").write_text('{"p": {"type": "oauth", "access": "a"}}')
    assert key_kind(tmp_path, "p", "$NOT_SET") == "login"
    (tmp_path / "auth.json").write_text('{"p": {"type": "api_key", "key": "k"}}')
    assert key_kind(tmp_path, "p", None) == "key"


def test_the_variables_that_the_files_name_are_found(tmp_path: Path) -> None:
    (tmp_path / "auth.json").write_text('{"p": {"type": "api_key", "key": "$ONE-${TWO}"}, "q": {"key": "$OTHER"}}')
    assert variables_of(tmp_path, "p", ("x$THREE", "plain", "!echo $FOUR")) == {"ONE", "TWO", "THREE", "FOUR"}


def test_a_variable_that_is_not_set_is_missed_and_commands_and_logins_are_not_run(tmp_path: Path) -> None:
    check_key(tmp_path, "p", "$KEY", {"KEY": "k"})
    check_key(tmp_path, "p", "!touch ran", {})
    check_key(tmp_path, "p", None, {})
    with pytest.raises(ReviewerSetupError, match="KEY"):
        check_key(tmp_path, "p", "$KEY", {})
    (tmp_path / "auth.json").write_text('{"p": {"type": "oauth", "access": "$KEY"}}')
    check_key(tmp_path, "p", "$KEY", {})
    assert not (tmp_path / "ran").exists()
