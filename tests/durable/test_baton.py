"""One thread of a pool works at a time, and nobody waits for the disk or another's lock with the baton in hand."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest

from curator.durable.baton import Mutex, carried, laid_down
from curator.durable.lock import Domain, Lock, kernel_domain, protocol_domain, try_kernel_lock, try_protocol_lock
from curator.durable.volume import Volume

PATIENCE_S: Final = 20.0


class Meeting(Volume):
    """A disk whose flush of a file lasts until so many threads are in one."""

    def __init__(self, parties: int) -> None:
        """Let `parties` threads meet."""
        self._barrier = threading.Barrier(parties)

    def _flush_file(self, descriptor: int) -> None:
        super()._flush_file(descriptor)
        self._barrier.wait(PATIENCE_S)


class Slow(Volume):
    """A disk whose flushes wait for a word, and tell that they began."""

    def __init__(self) -> None:
        """Wait from the first flush on."""
        self.began, self.may_end = threading.Event(), threading.Event()

    def _flush_directory(self, descriptor: int) -> None:
        self.began.set()
        assert self.may_end.wait(PATIENCE_S)
        super()._flush_directory(descriptor)


def test_two_threads_with_the_baton_never_work_at_once() -> None:
    inside, seen = 0, set[int]()

    def work() -> None:
        nonlocal inside
        for _ in range(50):
            with carried():
                inside += 1
                for _ in range(200):
                    seen.add(inside)
                inside -= 1

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(work) for _ in range(4)]:
            done.result(PATIENCE_S)
    assert seen == {1}


def test_flushes_of_two_threads_run_at_once(tmp_path: Path) -> None:
    disk = Meeting(2)

    def write(name: str) -> Path:
        with carried():
            return disk.stage(tmp_path / name, b"bytes")

    with ThreadPoolExecutor(2) as threads:
        staged = [done.result(PATIENCE_S) for done in [threads.submit(write, name) for name in ("a", "b")]]
    assert all(path.read_bytes() == b"bytes" for path in staged)


@pytest.mark.parametrize("kind", [kernel_domain, protocol_domain])
def test_a_lock_held_over_a_flush_is_waited_for_without_the_baton(
    tmp_path: Path, kind: Callable[[str, Path], Domain]
) -> None:
    disk, domain, order = Slow(), kind("spool", tmp_path / "a.lock"), list[str]()

    def hold(name: str, disk: Volume) -> None:
        with carried(), domain.hold():
            order.append(name)
            disk.sync_directory(tmp_path)

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(hold, "first", disk)
        assert disk.began.wait(PATIENCE_S)
        second = threads.submit(hold, "second", Volume())
        # Whoever needs neither lock nor flush goes on in the meantime.
        with carried():
            assert order == ["first"]
        disk.may_end.set()
        first.result(PATIENCE_S)
        second.result(PATIENCE_S)
    assert order == ["first", "second"]


def test_a_mutex_held_over_a_flush_is_waited_for_without_the_baton(tmp_path: Path) -> None:
    disk, mutex = Slow(), Mutex()

    def hold(disk: Volume) -> None:
        with carried(), mutex.hold():
            disk.sync_directory(tmp_path)

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(hold, disk)
        assert disk.began.wait(PATIENCE_S)
        assert not mutex.acquire(0)
        second = threads.submit(hold, Volume())
        with carried():
            assert not second.done()
        disk.may_end.set()
        first.result(PATIENCE_S)
        second.result(PATIENCE_S)


@pytest.mark.parametrize(("kind", "take"), [(kernel_domain, try_kernel_lock), (protocol_domain, try_protocol_lock)])
def test_a_lock_of_another_process_is_waited_for_without_the_baton(
    tmp_path: Path, kind: Callable[[str, Path], Domain], take: Callable[[Path], Lock | None]
) -> None:
    others, waits = take(tmp_path / "a.lock"), threading.Event()
    assert others is not None

    def hold() -> None:
        with carried():
            waits.set()
            with kind("spool", tmp_path / "a.lock").hold():
                pass

    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(hold)
        assert waits.wait(PATIENCE_S)
        with carried():
            assert not waiting.done()
        others.release()
        waiting.result(PATIENCE_S)


def test_who_does_not_carry_the_baton_is_not_held_up() -> None:
    with carried(), ThreadPoolExecutor(1) as threads:

        def wait() -> bool:
            with laid_down():
                return True

        assert threads.submit(wait).result(PATIENCE_S)


def test_the_baton_goes_on_when_the_work_fails() -> None:
    def fail() -> None:
        with carried(), laid_down():
            raise RuntimeError

    with ThreadPoolExecutor(1) as threads:
        assert isinstance(threads.submit(fail).exception(PATIENCE_S), RuntimeError)
    with carried():
        pass
