"""Made-up sessions by the hundred, from a seed: what Pi writes, in all its versions, and what befalls the files."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable
from typing import Final

from curator.model.digest import Json

SESSIONS: Final = 220
_TEXTS: Final = (
    "Use make check for tests.",
    "Zeile eins.\nZeile zwei.",
    "ein \u00e9 und e\u0301",
    "Tabs\tand \u2028 separators \u2029 and \u00a0 spaces",
    "\U0001f600 \U0001f468\u200d\U0001f469",
    "\u65b0\u805e and \u043f\u0440\u043e\u0435\u043a\u0442",
    "half a pair \ud83d here",
    "<skill name='x'>pasted</skill> and a word of mine",
    'quotes "and" \\ backslashes \\n',
    "",
)
_TOOLS: Final = ("bash", "read", "edit", "mcp__files.list", "odd name", "w\u00e9rkzeug")
_USAGE: Final[dict[str, Json]] = {"input": 100, "output": 20, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 120}


@dataclasses.dataclass(frozen=True, slots=True)
class Made:
    """One session file, and whether Pi reads all of it."""

    name: str
    content: bytes
    version: int
    is_whole: bool


def made_sessions(seed: int = 7, count: int = SESSIONS) -> list[Made]:
    """Return the same sessions for the same seed."""
    return [_made(random.Random(f"{seed}/{number}"), number) for number in range(count)]


def _made(source: random.Random, number: int) -> Made:
    version = (3, 3, 3, 3, 2, 1)[number % 6]
    session = _Session(source, f"session-{number}", version)
    for _ in range(source.randint(1, 40)):
        session.grow()
    separator = b"\r\n" if number % 17 == 0 else b"\n"
    lines = [_written(entry, source) for entry in session.entries]
    content = separator.join(lines) + separator
    damage = _DAMAGES[number % len(_DAMAGES)] if number % 4 == 3 else None
    if damage is not None:
        content = damage(content, source)
    return Made(f"{number:03}.jsonl", content, version, damage is None)


def _written(entry: dict[str, Json], source: random.Random) -> bytes:
    is_escaped = source.random() < 0.1 or any(
        "\ud800" <= char <= "\udfff" for char in json.dumps(entry, ensure_ascii=False)
    )
    return json.dumps(entry, ensure_ascii=is_escaped, separators=(",", ":")).encode()


def _cut(content: bytes, source: random.Random) -> bytes:
    return content[: -source.randint(2, 30)]


def _padded(content: bytes, source: random.Random) -> bytes:
    return content + b"\0" * source.randint(1, 2_000)


def _within(piece: bytes) -> Callable[[bytes, random.Random], bytes]:
    def damage(content: bytes, source: random.Random) -> bytes:
        lines = content.split(b"\n")
        lines.insert(source.randint(1, len(lines) - 1), piece)
        return b"\n".join(lines)

    return damage


def _without_a_line(content: bytes, source: random.Random) -> bytes:
    lines = content.split(b"\n")
    if len(lines) > 3:
        del lines[source.randint(1, len(lines) - 3)]
    return b"\n".join(lines)


def _marked(content: bytes, _source: random.Random) -> bytes:
    return b"\xef\xbb\xbf" + content


_CIRCLE: Final = (
    b'{"type":"message","id":"loop-a","parentId":"loop-b","message":{"role":"user","content":"round"}}\n'
    b'{"type":"message","id":"loop-b","parentId":"loop-a","message":{"role":"user","content":"and round"}}'
)
_DAMAGES: Final = (
    _cut,
    _padded,
    _within(b"\0" * 64),
    _within(b'{"type":"message","id":"to'),
    _within(b"[1, 2]"),
    _within(b'{"type":"message","parentId":null}'),
    _within(_CIRCLE),
    _without_a_line,
    _marked,
    _within(b"\xff\xfe not text"),
)


class _Session:
    """A session that grows as Pi lets it: mostly at its end, sometimes from an older entry, seldom from nothing."""

    def __init__(self, source: random.Random, name: str, version: int) -> None:
        self._source = source
        self._version = version
        head: dict[str, Json] = {"type": "session", "id": name, "timestamp": _at(0), "cwd": "/home/user/proj-a"}
        self.entries: list[dict[str, Json]] = [head if version == 1 else {**head, "version": version}]
        self._ids: list[str] = []

    def grow(self) -> None:
        kind, more = self._source.choice(_KINDS)(self._source, self._ids)
        place: dict[str, Json] = {"timestamp": _at(len(self.entries))}
        if self._version > 1:
            entry_id = f"{self._source.getrandbits(32):08x}"
            place = {"id": entry_id, "parentId": self._parent(), **place}
            self._ids.append(entry_id)
        self.entries.append({"type": kind, **place, **more})

    def _parent(self) -> str | None:
        if not self._ids or self._source.random() < 0.03:
            return None
        return self._source.choice(self._ids) if self._source.random() < 0.15 else self._ids[-1]


def _at(number: int) -> str:
    return f"2026-05-04T10:{number % 60:02}:00.000Z"


def _blocks(source: random.Random) -> Json:
    texts: list[Json] = [{"type": "text", "text": source.choice(_TEXTS)} for _ in range(source.randint(0, 2))]
    return source.choice(_TEXTS) if source.random() < 0.2 else texts


def _user(source: random.Random, _ids: list[str]) -> tuple[str, dict[str, Json]]:
    image: Json = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
    said = _blocks(source)
    content: Json = [*said, image] if isinstance(said, list) and source.random() < 0.2 else said
    return "message", {"message": {"role": "user", "content": content, "timestamp": 1_777_888_801_000}}


def _assistant(source: random.Random, _ids: list[str]) -> tuple[str, dict[str, Json]]:
    call: Json = {"type": "toolCall", "id": "call_1", "name": source.choice(_TOOLS), "arguments": {"path": "a/b"}}
    said = _blocks(source)
    content: Json = [{"type": "thinking", "thinking": "hm"}, *(said if isinstance(said, list) else []), call]
    usage: dict[str, Json] = {"usage": dict(_USAGE)} if source.random() < 0.7 else {}
    return "message", {"message": {"role": "assistant", "content": content, **usage, "stopReason": "stop"}}


def _tool(source: random.Random, _ids: list[str]) -> tuple[str, dict[str, Json]]:
    about: dict[str, Json] = {"role": "toolResult", "toolCallId": "call_1", "toolName": source.choice(_TOOLS)}
    details: dict[str, Json] = {"details": {"diff": "+a"}} if source.random() < 0.2 else {}
    ending: dict[str, Json] = {"isError": source.random() < 0.2, "timestamp": 1_777_888_801_000}
    return "message", {"message": {**about, "content": _blocks(source), **details, **ending}}


def _role(name: str) -> Callable[[random.Random, list[str]], tuple[str, dict[str, Json]]]:
    def make(source: random.Random, _ids: list[str]) -> tuple[str, dict[str, Json]]:
        return "message", {"message": {"role": name, "content": source.choice(_TEXTS), "sections": {"cwd": "/home"}}}

    return make


def _plain(kind: str, /, **more: Json) -> Callable[[random.Random, list[str]], tuple[str, dict[str, Json]]]:
    def make(_source: random.Random, ids: list[str]) -> tuple[str, dict[str, Json]]:
        named = {key: (ids[-1] if ids else "none") if value == "@last" else value for key, value in more.items()}
        return kind, named

    return make


_SKILL: Final[Json] = {"names": ["release", "lint\u2028er"]}
_KINDS: Final = (
    *(_user,) * 4,
    *(_assistant,) * 5,
    *(_tool,) * 5,
    _role("system"),
    _role("custom"),
    _role("hookMessage"),
    _role("bashExecution"),
    _role("somethingNew"),
    _plain("compaction", summary="What was said before.", firstKeptEntryId="@last", tokensBefore=5_000),
    _plain("branch_summary", summary="The other way.", fromId="@last"),
    _plain("label", targetId="@last", label="here"),
    _plain("custom", customType="no-forgetti-project-skill-use", data=_SKILL),
    _plain("custom", customType="someone-elses", data={"count": 1}),
    _plain("custom_message", customType="someone-elses", content="injected", display=True),
    _plain("session_info", name="A name"),
    _plain("model_change", provider="made-up", modelId="one"),
    _plain("thinking_level_change", thinkingLevel="high"),
    _plain("context_edit", targetId="@last", replacement=None),
    _plain("usage", kind="cache_warm", provider="made-up", model="one", usage=dict(_USAGE)),
    _plain("something_new", payload=[1, 2]),
)
