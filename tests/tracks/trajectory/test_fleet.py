"""A Dask cluster of two worker processes reads what one process reads, also when one of them is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from curator.errors import InvalidRecordError, NotFoundError
from curator.model.digest import Digest
from curator.tracks.trajectory.facts import Ended
from curator.tracks.trajectory.fleet import read_sessions_on
from curator.tracks.trajectory.pool import read_sessions
from curator.tracks.trajectory.reading import Batch
from curator.tracks.trajectory.task import Event, Refusal, Task
from tests.tracks.trajectory.corpus import made_sessions

distributed = pytest.importorskip("distributed", reason="no Dask: install distributed")

NOW: Final = 1_780_000_000_000
COUNT: Final = 60


class Fleet(NamedTuple):
    address: str
    pids: list[int]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",  # its own port: two clusters run beside each other
        local_directory=str(tmp_path_factory.mktemp("dask")),
    ) as cluster:
        yield Fleet(cluster.scheduler_address, [nanny.pid for nanny in cluster.workers.values()])


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> list[Task]:
    folder = tmp_path_factory.mktemp("sessions")
    for made in made_sessions(count=COUNT):
        (folder / made.name).write_bytes(made.content)
    (folder / "zz-bad.jsonl").write_bytes(b"no header\n")
    return [Task(str(path)) for path in sorted(folder.glob("*.jsonl"))]


def digests(events: Iterable[tuple[int, Event]]) -> dict[int, list[Digest]]:
    found: dict[int, list[Digest]] = {}
    for number, event in events:
        if isinstance(event, Batch):
            found.setdefault(number, []).extend(event.digests)
    return found


def test_a_cluster_reads_what_one_process_reads(fleet: Fleet, tasks: list[Task]) -> None:
    events = list(read_sessions_on(fleet.address, tasks, NOW))

    assert digests(events) == digests(read_sessions(tasks, NOW, 1))
    assert sum(isinstance(event, Ended) for _, event in events) == COUNT
    (refused,) = [event for _, event in events if isinstance(event, Refusal)]
    assert isinstance(refused.error(), InvalidRecordError)


def test_a_killed_worker_changes_nothing(fleet: Fleet, tasks: list[Task]) -> None:
    coming = read_sessions_on(fleet.address, tasks, NOW)
    first = next(coming)
    os.kill(fleet.pids[0], signal.SIGKILL)

    events = [first, *coming]

    assert digests(events) == digests(read_sessions(tasks, NOW, 1))
    assert sorted(number for number, event in events if not isinstance(event, Batch)) == list(range(len(tasks)))


def test_an_address_where_nobody_answers_is_an_error_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no Dask scheduler answers there"):
        list(read_sessions_on("nowhere at all", [Task(str(tmp_path / "s.jsonl"))], NOW))
