"""From statements to operations against one state of memory: nothing twice, nothing too much (interop.md 7.4 and 7.5)."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from typing import Final

from curator.model.limits import BRANCH_ENTRIES_MAX, ENTRY_CHARS_MAX, MEMORY_CHARS_MAX, OPERATIONS_MAX
from curator.model.memory import Branch, Entry
from curator.model.proposal import Add, Proposed, Replace
from curator.model.record import u16_len
from curator.model.redaction import contains_secret
from curator.model.text import is_sanitized, memory_text_fault
from curator.reviewer.rules.likeness import Gist, gist_of, is_opposite, is_same
from curator.reviewer.rules.nearness import names_of, nearness, numbers_of, terms_of
from curator.reviewer.rules.speech import user_messages, user_sentences
from curator.reviewer.rules.standing import find_standing
from curator.reviewer.rules.wishes import Statement, find_statements

_NEAR: Final = 0.6
_NEAR_DENSE: Final = 0.5
_NAMED: Final = 0.25
"""What a shared name adds: who says what is gone, names it."""
_NEAR_IF_CHANGED: Final = 0.25
_ENTRY_CHARS_SMALL: Final = 160
"""A longer entry says several things, and is not given up for one."""


def propose(transcript: str, base: Branch, max_chars: int) -> tuple[Proposed, ...]:
    """Return at most four operations, each with its quote; equal arguments give equal operations."""
    plain = find_statements(user_sentences(transcript))
    said = find_standing(user_messages(transcript), plain, has_memory=bool(base.entries))
    statements = [each for each in said if is_fit(each, transcript)]
    draft = _Draft(base, min(max_chars, MEMORY_CHARS_MAX))
    # Where room is short, what the user insisted on goes first; what is taken stands in the order it was said.
    order = {"high": 0, "normal": 1, "low": 2}
    for statement in sorted(_latest(statements), key=lambda each: order[each.importance]):
        draft.take(statement)
    taken = sorted(draft.taken, key=lambda each: transcript.index(each.quote or ""))
    return tuple(taken)


def is_fit(statement: Statement, transcript: str) -> bool:
    """Tell whether memory may hold the statement's text at all, and whether its quote stands in the evidence."""
    text = statement.content
    return (
        statement.quote in transcript
        and memory_text_fault(text, ENTRY_CHARS_MAX) is None
        and is_sanitized(text)
        and not contains_secret(text)
        and "REDACTED" not in text
        and "\ufffd" not in text
    )


def _latest(statements: Sequence[Statement]) -> list[Statement]:
    """Of statements that say the same or the opposite, keep the one that was said last."""
    kept: list[tuple[Statement, Gist]] = []
    for statement in statements:
        gist = gist_of(statement.content)
        kept = [(each, its) for each, its in kept if not (is_same(gist, its) or is_opposite(gist, its))]
        kept.append((statement, gist))
    return [statement for statement, _ in kept]


@dataclasses.dataclass
class _Draft:
    """Memory as it would be, and the operations that lead there."""

    base: Branch
    hard: int
    taken: list[Proposed] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        self._texts = {entry.id: entry.text for entry in self.base.entries}
        self._gists = {entry.id: gist_of(entry.text) for entry in self.base.entries}
        self._replaced: set[str] = set()
        self._added: list[str] = []

    def take(self, statement: Statement) -> None:
        """Add the statement, or replace what it clearly supersedes, unless memory holds it or has no room."""
        gist = gist_of(statement.content)
        is_known = any(
            is_same(gist, each) if statement.is_plain else gist.plain == each.plain for each in self._known()
        )
        if len(self.taken) == OPERATIONS_MAX or is_known:
            return
        nearest = None if statement.is_plain else self._nearest(statement)
        if nearest is not None and not self._makes_stale(statement, nearest):
            return
        superseded = self._superseded(statement, gist) or (None if nearest is None else (nearest, statement.content))
        if superseded is not None:
            self._replace(*superseded, statement)
        elif len(self.base.entries) + len(self._added) < BRANCH_ENTRIES_MAX and self._has_room(statement.content, ""):
            self._added.append(statement.content)
            operation = Add(content=statement.content, importance=statement.importance)
            self.taken.append(Proposed(operation, statement.quote))

    def _known(self) -> Iterable[Gist]:
        return [*self._gists.values(), *map(gist_of, self._added)]

    def _superseded(self, statement: Statement, gist: Gist) -> tuple[Entry, str] | None:
        """Return the one entry that the statement makes wrong, and what it should say; doubt is None."""
        found: list[tuple[Entry, str]] = []
        for entry in self.base.entries:
            if entry.id in self._replaced:
                continue
            if (renamed := _renamed(entry, statement)) is not None:
                found.append((entry, renamed))
            elif is_opposite(gist, self._gists[entry.id]):
                found.append((entry, statement.content))
        return found[0] if len(found) == 1 else None

    def _nearest(self, statement: Statement) -> Entry | None:
        """Return the one entry that speaks of nearly the same as a statement, if there is one."""
        said = terms_of(statement.content)
        named = names_of(statement.content) if statement.is_change else frozenset()
        near = sorted(
            (
                (nearness(said, terms_of(entry.text)) + _NAMED * bool(named & names_of(entry.text)), entry.id, entry)
                for entry in self.base.entries
            ),
            reverse=True,
        )
        if not near or (len(near) > 1 and near[0][0] == near[1][0]):
            return None
        share, _, entry = near[0]
        near_from = _NEAR if statement.content.count(" ") * 6 > len(statement.content) else _NEAR_DENSE
        is_near = share >= (_NEAR_IF_CHANGED if statement.is_change else near_from)
        is_small = len(entry.text) <= _ENTRY_CHARS_SMALL and entry.id not in self._replaced
        return entry if is_near and (is_small or not statement.is_change) else None

    def _makes_stale(self, statement: Statement, entry: Entry) -> bool:
        """Tell whether a statement says something else of the same, so that a short entry gives way to it."""
        if len(entry.text) > _ENTRY_CHARS_SMALL:
            return False
        said, stands = numbers_of(statement.content), numbers_of(entry.text)
        return statement.is_change or bool(said and stands and not said & stands)

    def _replace(self, entry: Entry, text: str, statement: Statement) -> None:
        fits = memory_text_fault(text, ENTRY_CHARS_MAX) is None and is_sanitized(text)
        is_new = text not in self._texts.values() and text not in self._added
        if fits and is_new and self._has_room(text, self._texts[entry.id]):
            self._texts[entry.id], self._gists[entry.id] = text, gist_of(text)
            self._replaced.add(entry.id)
            operation = Replace(entry_id=entry.id, content=text, importance=entry.importance)
            self.taken.append(Proposed(operation, statement.quote))

    def _has_room(self, text: str, instead_of: str) -> bool:
        target, before = 3 * self.hard // 4, self.base.chars
        now = sum(map(u16_len, [*self._texts.values(), *self._added]))
        after = now + u16_len(text) - u16_len(instead_of)
        return after <= (max(before, target))


def _renamed(entry: Entry, statement: Statement) -> str | None:
    """Return the entry with the old name replaced by the new one, if it recommends exactly that old one, once."""
    if statement.old is None or statement.new is None or gist_of(entry.text).is_negative:
        return None
    old, new = _whole(statement.old), _whole(statement.new)
    if len(old.findall(entry.text)) != 1 or new.search(entry.text):
        return None
    (place,) = old.finditer(entry.text)
    # What follows a contrast is what the entry warns of, not what it recommends.
    if re.search(r"\b(?:not|never|instead of|rather than|over|plain|avoid|no)\b[^.;]*\Z", entry.text[: place.start()]):
        return None
    return entry.text[: place.start()] + statement.new + entry.text[place.end() :]


def _whole(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", re.IGNORECASE)
