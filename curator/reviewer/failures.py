"""What a failed call means: one table, by status and by what happened, never by the provider's words (interop.md 4.6).

Each row says under which code a failure is kept, what the job does then, how its attempt ends and what that attempt is
charged. The README shows the table as `python -m curator.reviewer.failures` prints it; a test holds the two together.
"""

from __future__ import annotations

import dataclasses
import email.utils
import enum
import math
import re
import sys
from datetime import UTC
from typing import Final

from curator.model.attempt import AttemptState
from curator.model.ports import CallFailure, Class
from curator.model.times import DAY_MS

RETRY_AFTER_MS_MAX: Final = DAY_MS
"""Longer is not believed: a quota of a month is somebody's decision, and status names it meanwhile."""
_SECONDS: Final = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")


class Mishap(enum.StrEnum):
    """What can go wrong with a call, apart from an error status."""

    NO_KEY = "no key, or one that cannot be resolved"
    UNREACHABLE = "before the dispatch: connection refused, no such host, TLS refused, no connection in time"
    NEVER_OPENED = "after the dispatch: the connection never opened"
    RESET = "connection reset or closed before the answer was whole, before or after its first byte"
    TIMEOUT = "no answer in time, or the stream stood still"
    BROKEN = "status 200 and no answer of the API: HTML, broken SSE, a cut stream, bytes that are not text"
    TOO_LONG = "an answer without end, or in an encoding that was not asked for"
    LENGTH = "cut off at the limit of its length"
    REFUSED = "the model refused, or a filter stopped it"
    ERROR = "status 200, and the answer itself says that it is an error"
    TOOL_CALL = "a tool call"
    EMPTY = "an empty answer, or nothing but thoughts"
    NO_JSON = "a whole answer that is not the JSON that was asked for"
    BROKEN_RULE = "a proposal that breaks a rule"
    STOPPED = "a wish to stop"


class Charge(enum.StrEnum):
    """What an attempt that failed so counts in the budget, beside one call."""

    NO_CALL = "nothing, not even a call"
    NOTHING = "0 tokens"
    USAGE = "its usage; its hold where that is not told"
    HOLD = "its hold"


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One kind of failure."""

    code: str
    kind: Class
    state: AttemptState
    charge: Charge


_R, _C, _T = Class.RETRY, Class.CONFIGURATION, Class.TERMINAL
_CANCELLED, _SETTLED, _UNKNOWN = AttemptState.CANCELLED, AttemptState.SETTLED, AttemptState.UNKNOWN

MISHAPS: Final[dict[Mishap, Row]] = {
    Mishap.NO_KEY: Row("auth_unavailable", _C, _CANCELLED, Charge.NO_CALL),
    Mishap.UNREACHABLE: Row("provider_unreachable", _C, _CANCELLED, Charge.NO_CALL),
    Mishap.NEVER_OPENED: Row("provider_unreachable", _C, _SETTLED, Charge.NOTHING),
    Mishap.RESET: Row("provider_error", _R, _UNKNOWN, Charge.HOLD),
    Mishap.TIMEOUT: Row("model_timeout", _R, _UNKNOWN, Charge.HOLD),
    Mishap.BROKEN: Row("provider_error", _R, _UNKNOWN, Charge.HOLD),
    Mishap.TOO_LONG: Row("invalid_model_output", _R, _UNKNOWN, Charge.HOLD),
    Mishap.LENGTH: Row("output_truncated", _R, _SETTLED, Charge.USAGE),
    Mishap.REFUSED: Row("provider_error", _R, _SETTLED, Charge.USAGE),
    Mishap.ERROR: Row("provider_error", _R, _SETTLED, Charge.USAGE),
    Mishap.TOOL_CALL: Row("unexpected_tool_use", _R, _SETTLED, Charge.USAGE),
    Mishap.EMPTY: Row("empty_model_output", _R, _SETTLED, Charge.USAGE),
    Mishap.NO_JSON: Row("invalid_model_output", _R, _SETTLED, Charge.USAGE),
    Mishap.BROKEN_RULE: Row("invalid_proposal", _R, _SETTLED, Charge.USAGE),
    Mishap.STOPPED: Row("aborted", Class.STOPPED, _UNKNOWN, Charge.HOLD),
}

_REDIRECT: Final = Row("model_registry_invalid", _C, _SETTLED, Charge.NOTHING)
_REFUSED: Final = Row("provider_error", _T, _SETTLED, Charge.NOTHING)
_NOT_NOW: Final = Row("provider_error", _R, _SETTLED, Charge.NOTHING)
_LIMITED: Final = Row("rate_limited", Class.LATER, _SETTLED, Charge.NOTHING)
"""Whoever asks meets it: a limit of its rate, or a provider that says that it is overloaded."""
_MAY_HAVE_RUN: Final = Row("provider_error", _R, _SETTLED, Charge.HOLD)
"""A gateway that gave up waiting says nothing of whom it waited for."""
_NO_ACCOUNT: Final = Row("auth_unavailable", _C, _SETTLED, Charge.NOTHING)
_NO_MODEL: Final = Row("model_not_found", _C, _SETTLED, Charge.NOTHING)

STATUSES: Final[dict[int, Row]] = {
    400: _REFUSED,
    401: _NO_ACCOUNT,
    402: _NO_ACCOUNT,
    403: _NO_ACCOUNT,
    404: _NO_MODEL,
    407: _NO_ACCOUNT,
    408: _MAY_HAVE_RUN,
    409: _NOT_NOW,
    410: _NO_MODEL,
    413: _REFUSED,
    425: _NOT_NOW,
    429: _LIMITED,
    500: _NOT_NOW,
    502: _NOT_NOW,
    503: _NOT_NOW,
    504: _MAY_HAVE_RUN,
    529: _LIMITED,
}
"""A complete error answer: the provider says that it did not run the model, and is believed."""
_OTHERS: Final = {"3xx": _REDIRECT, "any other 4xx": _REFUSED, "any other": _NOT_NOW}
_SAYS: Final = {
    _LIMITED: "it takes nothing more for now",
    _NO_ACCOUNT: "the key or the account is not accepted",
    _REDIRECT: "the baseUrl leads elsewhere, and is not followed",
    _REFUSED: "it does not take this request",
}


def row_of_status(status: int) -> Row:
    """Return the row of an HTTP status that is no success."""
    others = {3: _REDIRECT, 4: _REFUSED}
    return STATUSES.get(status, others.get(status // 100, _NOT_NOW))


def failure_of_status(status: int, model: str, retry_after_ms: int | None) -> CallFailure:
    """Return what an HTTP status means. A complete error answer: the caller adds its provenance."""
    row = row_of_status(status)
    says = f"it does not have {model}" if row == _NO_MODEL else _SAYS.get(row)
    message = f"the provider answered with status {status}" + (f": {says}" if says else "")
    wait = retry_after_ms if row.kind in (Class.RETRY, Class.LATER) else None
    return CallFailure(row.code, row.kind, message, retry_after_ms=wait)


def failure_of(mishap: Mishap, message: str) -> CallFailure:
    """Return a failure of that kind, in our own words; the caller adds provenance where its row says settled."""
    row = MISHAPS[mishap]
    return CallFailure(row.code, row.kind, message)


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


_THEN: Final = {
    Class.RETRY: "is tried again, three times in all",
    Class.LATER: "waits as long as the provider asks, like all others; costs none of its three tries",
    Class.CONFIGURATION: "waits until that is mended; costs none of its three tries",
    Class.TERMINAL: "ends",
    Class.STOPPED: "is taken up by the next run",
}


def table() -> str:
    """Return the table as Markdown."""
    said = {str(status): row for status, row in STATUSES.items()} | _OTHERS
    together: dict[Row, list[str]] = {}
    for name, row in said.items():
        together.setdefault(row, []).append(name)
    rows = [(f"status {', '.join(names)}", row) for row, names in together.items()]
    rows = [*((str(mishap), row) for mishap, row in MISHAPS.items()), *rows]
    lines = [f"| {what} | `{row.code}` | {_THEN[row.kind]} | {row.state} | {row.charge} |" for what, row in rows]
    return "\n".join(["| failure | code | the job | attempt | charged |", "|---|---|---|---|---|", *lines]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(table())
