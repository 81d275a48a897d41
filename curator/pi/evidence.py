"""The evidence window: which part of a session a review may see, in the extension's own form (interop.md 4.2).

What the user and the assistant wrote, names of tools with their success or failure, names of project skills, and Pi's
summaries of compacted turns. No thinking, images, arguments, results or commands of the user's own shell. Both
producers write the same labels, so that the same window gives the same digest.

INVARIANT  A window is a valid transcript of a job: clean, and 1 to 32,000 characters, however much longer redaction
           made it. The frontier never passes over an entry that the window does not cover.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from curator.model.digest import Json
from curator.model.ids import BranchName, ProjectKey
from curator.model.limits import EVIDENCE_CHARS_MAX, EVIDENCE_TURNS_MAX
from curator.model.record import u16_len
from curator.model.redaction import redact
from curator.model.text import is_sanitized, js_trim, sanitize
from curator.pi.session import Entry, Kind, Session

CURSOR_TYPE: Final = "no-forgetti-review"
SKILL_USE_TYPE: Final = "no-forgetti-project-skill-use"
_TRUNCATION: Final = "\n\n[Turn content truncated]"
_CUT_CHARS: Final = 28
"""What a text that is too long by itself loses at least, for the mark."""
_TOOL_NAME_CHARS_MAX: Final = 128
_SKILL_OPEN: Final = re.compile("<[sS\u017f][kK\u212a][iI][lL][lL](?![A-Za-z0-9_\u017f\u212a])")
_SKILL_CLOSE: Final = re.compile("</[sS\u017f][kK\u212a][iI][lL][lL]>")


@dataclasses.dataclass(frozen=True, slots=True)
class Window:
    """Evidence for one job, and the frontier up to which it covers the session."""

    transcript: str
    through_entry_id: str
    entry_count: int
    turn_count: int
    is_truncated: bool
    """Whether text was cut from a turn, or later turns wait for the next window."""


def find_cursor(session: Session, branch: Sequence[Entry], project_key: ProjectKey, name: BranchName) -> str | None:
    """Return the frontier of the extension's last review of that project and memory branch, if there is one."""
    cursor = None
    for content in session.contents(entry for entry in branch if entry.kind is Kind.CUSTOM):
        found = content.get("data") if content.get("customType") == CURSOR_TYPE else None
        if isinstance(found, dict) and found.get("projectKey") == project_key and found.get("name") == name:
            through = found.get("throughEntryId")
            cursor = through if isinstance(through, str) else cursor
    return cursor


def evidence_window(
    session: Session, project_key: ProjectKey, name: BranchName, *, leaf: str | None = None
) -> Window | None:
    """Return the oldest unreviewed window of the branch that ends at `leaf`, or None if nothing was said since.

    It begins after the extension's cursor; where that entry is gone, with the last 12 user turns.
    """
    branch = session.branch_to(leaf)
    cursor = find_cursor(session, branch, project_key, name)
    chosen = _unreviewed(branch, cursor)
    window = Gathering()
    for turn in _turns(session, chosen):
        if not window.take(turn):
            break
    if not window.transcript:
        return None
    return Window(
        transcript=window.transcript,
        through_entry_id=window.through_entry_id,
        entry_count=window.entry_count,
        turn_count=window.turn_count,
        is_truncated=window.is_cut or window.entry_count < len(chosen),
    )


def clean(text: str) -> str:
    """Return text as it may stand in a job: our redaction, then the protocol's sanitizing until it is at rest."""
    # Half a surrogate pair is no character: another reader would see another text, and some could not store it.
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    text = redact(text)
    for _ in range(9):
        sanitized = sanitize(text)
        if sanitized == text:
            return text
        text = sanitized
    message = "sanitizing does not come to rest"
    raise AssertionError(message)


def section_of(kind: Kind, content: dict[str, Json]) -> str:
    """Return what a review sees of one entry, with its label, as it was said; nothing of most."""
    return _SECTIONS.get(kind, _no_section)(content)


def clean_within(raw: str, chars_max: int) -> str:
    """Return text as it may stand in a job, and of what is longer the beginning, with a mark."""
    text = clean(raw) if u16_len(raw) <= chars_max else None
    return text if text is not None and u16_len(text) <= chars_max else _cut(raw, chars_max)


def _unreviewed(branch: Sequence[Entry], cursor: str | None) -> Sequence[Entry]:
    if cursor is None:
        return branch
    for index, entry in enumerate(branch):
        if entry.id == cursor:
            return branch[index + 1 :]
    starts = [index for index, entry in enumerate(branch) if entry.kind is Kind.USER]
    return branch[starts[-EVIDENCE_TURNS_MAX] :] if len(starts) > EVIDENCE_TURNS_MAX else branch


@dataclasses.dataclass(slots=True)
class Said:
    """What belongs together: a user's message and all until the next one. The first may have none."""

    user_count: int = 0
    entry_ids: list[str] = dataclasses.field(default_factory=list)
    sections: list[str] = dataclasses.field(default_factory=list)


def _turns(session: Session, entries: Sequence[Entry]) -> Iterator[Said]:
    turn = Said()
    for entry, content in zip(entries, session.contents(entries), strict=True):
        if entry.kind is Kind.USER:
            if turn.user_count:
                yield turn
                turn = Said()
            turn.user_count = 1
        turn.entry_ids.append(entry.id)
        if section := section_of(entry.kind, content):
            turn.sections.append(section)
    if turn.entry_ids:
        yield turn


class Gathering:
    """Takes turns until one would be too many, in number or in clean characters."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self.transcript = ""
        self.through_entry_id = ""
        self.entry_count = 0
        self.turn_count = 0
        self.is_cut = False
        self._sections: list[str] = []

    def take(self, turn: Said) -> bool:
        """Take one more turn, or return False and stay as it was. Nothing follows a turn that had to be cut."""
        if self.is_cut or (self.turn_count and self.turn_count + turn.user_count > EVIDENCE_TURNS_MAX):
            return False
        raw = "\n\n".join([*self._sections, *turn.sections])
        # Redaction lengthens text as often as it shortens it, so both lengths are held to the bound.
        text = clean(raw) if u16_len(raw) <= EVIDENCE_CHARS_MAX else None
        if text is None or u16_len(text) > EVIDENCE_CHARS_MAX:
            if self._sections:
                return False
            text, self.is_cut = _cut(raw, EVIDENCE_CHARS_MAX), True
        self.transcript = text
        self._sections += turn.sections
        self.entry_count += len(turn.entry_ids)
        self.turn_count += turn.user_count
        self.through_entry_id = turn.entry_ids[-1]
        return True


def _cut(raw: str, chars_max: int) -> str:
    """Return the beginning of a text that is too long alone, clean and within bounds."""
    # What is cut off first bounds the work; a secret that the cut would halve is redacted with what follows it.
    text = clean(_head(raw, 2 * chars_max))
    kept = chars_max - _CUT_CHARS
    while u16_len(shortened := clean(_head(text, kept)) + _TRUNCATION) > chars_max or not is_sanitized(shortened):
        kept -= 64
    return shortened


def _head(text: str, chars: int) -> str:
    """Return the first `chars` UTF-16 units, never half a character."""
    return text.encode("utf-16-le", "surrogatepass")[: 2 * chars].decode("utf-16-le", "ignore")


def _user(content: dict[str, Json]) -> str:
    text = js_trim(_without_skills(_spoken(content)))
    return f"USER: {text}" if text else ""


def _assistant(content: dict[str, Json]) -> str:
    text = js_trim(_spoken(content))
    return f"ASSISTANT: {text}" if text else ""


def _tool_result(content: dict[str, Json]) -> str:
    message = content.get("message")
    message = message if isinstance(message, dict) else {}
    ending = "failed" if message.get("isError") is True else "completed"
    return f"TOOL {_tool_name(message.get('toolName'))}: {ending}"


def _compaction(content: dict[str, Json]) -> str:
    summary = content.get("summary")
    text = js_trim(_without_skills(summary)) if isinstance(summary, str) else ""
    return f"[Prior conversation summary]\n{text}" if text else ""


def _skill_use(content: dict[str, Json]) -> str:
    use = content.get("data") if content.get("customType") == SKILL_USE_TYPE else None
    names = use.get("names") if isinstance(use, dict) else None
    kept = [_tool_name(name) for name in names if isinstance(name, str)] if isinstance(names, list) else []
    return f"PROJECT SKILLS INVOKED: {', '.join(kept)}" if kept else ""


def _no_section(_content: dict[str, Json]) -> str:
    return ""


_SECTIONS: Final[dict[Kind, Callable[[dict[str, Json]], str]]] = {
    Kind.USER: _user,
    Kind.ASSISTANT: _assistant,
    Kind.TOOL_RESULT: _tool_result,
    Kind.COMPACTION: _compaction,
    Kind.CUSTOM: _skill_use,
}


def _spoken(content: dict[str, Json]) -> str:
    """Return a message's text, and the names of the tools that it calls; nothing else of it."""
    message = content.get("message")
    said = message.get("content") if isinstance(message, dict) else None
    if isinstance(said, str):
        return said
    parts: list[str] = []
    for item in said if isinstance(said, list) else []:
        if not isinstance(item, dict):
            continue
        kind = item.get("type")
        if kind == "text" and isinstance(text := item.get("text"), str):
            parts.append(text)
        elif kind == "toolCall" and isinstance(tool := item.get("name"), str):
            parts.append(f"[tool call: {_tool_name(tool)}]")
    return "\n".join(parts)


def _tool_name(name: Json) -> str:
    """Return a tool's name on one line: a model may call a tool by any text, and then it is not a name."""
    if isinstance(name, str) and name.isidentifier() and len(name) <= _TOOL_NAME_CHARS_MAX:
        return name
    return " ".join(name.split())[:_TOOL_NAME_CHARS_MAX] if isinstance(name, str) and name.strip() else "unknown"


def _without_skills(text: str) -> str:
    """Take away what Pi pastes in for an invoked skill: it is neither the user's word nor the conversation's."""
    kept: list[str] = []
    position = 0
    while opening := _SKILL_OPEN.search(text, position):
        # Where one block has no end, no later one has: this stays linear in hostile text.
        tag_end = text.find(">", opening.end())
        closing = _SKILL_CLOSE.search(text, tag_end) if tag_end >= 0 else None
        if closing is None:
            break
        kept.append(text[position : opening.start()])
        position = closing.end()
        while position < len(text) and text[position].isspace():
            position += 1
    return "".join([*kept, text[position:]])
