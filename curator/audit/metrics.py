"""The shadow's figures for Prometheus: a textfile that its node exporter collects. No port is opened, and nobody is told.

The one door to the library that knows how they are spelled. Names of models and projects' keys are labels; no word of
memory, of evidence or of a person's folders is in it.

INVARIANT  Who collects sees a whole file: it is staged under a name that is not collected, and renamed.
CRASH      The old file stands, or the new one; it is written anew at the next fold, so nothing is flushed.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from curator import __version__
from curator.admission.apply import TARGET_CHARS
from curator.audit.questions import Scope
from curator.audit.report.figures import CERTAINTIES, Spent, figures_of, quantile
from curator.errors import ConfigError
from curator.model.times import day_of, ms_of
from curator.workflow.settings_files import find_service

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from prometheus_client import Metric
    from sqlalchemy import Connection

    from curator.audit.report.figures import Figures
    from curator.durable.layout import Layout
    from curator.durable.volume import Volume
    from curator.model.budget import Limits

_MODE: Final = 0o644
"""The exporter is another user, and there is nothing private in it."""
_NANO: Final = 1_000_000_000
_MS: Final = 1_000
_SHARES: Final = (0.5, 0.95)
_UNITS: Final = ("calls", "tokens", "cost_dollars")


def limits_of(layout: Layout) -> Limits | None:
    """Return what a day may take; None where nobody has said who reviews. Raises `ConfigError`."""
    service = find_service(layout)
    return None if service is None or service.reviewer is None else service.reviewer.limits


def metrics_of(connection: Connection, limits: Limits | None, now: int) -> bytes:
    """Return the figures as Prometheus reads them. Raises `ConfigError` where the library is missing."""
    if find_spec("prometheus_client") is None:
        fact = "figures for Prometheus are wanted, and prometheus_client is not installed"
        raise ConfigError(fact, remedy="Run: pip install 'pi-curator[metrics]'")
    from prometheus_client import CollectorRegistry, generate_latest  # noqa: PLC0415 - optional

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collected(figures_of(connection, Scope()), limits, now))
    return generate_latest(registry)


def write_textfile(volume: Volume, path: Path, data: bytes) -> None:
    """Put the figures where they are collected, in one step."""
    staged = volume.stage(path, data, flush=False)
    try:
        volume.restrict(staged, _MODE)
        volume.rename(staged, path)
    except BaseException:
        volume.unlink(staged)
        raise


class _Collected:
    """The figures as families of metrics."""

    def __init__(self, figures: Figures, limits: Limits | None, now: int) -> None:
        self._figures = figures
        self._limits = limits
        self._now = now

    def collect(self) -> Iterator[Metric]:
        """Yield every family."""
        yield _gauge("curator_info", "The release that wrote this.", ["version"], [([__version__], 1)])
        yield _gauge("curator_folded_timestamp_seconds", "When these figures were true.", [], [([], self._now / _MS)])
        yield from self._jobs()
        yield from self._calls()
        yield from self._spend()
        yield from self._memory()
        yield from self._health()

    def _jobs(self) -> Iterator[Metric]:
        figures = self._figures
        places = dict.fromkeys(("queued", "running", "held"), 0)
        for each in figures.waiting:
            places[each.place] += 1
        yield _gauge(
            "curator_jobs", "Jobs that are not over.", ["place"], [([name], at) for name, at in places.items()]
        )
        if figures.waiting:
            oldest = figures.waiting[0].since_ms / _MS
            name = "curator_oldest_job_timestamp_seconds"
            yield _gauge(name, "When the oldest job that is not over was accepted.", [], [([], oldest)])
        ended: dict[str, int] = {}
        for counts in figures.outcomes.values():
            for status, count in counts.items():
                ended[status] = ended.get(status, 0) + count
        yield _counter("curator_jobs_ended", "Jobs that are over, by how they ended.", "status", sorted(ended.items()))
        yield _counter("curator_jobs_failed", "Jobs that failed, by why.", "code", figures.failures)

    def _calls(self) -> Iterator[Metric]:
        models = self._figures.models
        states = [([each.provider, each.model, name], count) for each in models for name, count in each.states.items()]
        yield _gauge("curator_calls", "Provider calls, by how they stand.", ["provider", "model", "state"], states)
        lengths = [
            ([each.provider, each.model, str(share)], quantile(each.durations_ms, share) / _MS)
            for each in models
            if each.durations_ms
            for share in _SHARES
        ]
        told = "How long calls took, of those whose length is kept."
        yield _gauge("curator_call_duration_seconds", told, ["provider", "model", "quantile"], lengths)

    def _spend(self) -> Iterator[Metric]:
        today = dict(self._figures.days).get(day_of(self._now), Spent())
        for name, told, spent in (("spend", "All days", self._figures.spent), ("day", "The UTC day", today)):
            for unit in _UNITS:
                amounts = [([certainty], _amount(spent, certainty, unit)) for certainty in CERTAINTIES]
                yield _gauge(
                    f"curator_{name}_{unit}", f"{told}: what is certain, held and unknown.", ["certainty"], amounts
                )
        limits = self._limits
        if limits is not None:
            most = (limits.calls, limits.tokens, limits.cost_nanousd / _NANO)
            for unit, limit in zip(_UNITS, most, strict=True):
                yield _gauge(f"curator_day_limit_{unit}", "What a UTC day may take.", [], [([], limit)])

    def _memory(self) -> Iterator[Metric]:
        figures = self._figures
        sizes = [([each.project_key, each.branch_name], each.chars) for each in figures.memories]
        told = "How large memories are, the largest of them."
        yield _gauge("curator_memory_characters", told, ["project", "branch"], sizes)
        yield _gauge(
            "curator_memory_working_size_characters", "What a memory should not exceed.", [], [([], TARGET_CHARS)]
        )
        yield _gauge("curator_memories", "How many memories there are.", [], [([], figures.memories_of)])

    def _health(self) -> Iterator[Metric]:
        figures = self._figures
        yield _gauge("curator_records_set_aside", "Records that were set aside.", [], [([], figures.aside_of)])
        yield _gauge("curator_records_unreadable", "Records that cannot be read.", [], [([], figures.unreadable_of)])
        if figures.worker is not None:
            state, at = figures.worker
            name = "curator_worker_timestamp_seconds"
            yield _gauge(name, "When a worker last gave a sign of life.", ["state"], [([state], ms_of(at) / _MS)])


def _amount(spent: Spent, certainty: str, unit: str) -> float:
    amounts = spent.of(certainty)
    return {"calls": amounts.calls, "tokens": amounts.tokens, "cost_dollars": amounts.cost_nanousd / _NANO}[unit]


def _gauge(name: str, told: str, labels: list[str], values: Iterable[tuple[list[str], float]]) -> Metric:
    from prometheus_client.core import GaugeMetricFamily  # noqa: PLC0415 - optional

    family = GaugeMetricFamily(name, told, labels=labels)
    for label, value in values:
        family.add_metric(label, value)
    return family


def _counter(name: str, told: str, label: str, values: Iterable[tuple[str, int]]) -> Metric:
    from prometheus_client.core import CounterMetricFamily  # noqa: PLC0415 - optional

    family = CounterMetricFamily(name, told, labels=[label])
    for value, count in values:
        family.add_metric([value], count)
    return family
