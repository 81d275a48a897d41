r"""What in a text may be a secret, told by its words: of most texts nothing, and so they need no search.

A secret stands in a word that is long and holds the anchor of its kind, or under a telling name, or in a line with a
word of its own; or it is hidden by an escape, by a joint of two strings, or by a line break after which goes on what
looks random. This is quick because words come again: those without a digit are remembered, and most texts have no other
ones.

INVARIANT  What is not told here has no finding in `redaction`. The reverse is not said: most of it has none either.
"""

from __future__ import annotations

import re
from itertools import filterfalse
from typing import Final

from curator.model.secret_fields import TELLING
from curator.model.secret_kinds import KINDS, LONG_RUN_CHARS_MIN, RUN_CHARS_MIN
from curator.model.secret_lines import LINE_ANCHORS, PGPASS_COLONS

RUN_CHARS: Final = "A-Za-z0-9_+/=.~-"
ESCAPE: Final = (
    r"\\{1,4}(?P<letter>[nrt]|[\"'`/])|\\{1,2}u00(?P<unicode>[2-7][0-9A-Fa-f])|%(?P<percent>[2-7][0-9A-Fa-f])"
    r"|&(?P<entity>quot|amp|apos|#3[49]);"
)
CONTINUED: Final = (
    rf"(?<=[{RUN_CHARS}])(?:\\\r?\n[ \t]{{0,40}}|[\"'`][ \t]{{0,8}}+[+.&\\][ \t]{{0,8}}+(?:\r?\n[ \t]{{0,40}}+)?[\"'`]"
    rf"|[\"'`][ \t]{{0,8}}+\\?\r?\n[ \t]{{0,40}}+(?:[+.&][ \t]{{0,8}}+)?[\"'`])(?=[{RUN_CHARS}])"
)
TELLING_NAME: Final = 1
LINE: Final = 2
TOKEN: Final = 4
KEY_BLOCK: Final = 8
HIDDEN: Final = 16
WRAPPED: Final = 32
ANYTHING: Final = 63
_QUOTED: Final = 64
_WORDS_MAX: Final = 65_536
_SHORT_CHARS: Final = 6
_PLAIN: Final[set[str]] = set()
_REMEMBERED: Final[dict[str, int]] = {}
"""Words without a digit, or short: those of which nothing can be made, and the others. Emptied when they are full."""


def _either(texts: tuple[str, ...]) -> str:
    """Return a pattern for any of the texts that tries one letter at a time: as a plain list it is ten times as slow."""
    if "" in texts:
        return ""
    tails: dict[str, tuple[str, ...]] = {}
    for text in texts:
        tails[text[0]] = (*tails.get(text[0], ()), text[1:])
    return f"(?:{'|'.join(re.escape(first) + _either(rest) for first, rest in tails.items())})"


ANCHOR: Final = re.compile(
    _either(tuple(anchor for kind in KINDS if kind.run_chars_min <= RUN_CHARS_MIN for anchor in kind.anchors))
)
LOOSE_ANCHORS: Final = tuple(anchor for kind in KINDS if not kind.run_chars_min for anchor in kind.anchors)
_WORD_TRAITS: Final = (
    (TELLING_NAME, re.compile(TELLING)),
    (LINE, re.compile("|".join(LINE_ANCHORS))),
    (KEY_BLOCK, re.compile("private|putty")),
    (_QUOTED, re.compile(r"[\"'`]")),
)
_ESCAPED: Final = re.compile(rf"{ESCAPE}|\\\Z", re.ASCII)
_CONTINUED: Final = re.compile(CONTINUED, re.ASCII)
_JOINT: Final = re.compile(r"[\"'`][ \t]{0,8}+[+.&\\\r\n]")
"""What a joint of two strings begins with: quicker to look for."""
_DIGIT: Final = re.compile(r"[0-9]")
_RANDOM_AFTER: Final = re.compile(
    rf"\n(?<=[\r{RUN_CHARS}]\n)[ \t>|#*]{{0,40}}+"
    r"(?:(?=\S*[0-9])(?=\S*[A-Za-z])\S{4}|(?=\S*(?:[a-z][A-Z]|[A-Z]{2}[a-z]))\S{8})"
)
"""A line that may begin with the rest of a token, after one that ends as a token may; see how `redaction` judges it."""


def traits(text: str) -> int:
    """Return what a text may hold, as a sum of the kinds of hints above."""
    found = 0
    for word in filterfalse(_PLAIN.__contains__, text.split()):
        known = _REMEMBERED.get(word)
        found |= _traits_of(word) if known is None else known
    if found & _QUOTED and _JOINT.search(text) and _CONTINUED.search(text):
        found |= HIDDEN
    if not text.isascii() and text.count(":") >= PGPASS_COLONS:
        # White space beyond ASCII parts words here, and not in every pattern.
        found |= LINE
    if _RANDOM_AFTER.search(text):
        found |= WRAPPED
    return found & ANYTHING


def _traits_of(word: str) -> int:
    lowered = word.lower()
    found = sum(trait for trait, pattern in _WORD_TRAITS if pattern.search(lowered))
    if word.count(":") >= PGPASS_COLONS:
        found |= LINE
    is_run = len(word) >= RUN_CHARS_MIN and ANCHOR.search(word)
    if is_run or len(word) >= LONG_RUN_CHARS_MIN or any(map(word.__contains__, LOOSE_ANCHORS)):
        found |= TOKEN
    if _ESCAPED.search(word):
        found |= HIDDEN
    if len(word) <= _SHORT_CHARS or not _DIGIT.search(word):
        _remember(word, found)
    return found


def _remember(word: str, found: int) -> None:
    if len(_PLAIN) + len(_REMEMBERED) >= _WORDS_MAX:
        _PLAIN.clear()
        _REMEMBERED.clear()
    if found:
        _REMEMBERED[word] = found
    else:
        _PLAIN.add(word)
