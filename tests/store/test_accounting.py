"""The protocol's accounting is read strictly, changed under its lock, and never by a stray file's leave."""

import dataclasses
import errno
import json
import os
from pathlib import Path
from typing import Final

import pytest

from curator.durable.layout import Layout
from curator.durable.read import stamp_of
from curator.durable.volume import Volume
from curator.errors import BusyError, ConflictError, InvalidRecordError, StorageError
from curator.model.accounting import DayAttempt, DayFile
from curator.model.attempt import AttemptState, Cancelled, LegacyCarry, Settled, state_of
from curator.model.digest import Digest
from curator.model.ids import AttemptId, Day
from curator.store.accounting import (
    AccountingStore,
    adopted,
    adopted_carry,
    carried,
    identity_of,
    projected,
)
from tests.golden_fixtures import golden, real_pi

DAY: Final = Day("2026-01-03")


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(golden("q", tmp_path))


@pytest.fixture
def store(layout: Layout) -> AccountingStore:
    return AccountingStore(Volume(), layout)


def attempts_of(file: DayFile) -> tuple[DayAttempt, ...]:
    return file.providers["fixture-provider"]


def without_last(file: DayFile) -> DayFile:
    return dataclasses.replace(file, providers={"fixture-provider": attempts_of(file)[:-1]})


def as_it_is(file: DayFile) -> DayFile:
    return file


def test_a_day_of_the_protocol_is_read_with_every_state(store: AccountingStore) -> None:
    states = [attempt.state for attempt in attempts_of(store.look(DAY).file)]

    assert states == ["settled", "unknown", "canceled", "dispatched", "reserved"]


def test_a_day_that_has_no_file_is_empty(store: AccountingStore) -> None:
    assert store.look(Day("2026-01-04")).file == DayFile(day=Day("2026-01-04"), providers={})


def test_stray_files_are_passed_over(layout: Layout, store: AccountingStore) -> None:
    identities = store.identities()
    for folder in (layout.days, layout.identities):
        (folder / ".DS_Store").write_bytes(b"\0")
        (folder / "notes.txt").write_text("mine")

    assert store.days() == (DAY,)
    assert store.identities() == identities
    assert len(identities) == 5


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        (b"", "is empty"),
        (b"{", "not JSON"),
        (b'{"version":1,"day":"2026-01-04","providers":{}}', "another day"),
        (b'{"version":1,"day":"2026-01-03","providers":{},"more":1}', "a key that this record does not have"),
        (b'{"version":2,"day":"2026-01-03","providers":{}}', "version"),
    ],
)
def test_a_corrupt_day_is_one_error_that_names_it_and_is_kept(
    layout: Layout, store: AccountingStore, content: bytes, fact: str
) -> None:
    path = layout.days / DAY
    path.write_bytes(content)

    with pytest.raises(InvalidRecordError, match=fact) as refused:
        store.look(DAY)
    with pytest.raises(InvalidRecordError):
        store.amend(DAY, without_last)

    assert refused.value.path == path
    assert path.read_bytes() == content


def test_a_day_that_others_may_read_or_that_is_a_symlink_is_refused(layout: Layout, store: AccountingStore) -> None:
    path = layout.days / DAY
    path.chmod(0o644)
    with pytest.raises(InvalidRecordError, match="0644"):
        store.look(DAY)

    path.chmod(0o600)
    path.rename(layout.days / "elsewhere")
    path.symlink_to(layout.days / "elsewhere")
    with pytest.raises(InvalidRecordError, match="symlink"):
        store.look(DAY)


def test_an_amended_day_is_replaced_privately_and_compactly(layout: Layout, store: AccountingStore) -> None:
    store.amend(DAY, without_last)

    raw = (layout.days / DAY).read_bytes()
    assert raw.endswith(b"]}}\n")
    assert b": " not in raw
    assert (layout.days / DAY).stat().st_mode & 0o777 == 0o600
    assert len(attempts_of(AccountingStore(Volume(), layout).look(DAY).file)) == 4
    assert not layout.accounting_lock.exists()


def test_a_change_that_changes_nothing_writes_nothing_and_takes_no_lock(layout: Layout, store: AccountingStore) -> None:
    layout.accounting_lock.write_text(f"{os.getpid()}:{'0' * 36}\n1\n")
    before = stamp_of(layout.days / DAY)

    store.amend(DAY, as_it_is)

    assert stamp_of(layout.days / DAY) == before


def test_a_day_is_not_changed_under_a_lock_that_somebody_else_holds(layout: Layout) -> None:
    layout.accounting_lock.write_text(f"{os.getppid()}:{'0' * 36}\n1\n")
    store = AccountingStore(Volume(), layout)
    store._domain._wait_ms = 20  # noqa: SLF001 - five seconds would only be waited for

    with pytest.raises(BusyError):
        store.amend(DAY, without_last)


def test_the_change_sees_what_stands_when_the_lock_is_held(layout: Layout, store: AccountingStore) -> None:
    store.look(DAY)
    AccountingStore(Volume(), layout).amend(DAY, without_last)

    after = store.amend(DAY, without_last)

    assert len(attempts_of(after)) == 3


def test_an_identity_comes_before_its_day_and_only_for_what_is_new(tmp_path: Path, layout: Layout) -> None:
    class Remembers(Volume):
        def __init__(self) -> None:
            self.named: list[str] = []

        def link(self, staged: Path, path: Path) -> None:
            super().link(staged, path)
            self.named.append(path.name)

        def rename(self, source: Path, target: Path) -> None:
            super().rename(source, target)
            self.named.append(target.name)

    file = AccountingStore(Volume(), layout).look(DAY).file
    identities = [identity_of(adopted(DAY, attempt)) for attempt in attempts_of(file)]
    volume = Remembers()
    store = AccountingStore(volume, Layout(tmp_path / "fresh"))
    store.amend(DAY, lambda _: without_last(file), identities[:-1])
    store.amend(DAY, lambda _: file, identities)

    assert volume.named == [*(each.id for each in identities[:-1]), DAY, identities[-1].id, DAY]


def test_an_identity_whose_flush_failed_is_written_anew_for_a_second_flush_of_its_name_may_lie(layout: Layout) -> None:
    class Refuses(Volume):
        def sync_directory(self, path: Path) -> None:
            if path == layout.identities:
                raise StorageError(path, OSError(errno.EIO, os.strerror(errno.EIO)))
            super().sync_directory(path)

    last = attempts_of(AccountingStore(Volume(), layout).look(DAY).file)[-1]
    standing = identity_of(adopted(DAY, last))
    fresh = dataclasses.replace(standing, id=AttemptId("review_attempt_" + "5" * 40))
    AccountingStore(Volume(), layout).amend(DAY, without_last, [standing])
    before = {path.name for path in layout.identities.iterdir()}

    with pytest.raises(StorageError):
        AccountingStore(Refuses(), layout).amend(DAY, lambda file: file_with(file, last), [standing, fresh])

    assert {path.name for path in layout.identities.iterdir()} == before
    assert fresh.id not in before


def test_identities_are_written_byte_for_byte_as_the_protocol_does(tmp_path: Path) -> None:
    left = Layout(real_pi("consumed", tmp_path))
    theirs = AccountingStore(Volume(), left)
    day = theirs.days()[0]
    file = theirs.look(day).file
    identities = [identity_of(adopted(day, attempt)) for attempt in file.providers["fake"]]

    ours = Layout(tmp_path / "ours")
    AccountingStore(Volume(), ours).amend(day, lambda _: file, identities)

    for identity in identities:
        assert (ours.identities / identity.id).read_bytes() == (left.identities / identity.id).read_bytes()
    assert json.loads((ours.days / day).read_bytes()) == json.loads((left.days / day).read_bytes())


def test_another_identity_under_the_same_id_is_a_conflict(layout: Layout, store: AccountingStore) -> None:
    last = attempts_of(store.look(DAY).file)[-1]
    identity = identity_of(adopted(DAY, last))
    store.amend(DAY, without_last)
    (layout.identities / identity.id).write_text(json.dumps(identity.encode() | {"holdTokens": 1}))

    with pytest.raises(ConflictError):
        store.amend(DAY, lambda file: file_with(file, last), [dataclasses.replace(identity)])

    assert len(attempts_of(store.look(DAY).file)) == 4


def file_with(file: DayFile, attempt: DayAttempt) -> DayFile:
    return dataclasses.replace(file, providers={"fixture-provider": (*attempts_of(file), attempt)})


def test_an_identity_is_read_and_refused_under_another_name(layout: Layout, store: AccountingStore) -> None:
    first, second = store.identities()[:2]
    found = store.identity(first)
    assert found is not None
    assert found.id == first

    (layout.identities / second).write_bytes((layout.identities / first).read_bytes())
    with pytest.raises(InvalidRecordError, match="another attempt"):
        store.identity(second)
    assert store.identity(AttemptId("review_attempt_" + "0" * 40)) is None


def test_what_another_hand_changed_is_news_until_it_is_acknowledged(layout: Layout, store: AccountingStore) -> None:
    assert store.has_news(DAY)
    store.acknowledge(DAY, store.look(DAY))
    assert not store.has_news(DAY)

    store.amend(DAY, without_last)
    assert not store.has_news(DAY)

    AccountingStore(Volume(), layout).amend(DAY, without_last)
    assert store.has_news(DAY)
    store.amend(DAY, without_last)
    assert store.has_news(DAY), "our own write hid news that nobody had taken note of"


def test_old_days_are_told_apart_by_whether_anything_is_open(layout: Layout, store: AccountingStore) -> None:
    assert store.has_open(DAY)
    store.amend(DAY, lambda file: dataclasses.replace(file, providers={"fixture-provider": attempts_of(file)[:3]}))

    assert not store.has_open(DAY)
    assert not store.has_open(Day("2026-01-04"))
    assert not AccountingStore(Volume(), layout).has_open(DAY)


def test_every_state_survives_the_way_into_the_journal_and_back(store: AccountingStore) -> None:
    for attempt in attempts_of(store.look(DAY).file):
        record = adopted(DAY, attempt)

        assert record.origin == "adopted"
        assert record.day == DAY
        assert record.hold_cost_nanousd == attempt.hold_cost_nanodollars
        assert projected(record) == attempt


def test_the_one_state_that_both_spell_differently(store: AccountingStore) -> None:
    record = adopted(DAY, attempts_of(store.look(DAY).file)[2])

    assert isinstance(record, Cancelled)
    assert state_of(record) is AttemptState.CANCELLED
    assert projected(record).state == "canceled"


def test_an_estimated_settlement_is_projected_with_its_provenances_usage(store: AccountingStore) -> None:
    settled = adopted(DAY, attempts_of(store.look(DAY).file)[0])
    assert isinstance(settled, Settled)

    day_attempt = projected(
        dataclasses.replace(settled, is_estimated=True, charged_tokens=400, charged_cost_nanousd=50_000_000)
    )

    assert day_attempt.encode()["chargedTokens"] == 160
    assert day_attempt.encode()["chargedCostNanodollars"] == 3_100_000


def test_a_settlement_under_an_alias_is_projected_under_what_was_dispatched(store: AccountingStore) -> None:
    settled = adopted(DAY, attempts_of(store.look(DAY).file)[0])
    assert isinstance(settled, Settled)
    alias = dataclasses.replace(settled.provenance, provider="an alias of theirs", model="other", api="other")

    provenance = projected(dataclasses.replace(settled, provenance=alias)).encode()["provenance"]

    assert isinstance(provenance, dict)
    assert [provenance[key] for key in ("provider", "model", "api")] == [
        "fixture-provider",
        "fixture-reviewer",
        "fixture-api",
    ]


def test_metadata_that_only_accounting_accepts_is_mended_on_the_way_in(layout: Layout, store: AccountingStore) -> None:
    path = layout.days / DAY
    value = json.loads(path.read_bytes())
    provenance = value["providers"]["fixture-provider"][0]["provenance"]
    provenance |= {"responseId": "/not safe", "completedAt": "2026-01-02T00:00:00.000Z", "api": "a" * 200}
    path.write_text(json.dumps(value))

    settled = adopted(DAY, attempts_of(store.look(DAY).file)[0])

    assert isinstance(settled, Settled)
    assert settled.provenance.response_id is None
    assert settled.provenance.completed_at == settled.provenance.started_at
    assert settled.provenance.api == "a" * 128


def test_a_legacy_budget_is_read_and_carried_both_ways(tmp_path: Path) -> None:
    store = AccountingStore(Volume(), Layout(golden("l", tmp_path)))
    budget = store.legacy_budget()
    assert budget is not None
    assert (budget.day, budget.calls, budget.tokens, budget.cost_usd) == (DAY, 7, 12345, 0.123456789)

    carry = LegacyCarry(
        day=DAY,
        provider="fixture-provider",
        source_digest=Digest("a" * 64),
        imported_at="2026-01-03T00:00:00.000Z",
        calls=7,
        tokens=12345,
        cost_nanousd=123456789,
    )
    assert adopted_carry(DAY, "fixture-provider", carried(carry)) == carry


def test_a_legacy_budget_that_cannot_be_read_is_named(layout: Layout, store: AccountingStore) -> None:
    assert store.legacy_budget() is None
    layout.legacy_budget.write_text('{"version":1,"day":"2026-01-03"}')

    with pytest.raises(InvalidRecordError, match="lacks calls") as refused:
        store.legacy_budget()

    assert refused.value.path == store.legacy_path
