r"""The protocol's text rules: what evidence is sanitized to, and which text memory may hold.

Every rule here is the protocol's own, to the character: the extension recomputes each of them, so one rule that is
stricter would refuse its jobs and one that is laxer would wedge its mailbox. What curator adds of its own stands in
`redaction`. JavaScript differs from Python in its white space, in its word characters and in its case folding (there
only U+017F folds to s and U+212A to k, while Python also lets a dotless i stand for an i), so no `\s`, `\b`, `\w` and
no IGNORECASE occurs below.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from typing import Final

from curator.model.record import u16_len

BLOCKED_NOTICE: Final = "(this memory entry is withheld: its text breaks a safety rule)"
"""What a prompt shows in place of an entry that memory should not hold."""


class TextFault(StrEnum):
    """Why memory may not hold a text. A word of its own, so that no message needs the text (interop.md 7.4)."""

    EMPTY = "empty"
    TOO_LONG = "too-long"
    INVISIBLE = "invisible-character"
    FENCE = "memory-fence"
    SECRET = "secret"  # noqa: S105 - the name of a fault
    MANIPULATION = "manipulation"


_SPACE: Final = "\t\n\x0b\x0c\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_TRIMMED: Final = _SPACE.replace("\u2000-\u200a", "".join(map(chr, range(0x2000, 0x200B))))
_WORD: Final = "A-Za-z0-9_"
_FOLDED_WORD: Final = _WORD + "\u017f\u212a"


def _edge(word: str) -> str:
    """Return the pattern of a word boundary over the given word characters."""
    return f"(?:(?<=[{word}])(?![{word}])|(?<![{word}])(?=[{word}]))"


def _folded(literal: str) -> str:
    """Return a pattern for the ASCII `literal` in any case, folded as JavaScript folds under its flags i and u."""
    extra = {"s": "\u017f", "k": "\u212a"}
    return "".join(
        f"[{char.lower()}{char.upper()}{extra.get(char.lower(), '')}]" if char.isalpha() else re.escape(char)
        for char in literal
    )


def _any_of(*literals: str) -> str:
    """Return a pattern for any one of the literals in any case."""
    return f"(?:{'|'.join(_folded(literal) for literal in literals)})"


_KEY_TYPES: Final = ("RSA ", "EC ", "OPENSSH ")
_FOLDED_KEY: Final = f"{_any_of(*_KEY_TYPES)}?{_folded('PRIVATE KEY-----')}"
_KEY_BEGIN: Final = re.compile(_folded("-----BEGIN ") + _FOLDED_KEY)
_KEY_END: Final = re.compile(_folded("-----END ") + _FOLDED_KEY)
_KEY_LINE: Final = re.compile(f"-----BEGIN (?:{'|'.join(_KEY_TYPES)})?PRIVATE KEY-----")
_TOKEN: Final = re.compile(f"{_edge(_WORD)}(?:sk|ghp|github_pat|xox[baprs])-[-A-Za-z0-9_]{{12,}}{_edge(_WORD)}")
_TOKEN_WORDS: Final = ("sk-", "ghp-", "github_pat-", "xox")
_ASSIGNMENT_WORDS: Final = ("api", "acce", "sword", "\u017fword", "ecret")
"""One of them, in lower case, stands in each text in which the pattern finds something: the long s stays itself."""
_ASSIGNMENT: Final = re.compile(
    f"{_edge(_FOLDED_WORD)}((?:{_folded('api')}[_ -]?{_folded('key')}|{_folded('access')}[_ -]?{_folded('token')}"
    f"|{_folded('password')}|{_folded('secret')})[{_SPACE}]*[:=][{_SPACE}]*)[^{_SPACE}]{{8,}}"
)
_INVISIBLE_CODES: Final = (
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    0x2060,
    *range(0x2066, 0x206A),
    0xFEFF,
)
_INVISIBLE: Final = re.compile(f"[{''.join(map(chr, _INVISIBLE_CODES))}]")
_CONTROL: Final = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f{''.join(map(chr, _INVISIBLE_CODES))}]")
_FENCE: Final = re.compile(f"</?{_folded('project-memory')}{_edge(_FOLDED_WORD)}")
_OVERRIDE: Final = re.compile(
    f"{_any_of('ignore', 'disregard', 'forget')}[{_SPACE}]+"
    f"{_any_of('all', 'any', 'the', 'earlier', 'previous', 'prior')}[^\n\r\u2028\u2029]*{_folded('instruction')}"
)
_SYSTEM_TALK: Final = re.compile(
    f"{_edge(_FOLDED_WORD)}{_any_of('system', 'developer')}[{_SPACE}]+{_any_of('prompt', 'message', 'instruction')}"
)
_ORDER_TO_MODEL: Final = re.compile(
    f"{_edge(_FOLDED_WORD)}{_any_of('assistant', 'model', 'you')}[{_SPACE}]+"
    f"{_any_of('must', 'should', 'need to', 'are required to')}"
)


def js_trim(text: str) -> str:
    """Strip what JavaScript calls white space: also U+FEFF, but not U+0085 nor U+001C to U+001F."""
    return text.strip(_TRIMMED)


def sanitize(text: str) -> str:
    """Return `text` as the protocol sanitizes evidence and memory before they enter a job (interop.md 4.3).

    The result can be longer than `text`. Its redaction is the protocol's, and narrow: use `redaction.redact` for what
    curator itself produces.
    """
    # Most texts have nothing of what each step looks for, and a pattern that may begin anywhere is slow to say so.
    if not text.replace("\n", "").isprintable():
        text = _CONTROL.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    if "-----" in text:
        text = _without_private_keys(text)
    if "-" in text and any(map(text.__contains__, _TOKEN_WORDS)):
        text = _TOKEN.sub("[REDACTED TOKEN]", text)
    if (":" in text or "=" in text) and any(map(text.lower().__contains__, _ASSIGNMENT_WORDS)):
        text = _ASSIGNMENT.sub(lambda match: f"{match.group(1)}[REDACTED]", text)
    return text


def is_sanitized(text: str) -> bool:
    """Say whether sanitizing would change nothing, which a job's every text must fulfil (interop.md 4.1)."""
    return sanitize(text) == text


def sanitized_fault(text: str) -> str | None:
    """Return the broken rule in words where `text` is not sanitized: the check of a record's text field."""
    return None if is_sanitized(text) else "is not sanitized"


def normalize_memory_text(text: str) -> str:
    """Return the form in which memory keeps a text: trimmed, with plain line ends (interop.md 7.4).

    A lone carriage return stays, as it does in the protocol.
    """
    return js_trim(text).replace("\r\n", "\n")


def memory_text_fault(text: str, limit: int) -> TextFault | None:
    """Return why memory may not hold `text` once normalized, or None where it may (interop.md 7.4).

    `limit` is in UTF-16 units. It is checked before any pattern runs, which bounds what the patterns can cost.
    """
    text = normalize_memory_text(text)
    if not text:
        return TextFault.EMPTY
    if u16_len(text) > limit:
        return TextFault.TOO_LONG
    return _unsafe(text)


def context_filter(text: str) -> str:
    """Return `text` for a prompt, or the fixed notice where it breaks a rule of content (interop.md 7.1, 7.4)."""
    return text if _unsafe(text) is None else BLOCKED_NOTICE


def _unsafe(text: str) -> TextFault | None:
    """Return the first rule of content that `text` breaks."""
    if _INVISIBLE.search(text):
        return TextFault.INVISIBLE
    if _FENCE.search(text):
        return TextFault.FENCE
    if _KEY_LINE.search(text) or _TOKEN.search(text) or _ASSIGNMENT.search(text):
        return TextFault.SECRET
    if _OVERRIDE.search(text) or _SYSTEM_TALK.search(text) or _ORDER_TO_MODEL.search(text):
        return TextFault.MANIPULATION
    return None


def _without_private_keys(text: str) -> str:
    """Replace each private key block, from its BEGIN to the first END after it.

    Searching for both ends apart keeps this linear: where one BEGIN finds no END, no later one does.
    """
    kept: list[str] = []
    position = 0
    while (begin := _KEY_BEGIN.search(text, position)) and (end := _KEY_END.search(text, begin.end())):
        kept += [text[position : begin.start()], "[REDACTED PRIVATE KEY]"]
        position = end.end()
    return "".join([*kept, text[position:]])
