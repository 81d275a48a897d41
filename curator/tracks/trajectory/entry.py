"""One entry of a session as a node needs it: its place, its time, who speaks, and what may be kept of it.

A tool's result is taken by how its line begins and ends. What the tool printed is for nobody to see, and is most of a
session: it is not even parsed. A line that may be two, or has NUL bytes in it, is read in full, and so is any other
spelling than Pi's own.
"""

from __future__ import annotations

import dataclasses
import re
from functools import lru_cache
from typing import Final

from curator.model.digest import Json
from curator.model.ids import SAFE_ID_PATTERN
from curator.model.limits import NODE_CHARS_MAX
from curator.model.times import is_iso
from curator.model.trajectory import Role
from curator.pi.evidence import clean_within, section_of
from curator.pi.session import Kind, kind_of

_ROLES: Final[dict[Kind, Role]] = {
    Kind.USER: "user",
    Kind.ASSISTANT: "assistant",
    Kind.TOOL_RESULT: "tool",
    Kind.COMPACTION: "summary",
    Kind.CUSTOM: "skills",
    Kind.OTHER: "other",
}
_TOOL_BEGINS: Final = re.compile(
    rb'\{"type":"message","id":"([A-Za-z0-9][A-Za-z0-9._:-]{0,255})","parentId":(?:null|"([A-Za-z0-9._:-]{1,256})"),'
    rb'"timestamp":"([0-9TZ:.-]{24})","message":\{"role":"toolResult","toolCallId":"[^"\\\x00-\x1f]{0,512}",'
    rb'"toolName":"([A-Za-z0-9_.-]{1,128})","content":\['
)
_TOOL_ENDS: Final = re.compile(rb'[\]}],"isError":(true|false)(?:,"timestamp":[0-9]{1,16})?\}\}\r?\n')
_TAIL_BYTES: Final = 64
_AGAIN: Final = b'{"type":"message","id":"'
_NUL: Final = b"\0"


@dataclasses.dataclass(slots=True)
class Said:
    """One entry. `parent_id` names another entry of the same session, or nothing."""

    id: str
    parent_id: str | None
    at: str | None
    role: Role
    text: str


def read_entry(value: dict[str, Json]) -> Said | None:
    """Return what a parsed line says, or None if it is not an entry.

    A bookmark (`label`) is one as well, with the role `other`; see `is_bookmark`.
    """
    kind_name, entry_id, parent, at = value.get("type"), value.get("id"), value.get("parentId"), value.get("timestamp")
    if not isinstance(kind_name, str) or not isinstance(entry_id, str) or not SAFE_ID_PATTERN.fullmatch(entry_id):
        return None
    kind = kind_of(kind_name, value)
    text = "" if kind is Kind.OTHER else section_of(kind, value)
    role: Role = "other" if kind is Kind.CUSTOM and not text else _ROLES[kind]
    return Said(
        id=entry_id,
        parent_id=parent if isinstance(parent, str) and parent else None,
        at=usable_time(at),
        role=role,
        text=clean_within(text, NODE_CHARS_MAX) if text else "",
    )


def is_bookmark(value: dict[str, Json]) -> bool:
    """Say whether an entry only marks another one. It gets no node: what follows it follows what it follows."""
    return value.get("type") == "label"


def glimpse_tool(raw: bytes) -> Said | None:
    """Return what a whole line of a tool's result says, where its beginning and its end tell it."""
    begins = _TOOL_BEGINS.match(raw)
    if begins is None:
        return None
    ends = _TOOL_ENDS.fullmatch(raw, raw.rfind(b',"isError":', -_TAIL_BYTES) - 1)
    # Two lines in one are what a writer leaves that died, and inside a string no quote stands bare.
    if ends is None or _NUL in raw or raw.find(_AGAIN, 1) >= 0:
        return None
    entry_id, parent, at, name = begins.groups()
    return Said(
        id=entry_id.decode(),
        parent_id=None if parent is None else parent.decode(),
        at=usable_time(at.decode()),
        role="tool",
        text=_tool(name.decode(), is_error=ends.group(1) == b"true"),
    )


def usable_time(at: Json) -> str | None:
    """Return a time as it stands, where it is in Pi's spelling."""
    if not isinstance(at, str) or not _SPELLED.fullmatch(at):
        return None
    return at if _is_day(at[:10]) else None


_SPELLED: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z")


@lru_cache(maxsize=64)
def _is_day(day: str) -> bool:
    return is_iso(f"{day}T00:00:00.000Z")


@lru_cache(maxsize=1024)
def _tool(name: str, *, is_error: bool) -> str:
    message: Json = {"toolName": name, "isError": is_error}
    return clean_within(section_of(Kind.TOOL_RESULT, {"message": message}), NODE_CHARS_MAX)
