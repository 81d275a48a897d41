"""Secrets that are known by where they stand: assigned to a telling name, in a header, a URL, a command.

The search goes from the telling word outwards, a bounded distance each way, so it takes linear time. What is found must
also look like a secret, more so the less its place says: after `DB_PASSWORD=` almost anything counts, in a sentence only
what is no word. References to a secret (`${TOKEN}`, `process.env.KEY`, `<your token>`, `getpass()`) are none.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple


class Found(NamedTuple):
    """A kind's name, and where the secret begins and ends."""

    kind: str
    start: int
    end: int


class Place(enum.Enum):
    """How much the place of a value says about it, from most to least."""

    SHELL = enum.auto()
    QUOTED = enum.auto()
    BARE = enum.auto()
    PROSE = enum.auto()


class _Value(NamedTuple):
    start: int
    end: int
    is_quoted: bool


_CASELESS: Final = re.IGNORECASE | re.ASCII
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NAME_CHARS: Final = _LETTERS + "0123456789_.-"
_NAME_CHARS_MAX: Final = 64
_VALUE_CHARS_MAX: Final = 512
_QUOTES: Final = "\"'`"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Which names are telling.
TELLING: Final = "pass|pwd|pw|secret|token|credential|key"
_WORD: Final = re.compile(TELLING, _CASELESS)
_WORD_LOWERED: Final = re.compile(TELLING)
"""The same in a text that is lower case: to look for that is five times as quick."""
_REST_OF_NAME: Final = re.compile(rf"[A-Za-z0-9_.-]{{0,{_NAME_CHARS_MAX}}}", re.ASCII)
_PIECES: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", re.ASCII)
_IGNORED_LAST: Final = _words(
    "prod production staging stage dev test live base value raw plain plaintext string str old new main primary default "
    "backup"
)
_PASSWORDS: Final = ("password", "passwd", "passphrase", "passcode", "pwd", "passwort")
_TOKENS: Final = ("secret", "token", "apikey", "secretkey", "accesskey", "authkey", "privatekey", "credential")
_SHORT_PASSWORDS: Final = frozenset({"pass", "pw"})
_NOT_BEFORE_TOKEN: Final = _words(
    "lease fence fencing page next prev continuation sync resume cursor public cancel cancellation stop eos bos pad unk "
    "mask sep cls num max min total count"
)
_BEFORE_KEY: Final = _words(
    "api secret access private auth encryption encrypt signing sign master shared storage account subscription service "
    "app deploy ssh hmac jwt client consumer license webhook admin server root crypto cipher aes ibm cloud "
    "cloudant softlayer cos"
)
_NOT_BEFORE_KEY: Final = _words(
    "primary foreign cache partition sort row group routing object index dedup idempotency public pub project host "
    "registry map hot sentry"
)

# How a name and its value are joined.
_CLOSE: Final = re.compile(
    r"(?P<quote>\\{0,4}[\"'`])?\]?\*{0,2}"
    r"(?:\??:[ \t]{0,4}(?:&?str|[Ss]tring|SecretStr|bytes|any|unknown|Optional\[str\])(?: ?\| ?[A-Za-z]{4,9})?[ \t]{0,4}(?==))?",
    re.ASCII,
)
_ASSIGN: Final = re.compile(
    r"[ \t]{0,8}(?:=>|:=|={1,3}|\?=|:{1,2})\*{0,2}[ \t]{0,8}(?:[|>][+-]?[ \t]{0,4}(?=\r?\n))?(?:\r?\n[ \t]{0,16}){0,2}"
    r"\*{0,2}(?:[bruf]{1,2}(?=[\"']))?",
    re.ASCII,
)
_COMMA: Final = re.compile(r"[ \t]{0,4},[ \t]{0,4}(?=\\{0,4}[\"'`])", re.ASCII)
_CALL: Final = re.compile(r"\([ \t]{0,4}(?=\\{0,4}[\"'`])", re.ASCII)
_IS: Final = re.compile(r"[ \t](?:is|was|are|to)[ \t]?[:=]?[ \t]{1,4}", re.ASCII)
_GAP: Final = re.compile(r"[ \t]{1,8}", re.ASCII)
_PAIRED_NAME: Final = re.compile(r"(?:name|key)\\{0,4}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,4}[\"']?\Z", _CASELESS)
_PAIRED_VALUE: Final = re.compile(
    r",?[ \t]{0,8}(?:\r?\n)?[ \t]{0,16}\\{0,4}[\"']?value\\{0,4}[\"']?[ \t]{0,4}[:=][ \t]{0,8}", _CASELESS
)
_WORD_ENDS: Final = "abcdefghijklmnopqrsuwyz,"
"""How a word before a name may end that is no command with the name as its argument."""
_GOES_ON: Final = re.compile(r" (?!(?:is|was|are|to)[ \t:=])[A-Za-z]|[.,;)](?:\s|\Z)", re.ASCII)
_COMMANDED: Final = re.compile(r"(?:^|[\s;&|])(?:ENV|ARG|setx|set|export|setenv|:)[ \t]{0,4}\Z", re.ASCII)
_OPEN: Final = re.compile(r"(\\{0,4})([\"'`])(?:\2\2)?", re.ASCII)
_RUN: Final = re.compile(rf"[^\s\"'`<>\u201c\u201d\u2018\u2019]{{1,{_VALUE_CHARS_MAX}}}", re.ASCII)
_BODY: Final = {
    quote: re.compile(rf"(?:[^{quote}\\\n]|\\.){{0,{_VALUE_CHARS_MAX}}}(?={quote})", re.ASCII) for quote in _QUOTES
}

# What looks like a secret, and what only stands for one.
_REFERENCE: Final = re.compile(
    r"\[REDACTED|\[|%[A-Za-z_]+%|\{[A-Za-z_][A-Za-z0-9_.]*(?:![rsa])?\}?\Z|\$[A-Za-z_][A-Za-z0-9_]*(?:/|\Z)|\$[A-Z_]{2}"
    r"|(?:arn|op|vault|ssm|keychain|sops|file|secretsmanager|projects|env):|[a-z][a-z0-9+.-]*://|sha[0-9]+[:-]"
    r"|[~.]{0,2}/?[a-z0-9_.-]+(?:/[a-z0-9_.-]+)+\Z|~/|\.{1,2}/|/(?:run|etc|var|home|usr|opt|mnt|tmp)/|\^"
    r"|v?[0-9]+\.[0-9]+(?:\.[0-9]+)?(?![A-Za-z])|[0-9]{4}-[0-9]{2}-[0-9]{2}|review_(?:attempt_)?[0-9a-f]{40}\Z"
    r"|(?:process|import|os|env|config|settings|self|this|args|request|req|secrets|var|local)\.[A-Za-z_.]",
    re.ASCII,
)
_STAND_IN: Final = re.compile(
    r"your|example|placeholder|change[-_ ]?me|x{5}|\*{3}|\.{3}|redacted|insert[-_ ]|replace|todo|dummy|sample|\$[{(]|\{\{"
    r"|<[^<>]{0,80}>|%\(|getpass|environ",
    _CASELESS,
)
_CALLED: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*[(\[](?:[A-Za-z_.,'\" ]*|.*[)\]])\Z", re.ASCII)
_CODE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*[(\[]", re.ASCII)
_PATTERN: Final = re.compile(
    r"\[[^\]]*[A-Za-z0-9]-[A-Za-z0-9][^\]]*\]|\[\{|\(\?|\{[0-9]+,?[0-9]*\}|\(?[a-z]+(?:\|[a-z]+)+\)?\Z|\$[a-z]+/"
)
"""A piece of a regular expression, or of a template."""
_JOINED_WORDS: Final = re.compile(r"[A-Za-z]*[0-9]{0,4}(?:[-_.:/][A-Za-z]*[0-9]{0,4})+\Z", re.ASCII)
_CAMEL: Final = re.compile(r"[A-Za-z][a-z]*(?:[A-Z][a-z]+)*[0-9]{0,1}\Z", re.ASCII)
_ENVIRONMENT_NAME: Final = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z", re.ASCII)
_TERM: Final = re.compile(
    r"(?:sha|md|base|utf|oauth|rs|hs|es|ps|ed|aes|rsa|ipv|http|tls|python|node|java)-?[0-9]", _CASELESS
)
_DIGIT: Final = re.compile(r"[0-9]", re.ASCII)
_LETTER: Final = re.compile(r"[A-Za-z]", re.ASCII)
_SYMBOL: Final = re.compile(r"[!@#$%^&*+=?~;|]", re.ASCII)
_TURN: Final = re.compile(r"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])", re.ASCII)
_NO_PASSWORD: Final = _words(
    "required optional string password passwords passwort secret hidden disabled enabled incorrect invalid missing "
    "undefined current new-password current-password change reset forgot forgotten confirm none null true false text "
    "textbox prompt encrypted plaintext plain-text empty field value input unknown default anything whatever"
)


def assigned(text: str) -> Iterator[Found]:
    """Yield the values that stand under a telling name: assignments, JSON, YAML, XML, flags, calls, sentences."""
    lowered = text.lower()
    position = 0
    while word := _telling(text, lowered, position):
        ahead = text[max(0, word.start() - _NAME_CHARS_MAX) : word.start()]
        start = word.start() - (len(ahead) - len(ahead.rstrip(_NAME_CHARS)))
        rest = _REST_OF_NAME.match(text, word.end())
        position = end = rest.end() if rest else word.end()
        name = text[start:end].rstrip(".-")
        kind = _kind_of(name, _word_before(text, start))
        if kind is None:
            continue
        found = _value_under(text, start, start + len(name), kind)
        if found:
            yield found
            position = max(position, found.end)


def _telling(text: str, lowered: str, position: int) -> re.Match[str] | None:
    """Return the next telling word."""
    if len(lowered) != len(text):
        # A character may be two in lower case, and then places in the two texts differ.
        return _WORD.search(text, position)
    while near := _WORD_LOWERED.search(lowered, position):
        # The Kelvin sign is a k in lower case, and none in the pattern.
        if word := _WORD.match(text, near.start()):
            return word
        position = near.start() + 1
    return None


def _word_before(text: str, start: int) -> str:
    """Return the word that one space parts from the name, as in `api key`."""
    if start < 1 or text[start - 1] != " ":
        return ""
    ahead = text[max(0, start - 25) : start - 1]
    return ahead[len(ahead.rstrip(_LETTERS)) :].lower()


@lru_cache(maxsize=1024)
def _kind_of(name: str, before: str) -> str | None:
    """Return what a value under this name would be, or None where the name tells nothing."""
    words = [piece.lower() for piece in _PIECES.findall(name)]
    while len(words) > 1 and (words[-1] in _IGNORED_LAST or words[-1].isdigit()):
        words.pop()
    if not words:
        return None
    last, prior = words[-1], [before, *words[:-1]]
    if last in _SHORT_PASSWORDS or last.endswith(_PASSWORDS) or (last in {"word", "phrase"} and prior[-1] == "pass"):
        return "PASSWORD"
    if last == "key":
        is_constant = name.isupper() and len(words) > 1 and prior[-1] not in _NOT_BEFORE_KEY
        return "KEY" if prior[-1] in _BEFORE_KEY or is_constant else None
    if last.removesuffix("s").endswith(_TOKENS) and (last[-1] != "s" or "credential" in last):
        is_other = any(word in _NOT_BEFORE_TOKEN for word in prior)
        return None if is_other else "KEY" if last.endswith("key") else "TOKEN" if last.endswith("token") else "SECRET"
    return None


def _value_under(text: str, start: int, end: int, kind: str) -> Found | None:
    """Return the value that the name at start..end is given, if it looks like a secret."""
    if _reads_on(text, start, end):
        return None
    name = text[start:end]
    close = _CLOSE.match(text, end)
    is_closed = bool(close and close.group("quote"))
    at = close.end() if close else end
    place = Place.BARE
    if joined := _ASSIGN.match(text, at):
        if name.isupper() and joined.group() == "=":
            place = Place.SHELL
        elif joined.group().lstrip(" \t").startswith(":") and name.lower() in _SHORT_PASSWORDS and not is_closed:
            return None
    elif start > 0 and text[start - 1] == "<" and text[at : at + 1] == ">":
        element = _Value(at + 1, _run_end(text, at + 1), is_quoted=True)
        return _judged(text, element, kind, Place.QUOTED) if text.startswith("</", element.end) else None
    elif _PAIRED_NAME.search(text[max(0, start - 24) : start]):
        joined = _PAIRED_VALUE.match(text, at)
    elif is_closed:
        # A list of names looks the same as a pair, so the value must show more.
        following = _read_after(text, _COMMA.match(text, at))
        return _judged(text, following, kind, place) if following else None
    elif name.startswith("-") or _COMMANDED.search(text[max(0, start - 12) : start]):
        joined = _GAP.match(text, at)
    else:
        place = Place.PROSE
        joined = _IS.match(text, at) or _call(text, name, at) or _quoted_gap(text, name, at)
    value = _read_after(text, joined)
    if value is None:
        return None
    return _judged(text, value, kind, Place.QUOTED if value.is_quoted and place is not Place.SHELL else place)


def _reads_on(text: str, start: int, end: int) -> bool:
    """Say whether a name stands in a sentence that goes on without a value: most do, and need not be looked at closer."""
    before = text[start - 2 : start] if start > 1 and text[start] != "-" else ""
    return before[1:] == " " and before[0] in _WORD_ENDS and _GOES_ON.match(text, end) is not None


def _read_after(text: str, joined: re.Match[str] | None) -> _Value | None:
    return _read(text, joined.end()) if joined else None


def _call(text: str, name: str, at: int) -> re.Match[str] | None:
    """Match the bracket of a call that is given the secret, as `setPassword("…")` is and `getPassword("…")` is not."""
    return None if re.match(r"(?:get|fetch|read|load|find|lookup|has|is)", name, _CASELESS) else _CALL.match(text, at)


def _quoted_gap(text: str, name: str, at: int) -> re.Match[str] | None:
    """Match the space before a quoted password, as SQL and sentences have it."""
    gap = _GAP.match(text, at)
    return (
        gap
        if gap
        and not name.startswith("-")
        and name.lower().endswith(_PASSWORDS)
        and text[gap.end() : gap.end() + 1] in {'"', "'", "`"}
        else None
    )


def _read(text: str, at: int) -> _Value | None:
    """Read the value at a place: what the quotes hold, or the run up to white space."""
    if opened := _OPEN.match(text, at):
        escape, quote = opened.groups()
        if escape:
            end = text.find(escape + quote, opened.end(), opened.end() + _VALUE_CHARS_MAX)
        else:
            body = _BODY[quote].match(text, opened.end())
            end = body.end() if body else -1
        if end >= 0 and "\n" not in text[opened.end() : end]:
            return _Value(opened.end(), end, is_quoted=True)
        at = opened.end()
    end = _run_end(text, at)
    return _Value(at, end, is_quoted=False) if end > at else None


def _run_end(text: str, at: int) -> int:
    """Return where the run of a bare value ends, without the punctuation of the sentence around it."""
    run = _RUN.match(text, at)
    if run is None:
        return at
    value = re.split(r"\\+[nrt\"']", run.group(), maxsplit=1)[0]
    return at + len(value.rstrip(".,;:!?)]}*|\\"))


def _judged(text: str, value: _Value, kind: str, place: Place) -> Found | None:
    content = text[value.start : value.end]
    looks = looks_like_password if kind == "PASSWORD" else looks_like_token
    return Found(kind, value.start, value.end) if looks(content, place) else None


def is_stand_in(value: str) -> bool:
    """Say whether the value only refers to a secret, or holds the place of one."""
    return bool(_REFERENCE.match(value) or _STAND_IN.search(value) or _PATTERN.search(value))


def looks_like_password(value: str, place: Place) -> bool:
    """Say whether the value looks like a password where it stands."""
    sure = place in {Place.SHELL, Place.QUOTED}
    if len(value) < 6 or is_stand_in(value) or value.lower().strip("!.:*") in _NO_PASSWORD:  # noqa: PLR2004 - as short as sites allow
        return False
    digit, letter = bool(_DIGIT.search(value)), bool(_LETTER.search(value))
    symbol = bool(_SYMBOL.search(value.rstrip("!?*")))
    if any(char.isspace() for char in value):
        return place is Place.SHELL and digit and letter
    if _CALLED.match(value) or _ENVIRONMENT_NAME.match(value) or (not sure and _CODE.match(value)):
        return False
    if _JOINED_WORDS.match(value) and not (sure and digit):
        return False
    if place is Place.SHELL:
        return digit or symbol or letter
    if place is Place.QUOTED:
        return digit or symbol or (letter and not _CAMEL.match(value)) or len(value) >= 16  # noqa: PLR2004 - longer than a word
    if len(value) < 8 and not (digit and symbol and letter):  # noqa: PLR2004 - the protocol's own bound
        return place is Place.BARE and value.isdigit()
    return not _TERM.match(value) and ((digit and letter) or (symbol and letter) or (digit and place is Place.BARE))


def looks_like_token(value: str, place: Place) -> bool:
    """Say whether the value looks like a token or key where it stands."""
    if len(value) < 8 or is_stand_in(value) or any(char.isspace() for char in value):  # noqa: PLR2004 - the protocol's bound
        return False
    if _CALLED.match(value) or _ENVIRONMENT_NAME.match(value) or _JOINED_WORDS.match(value) or _CODE.match(value):
        return False
    digit, letter = bool(_DIGIT.search(value)), bool(_LETTER.search(value))
    if not letter or (_TERM.match(value) and len(value) < 20):  # noqa: PLR2004 - longer than a term
        return False
    if not digit:
        return len(value) >= 20 and (value.islower() or not _CAMEL.match(value))  # noqa: PLR2004 - longer than a word
    if place is Place.PROSE:
        return len(value) >= 16  # noqa: PLR2004 - longer than a word
    if place is Place.BARE and len(value) < 12:  # noqa: PLR2004 - longer than a word with its number
        return len(_TURN.findall(value)) > 1
    return True
