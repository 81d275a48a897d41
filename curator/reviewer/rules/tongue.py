"""What a language says with: the shape of the tables in `tongues_latin` and the others, and how they are matched."""

from __future__ import annotations

import dataclasses
import functools
import re


@dataclasses.dataclass(frozen=True, slots=True)
class Tongue:
    """Words of one language, by what they tell of a sentence; each a regular expression."""

    name: str
    common: str
    """Short words that nearly every sentence has: they tell the language."""
    lasting: str
    """That it holds for good: one of them is enough."""
    collective: str
    """That it is the matter of several."""
    contrast: str
    """That it is this and not that."""
    appositive: str
    """That it is this and not that, in so many words: a contrast that counts twice."""
    every: str
    """That it holds for all of a kind, or for one alone."""
    norm: str
    """That it ought to be so."""
    change: str
    """That it is so now, and was not before."""
    passing: str
    """That it holds for now, or is a guess, a joke, a story, or another's word: one of them is too much."""
    asking: str
    """That it is a question, where a sentence begins so."""
    taking_back: str
    """That what was said before is not to count."""
    known: str
    """That it was said before."""
    correcting: str
    """That what the assistant did or said is wrong, where a sentence begins so."""
    is_spaced: bool = True
    """Whether words stand between spaces, so that one may not begin inside another."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of which several together say that something holds for good."""
        return self.collective, self.contrast, self.appositive, self.every, self.norm, self.change

    def find(self, words: str, text: str) -> bool:
        """Tell whether any of the words stands in the text."""
        return _pattern(words, self.is_spaced).search(text) is not None

    def without(self, words: str, text: str) -> str:
        """Return the text without any of the words; what takes several has words of its own in it, and stays."""
        return _pattern(words, self.is_spaced).sub(lambda found: found[0] if found[0].count(" ") > 1 else " ", text)

    def begins(self, words: str, text: str) -> int:
        """Return where the words end that the text begins with, or 0."""
        match = _pattern(words, self.is_spaced).match(text)
        return match.end() if match else 0


@functools.cache
def _pattern(words: str, is_spaced: bool) -> re.Pattern[str]:  # noqa: FBT001 - a key of the cache
    edged = rf"(?:(?<![\w'])|(?=\W))(?:{words})(?!\w)" if is_spaced else rf"(?:{words})"
    return re.compile(edged, re.IGNORECASE)
