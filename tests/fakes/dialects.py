"""The three APIs of the fake provider: how each tells one answer, whole or piece by piece."""

import dataclasses
import json
from collections.abc import Iterator
from typing import TypeAlias, cast

from curator.model.digest import Json

Frame: TypeAlias = dict[str, Json]


@dataclasses.dataclass(frozen=True, slots=True)
class Told:
    """One answer, before it is put into the words of an API."""

    number: int
    model: Json
    text: str
    calls: list[Json]
    mode: str
    size: int
    """How many tokens the prompt counts for."""

    @property
    def usage(self) -> tuple[int, int] | None:
        return None if self.mode == "nousage" else (self.size, max(1, len(self.text) // 4))


class Chat:
    """Chat completions."""

    ending = b"data: [DONE]\n\n"
    broken = b'data: {"choices":[{"delta":{"content": \n\n'

    def whole(self, told: Told) -> Frame:
        message: Frame = {"role": "assistant", "content": told.text} | (
            {"tool_calls": told.calls} if told.calls else {}
        )
        if told.mode == "refusal":
            message["refusal"] = "I will not."
        choice: Json = {"index": 0, "message": message, "finish_reason": self._finish(told)}
        return self._base(told) | {"choices": [choice]} | self._usage(told)

    def opening(self, told: Told) -> Iterator[Frame]:
        yield self._chunk(told, {"role": "assistant", "content": ""})

    def piece(self, told: Told, text: str) -> Frame:
        return self._chunk(told, {"content": text})

    def closing(self, told: Told) -> Iterator[Frame]:
        if told.calls:
            yield self._chunk(told, {"tool_calls": told.calls})
        if told.mode == "refusal":
            yield self._chunk(told, {"refusal": "I will not."})
        yield self._chunk(told, {}, self._finish(told))
        if told.usage:
            yield self._base(told) | {"choices": []} | self._usage(told)

    def _base(self, told: Told) -> Frame:
        return {"id": f"chatcmpl-fake-{told.number}", "created": 0, "model": told.model}

    def _chunk(self, told: Told, delta: Frame, finish: str | None = None) -> Frame:
        return self._base(told) | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    def _usage(self, told: Told) -> Frame:
        if told.usage is None:
            return {}
        return {"usage": {"prompt_tokens": told.usage[0], "completion_tokens": told.usage[1]}}

    def _finish(self, told: Told) -> str:
        return "length" if told.mode == "length" else "tool_calls" if told.calls else "stop"


class Messages:
    """Anthropic's messages."""

    ending = b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
    broken = b'event: content_block_delta\ndata: {"type": \n\n'

    def whole(self, told: Told) -> Frame:
        content: list[Json] = [{"type": "text", "text": told.text}, *map(self._call, told.calls)]
        more: Frame = {"content": content, "stop_reason": self._stop(told)}
        usage = told.usage or (0, 0)
        return self._message(told) | more | {"usage": {"input_tokens": usage[0], "output_tokens": usage[1]}}

    def opening(self, told: Told) -> Iterator[Frame]:
        usage: Json = {"input_tokens": told.usage[0], "output_tokens": 1} if told.usage else None
        yield {"type": "message_start", "message": self._message(told) | {"usage": usage}}
        yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}

    def piece(self, _told: Told, text: str) -> Frame:
        return {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}

    def closing(self, told: Told) -> Iterator[Frame]:
        yield {"type": "content_block_stop", "index": 0}
        for index, call in enumerate(told.calls, 1):
            yield {"type": "content_block_start", "index": index, "content_block": self._call(call)}
            yield {"type": "content_block_stop", "index": index}
        usage: Json = {"output_tokens": told.usage[1]} if told.usage else None
        yield {"type": "message_delta", "delta": {"stop_reason": self._stop(told)}, "usage": usage}

    def _message(self, told: Told) -> Frame:
        return {
            "id": f"msg_fake_{told.number}",
            "type": "message",
            "role": "assistant",
            "model": told.model,
            "content": [],
        }

    def _call(self, call: Json) -> Json:
        assert isinstance(call, dict)
        return {"type": "tool_use", "id": call["id"], "name": "bash", "input": {}}

    def _stop(self, told: Told) -> str:
        ends = {"length": "max_tokens", "refusal": "refusal"}
        return "tool_use" if told.calls else ends.get(told.mode, "end_turn")


class Responses:
    """OpenAI's responses."""

    ending = b""
    broken = b'event: response.output_text.delta\ndata: {"type": \n\n'

    def whole(self, told: Told) -> Frame:
        is_cut = told.mode == "length"
        kind, word = ("refusal", "refusal") if told.mode == "refusal" else ("output_text", "text")
        parts: Json = [{"type": kind, word: told.text}]
        message: Json = {"type": "message", "id": "item_1", "role": "assistant", "content": parts}
        call: Json = {"type": "function_call", "name": "bash"}
        output: list[Json] = [message, *([call] * len(told.calls))]
        more: Frame = {"status": "incomplete" if is_cut else "completed", "output": output}
        if is_cut:
            more["incomplete_details"] = {"reason": "max_output_tokens"}
        if told.usage:
            more["usage"] = {"input_tokens": told.usage[0], "output_tokens": told.usage[1]}
        return self._response(told) | more

    def opening(self, told: Told) -> Iterator[Frame]:
        yield {"type": "response.created", "response": self._response(told)}
        item: Json = {"type": "message", "id": "item_1", "role": "assistant", "content": []}
        yield {"type": "response.output_item.added", "output_index": 0, "item": item}
        part: Json = {"type": "output_text", "text": "", "annotations": []}
        yield {"type": "response.content_part.added", "output_index": 0, "item_id": "item_1", "part": part}

    def piece(self, _told: Told, text: str) -> Frame:
        return {"type": "response.output_text.delta", "output_index": 0, "item_id": "item_1", "delta": text}

    def closing(self, told: Told) -> Iterator[Frame]:
        whole = self.whole(told)
        output = whole["output"]
        assert isinstance(output, list)
        yield {"type": "response.output_item.done", "output_index": 0, "item": output[0]}
        kind = "response.incomplete" if told.mode == "length" else "response.completed"
        yield {"type": kind, "response": whole}

    def _response(self, told: Told) -> Frame:
        return {"id": f"resp_fake_{told.number}", "object": "response", "model": told.model, "output": []}


Dialect: TypeAlias = Chat | Messages | Responses


def dialect_of(path: str) -> Dialect:
    """Return in which words a path is answered."""
    return Messages() if path.endswith("/messages") else Responses() if path.endswith("/responses") else Chat()


def encoded(frame: Frame) -> bytes:
    """Return a frame of a stream; an event has its name in front, where it has one."""
    name = frame.get("type")
    return (f"event: {name}\n" if name else "").encode() + b"data: " + json.dumps(frame).encode() + b"\n\n"


def system_of(body: Frame) -> str:
    """Return what a request says as the system, whatever the API."""
    messages = cast("list[Frame]", body.get("messages") or [])
    system = [each.get("content") for each in messages if each.get("role") in ("system", "developer")]
    return " ".join(str(each) for each in (*system, body.get("system"), body.get("instructions"), _inputs(body)))


def _inputs(body: Frame) -> Json:
    given = body.get("input")
    said = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    return [each.get("content") for each in said if each.get("role") in ("system", "developer")]


def prompt_of(body: Frame) -> str:
    """Return what a request's tokens are counted from."""
    return json.dumps([body.get("messages"), body.get("input")])
