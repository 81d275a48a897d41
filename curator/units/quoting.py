"""systemd's way of writing words: how a path gets into a unit unharmed, and how a command line comes out of one.

systemd splits by blanks, honours quotes and C escapes, expands `%` specifiers nearly everywhere and `$` in the arguments
of commands (systemd.syntax, systemd.service). A name that no unit can spell is refused: one with a control character, or
one that is not Unicode.
"""

from __future__ import annotations

import re
import string
import sys
from collections.abc import Sequence
from typing import Final

from curator.errors import ConfigError

_PLAIN: Final = re.compile(r"[A-Za-z0-9_/.,:=@+-]+")
_UNSPEAKABLE: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
"""Control characters, half a pair, and code points that are no characters: systemd passes over a line with one."""
_NOT_IN_PROGRAM: Final = frozenset("\"'\\$")
"""systemd refuses a program whose path holds a quote or a backslash, and takes its dollar sign for a variable."""
_GLOB: Final = re.compile(r"([*?\[\]\\])")
_ESCAPES: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "s": " "}
_CODES: Final = {"x": 2, "u": 4, "U": 8}
_BLANK: Final = " \t\n\r"


def checked(text: str) -> str:
    """Return a text that a unit can spell. Raises `ConfigError` for any other."""
    if _UNSPEAKABLE.search(text):
        fact = f"{text!a}: a name with a control character, or outside Unicode, fits into no unit"
        raise ConfigError(fact, remedy="Move that folder to a plain name, or run `curator-service` in a terminal")
    return text


def quoted(text: str) -> str:
    """Return one word of a setting: `Environment=`, `ReadWritePaths=`."""
    safe = checked(text).replace("%", "%%")
    if _PLAIN.fullmatch(text):
        return safe
    return '"' + safe.replace("\\", "\\\\").replace('"', '\\"') + '"'


def command_line(program: str, *arguments: str) -> str:
    """Return the value of an `ExecStart=` that runs `program` with exactly these arguments."""
    words = [quoted(argument).replace("$", "$$") for argument in arguments]
    if _NOT_IN_PROGRAM.isdisjoint(program):
        return " ".join([quoted(program), *words])
    # As an argument any name will do; the shell hands the process over and is gone.
    shell = ["/bin/sh", "-c", quoted('exec "$0" "$@"').replace("$", "$$"), quoted(program).replace("$", "$$")]
    return " ".join([*shell, *words])


def glob_path(path: str) -> str:
    """Return the whole value of an `EnvironmentFile=`, which is taken raw, but for specifiers and glob characters."""
    return _GLOB.sub(r"\\\1", checked(path)).replace("%", "%%")


def words_of(line: str) -> tuple[str, ...]:
    """Return the words of a command line in a unit, as systemd would split it; specifiers and variables stay.

    An odd escape or an open quote is taken as it stands: the reader looks for a name and starts nothing.
    """
    words: list[str] = []
    position = 0
    while position < len(line):
        if line[position] in _BLANK:
            position += 1
            continue
        word, position = _word_at(line, position)
        words.append(word)
    return tuple(words)


def settings_of(text: str, section: str, key: str) -> tuple[str, ...]:
    """Return the values that a unit file gives a key, in order; an empty one takes back those before it."""
    values: list[str] = []
    current = ""
    for line in _logical_lines(text):
        if line.startswith("[") and line.endswith("]"):
            current = line[1:-1]
            continue
        name, equals, value = line.partition("=")
        if equals and current == section and name.strip() == key:
            values = [*values, value.strip()] if value.strip() else []
    return tuple(values)


def _logical_lines(text: str) -> Sequence[str]:
    lines: list[str] = []
    begun = ""
    for raw in text.splitlines():
        if raw.lstrip().startswith(("#", ";")):
            continue
        if raw.endswith("\\"):
            begun += raw[:-1] + " "
            continue
        lines.append((begun + raw).strip())
        begun = ""
    return [*lines, begun.strip()]


def _word_at(line: str, position: int) -> tuple[str, int]:
    parts: list[str] = []
    quote = ""
    while position < len(line):
        sign = line[position]
        if not quote and sign in _BLANK:
            break
        if sign == "\\" and position + 1 < len(line):
            part, position = _escape_at(line, position + 1)
            parts.append(part)
            continue
        if sign == quote:
            quote = ""
        elif not quote and sign in "\"'":
            quote = sign
        else:
            parts.append(sign)
        position += 1
    return "".join(parts), position


def _escape_at(line: str, position: int) -> tuple[str, int]:
    sign = line[position]
    digits = line[position + 1 : position + 1 + _CODES.get(sign, 0)]
    if digits and all(digit in string.hexdigits for digit in digits) and int(digits, 16) <= sys.maxunicode:
        return chr(int(digits, 16)), position + 1 + len(digits)
    return _ESCAPES.get(sign, sign), position + 1
