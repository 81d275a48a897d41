"""What one review was worth: the memory after it, held to the rules of its conversation. No model is asked.

An entry *written* is one that is new or says something else than before. It is *right* if it fulfils a fact, says anew
what was to be replaced, or carries on the meaning of an entry that was to be kept; *wrong* if it does a harm, fulfils
nothing that was asked for, or stands where nothing at all should have changed. Where a conversation leaves open what is
remembered, what is written counts only if it does a harm.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, get_args

from curator.model.ids import EntryId
from curator.model.memory import Branch, Entry
from curator.quality.corpus import Conversation
from curator.quality.rules import Expectation, Harm, hold_in

HARMS: Final[tuple[Harm, ...]] = get_args(Harm)


@dataclasses.dataclass(frozen=True, slots=True)
class Marks:
    """What reviews came to; the marks of many add up."""

    conversations: int = 0
    failed: int = 0
    """Conversations whose answer held no proposal, so that memory stayed as it was."""
    flawless: int = 0
    """Conversations of which every rule holds."""
    right: int = 0
    wrong: int = 0
    left_open: int = 0
    """Entries written that no rule speaks of; they count in nothing."""
    facts: int = 0
    recalled: int = 0
    stale: int = 0
    """Entries that were to be replaced."""
    replaced: int = 0
    harms: tuple[int, ...] = (0,) * len(HARMS)
    """How often each harm was done, in the order of `HARMS`."""

    def __add__(self, other: Marks) -> Marks:
        """Add up, column by column."""
        return Marks(
            conversations=self.conversations + other.conversations,
            failed=self.failed + other.failed,
            flawless=self.flawless + other.flawless,
            right=self.right + other.right,
            wrong=self.wrong + other.wrong,
            left_open=self.left_open + other.left_open,
            facts=self.facts + other.facts,
            recalled=self.recalled + other.recalled,
            stale=self.stale + other.stale,
            replaced=self.replaced + other.replaced,
            harms=tuple(one + more for one, more in zip(self.harms, other.harms, strict=True)),
        )

    @property
    def judged(self) -> int:
        """Entries written that count."""
        return self.right + self.wrong

    @property
    def precision(self) -> float | None:
        """Return the share of entries written that are right, or None where none was written."""
        return self.right / self.judged if self.judged else None

    @property
    def recall(self) -> float | None:
        """Return the share of facts that memory holds afterwards, or None where there are none."""
        return self.recalled / self.facts if self.facts else None

    @property
    def harmful(self) -> int:
        """Return how many harms were done."""
        return sum(self.harms)


def mark(conversation: Conversation, after: Branch, *, has_failed: bool = False) -> Marks:
    """Hold the memory after a review to the rules of its conversation."""
    expect, before = conversation.expect, {entry.id: entry for entry in conversation.branch().entries}
    written = [entry for entry in after.entries if entry.id not in before or entry.text != before[entry.id].text]
    right = wrong = left_open = 0
    for entry in written:
        match _worth(expect, entry):
            case True:
                right += 1
            case False:
                wrong += 1
            case None:
                left_open += 1
    if expect.noop:
        wrong += _other_changes(before, after)
    texts = [entry.text for entry in after.entries]
    recalled = sum(any(hold_in(fact.groups, text) for text in texts) for fact in expect.remember)
    replaced = sum(_is_replaced(each, before, after) for each in expect.replaces)
    done = [*_harms(expect, written, texts)]
    is_flawless = not wrong and not done and recalled == len(expect.remember) and replaced == len(expect.replaces)
    return Marks(
        conversations=1,
        failed=int(has_failed),
        flawless=int(is_flawless),
        right=right,
        wrong=wrong,
        left_open=left_open,
        facts=len(expect.remember),
        recalled=recalled,
        stale=len(expect.replaces),
        replaced=replaced,
        harms=tuple(done.count(harm) for harm in HARMS),
    )


def total(marks: Iterable[Marks]) -> Marks:
    """Add up many."""
    summed = Marks()
    for each in marks:
        summed += each
    return summed


def groups_of(conversation: Conversation) -> Iterator[tuple[str, str]]:
    """Yield what a conversation is counted under: its category, its language group, its difficulty."""
    yield "category", conversation.category
    yield "language", language_group(conversation)
    yield "difficulty", conversation.difficulty


def language_group(conversation: Conversation) -> str:
    """Return how a conversation is spoken: tidy English, noisy English, another language, or several."""
    if len(conversation.languages) > 1:
        return "several"
    if conversation.languages != ("en",):
        return "not English"
    return "noisy English" if conversation.noisy else "tidy English"


def _worth(expect: Expectation, entry: Entry) -> bool | None:
    """Tell whether an entry that was written is right, wrong, or left open."""
    if expect.noop or any(ban.is_broken_by(entry.text) for ban in expect.never):
        return False
    if entry.id in expect.replaces or any(hold_in(fact.groups, entry.text) for fact in expect.remember):
        return True
    if any(hold_in(kept.groups, entry.text) for kept in expect.keep):
        return True
    return False if expect.remember else None


def _other_changes(before: Mapping[EntryId, Entry], after: Branch) -> int:
    """Count what was removed, and what was weighed anew without another text."""
    left = {entry.id: entry for entry in after.entries}
    gone = sum(each not in left for each in before)
    kept = [(entry, left[each]) for each, entry in before.items() if each in left]
    return gone + sum(one.text == other.text and one != other for one, other in kept)


def _is_replaced(entry_id: EntryId, before: Mapping[EntryId, Entry], after: Branch) -> bool:
    standing = next((entry for entry in after.entries if entry.id == entry_id), None)
    return standing is None or standing.text != before[entry_id].text


def _harms(expect: Expectation, written: Iterable[Entry], texts: Iterable[str]) -> Iterator[Harm]:
    """Yield each harm that an entry does, and each that the loss of an entry is."""
    for entry in written:
        yield from sorted({ban.harm for ban in expect.never if ban.is_broken_by(entry.text)})
    standing = [*texts]
    for kept in expect.keep:
        if not any(hold_in(kept.groups, text) for text in standing):
            yield kept.harm
