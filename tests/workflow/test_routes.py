"""Which way a model is asked is decided by what stands in the files, and by nothing that fails later."""

import json
from pathlib import Path

import pytest

from curator.durable.layout import Layout
from curator.errors import ReviewerSetupError
from curator.model.digest import Json
from curator.model.ports import Unready
from curator.model.settings import CuratorSettings, ReviewerProfile, Via
from curator.reviewer.providers.direct import DirectReviewer
from curator.reviewer.providers.pi import PiReviewer
from curator.workflow.reviewers import reviewer_for, route
from curator.workflow.settings_files import check_reviewer
from tests.briefs import Flag, HandClock, brief
from tests.fakes.pis import EACH_PI

PROFILE = ReviewerProfile(provider="fake", model="fake-1")
OAUTH: Json = {"fake": {"type": "oauth", "access": "a", "refresh": "r", "expires": 1}}


def lay(agent: Path, *, api: str = "openai-completions", key: str | None = "k", auth: Json = None) -> None:
    block: dict[str, Json] = {"baseUrl": "http://127.0.0.1:9/v1", "api": api, "models": [{"id": "fake-1"}]}
    if key is not None:
        block["apiKey"] = key
    (agent / "models.json").write_text(json.dumps({"providers": {"fake": block}}))
    if auth is not None:
        (agent / "auth.json").write_text(json.dumps(auth))


def environ(tmp_path: Path, *, has_pi: bool = True) -> dict[str, str]:
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    if has_pi:
        (folder / "pi").write_text("#!/bin/sh\nexit 1\n")
        (folder / "pi").chmod(0o700)
    return {"PATH": str(folder), "HOME": str(tmp_path)}


def way(tmp_path: Path, via: Via = "auto", *, has_pi: bool = True, profile: ReviewerProfile = PROFILE) -> type:
    settings = CuratorSettings(via=via)
    return type(route(profile, settings, tmp_path, HandClock(), environ(tmp_path, has_pi=has_pi)))


def test_auto_takes_the_api_where_that_and_a_key_are_there(tmp_path: Path) -> None:
    lay(tmp_path)
    assert way(tmp_path) is DirectReviewer
    lay(tmp_path, key=None, auth={"fake": {"type": "api_key", "key": "$NOT_SET"}})
    assert way(tmp_path) is DirectReviewer, "a key that does not work is no reason to try another"


@pytest.mark.parametrize("case", ["another api", "no key", "a login", "no model", "no file"])
def test_auto_takes_pi_otherwise_where_pi_is_there(tmp_path: Path, case: str) -> None:
    if case != "no file":
        api = "google-generative-ai" if case == "another api" else "openai-completions"
        lay(tmp_path, api=api, key=None if case == "no key" else "k", auth=OAUTH if case == "a login" else None)
    profile = ReviewerProfile(provider="fake", model="fake-2") if case == "no model" else PROFILE
    assert way(tmp_path, profile=profile) is PiReviewer
    (tmp_path / "bin" / "pi").unlink()
    assert way(tmp_path, profile=profile, has_pi=False) is DirectReviewer


def test_a_way_that_is_named_is_taken(tmp_path: Path) -> None:
    lay(tmp_path)
    assert way(tmp_path, "pi") is PiReviewer
    lay(tmp_path, auth=OAUTH)
    assert way(tmp_path, "direct") is DirectReviewer


def test_a_login_without_pi_names_the_remedy(tmp_path: Path) -> None:
    lay(tmp_path, auth=OAUTH)
    reviewer = reviewer_for(PROFILE, CuratorSettings(), tmp_path, HandClock(), environ(tmp_path, has_pi=False))
    unready = reviewer.prepare(brief("USER: Hi.")).make_ready(Flag())
    assert isinstance(unready, Unready)
    assert unready.code == "auth_unavailable"
    assert "through Pi" in unready.remedy


def test_a_models_json_that_is_broken_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "models.json").write_text("{")
    with pytest.raises(ReviewerSetupError) as caught:
        way(tmp_path)
    assert caught.value.setup_code == "model_registry_invalid"


# --- the check, before any review ------------------------------------------------------------------------------------


def found(tmp_path: Path, profile: ReviewerProfile, pi: str) -> dict[str, str]:
    layout = Layout(tmp_path)
    layout.curator_toml.parent.mkdir(parents=True, exist_ok=True)
    layout.curator_toml.write_text(f'via = "pi"\npi = "{pi}"\n')
    findings = check_reviewer(layout, profile, {"PATH": "", "HOME": str(tmp_path)})
    return {each.subject: f"{each.level}: {each.fact}" for each in findings}


@pytest.mark.parametrize("pi", EACH_PI)
def test_the_check_asks_pi_what_it_knows(tmp_path: Path, pi: str) -> None:
    lay(tmp_path)
    told = found(tmp_path, PROFILE, pi)
    assert told["reviewer"] == "ok: fake/fake-1, through Pi, api openai-completions"
    assert told["key"].startswith("ok: ")
    assert told["price"].startswith("warning: models.json has no price")
    built_in = ReviewerProfile(provider="anthropic", model="claude-sonnet-4-5")
    assert "no key and no login" in found(tmp_path, built_in, pi)["key"]


def test_the_check_says_that_pi_is_missing(tmp_path: Path) -> None:
    lay(tmp_path)
    assert "was not found" in found(tmp_path, PROFILE, str(tmp_path / "nowhere"))["reviewer"]


@pytest.mark.parametrize(("toml", "level"), [("", "error"), ("allow_unknown_price = true\n", "warning")])
def test_the_check_says_that_nobody_tells_a_price(tmp_path: Path, toml: str, level: str) -> None:
    lay(tmp_path)
    path = tmp_path / "models.json"
    path.write_text(path.read_text().replace("http://127.0.0.1:9", "https://made-up.invalid"))
    layout = Layout(tmp_path)
    layout.curator_toml.parent.mkdir(parents=True, exist_ok=True)
    layout.curator_toml.write_text(toml)
    (price,) = [each for each in check_reviewer(layout, PROFILE, {"PATH": "", "HOME": "/"}) if each.subject == "price"]
    assert price.level == level
    assert "nobody tells the price" in price.fact
