r"""What curator itself produces holds no secret: proposals, prompts, messages, logs.

The protocol's own redaction (`text.sanitize`) knows three shapes. This one is wider: some hundred kinds of tokens by
their shape (`secret_kinds`), whatever a telling name, a header or a URL gives away (`secret_fields`, `secret_lines`), and
private keys, also truncated. Each text is read as it stands, again with its escapes undone and its continued strings
joined, and once more with its wrapped lines joined, so that neither `\n`, `%3D` nor a line break hides a token.
All of it takes linear time. It finds what has a known shape or place; it cannot know a secret that looks like a word.
"""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from curator.model.secret_fields import Found, assigned
from curator.model.secret_kinds import KINDS, LONG_RUN_CHARS_MIN, RUN_CHARS_MIN, Kind, compiled
from curator.model.secret_lines import key_blocks, lines
from curator.model.secret_words import (
    ANCHOR,
    ANYTHING,
    CONTINUED,
    ESCAPE,
    HIDDEN,
    KEY_BLOCK,
    LINE,
    LOOSE_ANCHORS,
    RUN_CHARS,
    TELLING_NAME,
    TOKEN,
    WRAPPED,
    traits,
)


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class SecretSpan:
    """Where a secret stands in a text, in Python's characters, and of which kind it is. Never its value."""

    start: int
    end: int
    kind: str


_WRAPPED: Final = rf"(?<=[{RUN_CHARS}])\r?\n[ \t>|#*]{{0,40}}+(?=[{RUN_CHARS}])"
_UNESCAPED: Final = re.compile(f"{ESCAPE}|{CONTINUED}", re.ASCII)
_UNWRAPPED: Final = re.compile(f"{ESCAPE}|{CONTINUED}|(?P<wrapped>{_WRAPPED})", re.ASCII)
_EDIT_BEGINS: Final = re.compile(r"[\\%&\"'`\r\n]")
"""Where an edit may begin: to look for these alone first is five times as quick."""
_LETTERS: Final = {"n": "\n", "r": "\r", "t": "\t"}
_ENTITIES: Final = {"quot": '"', "amp": "&", "apos": "'", "#34": '"', "#39": "'"}
_MARK: Final = re.compile(r"\[REDACTED(?: [A-Z0-9 ]{1,40})?\]")
_RUN: Final = re.compile(rf"\S{{{RUN_CHARS_MIN},}}")
_CHUNK: Final = re.compile(rf"[{RUN_CHARS}]*", re.ASCII)


def find_secrets(text: str) -> tuple[SecretSpan, ...]:
    """Return where secrets stand, in order and apart from each other."""
    has = traits(text)
    if not has:
        return ()
    found = [*_all_kinds(text, has)]
    if has & HIDDEN:
        unescaped = _View.of(text, _UNESCAPED)
        found += [unescaped.origin(item) for item in _all_kinds(unescaped.text, ANYTHING)]
    if has & (HIDDEN | WRAPPED):
        unwrapped = _View.of(text, _UNWRAPPED)
        found += [unwrapped.origin(item) for item in _across_wraps(unwrapped)]
    return _merged(found)


def contains_secret(text: str) -> bool:
    """Say whether any secret stands in `text`."""
    return bool(find_secrets(text))


def redact(text: str) -> str:
    """Return `text` with each secret replaced by `[REDACTED <KIND>]`; all else stays as it was.

    Redacting again changes nothing. The result is not sanitized: where a record needs that, sanitize it after.
    """
    while spans := find_secrets(text):
        kept: list[str] = []
        position = 0
        for span in spans:
            kept += [text[position : span.start], f"[REDACTED {span.kind}]"]
            position = span.end
        text = "".join([*kept, text[position:]])
    return text


def _all_kinds(text: str, has: int) -> Iterator[Found]:
    if has & KEY_BLOCK:
        yield from key_blocks(text)
    if has & TOKEN:
        yield from _tokens(text)
    if has & LINE:
        yield from lines(text)
    if has & TELLING_NAME:
        yield from assigned(text)


def _tokens(text: str) -> Iterator[Found]:
    """Yield the tokens that their own shape gives away."""
    for kind in _possible(text, _RUN.findall(text)):
        for match in compiled(kind).finditer(text):
            group = match.lastindex or 0
            if kind.judge(match.group(group)):
                yield Found(kind.name, match.start(group), match.end(group))


def _possible(text: str, long_runs: list[str]) -> Sequence[Kind]:
    """Return the kinds that can stand in a text, by their anchors; most texts have no run in which a token could."""
    runs = "\n".join(long_runs)
    longer = "\n".join(run for run in long_runs if len(run) >= LONG_RUN_CHARS_MIN)
    if not longer and not ANCHOR.search(runs) and not any(map(text.__contains__, LOOSE_ANCHORS)):
        return ()
    place = {0: text, RUN_CHARS_MIN: runs, LONG_RUN_CHARS_MIN: longer}
    return [kind for kind in KINDS if any(map(place[kind.run_chars_min].__contains__, kind.anchors))]


@dataclasses.dataclass(frozen=True, slots=True)
class _View:
    """A text read otherwise, and where each of its characters came from."""

    text: str
    starts: list[int]
    """Where each piece begins in the view."""
    origins: list[tuple[int, int, bool]]
    """Where each piece begins and ends in the original, and whether it stands there as it is."""
    wraps: list[int]
    """Where in the view a line break was taken out."""
    is_changed: bool

    @classmethod
    def of(cls, text: str, edits: re.Pattern[str]) -> _View:
        """Return the view of `text` with each edit made."""
        pieces: list[str] = []
        starts: list[int] = []
        origins: list[tuple[int, int, bool]] = []
        wraps: list[int] = []
        length = position = 0
        for edit in _edits_in(text, edits):
            if edit.start() > position:
                pieces.append(text[position : edit.start()])
                starts.append(length)
                origins.append((position, edit.start(), True))
                length += edit.start() - position
            if character := _undone(edit):
                pieces.append(character)
                starts.append(length)
                origins.append((edit.start(), edit.end(), False))
                length += 1
            elif edit.lastgroup == "wrapped":
                wraps.append(length)
            position = edit.end()
        pieces.append(text[position:])
        starts.append(length)
        origins.append((position, len(text), True))
        return cls("".join(pieces), starts, origins, wraps, position > 0)

    def origin(self, found: Found) -> Found:
        """Return the finding at its place in the original text."""
        begin, _, is_same = self.origins[first := bisect_right(self.starts, found.start) - 1]
        start = begin + (found.start - self.starts[first] if is_same else 0)
        begin, end, is_same = self.origins[last := bisect_right(self.starts, found.end - 1) - 1]
        return Found(found.kind, start, begin + found.end - self.starts[last] if is_same else end)


def _edits_in(text: str, edits: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Yield what `finditer` would: each edit consumes one of the characters at which it may begin."""
    position = 0
    while begin := _EDIT_BEGINS.search(text, position):
        edit = edits.match(text, begin.start())
        if edit is not None:
            yield edit
        position = begin.end() if edit is None else edit.end()


def _undone(edit: re.Match[str]) -> str:
    """Return the character that an escape stands for, or nothing where strings or lines are joined."""
    name = edit.lastgroup
    value = edit.group(name) if name else ""
    match name:
        case "letter":
            return _LETTERS.get(value, value)
        case "unicode" | "percent":
            return chr(int(value, 16))
        case "entity":
            return _ENTITIES[value]
        case _:
            return ""


def _across_wraps(view: _View) -> Iterator[Found]:
    """Yield tokens that run over a line break, as long as what follows the break still looks like a token."""
    wrapped = [view.text[start:end] for start, end in _runs_around(view.text, view.wraps)]
    for kind in _possible(view.text, wrapped):
        for match in compiled(kind).finditer(view.text):
            group = match.lastindex or 0
            start, end = match.span(group)
            crossed = [wrap for wrap in view.wraps[bisect_right(view.wraps, start) :] if wrap < end]
            for index, wrap in enumerate(crossed):
                following = crossed[index + 1] if index + 1 < len(crossed) else end
                if not _looks_random(view.text[wrap:following]):
                    end = wrap
                    break
            whole = compiled(kind).fullmatch(view.text, match.start(), end + match.end() - match.end(group))
            if crossed and end > crossed[0] and whole and kind.judge(view.text[start:end]):
                yield Found(kind.name, start, end)


def _runs_around(text: str, places: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the ends of the runs without spaces and line ends in which the places lie, where they are long enough."""
    start = end = 0
    for place in places:
        if place < end:
            continue
        start = text.rfind(" ", start, place) + 1 or start
        start = text.rfind("\n", start, place) + 1 or start
        end = _found(text.find(" ", place), len(text))
        end = _found(text.find("\n", place, end), end)
        if end - start >= RUN_CHARS_MIN:
            yield start, end


def _found(place: int, otherwise: int) -> int:
    return place if place >= 0 else otherwise


def _looks_random(chunk: str) -> bool:
    """Say whether the beginning of a line goes on with a token, rather than with a sentence."""
    if re.search("[0-9]", chunk):
        is_long = len(chunk) > (15 if "." in chunk.strip(".") else 3)
        return is_long and bool(re.search("[A-Za-z]", chunk))
    return bool(re.search("[a-z][A-Z]|[A-Z]{2}[a-z]", chunk)) and len(chunk) >= 8  # noqa: PLR2004 - no name


def _merged(found: Iterable[Found]) -> tuple[SecretSpan, ...]:
    """Join findings that overlap; the one that begins first, and of those the longest, names the kind."""
    spans: list[SecretSpan] = []
    for item in sorted(found, key=lambda item: (item.start, -item.end)):
        if spans and item.start < spans[-1].end:
            spans[-1] = dataclasses.replace(spans[-1], end=max(spans[-1].end, item.end))
        elif item.end > item.start:
            spans.append(SecretSpan(item.start, item.end, item.kind))
    return tuple(spans)
