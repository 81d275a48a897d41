"""Who closed first has closed."""

import dataclasses
import threading
from pathlib import Path

import pytest

from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.errors import ConflictError, InvalidRecordError
from curator.model.closing import Closing
from curator.store.finished import FinishedStore
from tests.durable.volumes import Recorded
from tests.made_up import AT, LATER, MAIN, job, other_digest

CLOSING = Closing(
    job_id=job().id,
    job_digest=job().digest,
    project_key=job().project_key,
    session_key=job().session_key,
    branch_name=MAIN,
    authority="external",
    status="noop",
    finished_at=AT,
    attempts=(),
    entry_ids=(),
)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path)


def test_a_closing_record_is_found_by_its_job(layout: Layout) -> None:
    store = FinishedStore(Volume(), layout)

    assert store.find(job().id) is None
    assert store.close(CLOSING) == CLOSING
    assert store.find(job().id) == CLOSING
    assert (layout.finished / job().id[7:9] / f"{job().id}.json").exists()


def test_a_second_closing_is_the_first_flushed(layout: Layout) -> None:
    FinishedStore(Volume(), layout).close(CLOSING)
    volume = Recorded()

    again = FinishedStore(volume, layout).close(dataclasses.replace(CLOSING, finished_at=LATER))

    assert again == CLOSING
    assert volume.asked == [f"flush {job().id[7:9]}"]


def test_many_close_at_once_and_all_are_told_the_same(layout: Layout) -> None:
    told: list[Closing] = []

    def close(second: int) -> None:
        at = f"2026-01-03T00:00:{second:02d}.000Z"
        told.append(FinishedStore(Volume(), layout).close(dataclasses.replace(CLOSING, finished_at=at)))

    threads = [threading.Thread(target=close, args=(second,)) for second in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(told) == 12
    assert {each.finished_at for each in told} == {told[0].finished_at}


def test_another_job_of_that_id_is_a_conflict(layout: Layout) -> None:
    store = FinishedStore(Volume(), layout)
    store.close(CLOSING)

    with pytest.raises(ConflictError, match="is the closing record of another job"):
        store.close(dataclasses.replace(CLOSING, job_digest=other_digest()))


def test_a_closing_record_under_anothers_name_or_damaged_is_refused(layout: Layout) -> None:
    store, other = FinishedStore(Volume(), layout), job("another").id
    store.close(CLOSING)
    path = layout.finished / job().id[7:9] / f"{job().id}.json"
    (layout.finished / other[7:9]).mkdir(exist_ok=True)
    strange = layout.finished / other[7:9] / f"{other}.json"
    strange.write_bytes(path.read_bytes())
    strange.chmod(0o600)
    path.write_bytes(b"{")

    for job_id in (job().id, other):
        with pytest.raises(InvalidRecordError):
            store.find(job_id)
