"""A made-up session as Pi writes it: four fifths of its bytes are what tools printed, most of the rest is an assistant's.

By bytes: tool results 73 %, assistants 26 % (a seventh of it text; thinking, tool calls and usage the rest), users 1 %.
The words are drawn, but the text is of the kinds that are met: code, logs, listings, prose with paths, lists and pieces
of code. One word in two hundred, `token`, makes redaction look twice, as in conversations that people had.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from curator.model.digest import Json

_VOCABULARY: Final = (
    "the a of to and in is that for it was on are as with be at this have from or an by not but what all were when we"
    " there can use your which said if do will each about how up out them then she many some so these would other into"
    " has more her two like him see time could no make than first been its who now people my made over did down only way"
    " find may water long little very after words called just where most know parser buffer session request branch commit"
    " deploy config module handler timeout retry cache index migrate schema token work part take place good new give any"
    " same tell does set three want air well also play small end put home read hand port large spell add even land here"
    " must big high such follow act why ask men change went light kind off need house picture try us again animal point"
    " mother world near build self earth father worker queue thread stack trace error warning failure success result"
    " value field column table record entry window event signal update insert delete select filter group order limit"
)
_WORDS: Final = _VOCABULARY.split(" ")
_CODE: Final = (
    "    def {a}_{b}(self, {c}: int) -> None:",
    '        raise ValueError(f"unexpected {a} in {{{b}}}")',
    "        return [{a}.{b} for {a} in self._{c} if {a} is not None]",
    "    const {a} = await {b}({{ path: './{c}/index.ts', retries: 3 }});",
    "import {{ {a}, {b} }} from '../{c}.js';",
    "  {a}: {b}  # {c}",
    "\tif err := {a}.{b}(ctx, {c}); err != nil {{",
)
_LOG: Final = (
    "2026-03-{d:02d}T10:{e:02d}:11.201Z INFO  {a}.{b} finished {c} in {d}ms",
    "-rw-r--r-- 1 user user {e}{d} Mar {d} 10:{e:02d} src/{a}/{b}_{c}.py",
    "tests/{a}/test_{b}.py::test_{c} PASSED [{e:3d}%]",
    "src/{a}/{b}.ts:{d}:{e}: {c} {a} {b}",
)


def write_session(path: Path, size: int, seed: int = 1, cwd: str = "/home/user/project") -> None:
    """Write a session of at least `size` bytes."""
    with path.open("wb") as file:
        written = 0
        for line in session_lines(seed, cwd):
            written += file.write(line)
            if written >= size:
                return


def session_lines(seed: int, cwd: str) -> Iterator[bytes]:
    """Yield the lines of a session that never ends."""
    yield _line({"type": "session", "version": 3, "id": f"made-{seed}", "timestamp": _at(0), "cwd": cwd})
    talk = _Talk(random.Random(seed))
    while True:
        yield talk.user()
        for _ in range(talk.random.randint(2, 12)):
            yield talk.assistant(has_call=True)
            yield talk.tool()
        yield talk.assistant(has_call=False)


class _Talk:
    def __init__(self, source: random.Random) -> None:
        self.random = source
        self._number = 0
        self._parent: str | None = None
        # Drawing each line anew would take longer than reading it: ten thousand stand ready.
        self._printed = [self._print(self.random.choice((_CODE, _CODE, _LOG))) for _ in range(10_000)]
        self._said = [self._say() for _ in range(10_000)]

    def user(self) -> bytes:
        return self._message({"role": "user", "content": [{"type": "text", "text": self._prose(1, 4)}]})

    def assistant(self, *, has_call: bool) -> bytes:
        said: list[Json] = [{"type": "thinking", "thinking": self._prose(2, 8), "thinkingSignature": "x" * 300}]
        if not has_call or self.random.random() < 0.6:
            said.append({"type": "text", "text": self._prose(1, 6) if has_call else self._prose(6, 20)})
        if has_call:
            arguments: Json = {"command": self._prose(1, 2), "path": "src/app/main.py", "edits": self._lines(0, 8)}
            said.append({"type": "toolCall", "id": f"call_{self._number}", "name": "bash", "arguments": arguments})
        counts: dict[str, Json] = {"input": 1200, "output": 310, "cacheRead": 40_000, "cacheWrite": 900}
        cost: Json = {"input": 0.0036, "output": 0.00465, "cacheRead": 0.012, "cacheWrite": 0.0033, "total": 0.02355}
        usage: Json = {**counts, "totalTokens": 42_410, "cost": cost}
        about: dict[str, Json] = {"api": "anthropic-messages", "provider": "anthropic", "model": "made-up-1"}
        ending: dict[str, Json] = {"stopReason": "toolUse" if has_call else "stop", "timestamp": 1_777_888_801_000}
        return self._message({"role": "assistant", "content": said, **about, "usage": usage, **ending})

    def tool(self) -> bytes:
        text = self._lines(5, 60) if self.random.random() < 0.7 else self._lines(60, 500)
        about: dict[str, Json] = {"toolCallId": f"call_{self._number}", "toolName": "bash"}
        said: Json = [{"type": "text", "text": text}]
        return self._message({"role": "toolResult", **about, "content": said, "isError": self.random.random() < 0.1})

    def _message(self, message: Json) -> bytes:
        self._number += 1
        entry_id, parent = f"{self._number:08x}", self._parent
        self._parent = entry_id
        place: dict[str, Json] = {"id": entry_id, "parentId": parent, "timestamp": _at(self._number)}
        return _line({"type": "message", **place, "message": message})

    def _print(self, kinds: tuple[str, ...]) -> str:
        a, b, c = (self.random.choice(_WORDS) for _ in range(3))
        numbers = {"d": self.random.randint(1, 28), "e": self.random.randint(0, 59)}
        return self.random.choice(kinds).format(a=a, b=b, c=c, **numbers)

    def _say(self) -> str:
        words = [self.random.choice(_WORDS) for _ in range(self.random.randint(6, 18))]
        a, b, c = words[:3]
        odd = (f"`src/{a}/{b}.py`", f"`{a}_{b}()`", f"**{a}**:", f"({c} {self.random.randint(2, 900)})", f"{a}: {b},")
        if self.random.random() < 0.5:
            words.insert(3, self.random.choice(odd))
        return f"{' '.join(words).capitalize()}."

    def _prose(self, low: int, high: int) -> str:
        """Return sentences, some as a list, some with a piece of code after them."""
        joint = self.random.choice((" ", " ", "\n- ", "\n\n"))
        said = joint.join(self.random.choices(self._said, k=self.random.randint(low, high)))
        return f"{said}\n\n```\n{self._lines(2, 8)}\n```" if self.random.random() < 0.1 else said

    def _lines(self, low: int, high: int) -> str:
        return "\n".join(self.random.choices(self._printed, k=self.random.randint(low, high)))


def _at(number: int) -> str:
    minutes, seconds = divmod(number % 86_400, 60)
    return f"2026-03-{1 + number // 86_400 % 28:02}T{minutes // 60:02}:{minutes % 60:02}:{seconds:02}.000Z"


def _line(value: Json) -> bytes:
    # Node writes what is not ASCII as it is.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
