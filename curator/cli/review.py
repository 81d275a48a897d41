"""`curator review --once`: review what waits, and come to an end."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Self

import typer

from curator.cli.options import AgentDir, AsJson, layout_of
from curator.cli.page import warn
from curator.errors import CuratorError, UsageError

if TYPE_CHECKING:
    from types import FrameType

    from curator.model.ports import Clock

_INTERRUPTED: Final = 130
_ECHO_MS: Final = 500
"""A second signal this soon is the first one, forwarded by a wrapper beside the terminal's own (W20)."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(review)


def review(
    once: Annotated[bool, typer.Option("--once", help="Review what waits, then end.")] = False,
    agent_dir: AgentDir = None,
    worker_id: Annotated[
        str | None, typer.Option("--worker-id", help="Be known as curator:ID. [default: the host and the process]")
    ] = None,
    as_json: AsJson = False,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Review at most so many jobs.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Sit through short back-offs too.")] = False,
) -> int:
    """Review the jobs that wait, and change memory accordingly."""
    if not once:
        fact = "the long-lived service comes with a later release"
        raise UsageError(fact, remedy="Run `curator review --once`, by hand or from a timer")
    from curator.durable.clock import SystemClock

    stop = SignalStop(SystemClock())
    try:
        return _review_once(stop, agent_dir, worker_id, limit, as_json=as_json, wait=wait)
    except CuratorError as error:
        if not stop.is_set():
            raise
        warn(str(error))
        return _INTERRUPTED


def _review_once(
    stop: SignalStop, agent_dir: Path | None, worker_id: str | None, limit: int | None, *, as_json: bool, wait: bool
) -> int:
    from curator.app import open_app
    from curator.cli.listener import JsonLines, sentences_for

    listener = JsonLines() if as_json else sentences_for(layout_of(agent_dir))
    with stop, contextlib.closing(listener):
        app = open_app(agent_dir, environ=os.environ, worker_id=worker_id, listener=listener, stop=stop)
        drained = app.review_once(limit=limit, wait=wait)
        if app.service.mode == "embedded" and as_json:
            # Nothing was drained, so nobody has said how it ended; a program still waits for its last line.
            listener.tell(drained)
    return _INTERRUPTED if stop.is_set() else 0


class SignalStop:
    """The wish to stop, by SIGINT or SIGTERM; a second one ends the run where it stands."""

    def __init__(self, clock: Clock) -> None:
        """Nobody wishes to stop yet; `clock` tells a second wish from an echo of the first."""
        self._clock = clock
        self._since_ms: int | None = None
        self._before: list[tuple[int, signal._HANDLER]] = []

    def is_set(self) -> bool:
        """Tell whether the work should end soon."""
        return self._since_ms is not None

    def __enter__(self) -> Self:
        """Listen to the signals."""
        self._before = [(number, signal.signal(number, self._note)) for number in (signal.SIGINT, signal.SIGTERM)]
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the signals as they were."""
        for number, before in self._before:
            signal.signal(number, before)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        now = self._clock.monotonic()
        if self._since_ms is None:
            self._since_ms = now
        elif now - self._since_ms > _ECHO_MS:
            # What is claimed comes back by its lease, what was sent is closed by the next run.
            raise KeyboardInterrupt
