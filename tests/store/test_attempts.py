"""The attempt journal: names elect, limits are exact, and what was read once is not read again."""

import dataclasses
import itertools
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.errors import ConflictError, InvalidRecordError
from curator.model.attempt import (
    AttemptRecord,
    AttemptState,
    Dispatched,
    LegacyCarry,
    Reserved,
    Settled,
    Unknown,
    cancelled_from,
    corrected_from,
    dispatched_from,
    settled_from,
    unknown_from,
)
from curator.model.budget import Amount, Exposure, Limits
from curator.model.ids import Day
from curator.store.attempts import AttemptStore, Refused
from tests.durable.volumes import Crash, Mortal, Recorded, Unflushed
from tests.made_up import AT, DAY, LATER, ROOMY, attempt_of, job, other_digest, provenance, reserved

NEXT: Final = Day("2026-01-04")
REQUEST: Final = (other_digest(), "m", "a")
HELD: Final = Amount(1, 400, 50_000_000)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path)


@pytest.fixture
def store(layout: Layout) -> AttemptStore:
    return AttemptStore(Volume(), layout)


def sent(store: AttemptStore, claim: int = 1) -> Dispatched:
    draft = reserved(job(), claim)
    assert store.reserve(draft, ROOMY) == draft
    record = dispatched_from(draft, AT, REQUEST)
    assert store.advance(record) == record
    return record


def file_of(layout: Layout, record: AttemptRecord, step: int) -> Path:
    shard = record.id.removeprefix("review_attempt_")[:2]
    return layout.attempts / record.day / shard / f"{record.id}.{step}.json"


# --- reserving -------------------------------------------------------------------------------------------------------


def test_a_reservation_stands_under_its_day_and_id_and_is_private(store: AttemptStore, layout: Layout) -> None:
    draft = reserved(job())

    assert store.reserve(draft, ROOMY) == draft

    path = file_of(layout, draft, 0)
    assert path.stat().st_mode & 0o777 == 0o600
    assert store.exposure("provider", DAY) == Exposure(held=HELD)
    assert [(seen.id, seen.state, seen.is_open) for seen in store.of_day(DAY)] == [
        (draft.id, AttemptState.RESERVED, True)
    ]


def test_a_reservation_is_staged_outside_the_lock_and_its_name_flushed_after_it(layout: Layout) -> None:
    volume = Recorded()

    AttemptStore(volume, layout).reserve(reserved(job()), ROOMY)

    name = f"{attempt_of(job())}.0.json"
    assert volume.since(f"stage {name}") == [f"link {name}", "unlink staged", f"flush {attempt_of(job())[15:17]}"]


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        (Limits(0, 10**6, 10**12), "calls"),
        (Limits(9, 399, 10**12), "tokens"),
        (Limits(9, 10**6, 49_999_999), "cost"),
    ],
)
def test_a_limit_refuses_and_leaves_nothing(store: AttemptStore, layout: Layout, limits: Limits, limit: str) -> None:
    assert store.reserve(reserved(job()), limits) == Refused(limit, Exposure())

    assert [path for path in layout.attempts.rglob("*") if path.is_file()] == []


def test_without_limits_nothing_is_refused(store: AttemptStore) -> None:
    assert store.reserve(reserved(job(), tokens=10**12), None) == reserved(job(), tokens=10**12)


def test_a_replay_of_a_reservation_is_the_reservation_even_at_the_limit(store: AttemptStore) -> None:
    one = Limits(1, 400, 50_000_000)

    assert [store.reserve(reserved(job()), one) for _ in range(2)] == [reserved(job())] * 2
    assert store.exposure("provider", DAY).total == HELD


def test_another_reservation_under_the_id_is_a_conflict(store: AttemptStore) -> None:
    store.reserve(reserved(job()), ROOMY)

    with pytest.raises(ConflictError):
        store.reserve(reserved(job(), tokens=401), ROOMY)


def test_days_and_providers_do_not_share_a_limit(store: AttemptStore) -> None:
    one = Limits(1, 10**6, 10**12)
    drafts = [
        reserved(job(), 2, day=NEXT),
        reserved(job(), 1),
        reserved(job(), 3, provider="other"),
    ]

    assert [store.reserve(draft, one) for draft in drafts] == drafts
    assert isinstance(store.reserve(reserved(job(), 4), one), Refused)
    assert (store.days(), store.providers(DAY)) == ((DAY, NEXT), ("other", "provider"))


RACER: Final = """
import sys
from pathlib import Path
from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.model.budget import Limits
from curator.store.attempts import AttemptStore, Refused
from tests.made_up import job, reserved
store, first = AttemptStore(Volume(), Layout(Path(sys.argv[1]))), int(sys.argv[2])
print(sum(not isinstance(store.reserve(reserved(job(), n), Limits(7, 10**9, 10**15)), Refused) for n in range(first, first + 10)))
"""


def test_a_limit_is_exact_between_two_processes(tmp_path: Path) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path), str(first)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        for first in (1, 101)
    ]
    made = [int(racer.communicate()[0]) for racer in racers]

    assert sum(made) == 7
    assert AttemptStore(Volume(), Layout(tmp_path)).exposure("provider", DAY).total.calls == 7


def test_a_limit_is_exact_between_threads_of_one_store(store: AttemptStore) -> None:
    made: list[bool] = []
    limits = Limits(5, 10**9, 10**15)

    def work(first: int) -> None:
        drafts = [reserved(job(), claim) for claim in range(first, first + 5)]
        made.extend(not isinstance(store.reserve(draft, limits), Refused) for draft in drafts)

    threads = [threading.Thread(target=work, args=(first,)) for first in (1, 101, 201)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert made.count(True) == 5


# --- stepping --------------------------------------------------------------------------------------------------------


def test_each_step_has_a_file_of_its_own_and_none_is_rewritten(store: AttemptStore, layout: Layout) -> None:
    record = sent(store)
    before = file_of(layout, record, 0).read_bytes(), file_of(layout, record, 1).read_bytes()

    store.advance(settled_from(record, LATER, provenance()))

    assert (file_of(layout, record, 0).read_bytes(), file_of(layout, record, 1).read_bytes()) == before
    assert store.exposure("provider", DAY) == Exposure(actual=Amount(1, 160, 3_100_000))


@pytest.mark.parametrize("first", ["dispatched", "cancelled"])
def test_the_name_elects_between_dispatching_and_cancelling(store: AttemptStore, layout: Layout, first: str) -> None:
    draft = reserved(job())
    store.reserve(draft, ROOMY)
    steps: list[AttemptRecord] = [dispatched_from(draft, AT, REQUEST), cancelled_from(draft, LATER)]
    if first == "cancelled":
        steps.reverse()
    rival = AttemptStore(Volume(), layout)

    assert store.advance(steps[0]) == steps[0]
    assert rival.advance(steps[1]) == steps[0]
    assert [each.find(draft.id, DAY) for each in (store, rival)] == [store.find(draft.id, DAY)] * 2


def test_a_lost_race_is_flushed_before_it_is_told(store: AttemptStore, layout: Layout) -> None:
    record = sent(store)
    store.advance(settled_from(record, LATER, provenance()))
    volume = Recorded()

    standing = AttemptStore(volume, layout).advance(unknown_from(record, LATER))

    assert isinstance(standing, Settled)
    assert volume.asked[-1] == f"flush {record.id[15:17]}"


def test_of_many_threads_one_elects(store: AttemptStore) -> None:
    draft = reserved(job())
    store.reserve(draft, ROOMY)
    steps = [dispatched_from(draft, AT, (other_digest(letter), "m", "a")) for letter in "0123456789abcdef"]
    told: list[AttemptRecord] = []
    threads = [threading.Thread(target=lambda step=step: told.append(store.advance(step))) for step in steps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(told) == 16
    assert len(set(map(repr, told))) == 1


def test_a_settlement_longer_than_its_rival_many_times_over_still_wins(store: AttemptStore, layout: Layout) -> None:
    draft = reserved(job())
    store.reserve(draft, ROOMY)
    record = dispatched_from(draft, AT, (other_digest(), "漢" * 256, "漢" * 128))
    store.advance(record)
    wide = dataclasses.replace(provenance(), model="漢" * 256, api="漢" * 128, response_model="漢" * 256)
    settled = settled_from(record, LATER, dataclasses.replace(wide, response_id="r" * 256))
    store.advance(settled)
    assert file_of(layout, record, 2).stat().st_size > 4_096

    assert AttemptStore(Volume(), layout).advance(unknown_from(record, LATER)) == settled


def test_a_late_result_corrects_an_unknown_attempt(store: AttemptStore) -> None:
    record = sent(store)
    lost = unknown_from(record, LATER)
    store.advance(lost)
    assert store.exposure("provider", DAY) == Exposure(unknown=HELD)

    store.advance(corrected_from(lost, LATER, provenance()))

    seen = store.find(record.id, DAY)
    assert seen is not None
    assert (seen.state, seen.is_open) == (AttemptState.SETTLED, False)
    assert store.exposure("provider", DAY) == Exposure(actual=Amount(1, 160, 3_100_000))


@pytest.mark.parametrize("survive", range(14))
def test_a_life_that_dies_at_any_verb_is_taken_up_again_where_it_was(layout: Layout, survive: int) -> None:
    def live(volume: Volume) -> AttemptRecord:
        store = AttemptStore(volume, layout)
        draft = reserved(job())
        assert store.reserve(draft, ROOMY) == draft
        step = store.advance(dispatched_from(draft, AT, REQUEST))
        assert isinstance(step, Dispatched)
        return store.advance(settled_from(step, LATER, provenance()))

    with pytest.raises(Crash):
        live(Mortal(survive))

    assert isinstance(live(Volume()), Settled)
    assert AttemptStore(Volume(), layout).exposure("provider", DAY) == Exposure(actual=Amount(1, 160, 3_100_000))


# --- reading ---------------------------------------------------------------------------------------------------------


def test_the_attempts_of_a_job_are_found_by_claim_from_a_day_on(store: AttemptStore) -> None:
    for claim, day in ((2, NEXT), (1, DAY), (3, NEXT)):
        store.reserve(reserved(job(), claim, day=day), ROOMY)
    store.reserve(reserved(job("another"), 9), ROOMY)

    assert [seen.latest.claim_attempt for seen in store.of_job(job().id, DAY)] == [1, 2, 3]
    assert [seen.latest.claim_attempt for seen in store.of_job(job().id, NEXT)] == [2, 3]
    assert sorted(seen.latest.claim_attempt for seen in store.open_attempts()) == [1, 2, 3, 9]


def test_what_is_closed_is_not_open(store: AttemptStore) -> None:
    first, second = sent(store, 1), sent(store, 2)
    store.advance(settled_from(first, LATER, provenance()))

    assert [seen.id for seen in store.open_attempts()] == [second.id]


def test_a_store_that_was_open_before_sees_what_others_wrote(store: AttemptStore, layout: Layout) -> None:
    assert store.exposure("provider", DAY) == Exposure()
    other = AttemptStore(Volume(), layout)
    for claim in range(1, 6):
        other.reserve(reserved(job(), claim), ROOMY)
        assert store.exposure("provider", DAY).total.calls == claim


def test_names_that_are_no_steps_are_passed_over(store: AttemptStore, layout: Layout) -> None:
    record = sent(store)
    folder = file_of(layout, record, 0).parent
    for name in (".DS_Store", f"{record.id}.4.json", f"{record.id}.0.json.1.tmp", "notes"):
        (folder / name).write_text("x")
    (layout.attempts / "notes").mkdir()

    again = AttemptStore(Volume(), layout)
    assert (len(again.of_day(DAY)), again.faults(), again.days()) == (1, (), (DAY,))


# --- damage ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", [b"", b"{", b"\0" * 99, b"[]", b"\xff"])
def test_a_damaged_step_is_told_and_the_rest_of_its_attempt_counts(
    store: AttemptStore, layout: Layout, damage: bytes
) -> None:
    record = sent(store)
    store.advance(settled_from(record, LATER, provenance()))
    file_of(layout, record, 2).write_bytes(damage)

    again = AttemptStore(Volume(), layout)

    assert again.exposure("provider", DAY) == Exposure(held=HELD)
    assert [fault.path for fault in again.faults()] == [file_of(layout, record, 2)]
    assert isinstance(again.reserve(reserved(job(), 2), ROOMY), Reserved)


def test_a_damaged_reservation_that_alone_told_of_its_attempt_stops_reservations_of_that_day(
    store: AttemptStore, layout: Layout
) -> None:
    draft = reserved(job())
    store.reserve(draft, ROOMY)
    whole = file_of(layout, draft, 0).read_bytes()
    file_of(layout, draft, 0).write_bytes(b"")
    again = AttemptStore(Volume(), layout)

    with pytest.raises(InvalidRecordError, match="is empty"):
        again.reserve(reserved(job(), 2), ROOMY)
    assert isinstance(again.reserve(reserved(job(), 3, day=NEXT), ROOMY), Reserved)

    file_of(layout, draft, 0).write_bytes(whole)
    assert isinstance(again.reserve(reserved(job(), 2), ROOMY), Reserved)
    assert again.exposure("provider", DAY).total.calls == 2


@pytest.mark.parametrize("step", [0, 1])
def test_a_step_under_anothers_name_counts_for_nobody(store: AttemptStore, layout: Layout, step: int) -> None:
    record = sent(store)
    stranger = reserved(job(), 2)
    strange = file_of(layout, stranger, step)
    strange.parent.mkdir(exist_ok=True)
    strange.write_bytes(file_of(layout, record, 0).read_bytes())
    strange.chmod(0o600)

    again = AttemptStore(Volume(), layout)

    assert [fault.why for fault in again.faults()] == ["holds another attempt or step than its name says"]
    assert len(again.of_day(DAY)) == 1


def test_a_step_that_others_may_read_is_told(store: AttemptStore, layout: Layout) -> None:
    record = sent(store)
    file_of(layout, record, 1).chmod(0o644)

    assert "has mode 0644" in AttemptStore(Volume(), layout).faults()[0].why


def test_advancing_against_a_damaged_step_names_it_and_changes_nothing(store: AttemptStore, layout: Layout) -> None:
    draft = reserved(job())
    store.reserve(draft, ROOMY)
    path = file_of(layout, draft, 1)
    path.write_bytes(b"damaged")
    path.chmod(0o600)

    with pytest.raises(InvalidRecordError, match=r"\.1\.json"):
        store.advance(cancelled_from(draft, LATER))
    assert path.read_bytes() == b"damaged"


def test_a_correction_of_an_attempt_that_cannot_be_read_hides_nothing_silently(
    store: AttemptStore, layout: Layout
) -> None:
    record = sent(store)
    lost = unknown_from(record, LATER)
    store.advance(lost)
    store.advance(corrected_from(lost, LATER, provenance()))
    for step in (0, 1, 2):
        file_of(layout, record, step).write_bytes(b"")
    again = AttemptStore(Volume(), layout)

    assert len(again.faults()) == 4
    with pytest.raises(InvalidRecordError):
        again.reserve(reserved(job(), 2), ROOMY)


# --- legacy budgets --------------------------------------------------------------------------------------------------


CARRY: Final = LegacyCarry(
    day=DAY, provider="provider", source_digest=other_digest(), imported_at=AT, calls=7, tokens=12345, cost_nanousd=9
)


def test_a_legacy_budget_counts_as_unknown_once(store: AttemptStore, layout: Layout) -> None:
    store.publish_legacy(CARRY)
    store.publish_legacy(dataclasses.replace(CARRY, imported_at=LATER))

    for each in (store, AttemptStore(Volume(), layout)):
        assert each.exposure("provider", DAY) == Exposure(unknown=Amount(7, 12345, 9))
        assert each.legacy(DAY) == (CARRY,)


def test_another_legacy_budget_of_the_day_is_a_conflict(store: AttemptStore) -> None:
    store.publish_legacy(CARRY)

    with pytest.raises(ConflictError):
        store.publish_legacy(dataclasses.replace(CARRY, source_digest=other_digest("e")))


def test_a_damaged_legacy_budget_stops_reservations_and_is_a_conflict_to_another_import(
    store: AttemptStore, layout: Layout
) -> None:
    store.publish_legacy(CARRY)
    next((layout.attempts / DAY).glob("legacy.*.json")).write_bytes(b"{")
    again = AttemptStore(Volume(), layout)

    with pytest.raises(InvalidRecordError):
        again.reserve(reserved(job()), ROOMY)
    with pytest.raises(ConflictError):
        again.publish_legacy(CARRY)


# --- any history -----------------------------------------------------------------------------------------------------


def _life(claim: int, ending: str) -> tuple[AttemptRecord, ...]:
    """Return every step of one attempt's life up to an ending."""
    draft = reserved(job(), claim, provider=("one", "two")[claim % 2], day=(DAY, NEXT)[claim % 3 == 0])
    record = dispatched_from(draft, AT, REQUEST)
    lost = unknown_from(record, LATER)
    lives: dict[str, tuple[AttemptRecord, ...]] = {
        "reserved": (draft,),
        "cancelled": (draft, cancelled_from(draft, LATER)),
        "dispatched": (draft, record),
        "settled": (draft, record, settled_from(record, LATER, provenance(claim, claim / 1000))),
        "unknown": (draft, record, lost),
        "corrected": (draft, record, lost, corrected_from(lost, LATER, provenance(claim, claim / 1000))),
    }
    return lives[ending]


ENDINGS: Final = ("reserved", "cancelled", "dispatched", "settled", "unknown", "corrected")
HISTORIES: Final = st.lists(st.sampled_from(ENDINGS), min_size=1, max_size=8)


@settings(max_examples=40)
@given(HISTORIES, st.randoms(use_true_random=False))
def test_folding_as_it_comes_is_folding_from_scratch(
    tmp_path_factory: pytest.TempPathFactory, endings: list[str], chance: random.Random
) -> None:
    layout = Layout(tmp_path_factory.mktemp("journal"))
    writer, reader = AttemptStore(Unflushed(), layout), AttemptStore(Unflushed(), layout)
    lives = [list(_life(claim, ending)) for claim, ending in enumerate(endings, start=1)]
    while any(lives):
        life = chance.choice([each for each in lives if each])
        step = life.pop(0)
        if isinstance(step, Reserved):
            assert writer.reserve(step, None) == step
        else:
            assert writer.advance(step) == step
        if chance.random() < 0.5:
            reader.exposure("one", step.day)

    fresh = AttemptStore(Volume(), layout)
    for day, provider in itertools.product((DAY, NEXT), ("one", "two")):
        expected = fresh.exposure(provider, day)
        assert [each.exposure(provider, day) for each in (writer, reader)] == [expected] * 2
        assert [each.of_day(day) for each in (writer, reader)] == [fresh.of_day(day)] * 2
    assert reader.of_job(job().id, DAY) == fresh.of_job(job().id, DAY)


def test_the_unknown_are_of_their_kind() -> None:
    assert isinstance(_life(1, "unknown")[-1], Unknown)
