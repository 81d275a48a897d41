"""What a failed call means for the job: by status and type, never by the provider's words (interop.md 4.6)."""

from __future__ import annotations

import email.utils
import math
import re
from datetime import UTC
from typing import Final

from curator.model.ports import CallFailure, Class
from curator.model.times import DAY_MS

RETRY_AFTER_MS_MAX: Final = DAY_MS
"""Longer is not believed: a quota of a month is somebody's decision, and status names it meanwhile."""
_SECONDS: Final = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")
_REDIRECTS: Final = range(300, 400)
_CLIENT_ERRORS: Final = range(400, 500)
_UNAUTHORIZED: Final = frozenset({401, 402, 403, 407})
"""No key, no money, no right, no right at the proxy: somebody has to see to the account, and then the job runs."""
_GONE: Final = frozenset({404, 410})
_PASSING: Final = frozenset({408, 409, 425, 429})


def failure_of_status(status: int, model: str, retry_after_ms: int | None) -> CallFailure:
    """Return what an HTTP status means. A complete error answer: the caller adds its provenance."""
    said = f"the provider answered with status {status}"
    if status in _UNAUTHORIZED:
        return CallFailure("auth_unavailable", Class.CONFIGURATION, f"{said}: the key or the account is not accepted")
    if status in _GONE:
        return CallFailure("model_not_found", Class.CONFIGURATION, f"{said}: it does not have {model}")
    if status in _REDIRECTS:
        return CallFailure(
            "model_registry_invalid", Class.CONFIGURATION, f"{said}: the baseUrl leads elsewhere, and is not followed"
        )
    if status in _CLIENT_ERRORS and status not in _PASSING:
        return CallFailure("provider_error", Class.TERMINAL, f"{said}: it does not take this request")
    return CallFailure("provider_error", Class.RETRY, said, retry_after_ms=retry_after_ms)


def read_retry_after(milliseconds: str | None, value: str | None, now: int) -> int | None:
    """Return how long the provider asks to wait, from `retry-after-ms` or `retry-after`, capped; None if unusable.

    `value` is seconds or an HTTP date. A moment that has passed asks for nothing.
    """
    wait: float | None = None
    if milliseconds is not None and _SECONDS.fullmatch(milliseconds.strip()):
        wait = float(milliseconds)
    elif value is not None and _SECONDS.fullmatch(value.strip()):
        wait = float(value) * 1_000
    elif value is not None:
        wait = _until(value, now)
    return min(math.ceil(wait), RETRY_AFTER_MS_MAX) if wait is not None and wait > 0 else None


def _until(date: str, now: int) -> float | None:
    try:
        moment = email.utils.parsedate_to_datetime(date)
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return moment.timestamp() * 1_000 - now
    except (ValueError, OverflowError, OSError):
        return None
