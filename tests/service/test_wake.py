"""Waking up, on real folders: what pokes, what is watched anew, and that no signal can stop it."""

import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from types import FrameType

import pytest
from curator_service.wake import Wake

from tests.acceptance.processes import wait_until


@contextmanager
def awake(*folders: Path) -> Iterator[tuple[Wake, list[str]]]:
    """Watch while the block runs; what was warned of stands in the list."""
    warned: list[str] = []
    wake = Wake(folders, warned.append)
    wake.start()
    try:
        yield wake, warned
    finally:
        wake.stop()


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def is_woken_by(wake: Wake, folder: Path, name: str) -> bool:
    """Tell whether a record that appears there ends a wait that is not ended otherwise."""
    while wake.wait(0):
        pass
    (folder / name).touch()
    return wake.wait(10)


def test_a_record_that_appears_wakes_and_one_that_goes_does_not(tmp_path: Path) -> None:
    queued = made(tmp_path / "queued")
    with awake(queued) as (wake, warned):
        assert is_woken_by(wake, queued, "a.json")
        while wake.wait(0.2):
            pass  # the same file, closed
        (queued / "a.json").unlink()
        assert not wake.wait(0.2)
        (queued / "b.tmp").touch()
        (queued / "b.tmp").rename(queued / "b.json")
        assert wake.wait(10)
        assert warned == []


@pytest.mark.parametrize("is_seen_gone", [True, False], ids=["looked at while it was gone", "gone between two looks"])
def test_a_folder_that_is_deleted_and_made_again_is_watched_again(tmp_path: Path, is_seen_gone: bool) -> None:  # noqa: FBT001 - parametrized
    queued = made(tmp_path / "queued")
    with awake(queued) as (wake, warned):
        queued.rmdir()
        if is_seen_gone:
            wake.wait(0.3)
            wake.wait(0.3)
        queued.mkdir()
        # The new folder tells by itself, or by the watch that was lost: then it is looked at anew.
        wait_until(lambda: wake.wait(0.3))

        assert is_woken_by(wake, queued, "a.json")
        assert warned == []


def test_a_folder_that_is_not_there_yet_wakes_when_it_comes(tmp_path: Path) -> None:
    queued = tmp_path / "spool" / "queued"
    with awake(queued) as (wake, warned):
        queued.parent.mkdir()
        queued.mkdir()
        wait_until(lambda: wake.wait(0.3))

        assert is_woken_by(wake, queued, "a.json")
        assert warned == []


def test_where_nothing_can_be_watched_one_warning_says_so_and_pokes_still_work(tmp_path: Path) -> None:
    queued = made(tmp_path / "queued")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1, hard))
    try:
        with awake(queued) as (wake, warned):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            queued.rmdir()
            queued.mkdir()
            assert not wake.wait(0.1)
            wake.poke()
            assert wake.wait(10)
            assert len(warned) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_signal_may_poke_at_any_moment_of_a_wait() -> None:
    wake = Wake((), lambda _: None)
    arrived: SimpleQueue[int] = SimpleQueue()

    def note(number: int, _: FrameType | None) -> None:
        wake.poke()
        arrived.put(number)

    main = threading.current_thread().ident
    assert main is not None
    number_of_signals = 400

    def send() -> None:
        for _ in range(number_of_signals):
            signal.pthread_kill(main, signal.SIGUSR1)
            arrived.get()

    before = signal.signal(signal.SIGUSR1, note)
    try:
        sender = threading.Thread(target=send, daemon=True)
        sender.start()
        while sender.is_alive():
            wake.wait(0)
    finally:
        signal.signal(signal.SIGUSR1, before)
