"""Sessions read by the workers of a Dask cluster that a person has: the one door to `distributed`.

The workers must see the files under the same paths and have curator of the same release. They read and nothing else: no
call to a model leaves from there. A worker that dies changes nothing, for Dask gives its sessions to another one. What
one session gives must fit in a worker's memory: some twentieth of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from curator.errors import NotFoundError, UsageError
from curator.tracks.trajectory.pool import ReaderLostError
from curator.tracks.trajectory.task import Event, Task, events_of

_CONNECT_S: Final = 10
_AHEAD: Final = 2
"""So many sessions per thread of the cluster are under way at a time: more would wait in the workers' memory."""


def read_sessions_on(address: str, tasks: Sequence[Task], now: int) -> Iterator[tuple[int, Event]]:
    """Do the tasks on the cluster of the scheduler at `address`, and yield each event with its task's number.

    Events of one task come in their order, tasks in any. Raises `UsageError` where `distributed` is not installed,
    `NotFoundError` where no scheduler answers, and `ReaderLostError` where workers die over the same session.
    """
    try:
        import distributed  # noqa: PLC0415 - takes a second, and few have a cluster
    except ImportError:
        raise UsageError(
            "Dask is not installed", remedy="Install pi-curator[dask], here and where the workers run"
        ) from None
    try:
        client = distributed.Client(address, timeout=_CONNECT_S, set_as_default=False)  # type: ignore[no-untyped-call]  # distributed has types in part
    except (OSError, ValueError) as error:
        remedy = "Give the address of a Dask scheduler, like tcp://host:8786"
        raise NotFoundError(f"{address}: no Dask scheduler answers there", remedy=remedy) from error
    with client:
        threads: dict[str, int] = client.nthreads()  # type: ignore[no-untyped-call]  # distributed has types in part
        ahead = _AHEAD * max(1, sum(threads.values()))
        waiting = iter(enumerate(tasks))
        coming = distributed.as_completed(loop=client.loop)  # type: ignore[no-untyped-call]  # distributed has types in part
        numbers: dict[str, int] = {}

        def hand_over() -> None:
            for number, task in waiting:
                future = client.submit(_read, task, now, pure=False)
                numbers[str(future.key)] = number
                coming.add(future)  # type: ignore[no-untyped-call]  # distributed has types in part
                return

        for _ in range(ahead):
            hand_over()
        for future in coming:
            number = numbers.pop(str(future.key))
            try:
                events: list[Event] = future.result()
            except distributed.KilledWorker as error:
                fact = f"{tasks[number].path}: the workers that read it were killed"
                raise ReaderLostError(fact) from error
            future.release()
            hand_over()
            for event in events:
                yield number, event


def _read(task: Task, now: int) -> list[Event]:
    return list(events_of(task, now))
