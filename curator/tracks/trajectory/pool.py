"""Several sessions at once, each read by a process of its own; what they give comes as it comes.

A process is handed one session after the other and sends what it reads through a pipe, which holds it back while nobody
takes it: memory stays bounded, however large the files are. A process that dies is noticed by its pipe, and its session
is read again by another one: what came before comes once more then, and is the same.

INVARIANT  No process outlives the block that started it, nor this process.
"""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Final

from curator.errors import CuratorError
from curator.tracks.trajectory.reading import Batch
from curator.tracks.trajectory.task import Event, Task, events_of

DEATHS_MAX: Final = 3
"""So many processes may die over one session before it is given up: the session, not chance, kills them then."""
_END_S: Final = 5


class ReaderLostError(CuratorError):
    """The processes that read one session were killed, one after the other. Nothing half-read was kept as whole."""

    code = "reader_lost"
    exit_status = 75
    remedy = "Look for what kills them, memory first, and run again"


def read_sessions(tasks: Sequence[Task], now: int, jobs: int) -> Iterator[tuple[int, Event]]:
    """Do the tasks, `jobs` at a time, and yield each event with its task's number.

    Events of one task come in their order, those of several tasks mixed. With one job all is read here. Raises
    `ReaderLostError` where processes die over the same session again and again.
    """
    if jobs == 1 or len(tasks) == 1:
        for number, task in enumerate(tasks):
            for event in events_of(task, now):
                yield number, event
        return
    with contextlib.closing(_Pool(tasks, now, min(jobs, len(tasks)))) as pool:
        yield from pool.events()


@dataclasses.dataclass(slots=True)
class _Reader:
    """One process, and what it is at."""

    process: BaseProcess
    pipe: Connection[Task, Event]
    number: int


class _Pool:
    def __init__(self, tasks: Sequence[Task], now: int, jobs: int) -> None:
        # A fork would take over locks that other threads hold at that moment.
        self._context = multiprocessing.get_context("spawn")
        self._tasks = tasks
        self._now = now
        self._waiting = deque(range(len(tasks)))
        self._deaths = [0] * len(tasks)
        self._readers: dict[Connection[Task, Event], _Reader] = {}
        for _ in range(jobs):
            self._start()

    def close(self) -> None:
        """End every process."""
        for reader in self._readers.values():
            reader.pipe.close()
            reader.process.terminate()
        for reader in self._readers.values():
            reader.process.join(_END_S)
            if reader.process.is_alive():
                reader.process.kill()
                reader.process.join()
            reader.process.close()
        self._readers.clear()

    def events(self) -> Iterator[tuple[int, Event]]:
        """Yield until every task has ended."""
        while self._readers:
            for ready in wait(list(self._readers)):
                assert isinstance(ready, Connection)
                reader = self._readers[ready]
                try:
                    event = reader.pipe.recv()
                except (EOFError, OSError):
                    self._replace(reader)
                    continue
                yield reader.number, event
                if not isinstance(event, Batch):
                    self._next(reader)

    def _start(self) -> None:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs, self._now), daemon=True)
        process.start()
        # The child has its own copy; while ours is open its death would go unnoticed.
        theirs.close()
        reader = _Reader(process, ours, -1)
        self._readers[ours] = reader
        self._next(reader)

    def _next(self, reader: _Reader) -> None:
        """Hand out the next task, or let the process go."""
        if self._waiting:
            reader.number = self._waiting.popleft()
            with contextlib.suppress(OSError):
                # A process that is dead already is noticed when its answer is waited for.
                reader.pipe.send(self._tasks[reader.number])
            return
        self._let_go(reader)

    def _let_go(self, reader: _Reader) -> None:
        del self._readers[reader.pipe]
        reader.pipe.close()
        reader.process.join()
        reader.process.close()

    def _replace(self, reader: _Reader) -> None:
        number = reader.number
        self._let_go(reader)
        self._deaths[number] += 1
        if self._deaths[number] >= DEATHS_MAX:
            fact = f"{self._tasks[number].path}: {DEATHS_MAX} processes that read it were killed"
            raise ReaderLostError(fact)
        self._waiting.appendleft(number)
        self._start()


def _serve(pipe: Connection[Event, Task], now: int) -> None:
    """Read what is handed over until nobody is there any more; what is run in the new process."""
    # A key that interrupts reaches every process of the terminal; the one that started this ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, OSError):
        while True:
            task = pipe.recv()
            for event in events_of(task, now):
                pipe.send(event)
