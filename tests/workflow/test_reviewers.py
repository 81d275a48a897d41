"""The reviewer of service.json, with Pi's own files behind it."""

import json
from pathlib import Path

import pytest

from curator.errors import ReviewerSetupError
from curator.model.ports import Answer, Prepared, Unready
from curator.model.settings import CuratorSettings, ReviewerProfile
from curator.workflow.reviewers import reviewer_for
from tests.briefs import Flag, HandClock, brief
from tests.fakes.provider import PROPOSAL, serving
from tests.golden_fixtures import real_pi

PROFILE = ReviewerProfile(provider="fake", model="fake-1", reasoning_effort="off")
SAID = "USER: Never commit generated files."


def test_the_model_of_real_pis_files_is_asked(tmp_path: Path) -> None:
    agent_dir = real_pi("queued", tmp_path)
    with serving() as server:
        registry = agent_dir / "models.json"
        registry.write_text(registry.read_text().replace("http://127.0.0.1:35635/v1", server.url))
        reviewer = reviewer_for(PROFILE, CuratorSettings(), agent_dir, HandClock(), {})
        ready = reviewer.prepare(brief(SAID)).make_ready(Flag())
        assert isinstance(ready, Prepared)
        answer = reviewer.ask(ready, Flag())
    assert isinstance(answer, Answer)
    assert answer.text == PROPOSAL


def test_mending_the_files_helps_at_the_next_call(tmp_path: Path) -> None:
    reviewer = reviewer_for(PROFILE, CuratorSettings(), tmp_path, HandClock(), {})
    with pytest.raises(ReviewerSetupError) as caught:
        reviewer.prepare(brief(SAID))
    assert caught.value.setup_code == "model_not_found"

    block = {"baseUrl": "http://127.0.0.1:1/v1", "api": "openai-completions", "models": [{"id": "fake-1"}]}
    (tmp_path / "models.json").write_text(json.dumps({"providers": {"fake": block}}))
    unready = reviewer.prepare(brief(SAID)).make_ready(Flag())
    assert isinstance(unready, Unready)
    assert unready.code == "auth_unavailable"

    (tmp_path / "auth.json").write_text('{"fake": {"type": "api_key", "key": "k"}}')
    unready = reviewer.prepare(brief(SAID)).make_ready(Flag())
    assert isinstance(unready, Unready)
    assert unready.code == "provider_unreachable"


def test_the_embedded_rules_need_no_file_of_pi(tmp_path: Path) -> None:
    profile = ReviewerProfile(provider="offline", model="rules-1")
    reviewer = reviewer_for(profile, CuratorSettings(), tmp_path, HandClock(), {})
    assert isinstance(reviewer.ask(reviewer.prepare(brief(SAID)), Flag()), Answer)
