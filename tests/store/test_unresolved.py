"""What has no end yet counts against later days too: held and unknown, until it has one or its time is over."""

from pathlib import Path
from typing import Final

import pytest

from curator.durable.layout import Layout
from curator.model.attempt import (
    Correction,
    LegacyCarry,
    Reserved,
    Unknown,
    cancelled_from,
    corrected_by,
    corrected_from,
    dispatched_from,
    settled_from,
    unknown_from,
)
from curator.model.budget import Amount, Exposure, Limits
from curator.model.digest import Digest
from curator.model.ids import Day
from curator.store.attempts import AttemptStore, Refused
from tests.durable.volumes import Unflushed
from tests.made_up import AT, AT_MS, DAY, LATER, ROOMY, job, other_digest, provenance, reserved

NEXT: Final = Day("2026-01-04")
LAST: Final = Day("2026-01-10")
REQUEST: Final = (other_digest(), "m", "a")
HOLD: Final = Amount(1, 400, 50_000_000)
TWO: Final = Limits(calls=2, tokens=10**6, cost_nanousd=10**12)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path)


@pytest.fixture
def store(layout: Layout) -> AttemptStore:
    return opened(layout)


def opened(layout: Layout) -> AttemptStore:
    return AttemptStore(Unflushed(), layout)


def lost(store: AttemptStore, claim: int = 1, day: Day = DAY) -> Unknown:
    draft = reserved(job(), claim, day=day)
    unknown = unknown_from(dispatched_from(draft, AT, REQUEST), LATER)
    for step in (draft, dispatched_from(draft, AT, REQUEST), unknown):
        store.advance(step)
    return unknown


def test_what_is_unknown_of_an_earlier_day_counts_against_each_limit(store: AttemptStore) -> None:
    lost(store)

    assert store.unresolved("provider", NEXT) == Exposure(unknown=HOLD)
    for tight in (
        Limits(1, 10**6, 10**12),
        Limits(10, 799, 10**12),
        Limits(10, 10**6, 99_999_999),
    ):
        refused = store.reserve(reserved(job(), 2, day=LAST), tight)
        assert isinstance(refused, Refused)
        assert refused.exposure == Exposure(unknown=HOLD)
    assert isinstance(store.reserve(reserved(job(), 2, day=LAST), TWO), Reserved)


def test_what_is_held_over_midnight_counts_as_held(store: AttemptStore) -> None:
    draft = reserved(job())
    store.advance(draft)
    assert store.unresolved("provider", NEXT) == Exposure(held=HOLD)

    store.advance(dispatched_from(draft, AT, REQUEST))
    assert store.unresolved("provider", NEXT) == Exposure(held=HOLD)

    store.advance(settled_from(dispatched_from(draft, AT, REQUEST), LATER, provenance()))
    assert store.unresolved("provider", NEXT) == Exposure()


def test_what_has_its_end_counts_in_its_own_day_alone(store: AttemptStore) -> None:
    never = reserved(job(), 1)
    for step in (never, cancelled_from(never, LATER)):
        store.advance(step)
    store.advance(corrected_from(lost(store, 2), LATER, provenance()))
    store.advance(corrected_by(lost(store, 3), LATER, None, "not on the bill"))
    store.advance(corrected_by(lost(store, 4), LATER, (90, 7), "on the bill"))

    assert store.unresolved("provider", NEXT) == Exposure()
    assert store.exposure("provider", DAY).actual == Amount(2, 250, 3_100_007)


def test_another_provider_a_later_day_and_the_day_itself_do_not_count(store: AttemptStore) -> None:
    lost(store, day=NEXT)

    assert store.unresolved("other", LAST) == Exposure()
    assert store.unresolved("provider", NEXT) == Exposure()
    assert store.unresolved("provider", DAY) == Exposure()
    assert store.unresolved_providers(LAST) == ("provider",)
    assert store.unresolved_providers(NEXT) == ()


def test_it_counts_no_longer_than_it_is_to(store: AttemptStore) -> None:
    lost(store)
    draft = reserved(job(), 2, day=LAST)

    assert store.unresolved("provider", LAST, NEXT) == Exposure()
    assert store.unresolved("provider", LAST, DAY) == Exposure(unknown=HOLD)
    assert isinstance(store.reserve(draft, Limits(1, 10**6, 10**12), DAY), Refused)
    assert store.reserve(draft, Limits(1, 10**6, 10**12), NEXT) == draft


def test_a_day_that_was_closed_counts_the_same_and_may_still_be_corrected(store: AttemptStore, layout: Layout) -> None:
    unknown = lost(store)
    store.advance(corrected_from(lost(store, 2), LATER, provenance()))
    assert store.close_day(DAY, lambda _: False, AT_MS)

    for each in (store, opened(layout)):
        assert each.unresolved("provider", LAST) == Exposure(unknown=HOLD)
    store.advance(corrected_by(unknown, LATER, None, "not on the bill"))

    for each in (store, opened(layout)):
        assert each.unresolved("provider", LAST) == Exposure()
        assert each.exposure("provider", DAY) == Exposure(actual=Amount(1, 160, 3_100_000))


def test_a_legacy_budget_is_over_with_its_day(store: AttemptStore) -> None:
    carry = LegacyCarry(
        day=DAY,
        provider="provider",
        source_digest=Digest("a" * 64),
        imported_at=AT,
        calls=5,
        tokens=1_234,
        cost_nanousd=300_000_000,
    )
    store.publish_legacy(carry)
    lost(store)

    assert store.exposure("provider", DAY).unknown == Amount(6, 1_634, 350_000_000)
    assert store.unresolved("provider", NEXT) == Exposure(unknown=HOLD)


def test_another_process_sees_what_was_corrected_meanwhile(store: AttemptStore, layout: Layout) -> None:
    unknown, other = lost(store), opened(layout)
    assert other.unresolved("provider", NEXT) == Exposure(unknown=HOLD)

    correction = corrected_by(unknown, LATER, (90, 7), "on the bill")
    assert store.advance(correction) == correction

    assert other.unresolved("provider", NEXT) == Exposure()
    assert isinstance(other.reserve(reserved(job(), 9, day=NEXT), Limits(1, 10**6, 10**12)), Reserved)


def test_the_first_of_two_corrections_stands(store: AttemptStore, layout: Layout) -> None:
    unknown = lost(store)
    first = store.advance(corrected_by(unknown, LATER, (90, 7), "on the bill"))

    again = opened(layout).advance(corrected_by(unknown, LATER, None, "a second thought"))

    assert isinstance(first, Correction)
    assert again == first
    assert store.reserve(reserved(job(), 9), ROOMY) == reserved(job(), 9)
    assert store.exposure("provider", DAY).actual == Amount(1, 90, 7)
