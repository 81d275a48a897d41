"""Several processes read what one reads, and a process that is killed changes nothing."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

from curator.errors import InvalidRecordError, NotFoundError, StorageError
from curator.model.digest import Digest
from curator.tracks.trajectory.facts import Ended
from curator.tracks.trajectory.pool import DEATHS_MAX, ReaderLostError, read_sessions
from curator.tracks.trajectory.reading import Batch
from curator.tracks.trajectory.task import Event, Refusal, Task, events_of
from tests.session_lines import header, lines, user
from tests.tracks.trajectory.corpus import made_sessions

NOW: Final = 1_780_000_000_000
LONG: Final = 40


@pytest.fixture
def tasks(tmp_path: Path) -> list[Task]:
    for made in made_sessions(count=12):
        (tmp_path / made.name).write_bytes(made.content)
    for name in ("long-a", "long-b"):
        said = (user(f"{name}-{n}", f"{name}-{n - 1}" if n else None, "filler " * 8_000) for n in range(LONG))
        (tmp_path / f"{name}.jsonl").write_bytes(lines(header(), *said))
    return [Task(str(path)) for path in sorted(tmp_path.glob("*.jsonl"), reverse=True)]


def digests(events: Iterable[tuple[int, Event]]) -> dict[int, list[Digest]]:
    found: dict[int, list[Digest]] = {}
    for number, event in events:
        if isinstance(event, Batch):
            found.setdefault(number, []).extend(event.digests)
    return found


def alone(tasks: list[Task]) -> dict[int, list[Digest]]:
    return digests(read_sessions(tasks, NOW, 1))


def kill_readers() -> bool:
    for child in multiprocessing.active_children():
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
    return True


def test_two_processes_read_what_one_reads_and_leave_nothing_behind(tasks: list[Task]) -> None:
    events = list(read_sessions(tasks, NOW, 2))

    assert digests(events) == alone(tasks)
    endings = [number for number, event in events if isinstance(event, Ended)]
    assert sorted(endings) == list(range(len(tasks)))
    assert multiprocessing.active_children() == []


def test_a_killed_process_is_noticed_and_its_session_read_again(tasks: list[Task]) -> None:
    coming = read_sessions(tasks, NOW, 2)
    first = next(coming)
    kill_readers()

    events = [first, *coming]

    assert {number: set(each) for number, each in digests(events).items()} == {
        number: set(each) for number, each in alone(tasks).items()
    }
    assert sorted(number for number, event in events if isinstance(event, Ended)) == list(range(len(tasks)))


def test_a_session_over_which_processes_die_again_and_again_is_given_up(tasks: list[Task]) -> None:
    killed: list[int] = []

    with pytest.raises(ReaderLostError, match="processes that read it were killed"):
        killed.extend(number for number, _ in read_sessions(tasks[:2], NOW, 2) if number == 0 and kill_readers())

    assert len(killed) >= DEATHS_MAX
    assert multiprocessing.active_children() == []


def test_who_stops_listening_ends_the_processes(tasks: list[Task]) -> None:
    coming = read_sessions(tasks, NOW, 2)
    next(coming)

    coming.close()  # type: ignore[attr-defined]  # it is a generator

    assert multiprocessing.active_children() == []


def test_what_cannot_be_read_comes_as_a_refusal_that_says_the_same(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_bytes(b"no header\n")
    tasks = [Task(str(tmp_path / "gone.jsonl")), Task(str(tmp_path / "bad.jsonl"))]

    refused = dict(read_sessions(tasks, NOW, 2))

    for number, kind in enumerate((NotFoundError, InvalidRecordError)):
        event = refused[number]
        assert isinstance(event, Refusal)
        assert isinstance(event.error(), kind)
        assert str(event.error()) == str(_raised(tasks[number]))


def _raised(task: Task) -> BaseException:
    (event,) = events_of(task, NOW)
    assert isinstance(event, Refusal)
    return event.error()


def test_a_refusal_of_the_disk_keeps_the_systems_own_word() -> None:
    denied = Refusal("storage", "/x/s.jsonl", "Permission denied", "", 13)

    assert isinstance(denied.error(), StorageError)
    assert str(denied.error()) == str(StorageError(Path("/x/s.jsonl"), PermissionError(13, "Permission denied")))
