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
_LONE_NO: Final = re.compile(r"no\.\Z", re.IGNORECASE)


def user_sentences(transcript: str) -> tuple[Sentence, ...]:
    """Return the user's own plain sentences, in order."""
    found: list[Sentence] = []
    for number, message in enumerate(_messages(transcript)):
        if not _ORDERS_TO_A_MODEL.search(message):
            found += [Sentence(text, number) for line in _plain_lines(message) for text in _sentences(line)]
    return tuple(found)


def _messages(transcript: str) -> Iterator[str]:
    marks = [*_SECTION.finditer(transcript)]
    ends = [mark.start() for mark in marks[1:]] + [len(transcript)]
    for mark, end in zip(marks, ends, strict=True):
        if mark["user"]:
            yield transcript[mark.end() : end]


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
