"""A loop that stands still, noticed from within: launchd has no watchdog, and a terminal has nobody.

A heart that beats in a thread of its own says nothing of the loop that claims jobs. Where a manager listens for signs of
life it is the watchdog; anywhere else this one ends the process, and whoever started it starts it again.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT_S: Final = 120.0
"""As long as the unit's own watchdog waits."""
STATUS: Final = 70
"""What a process ends with that found a defect in itself."""
_LOOKS: Final = 8


class StallWatch:
    """Counts the rounds of a loop. Time in which the whole process was stopped is none of the loop's."""

    def __init__(self, limit_s: float | None, give_up: Callable[[float], object]) -> None:
        """Call `give_up` with the limit, from a thread, when no round came for that long; None: never."""
        self._limit_s = limit_s
        self._give_up = give_up
        self._rounds = 0
        self._is_over = threading.Event()

    def start(self) -> None:
        """Begin to look."""
        if self._limit_s is not None:
            threading.Thread(target=self._look, args=(self._limit_s,), name="stall", daemon=True).start()

    def round(self) -> None:
        """The loop has come round."""
        self._rounds += 1

    def end(self) -> None:
        """Look no more: the loop is left."""
        self._is_over.set()

    def _look(self, limit_s: float) -> None:
        seen, still = -1, 0
        # A process that was stopped, or slept with its machine, wakes to a clock that went on: so looks are counted.
        while not self._is_over.wait(limit_s / _LOOKS):
            rounds = self._rounds
            seen, still = rounds, still + 1 if rounds == seen else 0
            if still >= _LOOKS:
                self._give_up(limit_s)
                return
