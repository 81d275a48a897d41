"""An answer of Anthropic's messages API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from curator.model.digest import Json
from curator.model.ports import CallFailure
from curator.reviewer.heard.answer import Collected, Ended, inner, objects
from curator.reviewer.normalize import Said

_ENDS: Final = {
    "end_turn": Ended.DONE,
    "stop_sequence": Ended.DONE,
    "max_tokens": Ended.LENGTH,
    "model_context_window_exceeded": Ended.LENGTH,
    "tool_use": Ended.TOOL,
    "refusal": Ended.REFUSED,
}


class MessagesHeard(Collected):
    """Collects the events of one streamed message, or takes a whole one. Thoughts are not kept."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        super().__init__()
        self._stop_reason: Json = None
        self._is_over = False
        self._usage: dict[str, Json] = {}

    @property
    def said(self) -> Said:
        """Return what the answer claims about itself."""
        return Said(dict(self._usage), self._response_id, self._response_model)

    @property
    def is_whole(self) -> bool:
        """Tell whether the provider said how the answer ended."""
        return self._is_over

    def take(self, piece: Json, *, is_whole: bool = False) -> None:
        """Take one piece of the stream, or a whole answer."""
        if not isinstance(piece, dict):
            return
        if is_whole:
            self._take_message(piece)
            self._is_over = piece.get("type") in ("message", "error")
            self._reported_error = piece.get("type") == "error"
            return
        match piece.get("type"):
            case "message_start":
                self._take_message(inner(piece, "message"))
            case "content_block_start":
                self._take_block(inner(piece, "content_block"))
            case "content_block_delta":
                self._text.add(inner(piece, "delta").get("text"))
            case "message_delta":
                self._stop_reason = inner(piece, "delta").get("stop_reason") or self._stop_reason
                self._count(inner(piece, "usage"))
            case "message_stop":
                self._is_over = True
            case _:
                pass

    def failure(self) -> CallFailure | None:
        """Return why a whole answer is none, or None where its text may be read."""
        reason = self._stop_reason
        return self._failure(_ENDS.get(reason, Ended.ERROR) if isinstance(reason, str) else Ended.ERROR)

    def _take_message(self, message: Mapping[str, Json]) -> None:
        self._response_id, self._response_model = message.get("id"), message.get("model")
        self._stop_reason = message.get("stop_reason")
        self._count(inner(message, "usage"))
        for block in objects(message.get("content")):
            self._take_block(block)

    def _take_block(self, block: Mapping[str, Json]) -> None:
        kind = block.get("type")
        self._called_tool = self._called_tool or (isinstance(kind, str) and kind.endswith("tool_use"))
        if kind == "text":
            self._text.add(block.get("text"))

    def _count(self, usage: Mapping[str, Json]) -> None:
        # The counts of the end are cumulative, and leave out what has not changed.
        self._usage |= {name: value for name, value in usage.items() if value is not None}
