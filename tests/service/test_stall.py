"""A loop that comes round is left alone; one that does not is given up, once."""

from __future__ import annotations

import threading
from typing import Final

from curator_service.stall import StallWatch

LIMIT_S: Final = 0.2


def test_a_loop_that_stands_still_is_given_up_once() -> None:
    given_up = threading.Semaphore(0)
    watch = StallWatch(LIMIT_S, lambda _: given_up.release())
    watch.round()
    watch.start()

    assert given_up.acquire(timeout=20)
    assert not given_up.acquire(timeout=4 * LIMIT_S)


def test_a_loop_that_comes_round_or_was_left_is_not() -> None:
    given_up, pause = threading.Event(), threading.Event()
    watch = StallWatch(20 * LIMIT_S, lambda _: given_up.set())
    watch.start()
    for _ in range(10):
        watch.round()
        assert not pause.wait(LIMIT_S / 4)
    watch.end()

    left = StallWatch(LIMIT_S, lambda _: given_up.set())
    left.start()
    left.end()
    assert not given_up.wait(4 * LIMIT_S)
