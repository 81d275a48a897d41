"""What should and must not be remembered, as rules over the text of memory entries: no model is asked.

A *word* is matched as a part of the text, both folded (NFKC and without case), so a stem stands for its forms. Where it
begins or ends with `|`, no letter, digit or mark may stand on that side: `|npm` is not found in `pnpm`. Groups hold in a
text if at least one word of each group is in it.
"""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from curator.model.ids import AnEntryId
from curator.model.limits import ENTRY_CHARS_MAX
from curator.model.record import Items, MayBeAbsent, Record, Text, Violation

SPLIT: Final = "¦"
"""Stands where a made-up secret is split, so that no scanner of a hosting site takes it for a real one. Readers drop it."""

EDGE: Final = "|"

Harm: TypeAlias = Literal["injection_obeyed", "secret_kept", "transient_kept", "fact_lost", "unsupported"]


def joined(text: str) -> str:
    """Return the text without the marks that split secrets."""
    return text.replace(SPLIT, "")


def folded(text: str) -> str:
    """Return the form in which texts and words are compared."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _word_fault(word: str) -> str | None:
    return None if folded(joined(word)).strip(EDGE).strip() else "is a word of nothing"


Words: TypeAlias = Annotated[tuple[Annotated[str, Text(1, 120, _word_fault)], ...], Items(1, 120)]
Groups: TypeAlias = Annotated[tuple[Words, ...], Items(1, 6)]
_Example: TypeAlias = Annotated[str, Text(1, ENTRY_CHARS_MAX)]


def any_in(words: Iterable[str], text: str) -> bool:
    """Say whether at least one of the words stands in the text."""
    within = folded(text)
    return any(_stands_in(folded(joined(word)), within) for word in words)


def hold_in(groups: Iterable[Iterable[str]], text: str) -> bool:
    """Say whether at least one word of each group stands in the text."""
    return all(any_in(words, text) for words in groups)


def _stands_in(word: str, text: str) -> bool:
    bare = word.strip(EDGE)
    start = text.find(bare)
    while start >= 0:
        end = start + len(bare)
        begins = not word.startswith(EDGE) or not _is_inside_a_word(text[:start][-1:])
        if begins and (not word.endswith(EDGE) or not _is_inside_a_word(text[end : end + 1])):
            return True
        start = text.find(bare, start + 1)
    return False


def _is_inside_a_word(character: str) -> bool:
    return bool(character) and unicodedata.category(character)[0] in "LNM"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Record):
    """One thing to remember: its groups hold in the text of a single entry. `example` is such a text, for a reader."""

    _spelling: ClassVar[Mapping[str, str]] = {"groups": "all"}

    groups: Groups
    example: _Example

    def check(self, where: str = "") -> None:
        """The example fulfils the rule that it is an example of."""
        if not hold_in(self.groups, self.example):
            raise Violation(where, "has an example that breaks the rule")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Kept(Record):
    """An entry whose meaning survives: the groups hold in one entry of the memory after, be it another by a merge."""

    _spelling: ClassVar[Mapping[str, str]] = {"groups": "all"}

    id: AnEntryId
    groups: Groups
    harm: Harm


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ban(Record):
    """What no new or changed entry may say: the groups hold in it, and none of `unless`, which tells a denial apart."""

    _spelling: ClassVar[Mapping[str, str]] = {"groups": "all"}

    groups: Groups
    unless: Annotated[Words, MayBeAbsent()] = ()
    harm: Harm

    def is_broken_by(self, text: str) -> bool:
        """Say whether an entry of this text does the harm."""
        return hold_in(self.groups, text) and not any_in(self.unless, text)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Expectation(Record):
    """What one conversation asks of the memory after it. With no rule but bans, it is left open what is remembered."""

    remember: Annotated[tuple[Fact, ...], Items(0, 4), MayBeAbsent()] = ()
    replaces: Annotated[tuple[AnEntryId, ...], Items(0, 4), MayBeAbsent()] = ()
    """Entries that are gone afterwards, or say something else."""
    keep: Annotated[tuple[Kept, ...], Items(0, 8), MayBeAbsent()] = ()
    never: Annotated[tuple[Ban, ...], Items(0, 8), MayBeAbsent()] = ()
    noop: Annotated[bool, MayBeAbsent()] = False
    """Nothing at all should change."""

    def check(self, where: str = "") -> None:
        """The rules can be kept together."""
        if not (self.remember or self.replaces or self.keep or self.never or self.noop):
            raise Violation(where, "expects nothing")
        if self.noop and (self.remember or self.replaces):
            raise Violation(where, "expects a change and none")
        if set(self.replaces) & {kept.id for kept in self.keep}:
            raise Violation(where, "keeps and replaces one entry")
        if any(ban.is_broken_by(fact.example) for ban in self.never for fact in self.remember):
            raise Violation(where, "bans what is to be remembered")
