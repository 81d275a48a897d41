"""What a command writes, and where: answers on stdout, complaints on stderr, one line each.

Everything shown to a person is freed of control characters first: memory and file names come from elsewhere, and a
terminal obeys what is printed.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from curator.model.digest import Json

_DOLLAR_NANO: Final = 1_000_000_000
_SHOWN_NANO: Final = 100_000
_SECOND_MS: Final = 1_000
_UNITS: Final = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", _SECOND_MS))
_KEPT: Final = "\n\t"
_HIDDEN: Final = (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CLEAN: Final = {code: "\ufffd" for code in _HIDDEN if chr(code) not in _KEPT}
_JOB_CHARS_SHOWN: Final = 15


def clean(text: str) -> str:
    """Return text that cannot steer a terminal."""
    return text.translate(_CLEAN)


def command() -> str:
    """Return how curator is started from here: by its name where the shell finds it, else by its place."""
    if shutil.which("curator") is not None:
        return "curator"
    beside = Path(sys.executable).with_name("curator")
    return shlex.quote(str(beside)) if os.access(beside, os.X_OK) else f"{shlex.quote(sys.executable)} -m curator"


def mended(text: str) -> str:
    """Return a sentence of ours with the commands in it as they work from here."""
    return text.replace("`curator ", f"`{command()} ") if "`curator " in text else text


def say(text: str = "") -> None:
    """Answer a person in our own words."""
    recite(mended(text))


def recite(text: str) -> None:
    """Show a person somebody else's words, as they are: memory, above all."""
    print(clean(text))


def warn(text: str) -> None:
    """Complain on one line."""
    print(f"curator: {clean(mended(text))}".replace("\n", " "), file=sys.stderr)


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
    """Return a moment of the protocol for a person: to the second, by the clock on their wall."""
    try:
        return datetime.fromisoformat(iso).astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")
    except (ValueError, OverflowError):
        return iso


def dollars(nano: int) -> str:
    """Return nano-dollars as dollars, as exactly as they are small."""
    if not nano:
        return "$0"
    if nano < _SHOWN_NANO:
        return "less than $0.0001"
    return f"${nano / _DOLLAR_NANO:,.2f}" if nano >= _DOLLAR_NANO else f"${nano / _DOLLAR_NANO:.4f}"


def short(job_id: str) -> str:
    """Return the head of a job's id, long enough for any command that takes one."""
    return job_id[:_JOB_CHARS_SHOWN]


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return `1 job` or `2 jobs`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
