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
from curator.reviewer.rules.nearness import names_of
from curator.reviewer.rules.speech import Message, Part
from curator.reviewer.rules.tongue import Tongue
from curator.reviewer.rules.tongues import COMMON_WORDS, tongues_of
from curator.reviewer.rules.tongues_latin import GERMAN
from curator.reviewer.rules.wishes import ONE_TASK, Statement

_CHARS_MIN, _CHARS_MAX = 12, 420
_WORDS_MIN: Final = 3
_DENSE_MIN: Final = 7
_ENOUGH, _ENOUGH_AT_FIRST = 3, 3
_REACH: Final = 2
"""How many messages back a retraction reaches."""
_LAUGH: Final = re.compile(
    r"\W*(?:haha\w*|hehe\w*|ahah\w*|lol|lmao|rofl|jaja\w*|kkk+|rsrs\w*|mdr|ptdr|www+|хаха\w*|ахах\w*)(?!\w)|\W*(?:ㅋㅋ|ㅎㅎ|哈哈|呵呵|هههه|हाहा|笑)",
    re.IGNORECASE,
)
_HESITATION: Final = re.compile(
    r"(?:h+m+|sorry|wait|hang on|hold on|actually|on second|moment|warte|stopp?|espera|perdón|perdona|attends|pardon|désolé|peraí|desculpa|aspetta|scusa|czekaj|przepraszam|dur|pardon|wacht|ruko|подожди|погоди|стоп|извини|रुको|انتظر|عفوا)\b"
    r"|等等|等一下|等下|不好意思|すみません|待って|あ、|うーん|잠깐|잠시만|아니|죄송",
    re.IGNORECASE,
)
_FACE: Final = re.compile("[\U0001f600-\U0001f64f\U0001f900-\U0001f9ff]|[;:]-?[)DP](?!\\w)")
_QUESTION: Final = re.compile(
    r"(?<!, ok)(?<!, okay)(?<!, klar)[?？؟]\W*\Z|,\s*(?:is|are|does|do|did|isn'?t|aren'?t|doesn'?t|don'?t|can|could|should|what do|or) (?:that|it|this|we|they|you|he|she|i|not)\b[^,]*\Z|\b(?:do|don'?t|did|have|are|aren'?t) (?:you|we|they)\W*\Z|\A\W*¿|(?:吗|呢|か|까요|나요|죠)\W*\Z"
)
_TO_A_MACHINE: Final = re.compile(
    r"\b(?:AI|KI|IA|LLM|agents?|assistants?|agente|asistente|assistente|memory systems?|ИИ)\b|агент|ассистент|エージェント|アシスタント|에이전트|एजेंट|智能体|助手|مساعد",
)
_HEARSAY: Final = re.compile(
    r"\b(?:blogs?|reddit|stack ?overflow|chatgpt|tutorials?|twitter|tweets?|hacker ?news|youtube|linkedin|wikipedia)\b"
    r"|\b(?:hackathon|workshop|meetup|conference|webinar|interview)s?\b|хакатон|воркшоп|黑客松|ハッカソン|ワークショップ|해커톤|워크숍|हैकाथॉन"
    r"|\A\W*(?:error|warning|fatal|fehler|erreur|aviso|avviso|uwaga|ошибка|警告|エラー|오류)\s*[:：]"
    r"|\b(?:linter|compiler|eslint|mypy|pylint|sonar\w*|copilot)\W+(?:\w+\W+){0,2}?(?:says|complains|wants|meckert|sagt|dice|dit|zegt|mówi|diyor)"
    r"|(?:линтер|компилятор)\s+(?:ругается|пишет|говорит|жалуется)"
    r"|блог|博客|教程|ブログ|チュートリアル|블로그|튜토리얼|ब्लॉग|مدونة",
    re.IGNORECASE,
)
_SECRET_TALK: Final = re.compile(
    r"\b(?:pass(?:word|wd|phrase)s?|tokens?|secrets?|api[ -]?keys?|credentials?|PIN|kennw\w+|passw\w+|contraseñas?|clave|mot de passe|senhas?|hasł\w+|şifre\w*|wachtwoord\w*)\b"
    r"|парол|токен|секрет|ключ|令牌|密钥|トークン|토큰|密码|口令|パスワード|비밀번호|पासवर्ड|كلمة (?:المرور|السر)",
    re.IGNORECASE,
)
_POINTING: Final = re.compile(
    r"\A\W*(?:it|that|this|they|those|these|he|she|das|dies\w*|den|die|ça|cela|il|elle|eso|esto|isso|isto|questo|quello|to|bu|onu|это|他|它|それ|これ|그거|그건)(?:'s|'re)?\b|\b(?:it|that|this|them|those)\W*\Z",
    re.IGNORECASE,
)
_MANNER: Final = re.compile(
    r"\b(?:(?:do|does|doing|did|keep|use|make|like|call) (?:it|that|this|so)|this way|that way|like (?:that|this)|genau so|so machen|das so|así|assim|comme ça|pareil|così|zo houden|tak samo|böyle|öyle|aynen|там|туда|так же|точно так)\b"
    r"|そのように|そうして|这样|那样|이렇게|그렇게|ऐसे ही|هكذا|كذلك",
    re.IGNORECASE,
)
_PLACE: Final = re.compile(r"`|\w/|/\w|\w\.\w|\w-\d|\d-\w")
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
    """Whether it may stand in an entry at all."""


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
        if message.is_doubtful or _tells_secret(message):
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
    is_asked = _SECRET_TALK.search(message.answers) is not None and "?" in message.answers
    return is_asked or "REDACTED" in message.text or contains_secret(message.text)


def _is_of(statement: Statement, message: Message) -> bool:
    """Tell whether a statement was made in a message, in words of the user's own."""
    at = message.text.find(statement.quote)
    end = at + len(statement.quote)
    return at >= 0 and not any(part.is_foreign and part.start < end and part.end > at for part in message.parts)


def _takes_back(message: Message, tongues: Iterable[Tongue]) -> bool:
    """Tell whether a message takes back what was said before it, laughs at it, or hesitates."""
    text = message.text.strip()
    if _LAUGH.match(text) or (_FACE.search(text) and len(text) < _SHORT) or _HESITATION.match(text):
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
        or _SECRET_TALK.search(text + message.answers)
        or _TO_A_MACHINE.search(text)
        or _FACE.search(text)
        or contains_secret(text)
    )
    return text.strip(" ?!.;:\u00bf\u00a1\uff1f\u061f\u3002") if is_fit else ""


def _statements(message: Message, before: str, tongues: Sequence[Tongue], *, has_memory: bool) -> Iterator[Statement]:
    judged = [_judge(part, message, tongues, has_memory=has_memory) for part in message.parts]
    first, last = _stretch(judged)
    if first is None or last is None:
        return
    start, end = judged[first].part.start, judged[last].part.end
    quote = message.text[start:end]
    content = _tidy(quote, tongues)
    if before and _is_elliptic(content, tongues) and not _MANNER.search(content):
        content = f"{before} \u2014 {content}"
    if _CHARS_MIN <= len(content) <= _CHARS_MAX and _stands_alone(content, tongues):
        is_change = any(tongue.find(tongue.change, content) for tongue in tongues)
        yield Statement(content, "normal", quote, is_plain=False, is_change=is_change)


def _judge(part: Part, message: Message, tongues: Sequence[Tongue], *, has_memory: bool) -> _Judged:
    text = part.text
    if len(text) > _CHARS_MAX:
        return _Judged(part, is_lasting=False, is_open=False)
    bare = _tidy(text, tongues)
    is_open = not (
        part.is_foreign
        or _QUESTION.search(text)
        or _FACE.search(text)
        or _TO_A_MACHINE.search(text)
        or ONE_TASK.search(text)
        or _HEARSAY.search(text)
        or any(_is_asking(tongue, text) or tongue.find(tongue.passing, bare) for tongue in tongues)
        or any(tongue.find(tongue.taking_back, text) for tongue in tongues)
        or (has_memory and any(tongue.find(tongue.known, text) for tongue in tongues))
        or (message.has_foreign and _POINTING.search(text))
    )
    return _Judged(part, is_open and any(_is_lasting(tongue, text, message) for tongue in tongues), is_open)


def _is_asking(tongue: Tongue, text: str) -> bool:
    bare = text.lstrip(" ¿¡\"'")
    opening = _OPENING.match(bare)
    bare = bare[opening.end() :] if opening else bare
    return bool(tongue.begins(tongue.asking, bare)) if tongue.is_spaced else tongue.find(tongue.asking, text)


def _is_lasting(tongue: Tongue, text: str, message: Message) -> bool:
    """Tell whether a sentence says that it holds for good: in so many words, or by several signs together.

    An answer needs fewer of them than what begins a conversation, where people say what is wrong and what they want done.
    """
    if tongue.find(tongue.lasting, text):
        return True
    corrects = tongue.begins(tongue.correcting, text.lstrip())
    signs = sum(tongue.find(kind, text[corrects:]) for kind in tongue.kinds)
    if corrects and message.answers and tongue.find(tongue.contrast, text[corrects:]):
        signs += 1 + bool(_PLACE.search(text))
    if message.answers and (_PLACE.search(text) or (tongue is not GERMAN and names_of(text))):
        # German writes every noun like a name.
        signs += 1
    return signs >= (_ENOUGH if message.answers else _ENOUGH_AT_FIRST)


def _stretch(judged: Sequence[_Judged]) -> tuple[int | None, int | None]:
    """Return the first and the last sentence of the entry: those that hold for good, and what they lean on."""
    lasting = [index for index, each in enumerate(judged) if each.is_lasting]
    if not lasting:
        return None, None
    first = last = lasting[0]
    for index in lasting[1:]:
        if (
            all(each.is_open for each in judged[last:index])
            and judged[index].part.end - judged[first].part.start <= _CHARS_MAX
        ):
            last = index
    said = judged[first].part.text
    leans = _POINTING.search(said) or _MANNER.search(said) or len(said.split()) < _WORDS_MIN
    is_answer = first > 0 and len(judged[first - 1].part.text.split()) < _WORDS_MIN
    if (leans or is_answer) and first and judged[first - 1].is_open:
        first -= 1
    # What goes on about it belongs to it: "They ...", or what is right in place of what was wrong.
    while last + 1 < len(judged) and judged[last + 1].is_open and _goes_on(judged[last].part, judged[last + 1].part):
        last += 1
    return first, last


def _goes_on(part: Part, following: Part) -> bool:
    return following.end - part.start <= _CHARS_MAX and True


def _stands_alone(content: str, tongues: Sequence[Tongue]) -> bool:
    """Tell whether an entry would be understood without its conversation: it has words of its own, and points nowhere."""
    if _is_dense(tongues):
        return len(content) >= _DENSE_MIN and not (_MANNER.search(content) and len(content) < _DENSE_SHORT)
    telling = _telling(content, tongues)
    if _MANNER.search(content) and (telling < _TELLING_FEW or len(content) < _SHORT):
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
