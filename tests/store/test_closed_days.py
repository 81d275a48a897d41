"""A day that is over becomes one file, and says what it said before."""

import dataclasses
import shutil
from pathlib import Path
from typing import Final

import pytest

from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.model.attempt import (
    AttemptRecord,
    AttemptState,
    Correction,
    LegacyCarry,
    Reserved,
    Unknown,
    cancelled_from,
    corrected_from,
    dispatched_from,
    facts_of,
    settled_from,
    unknown_from,
)
from curator.model.budget import Amount, Exposure
from curator.model.digest import Digest
from curator.model.ids import Day, JobId
from curator.store.attempts import AttemptStore
from tests.durable.volumes import Crash, Mortal, Recorded, Unflushed
from tests.made_up import AT, AT_MS, DAY, LATER, ROOMY, job, other_digest, provenance, reserved

REQUEST: Final = (other_digest(), "m", "a")
NEXT: Final = Day("2026-01-04")
ACTUAL: Final = Amount(3, 480, 9_300_000)
LOST: Final = Amount(6, 1_634, 350_000_000)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path)


def opened(layout: Layout) -> AttemptStore:
    return AttemptStore(Unflushed(), layout)


def lost_from(store: AttemptStore, claim: int) -> Unknown:
    draft = reserved(job(), claim)
    sent = dispatched_from(draft, AT, REQUEST)
    lost = unknown_from(sent, LATER)
    for record in (draft, sent, lost):
        store.advance(record)
    return lost


def a_day(layout: Layout) -> dict[str, Unknown]:
    """A day with an attempt in every state that is an end, and a legacy budget."""
    store = opened(layout)
    for claim in (1, 2):
        draft = reserved(job(), claim)
        sent = dispatched_from(draft, AT, REQUEST)
        for record in (draft, sent, settled_from(sent, LATER, provenance())):
            store.advance(record)
    never = reserved(job(), 3)
    for step in (never, cancelled_from(never, LATER)):
        store.advance(step)
    billed, waived = lost_from(store, 4), lost_from(store, 5)
    store.advance(corrected_from(billed, LATER, provenance()))
    store.advance(
        Correction.decode(
            facts_of(waived)
            | {"state": "corrected", "correctedAt": LATER, "source": "operator", "isBilled": False}
            | {"chargedTokens": 0, "chargedCostNanousd": 0}
        )
    )
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
    return {"lost": lost_from(store, 6)}


def folder_of(layout: Layout) -> Path:
    return layout.attempts / DAY


def closed_of(layout: Layout) -> Path:
    return layout.attempts / f"{DAY}.closed.json"


def close(store: AttemptStore, *needed: JobId) -> bool:
    return store.close_day(DAY, lambda job_id: job_id in needed, AT_MS)


def said(store: AttemptStore) -> tuple[Exposure, tuple[str, ...], tuple[Day, ...], int, bool]:
    return (
        store.exposure("provider", DAY),
        store.providers(DAY),
        store.days(),
        len(store.legacy(DAY)),
        any(store.open_attempts()),
    )


def test_a_closed_day_costs_what_it_cost_and_leaves_one_file(layout: Layout) -> None:
    a_day(layout)
    store = opened(layout)
    before = said(store)
    assert before[0] == Exposure(actual=ACTUAL, unknown=LOST)

    assert close(store)

    assert [path.name for path in layout.attempts.iterdir()] == [f"{DAY}.closed.json"]
    assert closed_of(layout).stat().st_mode & 0o777 == 0o600
    assert said(store) == said(opened(layout)) == before


def test_what_nobody_knows_the_end_of_stands_whole_and_the_rest_by_id_state_and_charge(layout: Layout) -> None:
    lost = a_day(layout)["lost"]
    store = opened(layout)
    states = {seen.id: seen.state for seen in store.of_day(DAY) if seen.id != lost.id}
    charged = {seen.id: seen.exposure.actual for seen in store.of_day(DAY) if seen.id != lost.id}
    close(store)

    for each in (store, opened(layout)):
        assert [(seen.latest, seen.state) for seen in each.of_day(DAY)] == [(lost, AttemptState.UNKNOWN)]
        assert each.of_job(job().id, DAY) == each.of_day(DAY)
        assert each.find(lost.id, DAY) is not None
        assert {past.id: past.charged for past in each.past(DAY).values()} == charged
        words = {past.id: "settled" if past.state == "corrected" else past.state for past in each.past(DAY).values()}
        assert words == states
        assert {past.job_id for past in each.past(DAY).values()} == {job().id}


def test_a_late_correction_of_a_closed_day_counts_and_stays(layout: Layout) -> None:
    lost = a_day(layout)["lost"]
    store = opened(layout)
    close(store)

    store.advance(corrected_from(lost, LATER, provenance()))
    close(opened(layout))

    for each in (store, opened(layout)):
        assert each.exposure("provider", DAY) == Exposure(
            actual=ACTUAL + Amount(1, 160, 3_100_000), unknown=LOST - Amount(1, 400, 50_000_000)
        )
        assert [seen.state for seen in each.of_day(DAY)] == [AttemptState.SETTLED]
    assert [path.name for path in folder_of(layout).rglob("*.json")] == [f"{lost.id}.3.json"]


def test_an_attempt_that_comes_after_the_closing_counts_too_and_stays(layout: Layout) -> None:
    a_day(layout)
    store = opened(layout)
    close(store)

    late = reserved(job("entry-10"), 1)
    store.advance(late)
    close(opened(layout))

    for each in (store, opened(layout)):
        assert each.exposure("provider", DAY).held == Amount(1, 400, 50_000_000)
        assert [seen.id for seen in each.open_attempts()] == [late.id]


def test_a_step_of_an_attempt_that_had_its_end_counts_for_nothing_any_more(layout: Layout) -> None:
    a_day(layout)
    store = opened(layout)
    before = said(store)
    settled = next(seen.latest for seen in store.of_day(DAY) if seen.state is AttemptState.SETTLED)
    close(store)

    store.advance(settled)

    assert said(store) == said(opened(layout)) == before
    close(opened(layout))
    assert not folder_of(layout).exists()


@pytest.mark.parametrize("state", ["reserved", "dispatched"])
def test_a_day_with_an_open_attempt_stays_as_it_is(layout: Layout, state: str) -> None:
    a_day(layout)
    store = opened(layout)
    draft = reserved(job("entry-10"))
    steps: list[AttemptRecord] = [draft, dispatched_from(draft, AT, REQUEST)]
    for step in steps[: 1 + (state == "dispatched")]:
        store.advance(step)

    assert not close(store)

    assert folder_of(layout).is_dir()
    assert not closed_of(layout).exists()


def test_a_day_of_a_job_that_is_needed_stays_as_it_is(layout: Layout) -> None:
    a_day(layout)
    store = opened(layout)

    assert not close(store, job().id)
    assert not closed_of(layout).exists()
    assert close(store, job("another").id)


def test_a_day_with_a_record_that_nobody_can_read_stays_as_it_is(layout: Layout) -> None:
    a_day(layout)
    next(folder_of(layout).rglob("*.2.json")).write_text("{", "utf-8")

    assert not close(opened(layout))
    assert not closed_of(layout).exists()


def test_days_that_still_have_a_folder_are_told_until_it_is_gone(layout: Layout) -> None:
    a_day(layout)
    store = opened(layout)
    store.advance(reserved(job("entry-10"), day=NEXT))

    assert (store.unclosed(DAY), store.unclosed(NEXT)) == ((), (DAY,))
    close(store)
    assert store.unclosed(NEXT) == ()
    assert store.days() == (DAY, NEXT)


def test_a_store_that_had_read_the_day_sees_that_another_process_closed_it(layout: Layout) -> None:
    a_day(layout)
    reader = opened(layout)
    before = said(reader)

    close(opened(layout))

    assert said(reader) == before
    assert len(reader.past(DAY)) == 5


def test_the_first_closing_counts_whatever_another_process_saw(layout: Layout) -> None:
    lost = a_day(layout)["lost"]
    other = Layout(layout.agent / "other")
    shutil.copytree(layout.attempts, other.attempts)
    opened(layout).advance(corrected_from(lost, LATER, provenance()))
    close(opened(other))
    shutil.copy2(closed_of(other), closed_of(layout))

    assert close(opened(layout))

    assert closed_of(layout).read_bytes() == closed_of(other).read_bytes()
    assert [path.name for path in folder_of(layout).rglob("*.json")] == [f"{lost.id}.3.json"]
    assert opened(layout).exposure("provider", DAY).actual.calls == 4


def test_equal_attempts_close_to_equal_bytes(layout: Layout, tmp_path: Path) -> None:
    a_day(layout)
    other = Layout(tmp_path / "other")
    shutil.copytree(layout.attempts, other.attempts)

    assert close(opened(layout))
    assert close(opened(other))

    assert closed_of(layout).read_bytes() == closed_of(other).read_bytes()


def test_a_closed_day_that_cannot_be_read_is_named_and_hides_nothing_else(layout: Layout) -> None:
    a_day(layout)
    close(opened(layout))
    whole = closed_of(layout).read_bytes()
    closed_of(layout).write_bytes(whole[:-9])
    store = opened(layout)
    store.advance(reserved(job("entry-10"), day=NEXT))

    assert [fault.path for fault in store.faults()] == [closed_of(layout)]
    assert store.exposure("provider", NEXT).held.calls == 1

    closed_of(layout).write_bytes(whole)
    assert store.faults() == ()
    assert store.exposure("provider", DAY) == Exposure(actual=ACTUAL, unknown=LOST)


def test_a_closed_day_under_another_name_is_refused(layout: Layout) -> None:
    a_day(layout)
    close(opened(layout))
    closed_of(layout).rename(layout.attempts / f"{NEXT}.closed.json")

    assert [fault.why for fault in opened(layout).faults()] == ["holds another day than its name says"]


def test_a_reservation_of_a_clock_that_was_set_back_still_meets_the_days_limit(layout: Layout) -> None:
    a_day(layout)
    close(opened(layout))
    spent = (ACTUAL + LOST).calls

    store = opened(layout)

    assert isinstance(store.reserve(reserved(job("entry-10")), dataclasses.replace(ROOMY, calls=spent + 1)), Reserved)
    assert not isinstance(
        store.reserve(reserved(job("entry-11")), dataclasses.replace(ROOMY, calls=spent + 1)), Reserved
    )


def verbs_in_a_closing(tmp_path: Path) -> list[str]:
    layout = Layout(tmp_path)
    a_day(layout)
    volume = Recorded()
    AttemptStore(volume, layout).close_day(DAY, lambda _: False, AT_MS)
    return volume.asked


def test_a_crash_at_any_verb_of_a_closing_changes_no_figure_and_is_finished_the_next_time(tmp_path: Path) -> None:
    asked = verbs_in_a_closing(tmp_path / "whole")
    a_day(Layout(tmp_path / "start"))
    before = said(opened(Layout(tmp_path / "start")))
    for survive in range(len(asked)):
        layout = Layout(tmp_path / str(survive))
        shutil.copytree(tmp_path / "start", layout.agent)
        with pytest.raises(Crash):
            AttemptStore(Mortal(survive), layout).close_day(DAY, lambda _: False, AT_MS)

        assert said(opened(layout)) == before, f"after {asked[:survive][-1:]}"
        assert close(opened(layout))
        assert said(opened(layout)) == before
        assert not folder_of(layout).exists()
        shutil.rmtree(layout.agent)


def test_nothing_goes_before_the_file_that_stands_for_it_is_flushed(tmp_path: Path) -> None:
    asked = verbs_in_a_closing(tmp_path)

    first = next(index for index, verb in enumerate(asked) if verb.startswith("unlink review_attempt"))
    assert "flush attempts" in asked[asked.index(f"link {DAY}.closed.json") : first]
    assert asked[-1] == "flush attempts"


def test_a_crash_after_the_link_is_flushed_by_whoever_clears(layout: Layout) -> None:
    a_day(layout)
    before = opened(layout)
    close(before)
    a_day(layout)  # what a removal left: every name is covered
    volume = Recorded()

    AttemptStore(volume, layout).close_day(DAY, lambda _: False, AT_MS)

    assert volume.asked[0] == "flush attempts"
    assert not folder_of(layout).exists()


def test_a_closed_day_costs_one_look(layout: Layout) -> None:
    a_day(layout)
    close(opened(layout))
    store = opened(layout)
    store.exposure("provider", DAY)
    whole = closed_of(layout).read_bytes()
    closed_of(layout).write_bytes(b"never read again")

    assert store.exposure("provider", DAY) == Exposure(actual=ACTUAL, unknown=LOST)
    assert store.of_job(job().id, DAY) != ()
    closed_of(layout).write_bytes(whole)


def test_only_aged_leftovers_of_dead_writers_go_with_the_folder(layout: Layout) -> None:
    a_day(layout)
    shard = next(path for path in folder_of(layout).iterdir() if path.is_dir())
    fresh = Volume().stage(shard / "late.3.json", b"{}")
    now = fresh.stat().st_mtime_ns // 1_000_000
    store = opened(layout)

    store.close_day(DAY, lambda _: False, now)
    assert [path for path in folder_of(layout).rglob("*") if path.is_file()] == [fresh]

    store.close_day(DAY, lambda _: False, now + 3_700_000)
    assert not folder_of(layout).exists()


def test_what_another_process_adds_to_a_closed_day_is_seen_although_closed_days_are_not_looked_at(
    layout: Layout,
) -> None:
    lost = a_day(layout)["lost"]
    reader = opened(layout)
    close(reader)
    assert [seen.state for seen in reader.of_job(job().id, DAY)] == [AttemptState.UNKNOWN]

    opened(layout).advance(corrected_from(lost, LATER, provenance()))

    assert [seen.state for seen in reader.of_job(job().id, DAY)] == [AttemptState.SETTLED]
