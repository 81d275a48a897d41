"""A process that stops in the middle of its work, where we want it to, and goes on when somebody lets it.

    python -m faults.surroundings.frozen AGENT SURVIVE

does what `curator review --once` does, and stops itself with SIGSTOP when it asks its volume for the primitive after
SURVIVE. In the end it prints how many it asked for.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from curator.app import open_app
from curator.durable.clock import SystemClock
from curator.errors import CuratorError
from faults.volumes import CountingVolume
from tests.kit import Listening

if TYPE_CHECKING:
    from curator.model.ports import Clock


class FreezingVolume(CountingVolume):
    """A disk under a process that sleeps for a while before one of its primitives."""

    def __init__(self, clock: Clock, survive: int) -> None:
        """Stop once, when more than `survive` primitives are asked for."""
        super().__init__(clock)
        self._survive = survive

    def before(self, path: Path | None) -> None:
        del path
        if self.count == self._survive + 1:
            os.kill(os.getpid(), signal.SIGSTOP)


def main(agent: Path, survive: int) -> None:
    """Review, and sleep on the way."""
    clock = SystemClock()
    volume = FreezingVolume(clock, survive)
    app = open_app(agent, environ=os.environ, listener=Listening(), worker_id="sleeper", clock=clock, volume=volume)
    try:
        app.review_once()
    except CuratorError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
    print(volume.count)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
