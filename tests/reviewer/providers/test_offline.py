"""The embedded reviewer through the same door as every other one."""

import pytest

from curator.errors import ReviewerSetupError
from curator.model.outcome import Provenance
from curator.model.ports import Answer, CallFailure, Class, Hold
from curator.model.proposal import Add, Proposed
from curator.model.settings import ReviewerProfile
from curator.reviewer.parse import parse_answer
from curator.reviewer.providers.offline import OfflineReviewer
from tests.briefs import Flag, HandClock, brief, memory

SAID = "USER: Never commit generated files.\n\nASSISTANT: Noted."


def reviewer(model: str = "rules-1", clock: HandClock | None = None) -> OfflineReviewer:
    return OfflineReviewer(ReviewerProfile(provider="offline", model=model), clock or HandClock())


def test_the_answer_is_what_a_model_would_say() -> None:
    at = reviewer()
    answer = at.ask(at.prepare(brief(SAID)), Flag())
    assert isinstance(answer, Answer)
    assert parse_answer(answer.text) == (
        Proposed(Add(content="Never commit generated files.", importance="high"), "Never commit generated files."),
    )


def test_nothing_to_say_is_an_answer_too() -> None:
    at = reviewer()
    answer = at.ask(at.prepare(brief("USER: Fix the test.")), Flag())
    assert isinstance(answer, Answer)
    assert answer.text == '{"operations":[]}'


def test_a_second_review_finds_nothing_new() -> None:
    at = reviewer()
    answer = at.ask(at.prepare(brief(SAID, memory("Never commit generated files."))), Flag())
    assert isinstance(answer, Answer)
    assert parse_answer(answer.text) == ()


def test_it_costs_nothing_and_counts_as_a_call() -> None:
    at = reviewer(clock=HandClock(each=7))
    prepared = at.prepare(brief(SAID))
    assert prepared.hold == Hold(1, 0)
    answer = at.ask(prepared, Flag())
    assert isinstance(answer, Answer)
    assert not answer.is_estimated
    assert (answer.provenance.usage.total_tokens, answer.provenance.usage.cost.total) == (0, 0)
    assert (answer.provenance.provider, answer.provenance.model) == ("offline", "rules-1")
    assert answer.provenance.duration_ms == 7
    assert Provenance.decode(answer.provenance.encode()) == answer.provenance


def test_the_base_is_judged_and_not_the_branch_of_the_job() -> None:
    at = reviewer()
    job = brief(SAID)
    moved = brief(SAID, memory("Never commit generated files."))
    assert job.job.transcript == moved.job.transcript
    answer = at.ask(at.prepare(moved), Flag())
    assert isinstance(answer, Answer)
    assert parse_answer(answer.text) == ()


def test_equal_briefs_have_equal_digests_and_answers() -> None:
    one, other = reviewer(), reviewer()
    first, second = one.prepare(brief(SAID)), other.prepare(brief(SAID))
    assert first.request_digest == second.request_digest
    assert one.ask(first, Flag()) == other.ask(second, Flag())


def test_other_rules_are_a_setup_error() -> None:
    with pytest.raises(ReviewerSetupError, match="rules-9") as caught:
        reviewer("rules-9").prepare(brief(SAID))
    assert caught.value.setup_code == "model_not_found"


def test_a_wish_to_stop_is_heard() -> None:
    at = reviewer()
    ending = at.ask(at.prepare(brief(SAID)), Flag(lambda: True))
    assert isinstance(ending, CallFailure)
    assert ending.kind is Class.STOPPED
