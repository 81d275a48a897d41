"""Counts what one reading of a session meets; no text reaches it but the names of types and the times of entries."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from curator.model.digest import Digest, Json
from curator.model.ids import BRANCH_NAME_PATTERN, PROJECT_KEY_PATTERN, BranchName, ProjectKey
from curator.model.limits import CURSORS_MAX, INT_MAX
from curator.model.times import DAY_MS, iso, ms_of
from curator.model.trajectory import ROLES, Role
from curator.pi.evidence import CURSOR_TYPE
from curator.pi.session import FAULTS_KEPT_MAX, KNOWN_TYPES, is_pis_content
from curator.pi.stream import Damage, Fault, Head, Line
from curator.tracks.trajectory.facts import Cursor, DateQuality, Facts
from curator.tracks.trajectory.glimpse import Answer
from curator.tracks.trajectory.known import Known

_ANCIENT: Final = "2025-01-01T00:00:00.000Z"
"""There was no Pi before."""
_KNOWN_ROLES: Final = frozenset(
    (
        "user",
        "assistant",
        "toolResult",
        "system",
        "custom",
        "hookMessage",
        "bashExecution",
        "branchSummary",
        "compactionSummary",
    )
)
_NAME: Final = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_UNNAMED: Final = "(no usable name)"
_UNKNOWN_NAMES_MAX: Final = 100
_EXTENSION: Final = "no-forgetti"
_MEMORY: Final = "project-memory"


class Tally:
    """Counts of one reading."""

    def __init__(self, now: int) -> None:
        self.lines = 0
        self.missing_parents = 0
        self.roles: dict[Role, int] = dict.fromkeys(ROLES, 0)
        self._future = iso(now + DAY_MS)
        self._dates: Counter[DateQuality] = Counter()
        self._good = 0
        self._first = self._last = self._before = ""
        self._disorder = 0
        self._usage_known = self._usage_unknown = self._tokens = 0
        self._injected = 0
        self._cursors: dict[Cursor, None] = {}
        self._unknown: Counter[str] = Counter()
        self._damage: list[Damage] = []
        self._damage_count = 0

    def note(self, fault: Fault, line: Line) -> None:
        """Count a line that was not taken, whole or in part."""
        self._damage_count += 1
        if len(self._damage) < FAULTS_KEPT_MAX:
            self._damage.append(Damage(fault, line.number, line.byte))

    def count(self, value: dict[str, Json], at: str | None, line: Line, known: Known) -> None:
        """Count an entry that was read in full; `at` is its time, if that is usable."""
        self.count_time(at, is_given=at is not None or value.get("timestamp") is not None)
        kind_name = value.get("type")
        if kind_name == "message":
            self._count_message(value.get("message"), line)
        elif kind_name == "custom":
            self._count_custom(value, known)
        elif kind_name == "custom_message":
            custom_type = value.get("customType")
            self._injected += isinstance(custom_type, str) and custom_type.startswith(_EXTENSION)
        elif kind_name not in KNOWN_TYPES:
            self._count_unknown(kind_name)

    def count_answer(self, answer: Answer, line: Line) -> None:
        """Count an assistant's answer that was not parsed in full."""
        self.count_time(answer.said.at)
        if not answer.is_pis:
            self.note(Fault.NOT_PIS_CONTENT, line)
        self._count_tokens(answer.tokens)

    def count_time(self, at: str | None, *, is_given: bool = True) -> None:
        """Count an entry's time, in Pi's spelling or None. Spelled so, times are in order as texts are."""
        if at is None:
            self._dates[DateQuality.ODD if is_given else DateQuality.MISSING] += 1
        elif at > self._future:
            self._dates[DateQuality.FUTURE] += 1
        elif at < _ANCIENT:
            self._dates[DateQuality.ANCIENT] += 1
        else:
            self._good += 1
            if at < self._before:
                self._disorder += 1
            self._before = at
            self._last = max(self._last, at)
            if not self._first or at < self._first:
                self._first = at

    def facts(self, head: Head) -> Facts:
        """Return what was counted."""
        return Facts(
            head=head,
            lines=self.lines,
            roles=dict(self.roles),
            usage_known=self._usage_known,
            usage_unknown=self._usage_unknown,
            tokens=self._tokens,
            dates={**self._dates, DateQuality.GOOD: self._good},
            first_ms=ms_of(self._first) if self._first else None,
            last_ms=ms_of(self._last) if self._last else None,
            disorder=self._disorder,
            injected=self._injected,
            cursors=tuple(self._cursors),
            missing_parents=self.missing_parents,
            unknown=dict(self._unknown),
            damage=tuple(self._damage),
            damage_count=self._damage_count,
        )

    def _count_message(self, message: Json, line: Line) -> None:
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(role, str) or role not in _KNOWN_ROLES:
            self._count_unknown(role, "role ")
            return
        if role in ("user", "assistant") and not is_pis_content(message):
            self.note(Fault.NOT_PIS_CONTENT, line)
        if role == "assistant":
            self._count_usage(message.get("usage"))
        elif role == "system":
            sections = message.get("sections")
            self._injected += isinstance(sections, dict) and sections.get(_MEMORY) is not None

    def _count_usage(self, usage: Json) -> None:
        total = usage.get("totalTokens") if isinstance(usage, dict) else None
        if isinstance(total, int) and not isinstance(total, bool) and 0 <= total <= INT_MAX:
            self._count_tokens(total)
        else:
            self._count_tokens(None)

    def _count_tokens(self, total: int | None) -> None:
        if total is None:
            self._usage_unknown += 1
        else:
            self._usage_known += 1
            self._tokens += total

    def _count_custom(self, value: dict[str, Json], known: Known) -> None:
        told = value.get("data") if value.get("customType") == CURSOR_TYPE else None
        if not isinstance(told, dict):
            return
        key, name, through = told.get("projectKey"), told.get("name"), told.get("throughEntryId")
        if not isinstance(key, str) or not PROJECT_KEY_PATTERN.fullmatch(key):
            return
        if not isinstance(name, str) or not BRANCH_NAME_PATTERN.fullmatch(name):
            return
        reached = known.get(through) if isinstance(through, str) else None
        cursor = Cursor(ProjectKey(key), BranchName(name), Digest(reached) if reached else None)
        self._cursors[cursor] = None
        if len(self._cursors) > CURSORS_MAX:
            del self._cursors[next(iter(self._cursors))]

    def _count_unknown(self, name: Json, what: str = "") -> None:
        told = name if isinstance(name, str) and _NAME.fullmatch(name) else _UNNAMED
        if what + told in self._unknown or len(self._unknown) < _UNKNOWN_NAMES_MAX:
            self._unknown[what + told] += 1
        else:
            self._unknown[what + _UNNAMED] += 1
