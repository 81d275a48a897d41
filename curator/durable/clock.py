"""The one place that asks the machine for the time and for randomness."""

from __future__ import annotations

import secrets
import time
import uuid


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        """Return UTC milliseconds since the epoch."""
        return time.time_ns() // 1_000_000

    def monotonic(self) -> int:
        """Return milliseconds that only grow."""
        return time.monotonic_ns() // 1_000_000


class SystemChance:
    """The machine's randomness."""

    def uuid(self) -> str:
        """Return a fresh version 4 UUID."""
        return str(uuid.uuid4())

    def token(self) -> str:
        """Return 16 random bytes as hex."""
        return secrets.token_hex(16)


def file_clock_ns() -> int:
    """Return the time that fresh files get, in nanoseconds: only for comparing with the stamps of files."""
    return time.time_ns()
