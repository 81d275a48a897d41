"""Draining a queue by the product's own pool, as the service does it, in this process."""

from __future__ import annotations

import dataclasses
import threading
import time
from typing import Final

from curator.app import App

_PATIENCE_S: Final = 600.0


@dataclasses.dataclass(frozen=True, slots=True)
class Drained:
    """What it took."""

    wall_s: float
    cpu_s: float


def drain(app: App) -> Drained:
    """Fill slots until nothing waits and nothing is under way. Raises `TimeoutError` where that never comes."""
    wake = threading.Event()
    with app.beating() as heart:
        pool = app.pool(heart, wake.set)
        started, began = time.perf_counter(), time.process_time()
        while pool.fill() or pool.busy or any(app.layout.queued.glob("*.json")):
            wake.wait(0.2)
            wake.clear()
            if time.perf_counter() - started > _PATIENCE_S:
                raise TimeoutError("the queue does not become empty")
        taken = Drained(time.perf_counter() - started, time.process_time() - began)
        pool.close(1_000, threading.Event())
    return taken
