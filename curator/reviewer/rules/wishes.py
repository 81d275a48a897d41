"""Which sentences are worth keeping: explicit wishes, conventions, corrections and decisions.

A sentence has to match a form from its beginning, and none of the signs of something passing: a question, a guess, a
joke, a quotation, one task, one day. What is left out costs little; what is kept wrongly is kept for months.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from typing import Final

from curator.model.proposal import Importance
from curator.reviewer.rules.speech import Sentence


@dataclasses.dataclass(frozen=True, slots=True)
class Statement:
    """Something to remember, the words it rests on, and what it replaces if the user said so."""

    content: str
    importance: Importance
    quote: str
    old: str | None = None
    new: str | None = None
    is_plain: bool = True
    """Whether it has one of the plain forms, so that its words can be compared as English."""
    is_change: bool = False
    """Whether it says that something is otherwise than before."""


_VERBS: Final = (
    "add|avoid|begin|branch|build|bump|call|catch|check|commit|create|delete|deploy|document|edit|export|expose|fail"
    "|follow|format|generate|group|import|include|indent|install|keep|lint|log|merge|mock|modify|name|open|pin|place"
    "|prefer|prefix|publish|push|put|quote|raise|rebase|release|require|return|review|run|ship|sign|skip|sort|squash"
    "|start|store|support|tag|target|test|touch|update|use|validate|version|wrap|write"
)
_PLACE: Final = r"(?:this|our|the whole|the entire|the) (?:project|repo|repository|code ?base|workspace|monorepo)"
_FILLER: Final = re.compile(
    r"(?:(?:ok(?:ay)?|alright|all right|great|good|nice|perfect|cool|right|thanks|thank you|yes|yeah|yep|sure|hey|hi"
    r"|hello|also|and|so|but|oh|well|btw|by the way|one more thing|important|listen)\b[\s,!.:;\u2013\u2014-]+)+",
    re.IGNORECASE,
)
_CORRECTING: Final = re.compile(
    r"(?:(?:no|nope|nah|wrong)(?=[,.:;!\u2013\u2014]| -)|not quite|incorrect|correction|actually"
    r"|that'?s (?:wrong|not right|incorrect|not correct))\b[\s,:;.!\u2013\u2014-]+",
    re.IGNORECASE,
)
_ALONE: Final = re.compile(r"(?:no|nope|nah|wrong|incorrect|that'?s (?:wrong|not right|incorrect))[.!]*", re.IGNORECASE)
_PASSING: Final = re.compile(
    # Guesses and conditions.
    r"\b(?:if|maybe|perhaps|might|could|would|suppose|imagine|assuming|hypothetically|probably|possibly|wonder|wish"
    r"|i think|i guess|not sure|unsure|i'd|we'd|try|consider|thinking (?:of|about)|let me know|ideally|someday|eventually"
    # One time.
    r"|this time|for now|once more|just once|only once|today|tonight|tomorrow|yesterday|right now|at the moment"
    r"|currently|temporar\w+|for the (?:moment|time being)|until|this (?:week|month|morning|afternoon|evening|sprint"
    r"|session|once)|quickly|real quick|again|while (?:you|we)(?:'re| are) at it|when you(?:'re| are) (?:done|finished)"
    # Dates, and what is no matter of a project.
    r"|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|meetings?|lunch|office|conference|vacation|holidays?|birthday|asap"
    r"|as soon as possible|at \d{1,2}(?::\d\d)?(?: ?[ap]m)?\Z"
    # Complaints and praise.
    r"|broken|breaks|suck\w*|annoy\w+|hate|terrible|awful|horrible|stupid|ugly|bad|simple|easy|too (?:much|many|slow|long)"
    r"|a (?:hack|mess|rewrite|fix)|at all|wrong|why|amazing|awesome"
    # Somebody else's words, and jokes.
    r"|said|says|say|wrote|told|asked|mentioned|claims?|according to|kidding|joking|jk|lol|haha\w*|rofl|sarcas\w+)\b"
    r"|[;:]-?[)D](?!\w)|/s\Z|[\U0001f600-\U0001f64f\U0001f900-\U0001f9ff]",
    re.IGNORECASE,
)
ONE_TASK: Final = re.compile(
    r"\bthe (?:same|new|old)\b|\b(?:this|that|these|those|the (?:above|following|current|other|former|latter|same)) (?:functions?|files?|class|method"
    r"|tests?|lines?|block|loop|variable|component|page|script|module|bug|issue|error|pr|pull request|commit|branch"
    r"|ticket|task|fix|change|patch|diff|migration|endpoint|ones?|case|time|step|snippet|code|message|output|logs?"
    r"|approach|option|version|way|thing|idea|plan|feature|story|request)\b"
    r"|\bthe (?:first|second|third|last|next|previous) (?:one|option|approach|version|step|suggestion|idea|plan)\b"
    r"|\b\w+'s (?:branch|laptop|machine|version|idea|approach|code|change|pr)\b"
    r"|\b(?:option|approach|plan|variant) (?:[a-d]|\d)\b|\bline \d|#\d|\byour (?:suggestion|idea|approach|plan|version)\b",
    re.IGNORECASE,
)
_POINTING: Final = re.compile(
    r"\b(?:use|using) (?:it|this|that|them|these|those)\b(?! (?:project|repo|repository|code ?base))"
    r"|\b(?:do|use|try|run|keep|make|like|want|with|for|to|on) (?:it|that|this|so|them|these|those)(?=[\s,.!]*(?:\Z|[,.!]))"
    r"|\b(?:like that|this way|that way|the same|here and there|above|below)\W*\Z"
    r"|\A(?:you|i|it|that|this|these|those|they|he|she)(?:'s|'re)?\b(?! (?:project|repo|repository|code ?base))",
    re.IGNORECASE,
)
_NO_ORDER: Final = re.compile(
    r"(?:mind|been|being|had|has|have to|was|were|is|are|knew|seen|saw|heard|thought|got|did|ever|again|before|enough|fun"
    r"|good|nice|great|bad|better|happy|true|there|here|so|too|in|on|at|a|an|the|my|your|wrong|right|possible|up|down"
    r"|welcome|wanted|know|like|love|hate|want|wonder\w*|\w+ing|(?!embed|feed|seed|need|speed)\w+ed"
    r"|(?!focus|process|discuss|access|bypass|pass|compress|address|express|suppress)\w+[^s]s)\b",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(r"`[^`]+`|\b[A-Z]\w|\w[._+#-]\w|\w\d|\d")
_SHORT_NAME: Final = r"(?!(?:a|an|the|this|that|my|your|other|another|some|it|me|us|him|her|them|you|\d+)\b)[^\s,.;()]+(?: [^\s,.;()]+){0,2}?"
_STARTERS: Final = re.compile(
    rf"(?:{_VERBS}|we|our|the|this|in|from|all|every|each|no|always|never|do|don't|please|going|for|let's|decision|go|only)\b"
)
_WORDS_MIN, _WORDS_MAX, _CHARS_MAX = 3, 60, 400


def find_statements(sentences: Iterable[Sentence]) -> tuple[Statement, ...]:
    """Return what is worth keeping, in order. What the user takes back afterwards is not in it."""
    kept: list[tuple[int, Statement]] = []
    corrects = -1
    for sentence in sentences:
        if _RETRACTION.search(sentence.text):
            # It speaks of what was just said: in this message, or else in the one before.
            earlier = [number for number, _ in kept]
            taken_back = sentence.message if sentence.message in earlier else sentence.message - 1
            kept = [(number, each) for number, each in kept if number != taken_back]
        elif _ALONE.fullmatch(sentence.text):
            corrects = sentence.message
        else:
            statement = read_statement(sentence.text, is_correction=corrects == sentence.message)
            corrects = -1
            if statement is not None:
                kept.append((sentence.message, statement))
    return tuple(statement for _, statement in kept)


_RETRACTION: Final = re.compile(
    r"\b(?:just|only) (?:kidding|joking)\b|\bi(?:'m| am| was) (?:just )?(?:kidding|joking)\b|\bnever ?mind\b|\bscratch that\b"
    r"|\bscrap that\b|\bforget (?:that|it|what i)\b|\bignore (?:that|what i)\b|\btake that back\b|\bthat was a joke\b"
    r"|\bdon'?t (?:save|store|remember|memorize) (?:that|this|it)\b",
    re.IGNORECASE,
)


def read_statement(text: str, *, is_correction: bool = False) -> Statement | None:
    """Return what one sentence says for good, or None if it says nothing for good."""
    if text.endswith("?") or text.startswith(('"', "'", "\u201c", "\u2018", "\u00ab")) or len(text) > _CHARS_MAX:
        return None
    said = _FILLER.sub("", text, count=1) if _FILLER.match(text) else text
    correcting = _CORRECTING.match(said)
    if correcting:
        said, is_correction = said[correcting.end() :], True
    said = said.strip(" *_").rstrip(" .!;,*_")
    said = re.sub(r"\s+", " ", said)
    if _PASSING.search(said) or ONE_TASK.search(said):
        return None
    for form in _FORMS:
        if (form.is_for_corrections and not is_correction) or not (match := form.pattern.fullmatch(said)):
            continue
        content = match.expand(form.content) if form.content else said
        groups = match.groupdict()
        if form.needs_name and not _NAMED.search(match["object"]):
            continue
        return _statement(content, form.importance, text, groups.get("old"), groups.get("new"))
    return None


def _statement(content: str, importance: Importance, quote: str, old: str | None, new: str | None) -> Statement | None:
    content = content.strip(" ,:")
    if not _WORDS_MIN <= len(content.split()) <= _WORDS_MAX or _POINTING.search(content):
        return None
    if _STARTERS.match(content):
        content = content[0].upper() + content[1:]
    return Statement(f"{content}.", importance, quote, old, new)


@dataclasses.dataclass(frozen=True, slots=True)
class _Form:
    """One way to say something for good."""

    pattern: re.Pattern[str]
    importance: Importance = "normal"
    content: str | None = None
    """How the content is put together, where it is not the whole sentence."""
    is_for_corrections: bool = False
    needs_name: bool = False
    """Whether what is chosen has to have a name of its own: `SQLite`, not `a dict`."""


def _form(pattern: str, importance: Importance = "normal", content: str | None = None, **more: bool) -> _Form:
    return _Form(re.compile(pattern, re.IGNORECASE), importance, content, **more)


_CONTRAST: Final = r"(?:,? (?:not|never|instead of|rather than|and not)) "
_ORDER: Final = rf"(?:(?:always|never) )?(?:{_VERBS}|do not|don't)\b"
_FORMS: Final = (
    # Corrections: the old way is named beside the new one.
    _form(rf"(?:please )?(?P<said>(?:we )?(?:always )?(?:use|run|write|call) (?P<new>{_SHORT_NAME}){_CONTRAST}"
          rf"(?P<old>{_SHORT_NAME}))", content=r"\g<said>", is_for_corrections=True),
    _form(r"(?:the|our) (?:[\w-]+ ){0,3}(?:command|branch|tool|framework|language|formatter|linter|database|manager|folder"
          r"|directory|convention|runner|default|version|registry|host|port|path|name) (?:is|are) (?P<new>[^,;]+?),? not"
          r" (?P<old>[^,;]+)", is_for_corrections=True),
    _form(r"we(?: now)? (?:(?:use|deploy|release|target) .+|(?:run|test|build|format|lint) .*\b(?:with|in|on|from) .+)",
          is_for_corrections=True),
    _form(rf"we(?: now)? use (?P<new>{_SHORT_NAME}){_CONTRAST}(?P<old>{_SHORT_NAME})(?: (?:here|in {_PLACE}))?"),
    # Explicit wishes.
    _form(r"(?:please )?(?:remember|keep in mind|bear in mind|for (?:the )?future reference|note for later)"
          r"(?: for (?:the )?future| please)?[,:]? (?:that )?(?!(?:to|time|when|how|what|the (?:time|day)|i(?:'m)?|my|me"
          r"|this|these|us|he|she|they)\b)(?P<said>.+)", "high", r"\g<said>"),
    _form(r"(?:please )?(?:remember|keep in mind) (?:this|the following): ?(?P<said>.+)", "high", r"\g<said>"),
    _form(rf"(?:please )?(?:remember|don't forget|do not forget) to (?P<said>(?:always|never) .+|(?:{_VERBS}) .*"
          r"\b(?:every|each|before (?:pushing|committing|merging|releasing)|after (?:pushing|merging|releasing))\b.*)",
          "high", r"\g<said>"),
    _form(rf"(?:from now on|from here on|going forward|in (?:the )?future|as a(?: general)? rule|by convention|in general"
          r"|generally)[,:]? (?:please )?"
          rf"(?P<said>(?:we (?:always|never|only|{_VERBS})|always|never|no (?!more\b)|(?:all|every|each) .+ (?:must|should"
          rf"|needs?|ha(?:ve|s) to|goes|go|gets?|uses?)|{_VERBS}|don't|do not)\b.+)",
          "high", r"\g<said>"),
    _form(rf"(?:please )?(?P<said>(?:we (?:always|never|{_VERBS})|{_ORDER}) .+?),? (?:from now on|going forward"
          r"|in (?:the )?future)", "high", r"\g<said>"),
    # Standing orders.
    _form(rf"(?:please )?(?P<said>(?:always|never) (?!{_NO_ORDER.pattern})\w.+)", "high", r"\g<said>"),
    _form(r"(?:you|we) (?:should|must|need to|have to) (?P<said>(?:always|never) .+)", "high", r"\g<said>"),
    _form(r"(?:(?:please )?make sure (?:that )?(?:you |we |to )?|i want you to )(?P<said>(?:always|never) .+)", "high",
          r"\g<said>"),
    _form(rf"we (?:always|never|only) (?:{_VERBS})\b.+", "high"),
    _form(rf"(?:for|in|when|whenever|before|after) [^,]{{3,60}}, (?:please )?(?:(?:we )?(?:always|never) (?:{_VERBS})\b"
          r").+", "high"),
    _form(rf"(?:please )?(?P<said>(?:don't|do not) ever (?:{_VERBS})\b.+)", "high", r"\g<said>"),
    # Conventions.
    _form(rf"(?:please )?(?P<said>(?:use|prefer|avoid|don't use|do not use) .+ (?:in|for|across|throughout) {_PLACE}"
          r"(?:,? (?:because|since|as|and|when|only|too)\b.*)?)(?:,? please)?", content=r"\g<said>"),
    _form(rf"(?P<said>no (?!more\b|need\b).+ in {_PLACE})(?:,? please)?", content=r"\g<said>"),
    _form(r"we (?:don't|do not) (?:use|allow) .+"),
    _form(r"(?:the|our) (?:default|main|release|production|staging) branch is .+"),
    _form(r"(?:the|our) (?:test|build|lint|release|deploy|check|format) command is .+"),
    _form(rf"(?:in|for|across|throughout) {_PLACE},? (?:please )?(?:we (?:always|never|only|don't|do not|{_VERBS})|always"
          r"|never|use|prefer|avoid|don't|do not|all|every) .+"),
    _form(r"this (?:project|repo|repository|code ?base) (?:uses|requires|targets|follows|supports|is written in"
          r"|is built with) .+"),
    _form(r"(?:our|the|this project's|the project's) (?:[\w-]+ ){0,3}?(?:convention|standard|rule|policy|guideline)s?"
          r"(?: here)? (?:is|are|requires?) .+"),
    _form(r"(?:convention|project rule|house rule|rule): ?(?P<said>.+)", content=r"\g<said>"),
    _form(r"(?:i|we|please) prefer (?P<said>.+ (?:over|to|instead of|rather than) .+)", content=r"Prefer \g<said>"),
    _form(r"prefer .+ (?:over|to|instead of|rather than) .+"),
    _form(rf"we(?: now)? (?:use|follow|target|require) (?P<object>.+?) (?:for|as|instead of|rather than|to) .+"
          rf"|we(?: now)? use .+? (?:here|in {_PLACE})"),
    # Decisions.
    _form(r"we(?:'ve| have)?(?: finally| now)? (?:decided|agreed|settled) (?:to|on|that|against) .+"),
    _form(r"(?:the )?decision(?: is)?: ?(?P<said>.+)", content=r"Decided: \g<said>"),
    _form(r"let'?s (?:go|stick|stay) with (?P<object>.+)", content=r"Decided: go with \g<object>", needs_name=True),
    _form(r"let'?s (?P<said>use (?P<object>.+?) for .+)", content=r"Decided: \g<said>", needs_name=True),
    _form(r"let'?s (?P<said>standardi[sz]e on (?P<object>.+))", content=r"Decided: \g<said>", needs_name=True),
    _form(r"we(?:'re| are) (?:going|sticking|staying) with (?P<object>.+)", needs_name=True),
    _form(r"we(?:'ll| will) (?:use|go with|stick (?:with|to)|standardi[sz]e on) (?P<object>.+)", needs_name=True),
    _form(rf"we(?:'ve| have)?(?: now| just)? (?:switched|moved|migrated|changed) (?:over )?from (?P<old>{_SHORT_NAME}) to"
          rf" (?P<new>{_SHORT_NAME})(?: .+)?"),
    _form(r"we(?:'ve| have)?(?: now)? (?:switched|moved|migrated) (?:over )?to (?P<object>.+)", needs_name=True),
)  # fmt: skip
