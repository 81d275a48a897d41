"""When two sentences say the same, the opposite, or the same about something else."""

from __future__ import annotations

import dataclasses
import re
from typing import Final

_TOKEN: Final = re.compile(r"[^\W_][\w./+#-]*")
_CONTRAST: Final = re.compile(
    r"(?:;|(?<!\bis)(?<!\bare)(?<!\bbe)[,.]?\s\b(?:not|never|instead of|rather than|over|because|since)\b).*",
    re.IGNORECASE | re.DOTALL,
)
_PASSIVE: Final = re.compile(r"\b(?:is|are|be) (?:never|not)\b", re.IGNORECASE)
_NEGATIVE: Final = re.compile(
    r"\W*(?:(?:we|please|in this \w+,?|decided:|you|should|must) )*(?:never|don't|do not|avoid|no|stop)\b",
    re.IGNORECASE,
)
_EMPTY_WORDS: Final = (
    "a an the we you i us our your my this that these those it its in on of to for with from by at as and or is are be"
    " was been has have will should must need please always never not no do don dont only ever every each all any some"
    " project repo repository codebase workspace here now then when before after use used using prefer go going decided"
    " decision convention rule make sure keep remember so too very also just there"
)
_EMPTY: Final = frozenset(_EMPTY_WORDS.split())
_VERB_ENDING: Final = re.compile(r"(\w{2,}?(\w))\2?(?:ing|ed)")
_PLURAL: Final = re.compile(r"\w{2,}[^sui]s")
_SAME: Final = 0.6
_CONTAINED: Final = 0.8
_CONTAINED_MIN: Final = 3


@dataclasses.dataclass(frozen=True, slots=True)
class Gist:
    """What a sentence is about: its telling words up to the first contrast, and whether it forbids."""

    plain: str
    words: frozenset[str]
    is_negative: bool


def gist_of(text: str) -> Gist:
    """Return the gist of a sentence."""
    plain = " ".join(re.sub(r"[^\w\s./+#-]", " ", text.casefold()).split()).rstrip(".")
    prohibition = _NEGATIVE.match(text)
    # A prohibition begins with the very word that would end an order.
    head = _CONTRAST.sub("", text[prohibition.end() if prohibition else 0 :])
    return Gist(plain, _words(head) or _words(text), bool(prohibition or _PASSIVE.search(head)))


def is_same(one: Gist, other: Gist) -> bool:
    """Tell whether both say the same, in nearly the same words."""
    return one.plain == other.plain or (one.is_negative == other.is_negative and _is_close(one.words, other.words))


def is_opposite(one: Gist, other: Gist) -> bool:
    """Tell whether one forbids exactly what the other orders."""
    if one.is_negative == other.is_negative or min(len(one.words), len(other.words)) < 2:  # noqa: PLR2004 - one word is no topic
        return False
    return len(one.words & other.words) / len(one.words | other.words) >= _CONTAINED


def _is_close(one: frozenset[str], other: frozenset[str]) -> bool:
    if not one or not other:
        return False
    shared, smaller = len(one & other), min(len(one), len(other))
    if shared / len(one | other) >= _SAME:
        return True
    # A few words are easily contained in a long sentence about something else.
    return smaller >= _CONTAINED_MIN and shared / smaller >= _CONTAINED


def _words(text: str) -> frozenset[str]:
    tokens = (match.group().casefold().strip("./+-") for match in _TOKEN.finditer(text.replace("'", " ")))
    return frozenset(_stem(token) for token in tokens if token and token not in _EMPTY)


def _stem(token: str) -> str:
    """Take a plural for its singular and a verb for its stem: enough to compare by, never shown."""
    if not token.isalpha():
        return token
    if match := _VERB_ENDING.fullmatch(token):
        return match[1]
    return token[:-1] if _PLURAL.fullmatch(token) else token
