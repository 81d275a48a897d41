"""One Pi in RPC mode: a line of JSON to its standard input, lines of JSON from its standard output.

INVARIANT  It ends with the block that started it, with everything that it started: it leads a process group of its own.
INVARIANT  It is bounded: in time by a deadline, in memory by what it may take, in what it says by bytes.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from curator.model.digest import Json, MalformedJsonError, compact, parse
from curator.model.limits import ANSWER_BYTES_MAX
from curator.model.ports import Clock, Stop

SAID_BYTES_MAX: Final = 256 * ANSWER_BYTES_MAX
"""Each streamed token comes with the usage so far, in some 400 bytes, and thoughts come on top."""
RESIDENT_BYTES_MAX: Final = 1_610_612_736
"""Three times the heap that it is given: Node's own share is a fifth of a gigabyte."""
_POLL_S: Final = 0.05
_PAGE_BYTES: Final = 4_096


class OverdueError(Exception):
    """It did not say what was waited for in time."""


class StoppedError(Exception):
    """A wish to stop was seen."""


class TooMuchError(Exception):
    """It said, or took, more than any review needs."""


class Child:
    """A started Pi."""

    def __init__(
        self, command: Sequence[str], room: Path, environ: Mapping[str, str], clock: Clock, stop: Stop
    ) -> None:
        """Start it. Raises `OSError` if it cannot be."""
        self._clock = clock
        self._stop = stop
        self._unsaid = b""
        self._heard = bytearray()
        self._heard_bytes = 0
        pipe = subprocess.PIPE
        self._child = subprocess.Popen(  # noqa: S603 - the person's own Pi, by the path that settings name
            command,
            cwd=room,
            env=dict(environ),
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,  # it may quote what it was given
            bufsize=0,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child.pid, 9)
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            assert pipe is not None
            pipe.close()

    def say(self, command: Json) -> None:
        """Send a command; it leaves while the answer is waited for."""
        self._unsaid += compact(command).encode() + b"\n"

    def listen(self, deadline: int) -> Iterator[dict[str, Json]]:
        """Yield what it says until it ends; what is no object is passed over.

        Raises `OverdueError` at the deadline, in monotonic milliseconds, `StoppedError` and `TooMuchError`.
        """
        source, sink = self._child.stdout, self._child.stdin
        assert source is not None
        assert sink is not None
        os.set_blocking(sink.fileno(), False)
        with selectors.DefaultSelector() as selector:
            selector.register(source, selectors.EVENT_READ)
            while True:
                self._send()
                ready = selector.select(_POLL_S)
                self._check(deadline)
                if not ready:
                    continue
                block = source.read(65_536) or b""
                if not block:
                    return
                yield from self._take(block)

    def _send(self) -> None:
        assert self._child.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            while self._unsaid:
                sent = self._child.stdin.write(self._unsaid)
                if not sent:
                    return
                self._unsaid = self._unsaid[sent:]

    def _take(self, block: bytes) -> Iterator[dict[str, Json]]:
        self._heard_bytes += len(block)
        if self._heard_bytes > SAID_BYTES_MAX:
            raise TooMuchError
        self._heard += block
        if b"\n" not in block:
            return
        *lines, rest = bytes(self._heard).split(b"\n")
        self._heard = bytearray(rest)
        for line in lines:
            with contextlib.suppress(MalformedJsonError):
                value = parse(line)
                if isinstance(value, dict):
                    yield value

    def _check(self, deadline: int) -> None:
        if self._stop.is_set():
            raise StoppedError
        if self._clock.monotonic() >= deadline:
            raise OverdueError
        if _resident_bytes(self._child.pid) > RESIDENT_BYTES_MAX:
            raise TooMuchError


def _resident_bytes(pid: int) -> int:
    """Return what a process has in memory; nothing where the system does not tell it as a file."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * _PAGE_BYTES
    except (OSError, IndexError):
        return 0
