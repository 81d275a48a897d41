"""What a command writes, and where: answers on stdout, complaints on stderr, one line each.

Everything shown to a person is freed of control characters first: memory and file names come from elsewhere, and a
terminal obeys what is printed.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from curator.model.digest import Json

_SECOND_MS: Final = 1_000
_UNITS: Final = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", _SECOND_MS))
_KEPT: Final = "\n\t"
_HIDDEN: Final = (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CLEAN: Final = {code: "\ufffd" for code in _HIDDEN if chr(code) not in _KEPT}
_JOB_CHARS_SHOWN: Final = 15


def clean(text: str) -> str:
    """Return text that cannot steer a terminal."""
    return text.translate(_CLEAN)


def say(text: str = "") -> None:
    """Answer a person."""
    print(clean(text))


def warn(text: str) -> None:
    """Complain on one line."""
    print(f"curator: {clean(text)}".replace("\n", " "), file=sys.stderr)


def document(value: Json) -> None:
    """Answer a program: one JSON document on one line, in ASCII, whatever the locale."""
    print(json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False))


def is_terminal(stream: TextIO) -> bool:
    """Tell whether a person's terminal reads what is written."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def has_colour(stream: TextIO) -> bool:
    """Tell whether colour is wanted there (https://no-color.org)."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def span(ms: int) -> str:
    """Return a length of time in its largest whole unit: `3 min`."""
    for name, size in _UNITS:
        if ms >= size:
            return f"{ms // size} {name}"
    return "0 s"


def moment(iso: str) -> str:
    """Return a moment of the protocol for a person: to the second, in UTC."""
    return f"{iso[:10]} {iso[11:19]} UTC" if len(iso) > len("2026-01-01T00:00:00") else iso


def dollars(nano: int) -> str:
    """Return nano-dollars as dollars, as exactly as they are small."""
    return f"${nano / 1_000_000_000:.4f}" if nano else "$0"


def short(job_id: str) -> str:
    """Return the head of a job's id, long enough for any command that takes one."""
    return job_id[:_JOB_CHARS_SHOWN]


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return `1 job` or `2 jobs`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
