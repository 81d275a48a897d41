"""Time as the protocol writes it: UTC, milliseconds, one spelling."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from typing import Final

_ISO: Final = re.compile(r"(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)\.(\d{3})Z", re.ASCII)
_ISO_CHARS: Final = len("2026-01-01T00:00:00.000Z")
_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()

DAY_MS: Final = 86_400_000
_HOUR_MS: Final = 3_600_000
_MINUTE_MS: Final = 60_000


def iso(ms: int) -> str:
    """Return the protocol's spelling of a moment: `2026-01-01T00:00:00.000Z`."""
    day, rest = divmod(ms, DAY_MS)
    hours, rest = divmod(rest, _HOUR_MS)
    minutes, rest = divmod(rest, _MINUTE_MS)
    return f"{_spelled(day)}T{hours:02}:{minutes:02}:{rest // 1000:02}.{rest % 1000:03}Z"


def ms_of(text: str) -> int:
    """Return milliseconds since the epoch. Raises ValueError if `text` is not the protocol's spelling."""
    match = _ISO.fullmatch(text)
    if match is None:
        message = "not a time of the protocol"
        raise ValueError(message)
    day, hours, minutes, seconds, ms = match.groups()
    return _numbered(day) * DAY_MS + int(hours) * _HOUR_MS + int(minutes) * _MINUTE_MS + int(seconds) * 1000 + int(ms)


def is_iso(text: str) -> bool:
    """Tell whether `text` is a moment in the protocol's one spelling."""
    return len(text) == _ISO_CHARS and _is_moment(text)


@lru_cache(maxsize=4096)
def _is_moment(text: str) -> bool:
    # A memory's moments come again with each record that holds it.
    try:
        ms_of(text)
    except ValueError:
        return False
    return True


# The days of a journal and its neighbours: few, and asked for at each record.


@lru_cache(maxsize=64)
def _spelled(day: int) -> str:
    return date.fromordinal(_EPOCH_DAY + day).isoformat()


@lru_cache(maxsize=64)
def _numbered(day: str) -> int:
    return date.fromisoformat(day).toordinal() - _EPOCH_DAY


def day_of(ms: int) -> str:
    """Return the UTC day of a moment, `YYYY-MM-DD`."""
    return iso(ms)[:10]


def day_start(day: str) -> int:
    """Return the first millisecond of a UTC day."""
    return ms_of(f"{day}T00:00:00.000Z")


def next_midnight(ms: int) -> int:
    """Return the first millisecond of the next UTC day."""
    return (ms // DAY_MS + 1) * DAY_MS
