"""Every failure code that can be produced has its sentence: the source is read for them, so none can be forgotten."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import curator
from curator.errors import CuratorError, ReviewerSetupError
from curator.workflow.inspect.codes import MEANINGS, meaning_of
from curator.workflow.retry import CONFIGURATION_CODES

ROOT: Final = Path(curator.__file__).parent
PLACES: Final = {
    "CallFailure": 0,
    "Missed": 0,
    "Waits": 0,
    "Ended": 0,
    "ReviewerSetupError": 0,
    "Refusal": 0,
    "Row": 0,
    "close_failed": 1,
    "Retrying": 2,
}
"""Where a code is handed on, and as which argument."""


def codes_in(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args) if name in PLACES:
                values: list[ast.expr] = args[PLACES[name] : PLACES[name] + 1]
            case ast.Assign(targets=[ast.Name(id="code")], value=value):
                values = [value]
            case _:
                continue
        yield from (code for value in values for code in _literals(value))


def _literals(value: ast.expr) -> Iterator[str]:
    match value:
        case ast.Constant(value=str(code)):
            yield code
        case ast.IfExp(body=body, orelse=orelse):
            yield from (*_literals(body), *_literals(orelse))
        case ast.BoolOp(values=values):
            for each in values:
                yield from _literals(each)
        case _:
            return


def produced() -> set[str]:
    places = [path for room in ("workflow", "reviewer") for path in (ROOT / room).rglob("*.py")]
    return {code for path in places for code in codes_in(path.read_text("utf-8"))}


def errors(cls: type[CuratorError] = CuratorError) -> Iterator[type[CuratorError]]:
    yield cls
    for below in cls.__subclasses__():
        yield from errors(below)


def test_no_code_is_without_a_sentence_and_a_next_step() -> None:
    assert produced() >= {"auth_unavailable", "model_timeout", "provider_error", "invalid_proposal", "cancelled"}
    # A reviewer's set-up error carries the protocol's code instead of its class's.
    of_errors = {cls.code for cls in errors() if cls is not ReviewerSetupError and cls.__module__ == "curator.errors"}
    assert sorted((produced() | of_errors | CONFIGURATION_CODES) - set(MEANINGS)) == []


def test_the_search_finds_a_planted_code() -> None:
    planted = 'Missed("made_up", kind)\nWaits("one" if x else y or "two", None)\ncode = "three" if x else "four"\n'

    assert set(codes_in(planted)) == {"made_up", "one", "two", "three", "four"}


@pytest.mark.parametrize("code", MEANINGS)
def test_each_sentence_can_be_followed_by_another(code: str) -> None:
    meaning = MEANINGS[code]

    assert meaning_of(code) == meaning
    assert [text for text in (meaning.fact, meaning.remedy) if text[-1] in ".!?" or "\n" in text] == []


def test_a_code_of_another_worker_has_no_meaning_here() -> None:
    assert meaning_of("made_up_by_another_worker") is None
