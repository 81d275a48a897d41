"""How near two texts of any language are: by the words that they share, or the pairs of letters where none stand apart."""

from __future__ import annotations

import re
from typing import Final

from curator.reviewer.rules.tongues import COMMON_WORDS

_TOKEN: Final = re.compile(r"[^\W_][\w.+#/-]*[^\W_]|[^\W_]")
_DENSE: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_STEM: Final = 5
"""So many letters of a word tell it, whatever its ending is."""


def terms_of(text: str) -> frozenset[str]:
    """Return what a text is about: the heads of its telling words, and pairs of letters of scripts without spaces."""
    folded = text.casefold()
    pairs = {run[at : at + 2] for run in _DENSE.findall(folded) for at in range(len(run) - 1)}
    words = (word for word in _TOKEN.findall(_DENSE.sub(" ", folded)) if word not in COMMON_WORDS and len(word) > 1)
    return frozenset({word if not word.isalpha() else word[:_STEM] for word in words} | pairs)


def nearness(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of the smaller one's terms that the other has too."""
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0


def names_of(text: str) -> frozenset[str]:
    """Return the words of a text that look like names: with a capital or a digit, or Latin among other letters."""
    is_dense = _DENSE.search(text) is not None
    tokens = _TOKEN.findall(_DENSE.sub(" ", text))
    named = (
        each for each in tokens if len(each) > 1 and (is_dense or any(map(str.isupper, each)) or _NUMBER.search(each))
    )
    return frozenset(each.casefold() for each in named) - COMMON_WORDS


def numbers_of(text: str) -> frozenset[str]:
    """Return the numbers that a text names."""
    return frozenset(_NUMBER.findall(text))
