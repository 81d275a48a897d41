"""Whose certificates are believed, read once an hour: to read them takes longer than to make a call ready."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import ssl

    from curator.model.ports import Clock

_HOUR_MS: Final = 3_600_000
"""Who changes them waits at most so long, or starts curator anew."""


def trust_of(clock: Clock) -> ssl.SSLContext:
    """Return what every connection of this process is opened with; threads share it."""
    # The client lets the operator name others.
    named = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    return _read(clock.monotonic() // _HOUR_MS, named)


@lru_cache(maxsize=1)
def _read(_hour: int, _named: tuple[str | None, str | None]) -> ssl.SSLContext:
    # As the client itself would, with the same certificates: the probe and the call speak of one connection.
    import httpx2

    return httpx2.create_ssl_context()
