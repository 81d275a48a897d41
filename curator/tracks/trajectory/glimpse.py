"""Most lines of a session, taken without parsing all of them: what tools printed, and what an assistant's answer cost.

A tool's result is taken by how its line begins and ends: what the tool printed is for nobody to see, and is most of a
session. Of an assistant's answer the content is parsed, and behind it only the sum of its tokens looked for. A line that
may be two, or has NUL bytes in it, is left to be parsed in full, and so is any other spelling than Pi's own.
"""

from __future__ import annotations

import dataclasses
import re
from functools import lru_cache
from typing import Final

from curator.model.digest import Json
from curator.pi.evidence import section_of
from curator.pi.session import Kind, is_pis_content
from curator.pi.stream import load_first
from curator.tracks.trajectory.entry import HEARD_CHARS_MAX, Said, clean_text, is_day

_PLACE: Final = (
    rb'\{"type":"message","id":"([A-Za-z0-9][A-Za-z0-9._:-]{0,255})","parentId":(?:null|"([A-Za-z0-9._:-]{1,256})"),'
    rb'"timestamp":"([0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z)","message":'
)
_TOOL_BEGINS: Final = re.compile(
    _PLACE
    + rb'\{"role":"toolResult","toolCallId":"[^"\\\x00-\x1f]{0,512}","toolName":"([A-Za-z0-9_.-]{1,128})","content":\['
)
_TOOL_ENDS: Final = re.compile(rb'[\]}],"isError":(true|false)(?:,"timestamp":[0-9]{1,16})?\}\}\r?\n')
_ANSWER_BEGINS: Final = re.compile(_PLACE + rb'\{"role":"assistant","content":(?=\[)')
_ENDS: Final = (b"}}\n", b"}}\r\n")
_TOKENS: Final = re.compile(r'"totalTokens":([0-9]{1,15})[,}]')
_USAGE: Final = '"usage":{"'
_TAIL_BYTES: Final = 64
_AGAIN: Final = b'"parentId":'
"""What a second message holds: inside a string no quote stands bare, and so this is no text of the first."""
_NUL: Final = b"\0"


@dataclasses.dataclass(slots=True)
class Answer:
    """An assistant's answer, with its text as it was said."""

    said: Said
    tokens: int | None
    """What it says that it cost, if it does."""
    is_pis: bool
    """Whether all of its content is of Pi's kinds."""


def glimpse_tool(raw: bytes) -> Said | None:
    """Return what a whole line of a tool's result says, clean, where its beginning and its end tell it."""
    begins = _TOOL_BEGINS.match(raw)
    if begins is None:
        return None
    ends = _TOOL_ENDS.fullmatch(raw, raw.rfind(b',"isError":', -_TAIL_BYTES) - 1)
    # Two lines in one are what a writer leaves that died.
    if ends is None or _NUL in raw or raw.find(_AGAIN, begins.end()) >= 0:
        return None
    entry_id, parent, at, name = begins.groups()
    said = _placed(entry_id, parent, at)
    said.role, said.text = "tool", _tool(name.decode(), is_error=ends.group(1) == b"true")
    return said


def glimpse_answer(raw: bytes) -> Answer | None:
    """Return what a whole line of an assistant says, where its beginning tells its place and its content can be read."""
    begins = _ANSWER_BEGINS.match(raw)
    if begins is None or not raw.endswith(_ENDS) or _NUL in raw or raw.find(_AGAIN, begins.end()) >= 0:
        return None
    try:
        text = raw.decode()
        # What comes before is ASCII, so that bytes and characters count alike.
        content, end = load_first(text, begins.end())
    except (ValueError, RecursionError):
        return None
    usage = text.find(_USAGE, end)
    total = _TOKENS.search(text, usage) if usage >= 0 else None
    message: Json = {"content": content}
    said = _placed(*begins.groups())
    text = section_of(Kind.ASSISTANT, {"message": message})
    said.role, said.text = "assistant", text[:HEARD_CHARS_MAX]
    return Answer(said, int(total.group(1)) if total is not None else None, is_pis_content(message))


def _placed(entry_id: bytes, parent: bytes | None, at: bytes) -> Said:
    time = at.decode()
    return Said(
        entry_id.decode(),
        None if parent is None else parent.decode(),
        time if is_day(time[:10]) else None,
        "other",
        "",
    )


@lru_cache(maxsize=1024)
def _tool(name: str, *, is_error: bool) -> str:
    message: Json = {"toolName": name, "isError": is_error}
    return clean_text(section_of(Kind.TOOL_RESULT, {"message": message}))
