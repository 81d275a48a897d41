"""An answer of the chat completions API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from curator.model.digest import Json
from curator.model.ports import CallFailure
from curator.reviewer.heard.answer import Collected, Ended
from curator.reviewer.normalize import Said

_ENDS: Final = {
    **dict.fromkeys(("stop", "end", "end_turn", "eos", "eos_token"), Ended.DONE),
    **dict.fromkeys(("tool_calls", "function_call"), Ended.TOOL),
    "length": Ended.LENGTH,
    "content_filter": Ended.REFUSED,
}
"""Ways in which servers of this API say how the model came to its end."""


class ChatHeard(Collected):
    """Collects the chunks of one streamed chat completion, or takes a whole one."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        super().__init__()
        self._finish: str | None = None
        self._refused = False
        self._usage: Json = None

    @property
    def said(self) -> Said:
        """Return what the answer claims about itself."""
        return Said(self._usage, self._response_id, self._response_model)

    @property
    def is_whole(self) -> bool:
        """Tell whether the provider said how the answer ended."""
        return self._finish is not None or self._reported_error

    def take(self, piece: Json, *, is_whole: bool = False) -> None:
        """Take one piece of the stream, or a whole answer."""
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
            self._finish = self._finish or ("stop" if is_whole and choices == [] else None)
            return
        # Some servers tell usage inside the choice.
        self._usage = self._usage or choice.get("usage")
        finish = choice.get("finish_reason")
        self._finish = finish if isinstance(finish, str) and finish else self._finish
        said = choice.get("message" if is_whole else "delta")
        if isinstance(said, dict):
            self._hear(said)

    def failure(self) -> CallFailure | None:
        """Return why a whole answer is none, or None where its text may be read."""
        told = _ENDS.get(self._finish or "", Ended.ERROR)
        return self._failure(Ended.REFUSED if self._refused and told is Ended.DONE else told)

    def _hear(self, said: Mapping[str, Json]) -> None:
        self._called_tool = self._called_tool or bool(said.get("tool_calls")) or bool(said.get("function_call"))
        self._refused = self._refused or bool(said.get("refusal"))
        self._text.add(said.get("content"))
