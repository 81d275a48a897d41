"""The reviewer that service.json names, and no other one."""

import dataclasses

import pytest

from curator.errors import ReviewerSetupError
from curator.model.reviewer_facts import Credential, Found, ModelFacts
from curator.model.settings import Effort, ReviewerProfile
from curator.reviewer.profile import effort_of, look_up

FACTS = ModelFacts("p", "m", "a", "http://h", 1_000, 1_000, efforts={"low": "low", "medium": "medium", "high": "max"})


def looked_up(provider: str, model: str) -> Found:
    return Found(dataclasses.replace(FACTS, provider=provider, model=model), lambda: Credential("key"))


@pytest.mark.parametrize(
    ("effort", "word"),
    [("off", None), ("minimal", None), ("low", "low"), ("medium", "medium"), ("high", "max"), ("xhigh", "max")],
)
def test_an_effort_is_the_models_word_or_the_next_lower_one(effort: Effort, word: str | None) -> None:
    assert effort_of(effort, FACTS) == word


def test_exactly_the_named_model_is_looked_up() -> None:
    resolved = look_up(ReviewerProfile(provider="q", model="n"), looked_up, ["a"])
    assert (resolved.facts.provider, resolved.facts.model) == ("q", "n")


def test_another_api_is_a_setup_error_that_says_which() -> None:
    with pytest.raises(ReviewerSetupError, match="'a'") as caught:
        look_up(ReviewerProfile(provider="p", model="m"), looked_up, ["openai-completions"])
    assert caught.value.setup_code == "model_registry_invalid"


def test_a_setup_error_is_passed_on() -> None:
    def missing(_provider: str, _model: str) -> Found:
        raise ReviewerSetupError("model_not_found", "is not there")

    with pytest.raises(ReviewerSetupError):
        look_up(ReviewerProfile(provider="p", model="m"), missing, ["a"])
