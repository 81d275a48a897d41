"""From our journal to the protocol's accounting, so that Pi's panel and the other worker see what was spent.

The journal is the authority; this may lag, and may fail, and no work stops for it. Our own attempts stand there as the
journal has them; foreign ones, and what a legacy budget carried, are kept as they stand.

INVARIANT  An identity before its attempt's day, and nothing at all where nothing changed.
CRASH      The day file lags behind the journal; the next projection brings it up.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from curator.errors import BusyError, ConflictError, InvalidRecordError, StorageError
from curator.model.event import Degraded
from curator.model.ids import Day
from curator.model.times import day_of
from curator.store.accounting import carried, identity_of, projected

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from curator.model.accounting import DayAttempt, DayFile
    from curator.model.attempt import Attempt, LegacyCarry
    from curator.workflow.shop import Shop

_PAUSE_MS: Final = 1_000
_SHARE: Final = 10
"""A projection that took long pauses ten times as long: on the busiest day it takes no more than a tenth of the time."""


def project(shop: Shop, *, force: bool = False) -> bool:
    """Bring today's day file up to the journal, and those of other days with attempts in flight; tell whether it ran.

    At most once a second; with `force`, when idle or stopping, at once and exactly. What prevents it is told, not
    raised: the journal has it all.
    """
    pace, clock = shop.stores.accounting.pace, shop.clock
    if not pace.mutex.acquire(-1 if force else 0):
        return False
    try:
        began = clock.monotonic()
        if not force and began < pace.due_ms:
            return False
        days = {Day(day_of(clock.now()))} | pace.open_days
        done = [_is_projected(shop, day) for day in sorted(days)]
        ended = clock.monotonic()
        pace.due_ms = ended + max(_PAUSE_MS, _SHARE * (ended - began))
        return all(done)
    finally:
        pace.mutex.release()


def project_days(shop: Shop, days: Iterable[Day]) -> None:
    """Bring the day files of these days up to the journal, exactly, or raise what prevents it.

    For days whose orphans were just closed, and, before another worker takes over, for those of live decisions.
    """
    with shop.stores.accounting.pace.mutex.hold():
        for day in sorted(set(days)):
            _project_day(shop, day)


def merged(file: DayFile, ours: Sequence[Attempt], carries: Sequence[LegacyCarry]) -> DayFile:
    """Return a day with the journal's attempts in it: own ones as they are, adopted ones only where they are missing."""
    missing = {attempt.id: attempt for attempt in ours}

    def brought_up(standing: DayAttempt) -> DayAttempt:
        attempt = missing.pop(standing.id, None)
        return standing if attempt is None or attempt.origin == "adopted" else projected(attempt)

    providers = {provider: list(map(brought_up, standing)) for provider, standing in file.providers.items()}
    for attempt in missing.values():
        providers.setdefault(attempt.provider, []).append(projected(attempt))
    legacy = {carry.provider: carried(carry) for carry in carries} | dict(file.legacy_carry or {})
    frozen = {provider: tuple(attempts) for provider, attempts in providers.items()}
    return dataclasses.replace(file, providers=frozen, legacy_carry=legacy or None)


def _is_projected(shop: Shop, day: Day) -> bool:
    try:
        _project_day(shop, day)
    except (BusyError, ConflictError, InvalidRecordError, StorageError) as error:
        shop.listener.tell(Degraded(f"Pi's panel lags behind: {error.fact}", error.remedy))
        return False
    return True


def _project_day(shop: Shop, day: Day) -> None:
    accounting, attempts, pace = shop.stores.accounting, shop.stores.attempts, shop.stores.accounting.pace
    seen = attempts.of_day(day)
    latest = {each.id: each.latest for each in seen}
    said = {} if accounting.has_news(day) else pace.said.get(day, {})
    # Records are never changed in memory, so one that is the same object says the same.
    ours = [attempt for attempt in latest.values() if said.get(attempt.id) is not attempt]
    carries = attempts.legacy(day)
    if ours or carries:
        accounting.amend(day, lambda file: merged(file, ours, carries), map(identity_of, ours))
    pace.said = {each: said for each, said in pace.said.items() if each in pace.open_days} | {day: latest}
    pace.open_days.discard(day)
    if any(each.is_open for each in seen):
        pace.open_days.add(day)
