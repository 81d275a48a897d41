"""One entry of a session as a node needs it: its place, its time, who speaks, and what may be kept of it."""

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
HEARD_CHARS_MAX: Final = 2 * NODE_CHARS_MAX + 1
_CALL: Final = "ASSISTANT: [tool call: "
"""How an answer reads in which nothing is said: the same few, over and over."""
_CALL_CHARS_MAX: Final = 96


@dataclasses.dataclass(slots=True)
class Said:
    """One entry. `parent_id` names another entry of the same session, or nothing."""

    id: str
    parent_id: str | None
    at: str | None
    role: Role
    text: str
    is_mark: bool = False


def read_entry(value: dict[str, Json]) -> Said | None:
    """Return what a parsed line says, or None if it is not an entry.

    A bookmark (`label`) is one as well, with the role `other`; see `is_bookmark`.
    """
    said = hear_entry(value)
    if said is not None:
        said.text = clean_text(said.text)
    return said


def hear_entry(value: dict[str, Json]) -> Said | None:
    """Return the same with its text as it was said: it is to pass through `clean_text` before anybody sees it."""
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
        # Whoever cleans it looks no further; a text of megabytes need not wait for that.
        text=text[:HEARD_CHARS_MAX],
    )


def is_bookmark(value: dict[str, Json]) -> bool:
    """Say whether an entry only marks another one. It gets no node: what follows it follows what it follows."""
    return value.get("type") == "label"


def usable_time(at: Json) -> str | None:
    """Return a time as it stands, where it is in Pi's spelling."""
    if not isinstance(at, str) or not _SPELLED.fullmatch(at):
        return None
    return at if is_day(at[:10]) else None


_SPELLED: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z")


@lru_cache(maxsize=64)
def is_day(day: str) -> bool:
    """Say whether there is such a day."""
    return is_iso(f"{day}T00:00:00.000Z")


def clean_text(text: str) -> str:
    """Return a text as a node may hold it; to clean several in a row takes less time than one by one."""
    if not text:
        return ""
    is_call = len(text) <= _CALL_CHARS_MAX and text.startswith(_CALL) and "\n" not in text
    return _cleaned_call(text) if is_call else clean_within(text, NODE_CHARS_MAX)


@lru_cache(maxsize=1024)
def _cleaned_call(text: str) -> str:
    return clean_within(text, NODE_CHARS_MAX)
