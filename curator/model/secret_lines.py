"""Secrets in lines of a known form: headers, cookies, URLs, credential files, private key blocks.

Each pattern begins with a literal, runs a bounded distance or takes what it ran over, and so takes linear time.
"""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from curator.model.secret_fields import Found, Place, is_stand_in, looks_like_password, looks_like_token
from curator.model.secret_kinds import has_random_part, is_varied

_CASELESS: Final = re.IGNORECASE | re.ASCII
_WORDS_ONLY: Final = re.compile(r"[A-Za-z]*[0-9]{0,4}(?:[-_.:/][A-Za-z]*[0-9]{0,4})*\Z", re.ASCII)


class _Line(NamedTuple):
    """One form: its kind, the lower-case literal it contains, its pattern with the secret as group v, and a judge."""

    kind: str
    anchor: str
    pattern: re.Pattern[str]
    judge: Callable[[re.Match[str]], bool]


def _form(kind: str, anchor: str, pattern: str, judge: Callable[[re.Match[str]], bool]) -> _Line:
    return _Line(kind, anchor, re.compile(pattern, _CASELESS), judge)


def _holds_credentials(encoded: str) -> bool:
    """Say whether base64 text decodes to `name:password`."""
    try:
        plain = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except (ValueError, binascii.Error):
        return False
    name, colon, password = plain.partition(b":")
    return bool(name and colon and password) and all(byte >= 0x20 for byte in plain)  # noqa: PLR2004 - no control byte


def _is_basic(match: re.Match[str]) -> bool:
    return _holds_credentials(match["v"])


def _is_bearer(match: re.Match[str]) -> bool:
    value = match["v"]
    return is_varied(value) and not is_stand_in(value) and not _WORDS_ONLY.match(value)


def _is_authorization(match: re.Match[str]) -> bool:
    value, scheme = match["v"], (match["scheme"] or "").lower()
    if scheme.startswith("basic"):
        return _holds_credentials(value)
    if is_stand_in(value) or not is_varied(value):
        return False
    if not scheme:
        return looks_like_token(value, Place.PROSE)
    return len(value) >= 16 or not _WORDS_ONLY.match(value)  # noqa: PLR2004 - longer than a word


def _is_cookie(match: re.Match[str]) -> bool:
    value = match["v"]
    telling = re.search(r"sess|sid|auth|token|jwt|csrf|xsrf|remember|login|secret|key", match["name"], _CASELESS)
    return looks_like_token(value, Place.QUOTED) and (telling is not None or len(value) >= 24)  # noqa: PLR2004 - no setting


def _is_url_password(match: re.Match[str]) -> bool:
    value = match["v"]
    common = {"password", "passwd", "pass", "pwd", "pw", "secret", "token", "xxx", "***", "x-oauth-basic", "xyz", "123"}
    return value.lower() not in common and not is_stand_in(value) and not value.startswith(("$", "%"))


def _is_url_user(match: re.Match[str]) -> bool:
    return has_random_part(match["v"]) and is_varied(match["v"])


def _is_query(match: re.Match[str]) -> bool:
    value, name = match["v"], match["name"].lower()
    if name in {"password", "passwd", "pwd"}:
        return looks_like_password(value, Place.QUOTED)
    least = 16 if name in {"key", "code", "sid", "auth", "ticket", "session", "signature", "sig"} else 8
    return len(value) >= least and is_varied(value) and looks_like_token(value, Place.SHELL)


def _is_password(match: re.Match[str]) -> bool:
    return looks_like_password(match["v"], Place.QUOTED)


def _is_pgpass(match: re.Match[str]) -> bool:
    return looks_like_password(match["v"], Place.QUOTED) and not _WORDS_ONLY.match(match["v"])


def _is_command(match: re.Match[str]) -> bool:
    """A `-u name:password` counts after a command that logs in with it: others have numbers of users there."""
    line = match.string[max(0, match.start() - 300) : match.start()].rpartition("\n")[2]
    knows = re.search(r"\b(?:curl|wget|http|https|xh|httpie|ab|hey|aria2c|rclone|svn)\b", line)
    return knows is not None and looks_like_password(match["v"], Place.SHELL) and not match["v"].isdigit()


_AUTHORIZATION: Final = (
    r"authorization\\{0,4}[\"'`]?\]?[ \t]{0,4}[:=,][ \t]{0,8}\\{0,4}[f]?[\"'`]?"
    r"(?P<scheme>(?:bearer|basic|token|api-?key|ssws|digest|sharedkey|hmac|key|bot|jwt|oauth|negotiate)[ \t:=]{1,4}\"?)?"
    r"(?P<v>[A-Za-z0-9._~+/=:%$|-]{8,4096})"
)
_QUERY_NAMES: Final = (
    r"access[_-]?token|refresh[_-]?token|id[_-]?token|auth[_-]?token|private[_-]?token|token|api[_-]?key|key|sig|signature"
    r"|secret|client[_-]?secret|password|passwd|pwd|auth|jwt|session|session[_-]?id|sid|code|x-amz-signature"
    r"|x-amz-security-token|x-goog-signature|assertion|ticket"
)

_LINES: Final = (
    _form("AUTHORIZATION", "authorization", _AUTHORIZATION, _is_authorization),
    _form("SIGNATURE", "signature=", r"(?:aws4-hmac-sha256|credential=)[^\n]{0,400}?signature=(?P<v>[0-9a-f]{64})", lambda _: True),
    _form("BEARER TOKEN", "bearer", r"(?<![a-z0-9])bearer[ \t:]{1,4}[\"'`]?(?P<v>[A-Za-z0-9._~+/=-]{16,4096})", _is_bearer),
    _form("BASIC CREDENTIALS", "basic", r"(?<![a-z0-9])basic[ \t]{1,4}(?P<v>[A-Za-z0-9+/]{8,2048}={0,2})", _is_basic),
    _form("URL PASSWORD", "://", r"://[^\s/?#@:\"'`<>\\]{0,128}:(?P<v>[^\s/\"'`<>\\]{3,256})@(?=[A-Za-z0-9\[_$])", _is_url_password),
    _form("URL TOKEN", "://", r"://(?P<v>[A-Za-z0-9_.~-]{20,255})(?::[A-Za-z0-9-]{0,20})?@", _is_url_user),
    _form("URL QUERY", "=", rf"[?&#](?P<name>{_QUERY_NAMES})=(?P<v>[^\s&#\"'`<>\\)]{{6,2048}})", _is_query),
    _form("NETRC PASSWORD", "machine", r"machine[ \t\r\n]{1,8}[^\s]{1,255}[ \t\r\n]{1,8}login[ \t\r\n]{1,8}[^\s]{1,255}[ \t\r\n]{1,8}password[ \t\r\n]{1,8}(?P<v>[^\s\"'`]{4,255})", _is_password),
    _form("REGISTRY AUTH", "auth", r"(?<![a-z0-9])_?auth\\{0,4}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,4}[\"']?(?P<v>[A-Za-z0-9+/]{8,2048}={0,2})", _is_basic),
    _form("COMMAND PASSWORD", "-u", r"(?:-u|--user|--proxy-user)[ =]{0,2}\\{0,4}[\"']?[^\s:\"'\\]{1,64}:(?P<v>[^\s\"'\\]{4,128})", _is_command),
    _form("COMMAND PASSWORD", "sshpass", r"sshpass[ \t]{1,4}-p[ \t]{0,4}\\{0,4}[\"']?(?P<v>[^\s\"'\\]{4,128})", _is_password),
)  # fmt: skip
LINE_ANCHORS: Final = (*dict.fromkeys(form.anchor for form in _LINES), "cookie")
_PGPASS: Final = re.compile(
    r"^[A-Za-z0-9.*_-]{1,128}:(?:[0-9]{2,5}|\*):[^\s:]{1,64}:[^\s:]{1,64}:(?P<v>[^\s:\"'`]{6,128})[ \t]*$",
    re.ASCII | re.MULTILINE,
)
PGPASS_COLONS: Final = 4
_COOKIE_LINE: Final = re.compile(r"cookie\\{0,4}[\"']?[ \t]{0,4}[:=,][ \t]{0,4}(?P<line>[^\r\n]{4,4096})", _CASELESS)
_COOKIE: Final = re.compile(r"(?P<name>[A-Za-z0-9_.$-]{1,64})=(?P<v>[^;,\s\"'\\]{8,4096})", re.ASCII)

_BEGIN: Final = re.compile(
    r"-{2,5}[ \t]?BEGIN[ \t\r\n]{1,2}(?:[A-Z0-9]{2,12}[ \t\r\n]{1,2}){0,4}PRIVATE[ \t\r\n]{1,2}KEY(?:[ \t]BLOCK)?[ \t]?-{2,5}"
    r"|PuTTY-User-Key-File-[0-9]{1,2}:",
    _CASELESS,
)
_END: Final = re.compile(
    r"-{2,5}[ \t]?END[ \t\r\n]{1,2}(?:[A-Z0-9]{2,12}[ \t\r\n]{1,2}){0,4}PRIVATE[ \t\r\n]{1,2}KEY(?:[ \t]BLOCK)?[ \t]?-{2,5}"
    r"|Private-MAC:[ \t]{0,4}[0-9a-f]{1,128}",
    _CASELESS,
)
_TRUNCATED_BODY: Final = re.compile(
    r"(?:(?:\\{1,4}[nr]|[\s\"'+>|#,;\\])++"
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Subject|Encryption|Public-Lines|Private-Lines):[^\n\\]{0,200}+"
    r"|[A-Za-z0-9+/]{16,}+={0,2}+|[A-Za-z0-9+/]{2,15}+={1,2}+|=[A-Za-z0-9+/]{4}(?![A-Za-z0-9+/])))*+"
    r"(?:(?<=[A-Za-z0-9+/]{16})(?:\\{1,4}[nr]|[\s\"'+>|#\\]){1,40}+[A-Za-z0-9+/]{1,15}+(?=[\s\"'}]{0,8}+\Z))?",
    re.ASCII,
)
"""What may follow a BEGIN whose END is missing: headers, whole lines of base64, and the rest of the last one."""


def key_blocks(text: str) -> Iterator[Found]:
    """Yield private key blocks of every kind, also those whose END is missing, and a BEGIN alone."""
    if "private" not in text.lower() and "PuTTY-User-Key-File" not in text:
        return
    begins = list(_BEGIN.finditer(text))
    ends = list(_END.finditer(text)) if begins else []
    starts_of_ends = [end.start() for end in ends]
    covered = 0
    for index, begin in enumerate(begins):
        if begin.start() < covered:
            continue
        following = begins[index + 1].start() if index + 1 < len(begins) else len(text)
        nearest = bisect_left(starts_of_ends, begin.end())
        if nearest < len(ends) and starts_of_ends[nearest] < following:
            covered = ends[nearest].end()
        else:
            body = _TRUNCATED_BODY.match(text, begin.end(), following)
            covered = body.end() if body else begin.end()
        yield Found("PRIVATE KEY", begin.start(), covered)


def lines(text: str) -> Iterator[Found]:
    """Yield the secrets of headers, cookies, URLs, credential files and commands."""
    lowered = text.lower()
    for form in _LINES:
        if form.anchor in lowered:
            for match in form.pattern.finditer(text):
                if form.judge(match):
                    yield Found(form.kind, match.start("v"), match.end("v"))
    if "cookie" in lowered:
        yield from _cookies(text)
    for match in _PGPASS.finditer(text) if text.count(":") >= PGPASS_COLONS else ():
        if _is_pgpass(match):
            yield Found("PGPASS PASSWORD", match.start("v"), match.end("v"))


def _cookies(text: str) -> Iterator[Found]:
    for line in _COOKIE_LINE.finditer(text):
        for match in _COOKIE.finditer(text, line.start("line"), line.end("line")):
            if _is_cookie(match):
                yield Found("COOKIE", match.start("v"), match.end("v"))
