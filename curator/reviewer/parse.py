"""From a model's answer to a proposal: exactly what it says, or a typed refusal, never a guess (interop.md 7.2).

A model puts its JSON into fences, after thoughts and among prose. So every JSON object of the text is looked at, and
the answer is the one that has `operations`. An object that is broken or cut off refuses the whole: what is left of it
could be read as an answer that the model never gave.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from typing import Final, NoReturn, TypeAlias, get_args

from curator.model.digest import Json
from curator.model.ids import EntryId
from curator.model.limits import OPERATIONS_MAX
from curator.model.proposal import Add, Assess, Importance, Merge, Operation, Proposed, Remove, Replace


@dataclasses.dataclass(frozen=True, slots=True)
class Refusal:
    """Why an answer is no proposal. The message names a place, never what stands there."""

    code: str
    message: str


Parsed: TypeAlias = tuple[Proposed, ...] | Refusal


class _RefusedError(Exception):
    """Ends the parsing of one answer."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


_MARK: Final = re.compile(r"<(?P<close>/)?think(?:ing)?>|(?P<brace>\{)", re.IGNORECASE)
_THOUGHT_END: Final = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_OBJECT_BEGIN: Final = re.compile(r'\{\s*(?:"|\}|\Z)')
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def parse_answer(text: str) -> Parsed:
    """Return the operations of an answer with the quotes they rest on, or why it has none."""
    if not text.strip():
        return Refusal("empty_model_output", "the answer is empty")
    try:
        objects = _objects(text)
        if objects is None:
            return Refusal("empty_model_output", "the answer has nothing but thoughts")
        return _operations(_answer(objects))
    except _RefusedError as refused:
        return Refusal("invalid_model_output", refused.message)


def _refuse(message: str) -> NoReturn:
    raise _RefusedError(message)


def _objects(text: str) -> list[dict[str, Json]] | None:
    """Return the outermost JSON objects outside thoughts, or None if nothing is outside them."""
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    found: list[dict[str, Json]] = []
    position = outside = 0
    has_rest = False
    while mark := _MARK.search(text, position):
        has_rest = has_rest or bool(text[outside : mark.start()].strip())
        position = outside = mark.end()
        if mark["close"]:
            # Some servers leave out the opening tag: then all before the closing one was thought.
            found, has_rest = [], False
        elif mark["brace"] is None:
            end = _THOUGHT_END.search(text, position)
            if end is None:
                return None
            position = outside = end.end()
        elif _OBJECT_BEGIN.match(text, mark.start()):
            value, position = _decode(decoder, text, mark.start())
            outside, has_rest = position, True
            found.append(value)
        else:
            has_rest = True
    return found if has_rest or text[outside:].strip() else None


def _decode(decoder: json.JSONDecoder, text: str, start: int) -> tuple[dict[str, Json], int]:
    try:
        value, end = decoder.raw_decode(text, start)
    except (ValueError, RecursionError):
        _refuse("the answer holds JSON that is broken or cut off")
    assert isinstance(value, dict)
    return value, end


def _no_constant(_name: str) -> float:
    raise ValueError


def _answer(objects: list[dict[str, Json]]) -> Json:
    """Return the operations of the one object that has them."""
    answers = [value["operations"] for value in objects if "operations" in value]
    if not answers:
        _refuse("the answer has no operations" if objects else "the answer holds no JSON object")
    if any(answer != answers[0] for answer in answers):
        _refuse("the answer holds several answers that differ")
    return answers[0]


def _operations(value: Json) -> tuple[Proposed, ...]:
    if not isinstance(value, list):
        _refuse("operations is not a list")
    if len(value) > OPERATIONS_MAX:
        _refuse(f"operations has more than {OPERATIONS_MAX} items")
    return tuple(_proposed(item, f"operations[{index}]") for index, item in enumerate(value))


def _proposed(value: Json, where: str) -> Proposed:
    if not isinstance(value, dict):
        _refuse(f"{where} is not an object")
    action = value.get("action")
    read = _READERS.get(action) if isinstance(action, str) else None
    if read is None:
        _refuse(f"{where}.action is none of {', '.join(_READERS)}")
    quote = value.get("quote")
    return Proposed(read(_Fields(value, where)), quote if isinstance(quote, str) and quote.strip() else None)


@dataclasses.dataclass(frozen=True, slots=True)
class _Fields:
    """The fields of one operation, by type alone: their content is admission's to judge."""

    value: dict[str, Json]
    where: str

    def text(self, key: str) -> str:
        text = self.value.get(key)
        if not isinstance(text, str):
            _refuse(f"{self.where}.{key} is not a text")
        if _SURROGATE.search(text):
            _refuse(f"{self.where}.{key} holds half a character")
        return text

    def importance(self) -> Importance:
        given = self.value.get("importance")
        for importance in get_args(Importance):
            if given == importance:
                known: Importance = importance
                return known
        _refuse(f"{self.where}.importance is none of {', '.join(get_args(Importance))}")

    def entry_id(self) -> EntryId:
        return EntryId(self.text("entryId"))

    def entry_ids(self) -> tuple[EntryId, ...]:
        ids = self.value.get("entryIds")
        if not isinstance(ids, list) or not all(isinstance(each, str) for each in ids):
            _refuse(f"{self.where}.entryIds is not a list of texts")
        return tuple(EntryId(str(each)) for each in ids)


_READERS: Final[dict[str, Callable[[_Fields], Operation]]] = {
    "add": lambda fields: Add(content=fields.text("content"), importance=fields.importance()),
    "replace": lambda fields: Replace(
        entry_id=fields.entry_id(), content=fields.text("content"), importance=fields.importance()
    ),
    "remove": lambda fields: Remove(entry_id=fields.entry_id()),
    "merge": lambda fields: Merge(
        entry_ids=fields.entry_ids(), content=fields.text("content"), importance=fields.importance()
    ),
    "assess": lambda fields: Assess(entry_id=fields.entry_id(), importance=fields.importance()),
}
