"""Cases A-019 to A-028, A-033, A-070 and A-084: what models answer instead of the JSON that was asked for, in one run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from curator.model.digest import Json
from curator.model.record import u16_len
from tests.cases.scene import RELEASE, REMEMBERED, Asked, Here, ask, exchange, text
from tests.fakes.provider import serving

TEXTS: Final = (
    *("A-019/fenced.txt", "A-019/fenced_no_lang.txt", "A-019/fenced_crlf_upper.txt"),
    *("A-020/preface.txt", "A-020/trailing_braces.txt", "A-020/empty_then_prose.txt"),
    *("A-021/think.txt", "A-022/truncated.txt"),
    *("A-023/unknown_id.txt", "A-023/near_id.txt"),
    *("A-024/strings.txt", "A-024/wrong_key.txt", "A-024/missing_fields.txt"),
    *("A-024/nulls.txt", "A-024/null_ops.txt", "A-024/unknown_action.txt"),
    *("A-025/remove_all.txt", "A-026/too_long.txt", "A-028/limit_prose.txt"),
    *("A-068/add_with_token.txt", "A-070/poisoned_add.txt", "A-070/fence_add.txt"),
    *("A-084/add_800.txt", "A-084/add_801.txt"),
)
EXCHANGES: Final = (
    *("A-022/exchange.json", "A-028/limit_prose.json"),
    *("A-033/error_finish.json", "A-033/content_null.json", "A-033/no_choices.json", "A-033/error_200.json"),
)
AFTER_ONE_ADD: Final = [*REMEMBERED, RELEASE]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    place = Here(tmp_path_factory.mktemp("answers"))
    answers: dict[str, Json] = {name: text(name) if name in TEXTS else exchange(name) for name in (*TEXTS, *EXCHANGES)}
    answers["A-023/mixed"] = text("A-023/unknown_id.txt").replace("mem_zzzz9999", " MEM_AAAA0001 ")
    with serving(None, place.log) as server:
        yield ask(place, server, answers)


@pytest.fixture(autouse=True)
def ran_to_its_end(asked: Asked) -> None:
    assert (asked.ran.status, asked.ran.err) == (0, "")


@pytest.mark.parametrize("name", [name for name in TEXTS if name.startswith("A-019")])
def test_a_019_json_in_a_fence_is_exactly_one_addition(name: str, asked: Asked) -> None:
    assert (asked.ending(name), asked.texts(name)) == ("applied", AFTER_ONE_ADD)


@pytest.mark.parametrize("name", ["A-020/preface.txt", "A-020/trailing_braces.txt"])
def test_a_020_prose_around_the_json_becomes_no_content(name: str, asked: Asked) -> None:
    assert (asked.ending(name), asked.texts(name)) == ("applied", AFTER_ONE_ADD)


def test_a_020_an_empty_proposal_with_prose_behind_it_changes_nothing(asked: Asked) -> None:
    name = "A-020/empty_then_prose.txt"

    assert (asked.ending(name), asked.texts(name)) == ("noop", list(REMEMBERED))


def test_a_021_what_was_thought_is_neither_read_nor_kept(asked: Asked) -> None:
    assert (asked.ending("A-021/think.txt"), asked.texts("A-021/think.txt")) == ("applied", AFTER_ONE_ADD)
    assert asked.files("there is a fact") == []
    assert "there is a fact" not in asked.ran.out


@pytest.mark.parametrize("name", ["A-022/truncated.txt", "A-022/exchange.json"])
def test_a_022_a_cut_answer_is_a_failure_that_is_charged_and_tried_again(name: str, asked: Asked) -> None:
    code = "output_truncated" if name.endswith("json") else "invalid_model_output"

    assert (asked.ending(name), asked.texts(name)) == ("queued", list(REMEMBERED))
    assert (asked.failure(name).code, asked.failure(name).retryable) == (code, True)
    assert asked.attempt(name).state.value == "settled"
    assert asked.attempt(name).exposure.actual.tokens > 0
    if name.endswith("json"):
        assert asked.attempt(name).exposure.actual.tokens == 940


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("A-023/unknown_id.txt", "operation 2: names the entry mem_zzzz9999, which memory does not have"),
        ("A-023/near_id.txt", "operation 1: names an entry that memory does not have"),
        ("A-023/mixed", "operation 2: names an entry that memory does not have"),
    ],
)
def test_a_023_one_unknown_id_refuses_the_whole_and_is_named(name: str, said: str, asked: Asked) -> None:
    assert (asked.ending(name), asked.texts(name)) == ("queued", list(REMEMBERED))
    assert (asked.failure(name).code, asked.failure(name).message) == ("invalid_proposal", said)
    shown = asked.place.run("jobs", "show", asked.jobs[name].id)
    assert "invalid_proposal" in shown.out


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("strings", "operations[0] is not an object"),
        ("wrong_key", "the answer has no operations"),
        ("missing_fields", "operations[0].content is not a text"),
        ("nulls", "operations[0].content is not a text"),
        ("null_ops", "operations is not a list"),
        ("unknown_action", "operations[0].action is none of add"),
    ],
)
def test_a_024_a_wrong_shape_is_one_settled_failure_that_names_the_field(name: str, field: str, asked: Asked) -> None:
    name = f"A-024/{name}.txt"

    assert asked.failure(name).code == "invalid_model_output"
    assert asked.failure(name).message.startswith(field)
    assert (asked.ending(name), asked.texts(name)) == ("queued", list(REMEMBERED))
    assert (asked.attempt(name).state.value, asked.attempt(name).latest.claim_attempt) == ("settled", 1)


def test_a_025_an_answer_that_removes_everything_can_be_undone_exactly(asked: Asked) -> None:
    name = "A-025/remove_all.txt"
    place, key = asked.place, asked.keys[name]
    assert (asked.ending(name), asked.texts(name)) == ("applied", [])
    (card,) = place.cards(key).values()
    assert [change.kind for change in card.changes] == ["remove"] * 3
    before = json.loads(text("branch_main.json"))["entries"]

    undone = place.run("memory", "undo", "--project", str(place.home / name.replace("/", "-")))

    assert undone.status == 0, undone.err
    stored = json.loads((place.layout.project(key).branches / "main.json").read_text("utf-8"))["entries"]
    assert stored == before


def test_a_026_a_text_that_is_too_long_is_refused_with_the_numbers(asked: Asked) -> None:
    name = "A-026/too_long.txt"

    assert (asked.ending(name), asked.texts(name)) == ("queued", list(REMEMBERED))
    assert asked.failure(name).message == "operation 1: too-long: 900 characters, and an entry has at most 800"


@pytest.mark.parametrize("name", ["A-028/limit_prose.txt", "A-028/limit_prose.json"])
def test_a_028_prose_with_status_200_is_a_failure_and_its_job_is_kept(name: str, asked: Asked) -> None:
    assert (asked.ending(name), asked.texts(name)) == ("queued", list(REMEMBERED))
    assert asked.failure(name).code == "invalid_model_output"
    assert asked.attempt(name).state.value == "settled"
    assert asked.files("monthly usage limit") == []


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("error_finish", "provider_error"),
        ("content_null", "empty_model_output"),
        ("no_choices", "empty_model_output"),
        ("error_200", "provider_error"),
    ],
)
def test_a_033_an_error_in_the_body_of_a_success_is_no_answer(name: str, code: str, asked: Asked) -> None:
    name = f"A-033/{name}.json"

    assert (asked.ending(name), asked.texts(name)) == ("queued", list(REMEMBERED))
    assert asked.failure(name).code == code
    assert [word for word in ("overloaded (529)", "upstream failed") if asked.files(word)] == []
    (waiting,) = [each for each in asked.place.shop().stores.spool.queued() if each.job.id == asked.jobs[name].id]
    assert waiting.job.transcript == asked.jobs[name].transcript


def test_a_068_a_proposal_with_a_token_is_refused_by_its_kind_and_never_by_its_value(asked: Asked) -> None:
    name = "A-068/add_with_token.txt"

    assert (asked.ending(name), asked.texts(name)) == ("noop", list(REMEMBERED))
    assert asked.files("FAKE0FAKE0") == []
    (card,) = asked.place.cards(asked.keys[name]).values()
    assert card.status == "noop"
    evidence = [
        path for path in asked.place.tree() if "looks like a secret" in Path(path).read_text("utf-8", "replace")
    ]
    assert evidence != []


@pytest.mark.parametrize(("name", "fault"), [("poisoned_add", "manipulation"), ("fence_add", "memory-fence")])
def test_a_070_planted_instructions_and_fences_never_become_memory(name: str, fault: str, asked: Asked) -> None:
    name = f"A-070/{name}.txt"

    assert (asked.ending(name), asked.texts(name)) == ("queued", list(REMEMBERED))
    assert (asked.failure(name).code, asked.failure(name).message) == ("invalid_proposal", f"operation 1: {fault}")


def test_a_084_characters_are_counted_as_javascript_counts_them(asked: Asked) -> None:
    fits, exceeds = "A-084/add_800.txt", "A-084/add_801.txt"

    assert (asked.ending(fits), u16_len(asked.texts(fits)[-1])) == ("applied", 800)
    assert (asked.ending(exceeds), asked.texts(exceeds)) == ("queued", list(REMEMBERED))
    assert asked.failure(exceeds).message == "operation 1: too-long: 801 characters, and an entry has at most 800"


def test_a_044_none_of_these_answers_cost_more_than_one_request(asked: Asked) -> None:
    assert asked.place.requests() == len(asked.jobs)
    assert set(asked.place.states()) == {"settled"}
