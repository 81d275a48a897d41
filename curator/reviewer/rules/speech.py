"""What the user said in plain sentences, each an exact part of the transcript.

Everything that may be somebody else's word is left out: the assistant's text, code, logs, quotations, lists under a
heading that speaks of one task, and a whole message that tries to give orders to a model.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Final


@dataclasses.dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, verbatim, and the number of the user's message that it stands in."""

    text: str
    message: int


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """One sentence of a message, where it stands in it, and whether it may be somebody else's."""

    text: str
    start: int
    end: int
    is_foreign: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """What the user said at a time: its number, its sentences, and what makes one careful with it."""

    text: str
    number: int
    parts: tuple[Part, ...]
    has_foreign: bool
    """Whether part of it is pasted or quoted."""
    answers: str
    """What the assistant said since the user's last message."""
    is_doubtful: bool
    """Whether it may not be the user's at all, or tries to give orders to a model."""


_SECTION: Final = re.compile(
    r"(?:\A|\n\n)(?:(?P<user>USER: )|ASSISTANT: |TOOL [^\n]{1,128}: (?:completed|failed)(?=\n\n|\Z)"
    r"|PROJECT SKILLS INVOKED: |\[Prior conversation summary\]\n)"
)
_ORDERS_TO_A_MODEL: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.!?\n]{0,60}\b(?:instructions?|rules|prompts?|guidelines)\b"
    r"|\b(?:system|developer) (?:prompt|message|instructions?)\b|\bnew instructions?\b|\byou are now\b"
    r"|\bas an ai\b|\bjailbreak|\bpretend (?:to be|you)|\bact as (?:a|an|the)\b|<\|?/?(?:system|im_start|im_end|s)\|?>"
    r"|\[/?INST\]|\bproject-memory\b|\bcurator\b",
    re.IGNORECASE,
)
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_FOREIGN_LINE: Final = re.compile(
    r"\s*[>|]|\t| {4,}\S|\s*[{}\[\]<(]|\s*(?:\$|%|#!|//|/\*|\*/)\s?|\s*\d{4}-\d\d-\d\d[ T]\d|\s*\d\d:\d\d:\d\d"
    r"|\s*(?:Traceback|File \"|diff --git|@@|\+\+\+|---|npm ERR|at \S+ ?\()"
    r"|\s*\[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE|FATAL)\b|\s*[\w.]*(?:Error|Exception|Warning)\b:"
)
_CODE_END: Final = re.compile(r"(?:[{};\\]|\)\s*:|=>|->)\s*\Z|(?<!\w)==(?!\w)|\(\);|::\w")
_BULLET: Final = re.compile(r"\s{0,3}(?:[-*+•]|\d{1,2}[.)])\s+")
_SCOPING_HEADING: Final = re.compile(
    r"\b(?:for|in) (?:this|that|the (?:current|next)) |\b(?:today|now|task|todo|steps?|plan|error|output|logs?|example|e\.g\.)\b"
    r"|\b(?:said|says?|wrote|writes|asked|reads|docs?|readme|guide|article|post|email|ticket|issue|review(?:er)?)\b",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"\S.*?(?:[.!?]+(?=[\s\"')\]]|\Z)|\Z)")
_ABBREVIATION: Final = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|nr|fig))\.\Z", re.IGNORECASE)
_STOP: Final = re.compile(r"[.!?\u2026]+(?=[\s\"')\]\u201d]|\Z)|[\u3002\uff01\uff1f\u061f\u0964]+")
_QUOTED: Final = re.compile(
    '"[^"]{1,2000}"|\u201c[^\u201d]{1,2000}\u201d|\u201e[^\u201c\u201d]{1,2000}[\u201c\u201d]|\u00ab[^\u00bb]{1,2000}\u00bb'
    "|\u300c[^\u300d]{1,2000}\u300d|\u300e[^\u300f]{1,2000}\u300f"
)
_QUOTED_WORDS_MIN: Final = 3
_QUOTED_DENSE_MIN: Final = 6
_DENSE: Final = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ASKS: Final = re.compile(
    r"[?\uff1f\u061f]\s*\Z|\A\s*(?:what|why|where|who|how|is (?:this|that)|wh?at is|was|wer|wo|warum|woher|qué|quién|dónde|de dónde"
    r"|c'est quoi|qu'est|pourquoi|cosa|perché|da dove|co to|skąd|bu ne|nereden|что|откуда|почему|зачем|wat|waar)\b",
    re.IGNORECASE,
)
_FOREIGN: Final = 1
_LETTER: Final = re.compile(r"[^\W_]")
_ROLE_CHARS_MIN, _ROLE_CHARS_MAX = 3, 30
_RULE: Final = re.compile(r"\s*(?:-{3,}|={3,}|\*{3,}|_{3,})\s*")
_ROLE_LINE: Final = re.compile(
    r"\s*(?:#|//|\[)|\s*[\w.-]+ ?= ?[\"'\d]|\s*(?:agents?|assistants?|AI|KI|IA|memory|note for \w+) ?:|\s*\d+:\d+\s"
)
_LONE_NO: Final = re.compile(r"no\.\Z", re.IGNORECASE)


def user_sentences(transcript: str) -> tuple[Sentence, ...]:
    """Return the user's own plain sentences, in order."""
    found: list[Sentence] = []
    for number, (message, is_doubtful, _) in enumerate(_messages(transcript)):
        if not (is_doubtful or _ORDERS_TO_A_MODEL.search(message)):
            found += [Sentence(text, number) for line in _plain_lines(message) for text in _sentences(line)]
    return tuple(found)


def user_messages(transcript: str) -> tuple[Message, ...]:
    """Return the user's messages, in order."""
    return tuple(
        _message(text, number, answered, is_doubtful=is_doubtful or bool(_ORDERS_TO_A_MODEL.search(text)))
        for number, (text, is_doubtful, answered) in enumerate(_messages(transcript))
    )


def _messages(transcript: str) -> Iterator[tuple[str, bool, str]]:
    """Yield what the user said, whether it may be a piece of something pasted, and what the assistant said before it.

    An assistant answers a user: where two users, or a user and a tool, follow upon each other, one of them may be no more
    than a line of what the other has pasted.
    """
    marks = [*_SECTION.finditer(transcript)]
    ends = [mark.start() for mark in marks[1:]] + [len(transcript)]
    kinds = [_kind_of(mark) for mark in marks]
    doubtful = {
        place
        for index in range(1, len(kinds))
        if kinds[index - 1] == "USER" and kinds[index] in ("USER", "TOOL")
        for place in (index - 1, index, index + 1)
    }
    answered = ""
    for index, (mark, end) in enumerate(zip(marks, ends, strict=True)):
        if mark["user"]:
            yield transcript[mark.end() : end], index in doubtful, answered
            answered = ""
        elif kinds[index] == "ASSISTANT":
            answered += transcript[mark.end() : end] + "\n"


def _kind_of(mark: re.Match[str]) -> str:
    return mark.group().strip().partition(" ")[0].rstrip(":")


def _message(text: str, number: int, answered: str, *, is_doubtful: bool) -> Message:
    foreign = bytearray(len(text))
    for since, until in (*_quoted(text), *_pasted(text)):
        foreign[since:until] = bytes([_FOREIGN]) * (until - since)
    parts = tuple(
        Part(text[start:end], start, end, is_foreign=foreign.find(_FOREIGN, start, end) >= 0)
        for start, end in _bounds(text)
    )
    return Message(text, number, parts, _FOREIGN in foreign, answered, is_doubtful)


def _quoted(text: str) -> Iterator[tuple[int, int]]:
    """Yield where somebody else is quoted at length; a word or two in quotes are the user's own."""
    for match in _QUOTED.finditer(text):
        inside = match.group()[1:-1]
        if len(inside.split()) >= _QUOTED_WORDS_MIN or len(_DENSE.findall(inside)) >= _QUOTED_DENSE_MIN:
            yield match.span()


def _pasted(text: str) -> Iterator[tuple[int, int]]:
    """Yield the paragraphs that are code, logs or somebody else's words, with whatever stands in them.

    They are known by how a line looks, by a line before them that ends in a colon, and by a question beside them: who asks
    what something is has not said it.
    """
    paragraphs = [*_paragraphs(text)]
    asking = [_ASKS.search(text[start:end]) is not None for start, end, _ in paragraphs]
    is_question, is_introduced = any(asking), False
    for index, (start, end, is_code) in enumerate(paragraphs):
        lines = text[start:end].split("\n")
        looks_foreign = any(_looks_foreign(line) for line in lines)
        is_list = any(line.rstrip().endswith((":", "\uff1a")) for line in lines[:-1])
        is_asked_about = is_question and not asking[index] and len(paragraphs) > 1
        if is_code or looks_foreign or is_introduced or is_list or is_asked_about:
            yield start, end
        is_introduced = lines[-1].rstrip().endswith((":", "\uff1a"))


def _paragraphs(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield where paragraphs stand, and whether a fence or a pair of rules encloses them."""
    is_code = is_ruled = False
    since, at = 0, 0
    for line in [*text.split("\n"), ""]:
        is_fence, is_rule = bool(_FENCE.match(line)), bool(_RULE.fullmatch(line))
        if is_fence or is_rule or not line.strip():
            if text[since:at].strip():
                yield since, min(at, len(text)), is_code or is_ruled
            is_code, is_ruled = is_code != is_fence, is_ruled != is_rule
            since = at + len(line) + 1
        at += len(line) + 1


def _looks_foreign(line: str) -> bool:
    if _BULLET.match(line):
        return False
    role, colon, _ = line.strip().partition(":")
    is_role = bool(colon) and role.isupper() and _ROLE_CHARS_MIN <= len(role) <= _ROLE_CHARS_MAX
    return is_role or bool(_FOREIGN_LINE.match(line) or _CODE_END.search(line) or _ROLE_LINE.match(line))


def _bounds(text: str) -> Iterator[tuple[int, int]]:
    """Yield where sentences stand, in any script."""
    at = 0
    for line in text.split("\n"):
        bullet = _BULLET.match(line)
        begin = start = at + (bullet.end() if bullet else 0)
        for match in _STOP.finditer(line, begin - at):
            end = at + match.end()
            if _ABBREVIATION.search(text[start:end]) and not _LONE_NO.fullmatch(text[start:end].strip()):
                continue
            yield from _trimmed(text, start, end)
            start = end
        yield from _trimmed(text, start, at + len(line))
        at += len(line) + 1


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    said = text[start:end]
    if _LETTER.search(said):
        yield start + len(said) - len(said.lstrip()), start + len(said.rstrip())


def _plain_lines(message: str) -> Iterator[str]:
    is_code = is_scoped = False
    for line in message.split("\n"):
        if _FENCE.match(line):
            is_code = not is_code
        elif not line.strip():
            is_scoped = False
        elif line.rstrip().endswith(":"):
            # What a heading introduces belongs to what it speaks of: a task, an example, somebody's words.
            is_scoped = bool(_SCOPING_HEADING.search(line))
        elif not (is_code or is_scoped or _FOREIGN_LINE.match(line) or _CODE_END.search(line)):
            bullet = _BULLET.match(line)
            yield line[bullet.end() :] if bullet else line


def _sentences(line: str) -> Iterator[str]:
    start = None
    for match in _SENTENCE.finditer(line):
        start = match.start() if start is None else start
        text = line[start : match.end()].strip()
        if _ABBREVIATION.search(text) and not _LONE_NO.fullmatch(text):
            continue
        yield text
        start = None
    if start is not None:
        yield line[start:].strip()
