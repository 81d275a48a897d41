"""What a person decided about projects: replaced whole, read cheaply, and never guessed."""

import dataclasses
from pathlib import Path

import pytest

from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.errors import InvalidRecordError
from curator.model.ids import ProjectKey
from curator.model.project import Standing, Wish
from curator.store.standings import StandingStore
from tests.durable.volumes import Crash, Mortal, Recorded

KEY = ProjectKey("a" * 24)
OTHER = ProjectKey("b" * 24)
AT = "2026-01-03T12:00:00.000Z"


def decided(wish: Wish, key: ProjectKey = KEY) -> Standing:
    return Standing(project_key=key, project_root="/home/dev/app", wish=wish, changed_at=AT)


def store_at(agent: Path, volume: Volume | None = None) -> StandingStore:
    return StandingStore(volume or Volume(), Layout(agent))


def test_nothing_was_decided_about_a_project_of_which_nobody_spoke(tmp_path: Path) -> None:
    store = store_at(tmp_path)

    assert (store.find(KEY), store.all(), store.resting()) == (None, (), frozenset())


def test_the_latest_decision_counts(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    store.change(KEY, lambda _: decided("paused"))
    store.change(KEY, lambda before: dataclasses.replace(before or decided("active"), wish="excluded"))

    assert store_at(tmp_path).find(KEY) == decided("excluded")
    assert store.all() == (decided("excluded"),)


@pytest.mark.parametrize(
    ("standing", "rests"),
    [
        (decided("active"), False),
        (decided("paused"), True),
        (decided("excluded"), True),
        (dataclasses.replace(decided("active"), begun="link"), True),
        (dataclasses.replace(decided("active"), begun="purge"), True),
        (dataclasses.replace(decided("active"), linked_to=OTHER), True),
        (dataclasses.replace(decided("active"), linked_from=OTHER), False),
        (dataclasses.replace(decided("active"), purged_at=AT, project_root=None), False),
    ],
)
def test_jobs_wait_while_a_project_rests(tmp_path: Path, standing: Standing, *, rests: bool) -> None:
    store_at(tmp_path).change(KEY, lambda _: standing)

    assert (KEY in store_at(tmp_path).resting()) is rests


def test_one_that_cannot_be_read_rests_and_is_named(tmp_path: Path) -> None:
    store_at(tmp_path).change(KEY, lambda _: decided("paused"))
    path = Layout(tmp_path).standings / f"{KEY}.json"
    path.write_bytes(path.read_bytes().replace(b"paused", b"asleep"))
    store = store_at(tmp_path)

    assert store.resting() == {KEY}
    assert [fault.path for fault in store.faults()] == [path]
    with pytest.raises(InvalidRecordError):
        store.find(KEY)


def test_one_under_another_project_s_name_is_refused(tmp_path: Path) -> None:
    store_at(tmp_path).change(KEY, lambda _: decided("paused"))
    folder = Layout(tmp_path).standings
    (folder / f"{KEY}.json").rename(folder / f"{OTHER}.json")

    with pytest.raises(InvalidRecordError, match="another project"):
        store_at(tmp_path).find(OTHER)


def test_what_would_change_nothing_is_not_written(tmp_path: Path) -> None:
    store_at(tmp_path).change(KEY, lambda _: decided("paused"))
    volume = Recorded()
    store_at(tmp_path, volume).change(KEY, lambda _: decided("paused"))

    assert volume.asked == []


def test_a_crash_leaves_the_old_decision_or_the_new(tmp_path: Path) -> None:
    store_at(tmp_path).change(KEY, lambda _: decided("active"))
    for survive in range(20):
        try:
            store_at(tmp_path, Mortal(survive)).change(KEY, lambda _: decided("paused"))
        except Crash:
            assert store_at(tmp_path).find(KEY) in (decided("active"), decided("paused"))
            store_at(tmp_path).change(KEY, lambda _: decided("active"))
        else:
            assert survive > 2
            break
    assert store_at(tmp_path).find(KEY) == decided("paused")
