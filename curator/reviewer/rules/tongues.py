"""The languages that the rules read, and which of them a text is written in."""

from __future__ import annotations

import re
from typing import Final

from curator.reviewer.rules.tongue import Tongue
from curator.reviewer.rules.tongues_dense import CHINESE, HINDI, HINGLISH, JAPANESE, KOREAN
from curator.reviewer.rules.tongues_eastern import ARABIC, POLISH, RUSSIAN, TURKISH
from curator.reviewer.rules.tongues_latin import DUTCH, ENGLISH, GERMAN
from curator.reviewer.rules.tongues_romance import FRENCH, ITALIAN, PORTUGUESE, SPANISH

_LATIN: Final = (ENGLISH, GERMAN, DUTCH, FRENCH, SPANISH, PORTUGUESE, ITALIAN, POLISH, TURKISH, HINGLISH)
_SCRIPTS: Final = (
    (re.compile("[\u3040-\u30ff]"), JAPANESE),
    (re.compile("[\uac00-\ud7af]"), KOREAN),
    (re.compile("[\u0900-\u097f]"), HINDI),
    (re.compile("[\u0600-\u06ff]"), ARABIC),
    (re.compile("[\u0400-\u04ff]"), RUSSIAN),
    (re.compile("[\u4e00-\u9fff]"), CHINESE),
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]*)?")


def tongues_of(text: str, spoken: str) -> tuple[Tongue, ...]:
    """Return the languages of a message: by its script, else by its short words.

    A message too short to tell is taken to be in the language that is spoken around it; where nothing tells, it may be any
    that is written in Latin letters.
    """
    latin = len(_LATIN_WORD.findall(text))
    for script, tongue in _SCRIPTS:
        if len(script.findall(text)) >= (1 if latin < _LETTERS_MIN else _LETTERS_MIN):
            return (tongue, ENGLISH) if latin else (tongue,)
    own, around = _counts(text), _counts(spoken)
    best, usual = _most(own), _most(around)
    if not best:
        return usual or _LATIN
    clear = [tongue for tongue in best if not usual or own[tongue.name] >= own[usual[0].name] + _CLEAR]
    return tuple(clear) or usual


def _counts(text: str) -> dict[str, int]:
    words = [word.casefold() for word in _WORD.findall(text)]
    return {tongue.name: sum(word in _COMMON[tongue.name] for word in words) for tongue in _LATIN}


def _most(counts: dict[str, int]) -> tuple[Tongue, ...]:
    most = max(counts.values())
    return tuple(tongue for tongue in _LATIN if most and counts[tongue.name] == most)


_LETTERS_MIN: Final = 3
"""One letter is a name, not a language."""
_LATIN_WORD: Final = re.compile("[A-Za-z]{2,}")
_CLEAR: Final = 2
COMMON_WORDS: Final = frozenset(word for tongue in _LATIN for word in tongue.common.split("|"))
"""Short words of any of them: they tell nothing of what a text is about."""
_COMMON: Final = {tongue.name: frozenset(tongue.common.split("|")) for tongue in _LATIN}
