"""What is common to every API: the text so far, within its bound, and what makes a whole answer none.

Pieces are a stranger's JSON: whatever has not the expected shape counts as not said.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final, Protocol

from curator.model.digest import Json
from curator.model.limits import ANSWER_BYTES_MAX
from curator.model.ports import CallFailure
from curator.reviewer.failures import Mishap, failure_of
from curator.reviewer.normalize import Said


class Ended(enum.Enum):
    """How a model came to its end, whatever the API calls it."""

    DONE = enum.auto()
    LENGTH = enum.auto()
    TOOL = enum.auto()
    REFUSED = enum.auto()
    ERROR = enum.auto()


_NONE: Final = {
    Ended.LENGTH: (Mishap.LENGTH, "the answer was cut off at the limit of its length"),
    Ended.TOOL: (Mishap.TOOL_CALL, "the model called a tool; it has none"),
    Ended.REFUSED: (Mishap.REFUSED, "the model refused to answer, or a filter stopped it"),
    Ended.ERROR: (Mishap.ERROR, "the provider ended the answer with an error"),
}


class Heard(Protocol):
    """Collects one answer."""

    @property
    def is_too_long(self) -> bool:
        """Tell whether it is longer than any answer."""

    @property
    def is_whole(self) -> bool:
        """Tell whether the provider said how the answer ended; without it the answer may be cut anywhere."""

    @property
    def text(self) -> str:
        """Return what the model said so far."""

    @property
    def said(self) -> Said:
        """Return what the answer claims about itself."""

    def take(self, piece: Json, *, is_whole: bool = False) -> None:
        """Take one piece of a stream, or a whole answer."""

    def failure(self) -> CallFailure | None:
        """Return why a whole answer is none, or None where its text may be read."""


class Text:
    """The text of an answer, bounded."""

    def __init__(self) -> None:
        self.is_too_long = False
        self._parts: list[str] = []
        self._size = 0

    def add(self, content: Json) -> None:
        """Take the next words; what is no text is not said."""
        if isinstance(content, str) and not self.is_too_long:
            self._size += len(content.encode("utf-8", "surrogatepass"))
            self.is_too_long = self._size > ANSWER_BYTES_MAX
            self._parts.append(content)

    @property
    def whole(self) -> str:
        """Return all of it. Two halves of a character may have come in two pieces."""
        return "".join(self._parts).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class Collected:
    """What is collected alike from every API: the text, who answered, and what makes an answer none whatever it says."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._text = Text()
        self._called_tool = False
        self._reported_error = False
        self._response_id: Json = None
        self._response_model: Json = None

    @property
    def is_too_long(self) -> bool:
        """Tell whether it is longer than any answer."""
        return self._text.is_too_long

    @property
    def text(self) -> str:
        """Return what the model said so far."""
        return self._text.whole

    def _failure(self, told: Ended) -> CallFailure | None:
        """Return why an answer is none that says it ended so: a call of a tool and an error count for more."""
        ended = Ended.TOOL if self._called_tool else Ended.ERROR if self._reported_error else told
        return failure_of_end(ended, self.text)


def failure_of_end(ended: Ended, text: str) -> CallFailure | None:
    """Return why an answer that ended so is none."""
    if ended in _NONE:
        return failure_of(*_NONE[ended])
    return None if text.strip() else failure_of(Mishap.EMPTY, "the answer is empty")


def inner(value: Mapping[str, Json], key: str) -> Mapping[str, Json]:
    """Return an object inside an object; an empty one where there is none."""
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def objects(value: Json) -> list[dict[str, Json]]:
    """Return the objects of a list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
