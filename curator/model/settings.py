"""The two configurations: the protocol's service.json, closed, and curator's own curator.toml (interop.md 14)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from curator.model.budget import Limits
from curator.model.heartbeat import Release
from curator.model.ids import Day
from curator.model.limits import CONCURRENCY_MAX
from curator.model.outcome import nanousd
from curator.model.record import Integer, MayBeAbsent, Pattern, Record, Text, Violation
from curator.model.times import DAY_MS, day_of, day_start

Mode: TypeAlias = Literal["embedded", "shadow", "external"]
Via: TypeAlias = Literal["auto", "direct", "pi"]
Effort: TypeAlias = Literal["off", "minimal", "low", "medium", "high", "xhigh"]


def _blank_fault(text: str) -> str | None:
    return None if text.strip() else "is blank"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ReviewerProfile(Record):
    """Which model reviews, and what a UTC day of it may cost. Never whichever model happens to be in use in Pi."""

    provider: Annotated[str, Text(1, 128, _blank_fault)]
    model: Annotated[str, Text(1, 256, _blank_fault)]
    reasoning_effort: Annotated[Effort, MayBeAbsent()] = "medium"
    max_calls_per_day: Annotated[int, Integer(1, 10_000), MayBeAbsent()] = 100
    max_tokens_per_day: Annotated[int, Integer(1, 1_000_000_000), MayBeAbsent()] = 500_000
    max_cost_per_day_usd: Annotated[float, MayBeAbsent()] = 10

    def check(self, where: str = "") -> None:
        """The cost limit is above nothing and below a million."""
        if not 0 < self.max_cost_per_day_usd <= 1_000_000:  # noqa: PLR2004 - the protocol's bound, used once
            raise Violation(where, "has a maxCostPerDayUsd that is not above 0 and at most 1000000")

    @property
    def limits(self) -> Limits:
        """The day's limits, in nano-dollars."""
        return Limits(self.max_calls_per_day, self.max_tokens_per_day, max(1, nanousd(self.max_cost_per_day_usd)))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings(Record):
    """service.json, shared with the extension. A missing file means embedded."""

    version: Literal[1] = 1
    mode: Mode = "embedded"
    evidence_ttl_hours: Annotated[float, MayBeAbsent()] = 24
    reviewer: ReviewerProfile | None = None

    def check(self, where: str = "") -> None:
        """Evidence expires some day, and external mode has a reviewer."""
        if not 0 < self.evidence_ttl_hours <= 8_760:  # noqa: PLR2004 - the protocol's bound, used once
            raise Violation(where, "has an evidenceTtlHours that is not above 0 and at most 8760")
        if self.mode == "external" and self.reviewer is None:
            raise Violation(where, "is external without a reviewer")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSettings(Record):
    """`[budget]` of curator.toml."""

    unresolved: Annotated[
        str,
        Pattern(r"charge|expire-after = (?:0|[1-9][0-9]{0,2}) days?", "`charge` or `expire-after = N days`"),
        MayBeAbsent(),
    ] = "charge"
    """How long an attempt without an end counts after its own day: until somebody settles it, or for so many days."""

    def counts_from(self, today: Day) -> Day:
        """Return the first day whose attempts without an end count against today's limits."""
        if self.unresolved == "charge":
            return FIRST_DAY
        days = int(self.unresolved.removeprefix("expire-after = ").partition(" ")[0])
        return Day(day_of(day_start(today) - days * DAY_MS))


def _url_fault(text: str) -> str | None:
    return None if text.startswith("postgresql://") else "is not an address like postgresql://host/database"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings(Record):
    """`[audit]` of curator.toml."""

    url: Annotated[str, Text(1, 1_024, _url_fault)] | None = None
    """A PostgreSQL that this machine's audit is folded into as well, beside those of others."""


def _textfile_fault(text: str) -> str | None:
    is_collected = text.startswith("/") and text.endswith(".prom")
    return None if is_collected else "is not an absolute path that ends with .prom"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MetricsSettings(Record):
    """`[metrics]` of curator.toml."""

    textfile: Annotated[str, Text(1, 4_096, _textfile_fault)] | None = None
    """Where figures for Prometheus are written; its node exporter takes no file of another ending."""


FIRST_DAY: Final = Day("0000-00-00")
"""Before any day that there is."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CuratorSettings(Record):
    """curator.toml: what the protocol has no word for. Keys are written with underscores there."""

    _spelling: ClassVar[Mapping[str, str]] = {
        "on_stale": "on_stale",
        "require_power_safe": "require_power_safe",
        "allow_unknown_price": "allow_unknown_price",
    }

    evidence: Annotated[Literal["accept", "require"], MayBeAbsent()] = "accept"
    """Whether an operation without a quote of its evidence passes as unsupported, or is refused."""
    on_stale: Annotated[Literal["rebase", "report"], MayBeAbsent()] = "rebase"
    """Whether a job whose branch moved is judged anew, or ends stale as the protocol's own worker does it."""
    concurrency: Annotated[int, Integer(1, CONCURRENCY_MAX), MayBeAbsent()] = 4
    """How many calls the service has under way at once; a limit can be overshot by as many."""
    require_power_safe: Annotated[bool, MayBeAbsent()] = False
    """Refuse a disk that cannot flush a folder, instead of promising less."""
    via: Annotated[Via, MayBeAbsent()] = "auto"
    """How a model is asked: by its API, through Pi as a child process, or by its API where that and a key are there."""
    pi: Annotated[str, Text(1, 1_024, _blank_fault), MayBeAbsent()] = "pi"
    """The command that starts Pi: a name on PATH, or a path."""
    allow_unknown_price: Annotated[bool, MayBeAbsent()] = False
    """Whether a model whose price nobody tells is asked, with calls and tokens as its only limits."""
    release: Annotated[Release, MayBeAbsent()] = "0.5.4"
    """The extension's release to show in heartbeats where no running one tells it."""
    budget: Annotated[BudgetSettings, MayBeAbsent()] = BudgetSettings()
    audit: Annotated[AuditSettings, MayBeAbsent()] = AuditSettings()
    metrics: Annotated[MetricsSettings, MayBeAbsent()] = MetricsSettings()
