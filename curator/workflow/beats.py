"""Being alive, as Pi sees it: without a fresh heartbeat its panel shows the worker offline (interop.md 11).

Work never stops for a beat. One that cannot be written is told once.
"""

from __future__ import annotations

import dataclasses
import os
import threading
from typing import TYPE_CHECKING, Final, Self

from curator.durable.baton import Mutex
from curator.durable.lock import is_alive
from curator.errors import InvalidRecordError, StorageError
from curator.model.event import Degraded
from curator.model.heartbeat import RuntimeBeat, WorkerBeat
from curator.model.ids import file_key
from curator.model.limits import HEARTBEAT_MS, MEMORY_POLICY_VERSION, WORKER_WORKING_FRESH_MS
from curator.model.times import iso, ms_of
from curator.pi.runtimes import extension_release, is_fresh, read_runtimes
from curator.store.heartbeats import HeartbeatStore

if TYPE_CHECKING:
    from types import TracebackType

    from curator.model.heartbeat import WorkerState
    from curator.model.ids import JobId
    from curator.workflow.shop import Shop

OURS: Final = "curator:"
"""How every worker id of ours begins."""
_NOTE_MS: Final = 1_000
"""One quick job after another is told no more often."""


class Beating:
    """A worker's heart: beats at each change of state and every ten seconds, as worker and as runtime."""

    def __init__(self, shop: Shop, *, every_ms: int = HEARTBEAT_MS) -> None:
        """Prepare the heart of the shop's worker; nothing is written yet."""
        self._shop = shop
        self._store = HeartbeatStore(shop.volume, shop.layout)
        self._every_s = every_ms / 1000
        self._release: str = shop.settings.release
        self._beat = WorkerBeat(
            worker_id=shop.worker_id,
            pid=os.getpid(),
            started_at=(now := iso(shop.clock.now())),
            updated_at=now,
            state="starting",
        )
        self._noted_ms = -_NOTE_MS
        self._is_told = False
        self._mutex = Mutex()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._go_on, name="heartbeat", daemon=True)

    def __enter__(self) -> Self:
        """Begin to beat."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Say that the worker has stopped."""
        self.stop()

    def start(self) -> None:
        """Retire what dead workers left, beat for the first time, and go on in the background."""
        retire_leftovers(self._shop)
        self._find_release()
        self._write(is_lasting=True)
        self._thread.start()

    def note(self, state: WorkerState, job_id: JobId | None = None, attempt: int | None = None) -> None:
        """Say what the worker does now: at once, but for another job so soon that the next beat says it."""
        now = self._shop.clock.monotonic()
        with self._mutex.hold():
            is_change = state != self._beat.state or now - self._noted_ms >= _NOTE_MS
            self._beat = dataclasses.replace(self._beat, state=state, job_id=job_id, attempt=attempt)
            if is_change:
                self._noted_ms = now
        if is_change:
            self._write()

    def stop(self) -> None:
        """Beat for the last time; nothing is written after it."""
        self._done.set()
        self._thread.join()
        with self._mutex.hold():
            self._beat = dataclasses.replace(self._beat, state="stopped", job_id=None, attempt=None)
        self._write(is_lasting=True)

    def _go_on(self) -> None:
        while not self._done.wait(self._every_s):
            self._find_release()
            self._write()

    def _find_release(self) -> None:
        """Take the release of the extension that runs now: its doctor wants both alike."""
        now = self._shop.clock.now()
        try:
            fresh = [beat for beat in read_runtimes(self._shop.layout.runtimes) if is_fresh(beat, now)]
        except (InvalidRecordError, StorageError):
            fresh = []
        self._release = extension_release(fresh) or self._shop.settings.release

    def _write(self, *, is_lasting: bool = False) -> None:
        with self._mutex.hold():
            # The clock may have been set back; a beat is never older than its worker.
            now = max(iso(self._shop.clock.now()), self._beat.started_at)
            self._beat = dataclasses.replace(self._beat, updated_at=now)
            try:
                self._store.write(self._beat, is_lasting=is_lasting)
                self._store.write(self._runtime(), is_lasting=is_lasting)
            except (InvalidRecordError, StorageError) as error:
                self._tell(error)

    def _runtime(self) -> RuntimeBeat:
        beat = self._beat
        return RuntimeBeat(
            runtime_id=file_key(f"worker:{beat.worker_id}"),
            kind="worker",
            pid=beat.pid,
            release_version=self._release,
            memory_policy_version=MEMORY_POLICY_VERSION,
            started_at=beat.started_at,
            updated_at=beat.updated_at,
            state="stopped" if beat.state == "stopped" else "running",
        )

    def _tell(self, error: InvalidRecordError | StorageError) -> None:
        if not self._is_told:
            self._is_told = True
            fact = f"Pi's panel may show the worker offline, for its heartbeat cannot be written: {error.fact}"
            self._shop.listener.tell(Degraded(fact, error.remedy))


def foreign_live_worker(shop: Shop) -> tuple[str, int] | None:
    """Return the id and the process of another kind of worker that runs now, or None.

    Alive is who beat lately, by the extension's own measure, and whose process is there.
    """
    now = shop.clock.now()
    for beat in HeartbeatStore(shop.volume, shop.layout).workers():
        is_foreign = not beat.worker_id.startswith(OURS)
        if is_foreign and beat.is_fresh(now) and is_alive(beat.pid, ms_of(beat.updated_at)):
            return beat.worker_id, beat.pid
    return None


def retire_leftovers(shop: Shop) -> int:
    """Say of workers that were killed that they have stopped, and return of how many.

    A killed worker of an old policy outranks all that stopped cleanly, and the extension refuses to enqueue for as long
    as its beat stands (W33). Only a dead process and an old beat together prove it. Never raises for a beat.
    """
    store, now, retired = HeartbeatStore(shop.volume, shop.layout), shop.clock.now(), 0
    try:
        workers = [beat for beat in store.workers() if beat.state != "stopped" and _is_gone(beat, now)]
        for worker in workers:
            # The time stays: a leftover must not outrank a worker that stopped after it.
            store.write(dataclasses.replace(worker, state="stopped", job_id=None, attempt=None), is_lasting=True)
            retired += 1
        runtimes = [
            beat for beat in read_runtimes(shop.layout.runtimes) if beat.state == "running" and beat.kind == "worker"
        ]
        for runtime in runtimes:
            if _is_gone(runtime, now):
                store.write(dataclasses.replace(runtime, state="stopped"), is_lasting=True)
    except (InvalidRecordError, StorageError) as error:
        shop.listener.tell(Degraded(f"the heartbeats of dead workers cannot be retired: {error.fact}", error.remedy))
    return retired


def _is_gone(beat: WorkerBeat | RuntimeBeat, now: int) -> bool:
    mark = ms_of(beat.updated_at)
    return now - mark > WORKER_WORKING_FRESH_MS and not is_alive(beat.pid, mark)
