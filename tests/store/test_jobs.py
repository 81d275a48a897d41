"""A job is accepted once, under one authority, whatever the mode becomes."""

import dataclasses
from pathlib import Path

import pytest

from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.errors import ConflictError, InvalidRecordError
from curator.model.job import Acceptance
from curator.store.jobs import JobStore
from tests.durable.volumes import Recorded
from tests.made_up import AT, LATER, job, other_digest

FIRST = Acceptance(job_id=job().id, job_digest=job().digest, authority="shadow", accepted_at=AT)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path)


def test_the_first_acceptance_stands_also_after_a_change_of_mode(layout: Layout) -> None:
    store = JobStore(Volume(), layout)

    assert store.find(job().id) is None
    assert store.accept(FIRST) == FIRST
    assert store.accept(dataclasses.replace(FIRST, authority="external", accepted_at=LATER)) == FIRST
    assert store.find(job().id) == FIRST


def test_an_acceptance_that_stands_is_flushed_for_its_writer_may_have_died_before_it_did(layout: Layout) -> None:
    JobStore(Volume(), layout).accept(FIRST)
    volume = Recorded()

    JobStore(volume, layout).accept(FIRST)

    assert volume.asked == ["flush jobs"]


def test_another_job_of_that_id_is_a_conflict(layout: Layout) -> None:
    store = JobStore(Volume(), layout)
    store.accept(FIRST)

    with pytest.raises(ConflictError, match="is the acceptance of another job"):
        store.accept(dataclasses.replace(FIRST, job_digest=other_digest()))


def test_an_acceptance_under_anothers_name_is_refused(layout: Layout) -> None:
    store = JobStore(Volume(), layout)
    store.accept(FIRST)
    (layout.jobs / f"{job().id}.json").rename(layout.jobs / f"{job('another').id}.json")

    with pytest.raises(InvalidRecordError, match="holds another job than its name says"):
        store.find(job("another").id)
