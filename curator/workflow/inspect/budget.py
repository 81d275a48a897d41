"""What a provider's UTC day may cost, as it is shown: from the journal, and beside it as Pi's panel has it.

The panel follows the protocol (interop.md 5.4): it adds up one day's file, which knows no estimate, no correction and no
earlier day. Where it tells something else than the journal, both are told.
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING

from curator.errors import ConfigError
from curator.model.accounting import DayFile
from curator.model.budget import Exposure, panel_exposure
from curator.model.settings import CuratorSettings
from curator.store.accounting import carried, projected
from curator.workflow.inspect.books import open_books
from curator.workflow.settings_files import find_service, read_curator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator.durable.layout import Layout
    from curator.errors import InvalidRecordError
    from curator.model.attempt import Attempt
    from curator.model.budget import Limits
    from curator.model.ids import Day
    from curator.model.settings import ServiceSettings
    from curator.store.attempts import AttemptStore


@dataclasses.dataclass(frozen=True, slots=True)
class Panel:
    """What Pi's panel adds up for a provider's day."""

    exposure: Exposure
    is_current: bool
    """Whether the day file has all that the journal would tell it; else it lags behind."""


@dataclasses.dataclass(frozen=True, slots=True)
class Budget:
    """One provider's day."""

    provider: str
    exposure: Exposure
    limits: Limits | None
    """Of the provider that reviews now."""
    earlier: Exposure
    """Of earlier days, what has no end yet and counts against today's limits too."""
    panel: Panel | None
    """Where it differs; None where Pi shows the same, or its day file cannot be read."""

    @property
    def counted(self) -> Exposure:
        """What the limits are checked against."""
        return self.exposure + self.earlier


def settings_of(layout: Layout) -> CuratorSettings:
    """Return our settings, or their defaults where they cannot be read: who reads them to act says so."""
    with contextlib.suppress(ConfigError):
        return read_curator(layout)
    return CuratorSettings()


def shown_day(layout: Layout, day: Day, *, is_today: bool) -> tuple[tuple[Budget, ...], tuple[InvalidRecordError, ...]]:
    """Return the budgets of any day, and what of the journal cannot be read.

    A day that is over has no limits, and Pi shows it no more. Raises `InvalidRecordError` and `ConfigError` where Pi's
    file of today or the configuration cannot be read.
    """
    books = open_books(layout)
    attempts, faults = books.attempts, books.attempts.faults()
    if is_today:
        return budgets_of(layout, attempts, day, find_service(layout), books.accounting.look(day).file), faults
    providers = attempts.providers(day)
    return tuple(Budget(each, attempts.exposure(each, day), None, Exposure(), None) for each in providers), faults


def every_figure(layout: Layout, today: Day) -> tuple[Mapping[tuple[Day, str], Exposure], tuple[Budget, ...]]:
    """Return each figure that is shown of any day, by day and provider, and the budgets of today.

    Raises as `shown_day`.
    """
    attempts = open_books(layout).attempts
    days = {(day, each): attempts.exposure(each, day) for day in attempts.days() for each in attempts.providers(day)}
    return days, shown_day(layout, today, is_today=True)[0]


def budgets_of(
    layout: Layout, attempts: AttemptStore, day: Day, service: ServiceSettings | None, file: DayFile | None
) -> tuple[Budget, ...]:
    """Return the budgets of a day: first of the provider that reviews, then of all others that it may have cost.

    `file` is the day as Pi's panel reads it; None where it cannot be read.
    """
    reviewer = None if service is None else service.reviewer
    since = settings_of(layout).budget.counts_from(day)
    known = (*attempts.providers(day), *attempts.unresolved_providers(day, since))
    providers = dict.fromkeys(known if reviewer is None else (reviewer.provider, *known))
    expected = _expected(attempts, day)
    return tuple(
        Budget(
            provider=provider,
            exposure=attempts.exposure(provider, day),
            limits=reviewer.limits if reviewer is not None and reviewer.provider == provider else None,
            earlier=attempts.unresolved(provider, day, since),
            panel=None if file is None else _panel(provider, attempts.exposure(provider, day), file, expected),
        )
        for provider in providers
    )


def _expected(attempts: AttemptStore, day: Day) -> DayFile:
    """Return the day file as the journal alone would write it."""
    providers: dict[str, list[Attempt]] = {}
    for seen in attempts.of_day(day):
        providers.setdefault(seen.latest.provider, []).append(seen.latest)
    told = {provider: tuple(map(projected, each)) for provider, each in providers.items()}
    legacy = {carry.provider: carried(carry) for carry in attempts.legacy(day)}
    return DayFile(day=day, providers=told, legacy_carry=legacy or None)


def _panel(provider: str, exposure: Exposure, file: DayFile, expected: DayFile) -> Panel | None:
    shown = panel_exposure(file, provider)
    return None if shown == exposure else Panel(shown, is_current=shown == panel_exposure(expected, provider))
