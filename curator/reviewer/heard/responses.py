"""An answer of OpenAI's responses API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from curator.model.digest import Json
from curator.model.ports import CallFailure
from curator.reviewer.heard.answer import Collected, Ended, inner, objects
from curator.reviewer.normalize import Said

_TERMINAL: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})
_CUT: Final = {"max_output_tokens": Ended.LENGTH, "content_filter": Ended.REFUSED}
_TALK: Final = frozenset({"message", "reasoning"})
"""Kinds of output that are no call of a tool."""


class ResponsesHeard(Collected):
    """Collects the events of one streamed response, or takes a whole one. Reasoning is not kept."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        super().__init__()
        self._whole: Mapping[str, Json] | None = None
        self._refused = False

    @property
    def said(self) -> Said:
        """Return what the answer claims about itself."""
        usage = None if self._whole is None else self._whole.get("usage")
        return Said(usage, self._response_id, self._response_model)

    @property
    def is_whole(self) -> bool:
        """Tell whether the provider said how the answer ended."""
        return self._whole is not None or self._reported_error

    def take(self, piece: Json, *, is_whole: bool = False) -> None:
        """Take one piece of the stream, or a whole answer."""
        if not isinstance(piece, dict):
            return
        if is_whole:
            self._take_whole(piece)
            return
        kind = piece.get("type")
        match kind:
            case "response.created" | "response.in_progress":
                self._name(inner(piece, "response"))
            case "response.output_text.delta":
                self._text.add(piece.get("delta"))
            case "response.refusal.delta" | "response.refusal.done":
                self._refused = True
            case "response.output_item.added" | "response.output_item.done":
                self._called_tool = self._called_tool or inner(piece, "item").get("type") not in _TALK
            case "error":
                self._reported_error = True
            case str() if kind in _TERMINAL:
                self._end(inner(piece, "response"))
            case _:
                pass

    def failure(self) -> CallFailure | None:
        """Return why a whole answer is none, or None where its text may be read."""
        return self._failure(self._told_end())

    def _take_whole(self, response: Mapping[str, Json]) -> None:
        if isinstance(response.get("status"), str):
            self._end(response)
        else:
            self._reported_error = bool(response.get("error"))

    def _told_end(self) -> Ended:
        if self._whole is None:
            return Ended.ERROR
        match self._whole.get("status"):
            case "completed":
                return Ended.REFUSED if self._refused else Ended.DONE
            case "incomplete":
                reason = inner(self._whole, "incomplete_details").get("reason")
                return _CUT.get(reason, Ended.ERROR) if isinstance(reason, str) else Ended.ERROR
            case _:
                return Ended.ERROR

    def _end(self, response: Mapping[str, Json]) -> None:
        self._whole = response
        self._name(response)
        items = objects(response.get("output"))
        self._called_tool = self._called_tool or any(item.get("type") not in _TALK for item in items)
        parts = [part for item in items for part in objects(item.get("content"))]
        self._refused = self._refused or any(part.get("type") == "refusal" for part in parts)
        if not self._text.whole:
            # It was not streamed: then the whole stands here alone.
            for part in parts:
                self._text.add(part.get("text") if part.get("type") == "output_text" else None)

    def _name(self, response: Mapping[str, Json]) -> None:
        self._response_id = response.get("id") or self._response_id
        self._response_model = response.get("model") or self._response_model
