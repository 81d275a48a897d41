"""The way of log lines out of the process: whoever tells something never waits for whoever reads it.

A pipe whose reader stands still, or a stopped journal, blocks a write for as long as that lasts. So a thread of its own
writes, and lines that find no room any more are counted instead.
"""

from __future__ import annotations

import io
import os
import threading
from queue import Full, Queue
from typing import Final

_LINES_MAX: Final = 1_000
"""So many wait to be written: an hour of a busy service, and less than a megabyte."""
_LAST_S: Final = 1.0
"""How long the end of the process waits for a reader."""


class Outlet(io.RawIOBase):
    """A stream into a descriptor that neither blocks nor fails."""

    name: Final = "<log>"

    def __init__(self, descriptor: int) -> None:
        """Write to `descriptor`, from a thread that starts with the first line."""
        super().__init__()
        self._descriptor = descriptor
        self._lines: Queue[bytes | None] = Queue(_LINES_MAX)
        self._lost = 0
        self._thread: threading.Thread | None = None

    def text(self) -> io.TextIOWrapper:
        """Return the stream for text; each write is passed on at once."""
        return io.TextIOWrapper(self, "utf-8", "backslashreplace", write_through=True)

    def isatty(self) -> bool:
        """Tell whether a terminal reads."""
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        """It is there to be written to."""
        return True

    def write(self, data: object, /) -> int:
        """Take what is to be written; where there is no room for it, it is lost and counted."""
        assert isinstance(data, bytes), "a text stream hands down bytes"
        if self._thread is None:
            self._thread = threading.Thread(target=self._go_on, name="log", daemon=True)
            self._thread.start()
        try:
            self._lines.put_nowait(data)
        except Full:
            self._lost += 1
        return len(data)

    def end(self) -> None:
        """Give what still waits a moment to get out."""
        if self._thread is not None:
            try:
                self._lines.put(None, timeout=_LAST_S)
            except Full:
                return
            self._thread.join(_LAST_S)

    def _go_on(self) -> None:
        # Without a buffer there is no lock that the end of the process would wait for.
        with io.FileIO(self._descriptor, "wb", closefd=False) as way:
            while (data := self._lines.get()) is not None:
                lost, self._lost = self._lost, 0
                if lost:
                    _put(way, f'{{"count": {lost}, "event": "lines_lost", "level": "warning"}}\n'.encode())
                _put(way, data)


def _put(way: io.FileIO, data: bytes) -> None:
    while data:
        try:
            data = data[way.write(data) :]
        except OSError:
            return
