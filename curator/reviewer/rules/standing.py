"""What the user lays down for good in words of any of the languages that `tongues` knows, message by message.

A sentence that says that it holds for good makes an entry of its message, together with what it cannot be understood
without. Left out is what may be somebody else's word, what holds for now, what is asked, guessed, joked or taken back.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from curator.model.redaction import contains_secret
from curator.reviewer.rules.doubt import (
    FACE,
    HESITATION,
    LAUGH,
    MANNER,
    POINTING,
    SARCASM,
    SECRET_TALK,
    TO_A_MACHINE,
    is_doubtful,
)
from curator.reviewer.rules.speech import Message, Part
from curator.reviewer.rules.tongue import Tongue
from curator.reviewer.rules.tongues import COMMON_WORDS, tongues_of
from curator.reviewer.rules.weighing import LASTING_FROM, OPEN_FROM, weight_of
from curator.reviewer.rules.wishes import Statement

_CHARS_MIN, _CHARS_MAX = 12, 420
_WORDS_MIN: Final = 3
_DENSE_MIN: Final = 7
_NOTHING: Final = -1000
_REACH: Final = 2
"""How many messages back a retraction reaches."""
_WORD: Final = re.compile(r"[^\W_][\w.+#/-]*")
_TELLING_MIN, _TELLING_FEW = 2, 5
_DENSE_FEW: Final = 16
_TOPIC_CHARS_MAX: Final = 120
_SHORT: Final = 45
_DENSE_SHORT: Final = 20
_OPENING: Final = re.compile(
    r"(?:(?:do (?:that|it|this|so)|mach das|hazlo|fais-le|faz isso|fallo|ok(?:ay)?|k|yes|yeah|yep|ja|jo|ya|oui|sí|si|sim|sì|tak|evet|да|haan|はい|네|응|对|好的?|嗯|نعم|हाँ|हां|good|great|thanks?|ty|thx|danke|merci|gracias|obrigad[oa]|grazie|спасибо|gut|right|nice|cool|perfect|super"
    r"|and|also|but|und|et|y|e|и|oh|ah|hm+|well|btw|bon|bueno|bom|also|na|so|por cierto|übrigens|au fait|кстати)\b[\s,.:;!、，。-]+)+",
    re.IGNORECASE,
)


@dataclasses.dataclass(frozen=True, slots=True)
class _Judged:
    """One sentence and what its words tell."""

    part: Part
    is_lasting: bool
    is_open: bool
    """Whether it may stand in an entry beside one that is meant to last."""


def find_standing(
    messages: Sequence[Message], plain: Sequence[Statement], *, has_memory: bool
) -> tuple[Statement, ...]:
    """Return what is laid down for good, in order: what has a plain form, and of messages without it what else they lay down.

    What is taken back by a later message is not in it, whichever it was.
    """
    spoken = " ".join(message.text for message in messages)
    usual = tongues_of(spoken, spoken)
    kept: list[tuple[int, Statement]] = []
    before = ""
    for message in messages:
        if message.is_doubtful or _tells_secret(message) or SARCASM.match(message.text):
            continue
        own = [each for each in plain if _is_of(each, message)]
        tongues = tongues_of(message.text, spoken)
        if _takes_back(message, {*tongues, *usual}):
            kept = _without_last(kept, message.number)
        told = [
            each
            for each in own
            if not (has_memory and any(tongue.find(tongue.known, each.quote) for tongue in tongues))
        ]
        found = told if own else _statements(message, before, tongues, has_memory=has_memory)
        kept += [(message.number, each) for each in found]
        before = _topic(message)
    return tuple(statement for _, statement in kept)


def _tells_secret(message: Message) -> bool:
    """Tell whether a message holds a secret, or answers somebody who has asked for one."""
    is_asked = SECRET_TALK.search(message.answers) is not None and "?" in message.answers
    return is_asked or "REDACTED" in message.text or contains_secret(message.text)


def _is_of(statement: Statement, message: Message) -> bool:
    """Tell whether a statement was made in a message, in words of the user's own."""
    at = message.text.find(statement.quote)
    end = at + len(statement.quote)
    return at >= 0 and not any(part.is_foreign and part.start < end and part.end > at for part in message.parts)


def _takes_back(message: Message, tongues: Iterable[Tongue]) -> bool:
    """Tell whether a message takes back what was said before it, laughs at it, or hesitates."""
    text = message.text.strip()
    if LAUGH.match(text) or (FACE.search(text) and len(text) < _SHORT) or HESITATION.match(text):
        return True
    said = [part.text for part in message.parts if len(part.text) <= _CHARS_MAX]
    return any(tongue.find(tongue.taking_back, each) for tongue in tongues for each in said)


def _without_last(kept: list[tuple[int, Statement]], number: int) -> list[tuple[int, Statement]]:
    reached = [each for each, _ in kept if number - _REACH <= each < number]
    return [(each, said) for each, said in kept if not reached or each != max(reached)]


def _topic(message: Message) -> str:
    """Return what a message speaks of, for the next one to lean on, or nothing where it is not fit to be repeated."""
    text = " ".join(message.text.split())
    is_fit = len(text) <= _TOPIC_CHARS_MAX and not (
        message.has_foreign
        or SECRET_TALK.search(text + message.answers)
        or TO_A_MACHINE.search(text)
        or FACE.search(text)
        or contains_secret(text)
    )
    return text.strip(" ?!.;:\u00bf\u00a1\uff1f\u061f\u3002") if is_fit else ""


def _statements(message: Message, before: str, tongues: Sequence[Tongue], *, has_memory: bool) -> Iterator[Statement]:
    judged = [_judge(part, message, tongues, has_memory=has_memory) for part in message.parts]
    for first, last in _stretches(judged):
        start, end = judged[first].part.start, judged[last].part.end
        quote = message.text[start:end]
        content = _tidy(quote, tongues)
        if before and _is_elliptic(content, tongues) and not MANNER.search(content):
            content = f"{before} \u2014 {content}"
        if _CHARS_MIN <= len(content) <= _CHARS_MAX and _stands_alone(content, tongues):
            is_change = any(tongue.find(tongue.change, content) for tongue in tongues)
            yield Statement(content, "normal", quote, is_plain=False, is_change=is_change)


def _judge(part: Part, message: Message, tongues: Sequence[Tongue], *, has_memory: bool) -> _Judged:
    text = part.text
    is_open = len(text) <= _CHARS_MAX and not (
        part.is_foreign
        or is_doubtful(text)
        or any(_is_asking(tongue, text) for tongue in tongues)
        or (has_memory and any(tongue.find(tongue.known, text) for tongue in tongues))
        or (message.has_foreign and POINTING.search(text))
    )
    weight = weight_of(_tidy(text, tongues), part, message, tongues) if is_open else _NOTHING
    return _Judged(part, weight >= LASTING_FROM, is_open and weight >= OPEN_FROM)


def _is_asking(tongue: Tongue, text: str) -> bool:
    bare = text.lstrip(" ¿¡\"'")
    opening = _OPENING.match(bare)
    bare = bare[opening.end() :] if opening else bare
    return bool(tongue.begins(tongue.asking, bare)) if tongue.is_spaced else tongue.find(tongue.asking, text)


def _stretches(judged: Sequence[_Judged]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last sentence of each entry: those that are meant to last, and what they lean on."""
    index = 0
    while index < len(judged):
        if not judged[index].is_lasting:
            index += 1
            continue
        first = last = index
        said = judged[first].part.text
        leans = POINTING.search(said) or MANNER.search(said) or len(said.split()) < _WORDS_MIN
        is_answer = first > 0 and len(judged[first - 1].part.text.split()) < _WORDS_MIN
        if (leans or is_answer) and first and judged[first - 1].is_open:
            first -= 1
        # What goes on about it belongs to it: "They ...", or what is right in place of what was wrong.
        while (
            last + 1 < len(judged)
            and judged[last + 1].is_open
            and judged[last + 1].part.end - judged[first].part.start <= _CHARS_MAX
        ):
            last += 1
        yield first, last
        index = last + 1


def _stands_alone(content: str, tongues: Sequence[Tongue]) -> bool:
    """Tell whether an entry would be understood without its conversation: it has words of its own, and points nowhere."""
    if _is_dense(tongues):
        return len(content) >= _DENSE_MIN and not (MANNER.search(content) and len(content) < _DENSE_SHORT)
    telling = _telling(content, tongues)
    if MANNER.search(content) and (telling < _TELLING_FEW or len(content) < _SHORT):
        return False
    return len(content.split()) >= _WORDS_MIN and telling >= _TELLING_MIN


def _is_elliptic(content: str, tongues: Sequence[Tongue]) -> bool:
    """Tell whether a sentence says so little that it is about what was spoken of before."""
    if _is_dense(tongues):
        return len(content) < _DENSE_FEW
    return _telling(content, tongues) < _TELLING_FEW


def _is_dense(tongues: Sequence[Tongue]) -> bool:
    return any(not tongue.is_spaced for tongue in tongues)


def _telling(content: str, tongues: Sequence[Tongue]) -> int:
    """Count the words that say what it is about."""
    own = content
    for tongue in tongues:
        own = tongue.without(tongue.lasting, own)
    return sum(word.casefold() not in COMMON_WORDS for word in _WORD.findall(own))


def _tidy(quote: str, tongues: Sequence[Tongue]) -> str:
    content = " ".join(quote.split())
    if opening := _OPENING.match(content):
        content = content[opening.end() :]
    for tongue in tongues:
        end = tongue.begins(tongue.correcting, content)
        if end and content[end : end + 1] in tuple(",.:;!，。、।،"):
            content = content[end:].lstrip(" ,.:;!，。、।،")
            break
    return content
