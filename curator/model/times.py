"""Time as the protocol writes it: UTC, milliseconds, one spelling."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_ISO: Final = re.compile(r"(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})\.(\d{3})Z", re.ASCII)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MS: Final = timedelta(milliseconds=1)

DAY_MS: Final = 86_400_000


def iso(ms: int) -> str:
    """Return the protocol's spelling of a moment: `2026-01-01T00:00:00.000Z`."""
    moment = _EPOCH + timedelta(milliseconds=ms)
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def ms_of(text: str) -> int:
    """Return milliseconds since the epoch. Raises ValueError if `text` is not the protocol's spelling."""
    if not _ISO.fullmatch(text):
        message = "not a time of the protocol"
        raise ValueError(message)
    return (datetime.fromisoformat(text) - _EPOCH) // _MS


def is_iso(text: str) -> bool:
    """Tell whether `text` is a moment in the protocol's one spelling."""
    try:
        return iso(ms_of(text)) == text
    except (ValueError, OverflowError):
        return False


def day_of(ms: int) -> str:
    """Return the UTC day of a moment, `YYYY-MM-DD`."""
    return iso(ms)[:10]


def day_start(day: str) -> int:
    """Return the first millisecond of a UTC day."""
    return ms_of(f"{day}T00:00:00.000Z")


def next_midnight(ms: int) -> int:
    """Return the first millisecond of the next UTC day."""
    return (ms // DAY_MS + 1) * DAY_MS
