"""What arrives of a model's answer, piece by piece, and what the whole of it is.

Pieces are a stranger's JSON: whatever has not the expected shape counts as not said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from curator.model.digest import Json
from curator.model.limits import ANSWER_BYTES_MAX
from curator.model.ports import CallFailure, Class
from curator.reviewer.normalize import Said

_DONE: Final = frozenset({"stop", "end", "end_turn", "eos", "eos_token"})
"""Ways in which servers of this API say that the model came to its end by itself."""
_TOOL_USE: Final = frozenset({"tool_calls", "function_call"})


class Heard:
    """Collects the chunks of one streamed chat completion, or takes a whole one."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self.is_too_long = False
        self._parts: list[str] = []
        self._size = 0
        self._finish: str | None = None
        self._called_tool = False
        self._reported_error = False
        self._usage: Json = None
        self._response_id: Json = None
        self._response_model: Json = None

    @property
    def text(self) -> str:
        """Return what the model said so far. Two halves of a character may have come in two pieces."""
        return "".join(self._parts).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    @property
    def said(self) -> Said:
        """Return what the answer claims about itself."""
        return Said(self._usage, self._response_id, self._response_model)

    @property
    def is_whole(self) -> bool:
        """Tell whether the provider said how the answer ended; without it the answer may be cut anywhere."""
        return self._finish is not None or self._reported_error

    def take(self, piece: Json, part: str = "delta") -> None:
        """Take one chunk of a stream, or with `part="message"` a whole completion."""
        if not isinstance(piece, dict):
            return
        self._response_id = self._response_id or piece.get("id")
        self._response_model = self._response_model or piece.get("model")
        self._usage = piece.get("usage") or self._usage
        self._reported_error = self._reported_error or bool(piece.get("error"))
        choices = piece.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            # A whole completion without any choice is an answer too: an empty one.
            self._finish = self._finish or ("stop" if part == "message" and choices == [] else None)
            return
        # Some servers tell usage inside the choice.
        self._usage = self._usage or choice.get("usage")
        finish = choice.get("finish_reason")
        self._finish = finish if isinstance(finish, str) and finish else self._finish
        said = choice.get(part)
        if isinstance(said, dict):
            self._hear(said)

    def failure(self) -> CallFailure | None:
        """Return why a whole answer is none, or None where its text may be read."""
        if self._called_tool or self._finish in _TOOL_USE:
            return CallFailure("unexpected_tool_use", Class.RETRY, "the model called a tool; it has none")
        if self._finish == "length":
            return CallFailure("output_truncated", Class.RETRY, "the answer was cut off at the limit of its length")
        if self._reported_error or self._finish not in _DONE:
            return CallFailure("provider_error", Class.RETRY, "the provider ended the answer with an error")
        if not self.text.strip():
            return CallFailure("empty_model_output", Class.RETRY, "the answer is empty")
        return None

    def _hear(self, said: Mapping[str, Json]) -> None:
        self._called_tool = self._called_tool or bool(said.get("tool_calls")) or bool(said.get("function_call"))
        content = said.get("content")
        if isinstance(content, str) and not self.is_too_long:
            self._size += len(content.encode("utf-8", "surrogatepass"))
            self.is_too_long = self._size > ANSWER_BYTES_MAX
            self._parts.append(content)
