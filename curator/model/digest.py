"""JSON as the protocol reads and writes it, and the digests over it (interop.md 2).

Three encodings stand on disk: canonical (digests, immutable records), compact (the spool) and pretty (the project
store). Numbers are written as JavaScript writes them and keys are sorted by UTF-16 code units, so that both sides get
the same digest.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Final, NewType, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Digest = NewType("Digest", str)

DIGEST_PATTERN: Final = re.compile(r"[0-9a-f]{64}")
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_FLOAT: Final = re.compile(r"(\d+)(?:\.(\d+))?(?:e([+-]\d+))?")
_NUMBER_OTHERWISE: Final = re.compile(r"[\[,:]-?[0-9](?:[0-9]{15}|[0-9]*(?:\.0[,}\]]|(?:\.[0-9]+)?e))")
"""A number that JavaScript may write otherwise: one beyond what is exact, a whole float, one with an exponent. It is told by
what stands before it, for ids and digests are full of the same; a string that looks so all the same costs the slower way."""
_NUMBER_BEGINS: Final = "-0123456789"
"""So begins the text of a number that stands alone."""
_SMALL: Final = re.compile(r'(?<=[^\\\[{,:]":)-?[0-9]+(?:\.[0-9]+)?e-0[56](?=[,}])')
"""A number that only the library writes with an exponent, such as the cost of a call. The quote before it ends a key: one
that begins a string follows a bracket, comma or colon, and one within a string a backslash."""
_ODD_KEY: Final = re.compile('[\ud800-\U0010ffff](?:[^"\\\\\ud800-\U0010ffff]|\\\\.)*":', re.DOTALL)
"""A key that may have another place by UTF-16 code units than by code points: found from its last odd character, for to
begin at each one would take time by the square in a text of emoji."""
_SORTED: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode
_UNSORTED: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")
).encode
"""The library's encoders, in C; what they write otherwise than JavaScript is found in their text and written here."""
_INTEGER_EXACT_MAX: Final = 2**53
_FIXED_POINT_MAX: Final = 21
_FIXED_POINT_MIN: Final = -6


class MalformedJsonError(ValueError):
    """The bytes are not one JSON value. Says where, by line and byte, never what stands there."""


def parse(raw: bytes) -> Json:
    """Parse one JSON value from UTF-8 bytes.

    The last of two equal keys wins, as in JavaScript. Raises `MalformedJsonError` for a byte order mark, bytes that are
    not UTF-8, NaN and Infinity, nesting too deep to follow, and anything else that is not JSON.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8 at line {line}, byte {error.start}"
        raise MalformedJsonError(message) from None
    if text.startswith("\ufeff"):
        message = "starts with a byte order mark"
        raise MalformedJsonError(message)
    try:
        value: Json = json.loads(text, parse_float=_finite, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        byte = len(text[: error.pos].encode("utf-8", "surrogatepass"))
        message = f"not JSON at line {error.lineno}, byte {byte}"
        raise MalformedJsonError(message) from None
    except RecursionError:
        message = "nested too deep"
        raise MalformedJsonError(message) from None
    except ValueError:
        message = "holds a number that JSON does not have"
        raise MalformedJsonError(message) from None
    return value


def canonical(value: Json) -> str:
    """Return the canonical text of `value` (interop.md 2.1). Raises ValueError for NaN and infinities."""
    text = _quickly(_SORTED, value)
    if text is None or (not text.isascii() and _ODD_KEY.search(text)):
        return _written(value, sort=True)
    return _escape_lone_surrogates(text)


def compact(value: Json) -> str:
    """Return `value` without spaces, keys in insertion order, numbers and strings as JavaScript writes them."""
    text = _quickly(_UNSORTED, value)
    return _written(value, sort=False) if text is None else _escape_lone_surrogates(text)


def pretty(value: Json) -> str:
    """Return `value` indented by two spaces with a closing newline: the project store's encoding."""
    text = json.dumps(_with_integral_floats_as_ints(value), ensure_ascii=False, indent=2, allow_nan=False)
    return _escape_lone_surrogates(text) + "\n"


def digest_of(value: Json) -> Digest:
    """Return the SHA-256 of the canonical text."""
    return digest_of_text(canonical(value))


def digest_of_text(text: str) -> Digest:
    """Return the SHA-256 of the text's UTF-8 bytes, in lowercase hex."""
    return Digest(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())


def number(value: float) -> str:
    """Write a number as JavaScript does: the shortest decimal that reads back as the same double."""
    if isinstance(value, int):
        if abs(value) <= _INTEGER_EXACT_MAX:
            return str(value)
        try:
            value = float(value)
        except OverflowError:
            value = math.inf
    if not math.isfinite(value):
        message = "a number that JSON does not have"
        raise ValueError(message)
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    match = _FLOAT.fullmatch(repr(abs(value)))
    assert match is not None
    whole, fraction, exponent = match.group(1), match.group(2) or "", int(match.group(3) or 0)
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + exponent - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    return sign + _place_point(digits, point)


def _place_point(digits: str, point: int) -> str:
    if len(digits) <= point <= _FIXED_POINT_MAX:
        return digits + "0" * (point - len(digits))
    if 0 < point <= _FIXED_POINT_MAX:
        return f"{digits[:point]}.{digits[point:]}"
    if _FIXED_POINT_MIN < point <= 0:
        return f"0.{'0' * -point}{digits}"
    power = point - 1
    mantissa = digits if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}e{'+' if power >= 0 else '-'}{abs(power)}"


def _quickly(encode: Callable[[Json], str], value: Json) -> str | None:
    """Return the library's text where it writes every number as JavaScript does."""
    try:
        text = encode(value)
    except ValueError:
        return None
    if text[0] in _NUMBER_BEGINS:
        return None
    if not _NUMBER_OTHERWISE.search(text):
        return text
    text = _SMALL.sub(lambda match: number(float(match.group())), text)
    return None if _NUMBER_OTHERWISE.search(text) else text


def _written(value: Json, *, sort: bool) -> str:
    parts: list[str] = []
    _write(value, parts, sort=sort)
    return "".join(parts)


def _write(value: Json, parts: list[str], *, sort: bool = True) -> None:
    if isinstance(value, str):
        parts.append(_string(value))
    elif value is None:
        parts.append("null")
    elif isinstance(value, bool):
        parts.append("true" if value else "false")
    elif isinstance(value, int | float):
        parts.append(number(value))
    elif isinstance(value, list):
        parts.append("[")
        for index, item in enumerate(value):
            if index:
                parts.append(",")
            _write(item, parts, sort=sort)
        parts.append("]")
    else:
        parts.append("{")
        for index, key in enumerate(sorted(value, key=_utf16) if sort else value):
            parts.append(f",{_string(key)}:" if index else f"{_string(key)}:")
            _write(value[key], parts, sort=sort)
        parts.append("}")


def _string(text: str) -> str:
    return _escape_lone_surrogates(encode_basestring(text))


def _escape_lone_surrogates(text: str) -> str:
    if text.isascii() or not _SURROGATES.search(text):
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _SURROGATES.sub(lambda match: f"\\u{ord(match.group()):04x}", joined)


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def _with_integral_floats_as_ints(value: Json) -> Json:
    if isinstance(value, float) and value.is_integer() and abs(value) <= _INTEGER_EXACT_MAX:
        return int(value)
    if isinstance(value, list):
        return [_with_integral_floats_as_ints(item) for item in value]
    if isinstance(value, dict):
        return {key: _with_integral_floats_as_ints(item) for key, item in value.items()}
    return value


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError
    return value


def _refuse_constant(_name: str) -> float:
    raise ValueError
