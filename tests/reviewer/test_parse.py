"""Answers of models as they come: taken for exactly what they say, or refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.model.digest import Json
from curator.model.ids import EntryId
from curator.model.proposal import Add, Assess, Merge, Proposed, Remove, Replace
from curator.reviewer.parse import Refusal, parse_answer

CONTENT = "Release tags are cut from the `stable` branch."
ADD = '{"action":"add","content":"Release tags are cut from the `stable` branch.","importance":"normal"}'
ANSWER = f'{{"operations":[{ADD}]}}'
ONE_ADD = (Proposed(Add(content=CONTENT, importance="normal")),)

AS_MODELS_WRITE_IT = {
    "plain": ANSWER,
    "fenced": f"```json\n{ANSWER}\n```",
    "fenced without a language": f"```\n{ANSWER}\n```",
    "fenced in capitals with Windows line ends": f"```JSON\r\n{ANSWER}\r\n```\r\n",
    "after a preface": f"Here are the operations I propose:\n{ANSWER}\n",
    "before a note with braces": f"{ANSWER}\n\nNote: I ignored the {{temporary}} notes and the set {{a, b}}.",
    "before an empty object": f"{ANSWER}\n\n{{}} would be wrong here.",
    "after thoughts": f'<think>Maybe {{"operations": []}}? No, there is a fact [release].</think>\n\n{ANSWER}',
    "after thoughts in capitals": f"<THINKING>hm</THINKING>{ANSWER}",
    "after thoughts without a beginning": f'Maybe {{"operations": []}}? No.\n</think>\n{ANSWER}',
    "after two thoughts": f"<think>a</think> <think>{{b</think>{ANSWER}",
    "twice the same": f"{ANSWER}\n\n```json\n{ANSWER}\n```",
    "with a fence inside the text": ANSWER,
    "with unknown fields": ANSWER.replace('"importance"', '"confidence":0.9,"importance"'),
}


@pytest.mark.parametrize("text", AS_MODELS_WRITE_IT.values(), ids=AS_MODELS_WRITE_IT.keys())
def test_the_answer_is_found_wherever_a_model_puts_it(text: str) -> None:
    assert parse_answer(text) == ONE_ADD


def test_a_content_with_fences_braces_and_tags_is_taken_whole() -> None:
    content = 'Write ```json {"a": 1} ``` and <think> in </think> docs.'
    answer = json.dumps({"operations": [{"action": "add", "content": content, "importance": "low"}]})
    assert parse_answer(f"```json\n{answer}\n```") == (Proposed(Add(content=content, importance="low")),)


def test_every_operation_is_read_with_its_quote() -> None:
    operations: list[Json] = [
        {"action": "replace", "entryId": "a", "content": "x", "importance": "high", "quote": "the words"},
        {"action": "merge", "entryIds": ["a", "b"], "content": "x", "importance": "low", "quote": " "},
        {"action": "assess", "entryId": "c", "importance": "normal", "quote": 7},
        {"action": "remove", "entryId": "d"},
    ]
    assert parse_answer(json.dumps({"operations": operations})) == (
        Proposed(Replace(entry_id=EntryId("a"), content="x", importance="high"), "the words"),
        Proposed(Merge(entry_ids=(EntryId("a"), EntryId("b")), content="x", importance="low")),
        Proposed(Assess(entry_id=EntryId("c"), importance="normal")),
        Proposed(Remove(entry_id=EntryId("d"))),
    )


def test_no_operations_are_an_answer() -> None:
    assert parse_answer('{"operations":[]}\n\nNothing durable was found; {} would be wrong here.') == ()


@pytest.mark.parametrize(
    "text", ["", " \n", "<think>only this", '<think>{"operations":[]}', "<think>a</think>\n", "x</think>"]
)
def test_nothing_outside_thoughts_is_an_empty_answer(text: str) -> None:
    assert refusal(text).code == "empty_model_output"


REFUSED = {
    "prose": ("You have reached your monthly usage limit. Raise it to continue.", "no JSON object"),
    "cut off": (ANSWER[:-2] + ',{"action":"add","content":"Second fact that is cut off in t', "cut off"),
    "cut off between operations": (ANSWER[:-2], "cut off"),
    "cut off at once": ("{", "cut off"),
    "nested in a cut object": ('{"result": ' + ANSWER + ', "more": "', "cut off"),
    "broken": ("I am sorry, here is no JSON { operations: oops", "no JSON object"),
    "a list": (f"[{ADD}]", "no operations"),
    "another key": (ANSWER.replace("operations", "memory_operations"), "no operations"),
    "null operations": ('{"operations":null}', "operations is not a list"),
    "texts": ('{"operations":["Release tags are cut from stable."]}', "operations[0] is not an object"),
    "missing fields": ('{"operations":[{"action":"add"}]}', "operations[0].content"),
    "nulls": ('{"operations":[{"action":"add","content":null,"importance":null}]}', "operations[0].content"),
    "no importance": ('{"operations":[{"action":"add","content":"x"}]}', "operations[0].importance"),
    "unknown importance": ('{"operations":[{"action":"add","content":"x","importance":"urgent"}]}', "importance"),
    "unknown action": ('{"operations":[{"action":"UPSERT","content":"x","importance":"low"}]}', "operations[0].action"),
    "ids that are no texts": (
        '{"operations":[{"action":"merge","entryIds":["a",1],"content":"x","importance":"low"}]}',
        "operations[0].entryIds",
    ),
    "half a character": (
        '{"operations":[{"action":"add","content":"\\ud83d","importance":"low"}]}',
        "half a character",
    ),
    "five operations": (json.dumps({"operations": [{"action": "remove", "entryId": "a"}] * 5}), "more than 4"),
    "two answers that differ": (ANSWER + '{"operations":[]}', "several answers"),
    "not a number": ('{"operations":[],"x":NaN}', "broken"),
    "too deep": ('{"a":' * 100_000, "broken"),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_everything_else_is_refused_by_its_place(text: str, message: str) -> None:
    refused = refusal(text)
    assert refused.code == "invalid_model_output"
    assert message in refused.message


def test_a_refusal_never_quotes_the_answer() -> None:
    text = ANSWER.replace("add", "hunter2hunter2").replace("normal", "hunter2hunter2")
    assert "hunter2" not in refusal(text).message


@given(st.text())
def test_no_text_breaks_the_parser(text: str) -> None:
    assert isinstance(parse_answer(text), Refusal | tuple)


@given(st.integers(0, len(ANSWER) - 1))
def test_no_beginning_of_an_answer_is_taken_for_one(length: int) -> None:
    assert isinstance(parse_answer(ANSWER[:length]), Refusal)


def refusal(text: str) -> Refusal:
    parsed = parse_answer(text)
    assert isinstance(parsed, Refusal)
    return parsed
