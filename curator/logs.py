"""The log: one line an event, from an allowlist of fields, as JSON or for a console.

The one door to structlog, and only for a process that lives long: commands print sentences. An event has no field that
could carry evidence, and of those that it has only the ones named here are written.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, Literal, TextIO, TypeAlias

import structlog

from curator.model.event import Completed
from curator.model.times import iso

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor, WrappedLogger

    from curator.model.event import Event
    from curator.model.ports import Clock

Form: TypeAlias = Literal["json", "console"]

ALLOWED: Final = frozenset(
    (
        "attempt",
        "available_at",
        "branch_name",
        "budget_exhausted",
        "busy",
        "code",
        "completed",
        "concurrency",
        "count",
        "fact",
        "failed",
        "interrupted",
        "job_id",
        "left",
        "limit",
        "mode",
        "model",
        "name",
        "project_key",
        "provider",
        "reason",
        "remedy",
        "retried",
        "subject",
        "superseded",
        "what",
        "worker_id",
    )
)
_WARNINGS: Final = frozenset(("Degraded", "Failed", "SetAside", "Stopped"))


class Log:
    """A listener that writes every event as a line. A log that cannot be written never stops the work."""

    def __init__(self, stream: TextIO, clock: Clock, form: Form) -> None:
        """Write to `stream`, with the time of `clock`."""
        self._clock = clock
        renderer: Processor = (
            structlog.processors.JSONRenderer(sort_keys=True)
            if form == "json"
            else structlog.dev.ConsoleRenderer(colors=stream.isatty())
        )
        self._logger: structlog.stdlib.BoundLogger = structlog.wrap_logger(
            structlog.WriteLogger(stream),
            processors=[structlog.processors.add_log_level, self._stamp, renderer],
            wrapper_class=structlog.make_filtering_bound_logger(0),
            cache_logger_on_first_use=False,
        )

    def tell(self, event: Event) -> None:
        """Write an event."""
        kind = type(event).__name__
        fields = {
            field.name: value
            for field in dataclasses.fields(event)
            if field.name in ALLOWED and (value := getattr(event, field.name)) is not None
        }
        if isinstance(event, Completed):
            fields |= _outcome(event)
        try:
            if kind in _WARNINGS:
                self._logger.warning(_words(kind), **fields)
            else:
                self._logger.info(_words(kind), **fields)
        except OSError:
            return

    def _stamp(self, _logger: WrappedLogger, _method: str, fields: EventDict) -> EventDict:
        return {"at": iso(self._clock.now()), **fields}


def _outcome(event: Completed) -> dict[str, object]:
    """Return what became of a job, and what that cost by the provider's own count."""
    usage = event.provenance.usage
    cost: dict[str, object] = {"tokens": usage.total_tokens, "cost_usd": usage.cost.total}
    return cost if event.receipt is None else {"status": event.receipt.status, **cost}


def _words(kind: str) -> str:
    """Return `budget_exhausted` for `BudgetExhausted`."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in kind).lstrip("_")
