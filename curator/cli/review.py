"""`curator review --once`: review what waits, and come to an end."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Self

import typer

from curator.cli.options import AgentDir, layout_of
from curator.cli.page import warn
from curator.errors import ConfigError, CuratorError, UsageError

if TYPE_CHECKING:
    from types import FrameType

    from curator.app import App
    from curator.model.event import Drained
    from curator.model.ports import Clock, Listener

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
        str | None,
        typer.Option("--worker-id", metavar="ID", help="Be known as curator:ID. [default: the host and the process]"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Tell what happens in JSON lines, for programs; `drained` is the last.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Review at most so many jobs.")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Sit through short back-offs too.")] = False,
    maintain: Annotated[
        bool, typer.Option("--maintain", help="First let go what is old, as the service does by itself; for cron.")
    ] = False,
) -> int:
    """Review the jobs that wait, and change memory accordingly.

    Ends with 78 where nobody could be asked for want of configuration, and with 130 where it was interrupted.
    """
    if not once:
        remedy = "Run `curator review --once`; or `curator service install`, which reviews whatever comes"
        raise UsageError("review works the queue off once, and wants to be told so", remedy=remedy)
    from curator.durable.clock import SystemClock

    stop = SignalStop(SystemClock())
    try:
        return _review_once(stop, agent_dir, worker_id, limit, as_json=as_json, wait=wait, tidies=maintain)
    except CuratorError as error:
        if not stop.is_set():
            raise
        warn(str(error))
        return _INTERRUPTED


def _review_once(
    stop: SignalStop,
    agent_dir: Path | None,
    worker_id: str | None,
    limit: int | None,
    *,
    as_json: bool,
    wait: bool,
    tidies: bool,
) -> int:
    from curator.app import open_app
    from curator.cli.listener import JsonLines, sentences_for
    from curator.workflow.retry import CONFIGURATION_CODES

    listener = JsonLines() if as_json else sentences_for(layout_of(agent_dir))
    with stop, contextlib.closing(listener):
        app = open_app(agent_dir, environ=os.environ, worker_id=worker_id, listener=listener, stop=stop)
        if tidies:
            app.refuse_foreign_worker()
            app.maintain()
        drained = app.review_once(limit=limit, wait=wait) if app.claims_jobs else _leave_to_pi(app, listener)
    if stop.is_set():
        return _INTERRUPTED
    return ConfigError.exit_status if drained.blocked_by in CONFIGURATION_CODES else 0


def _leave_to_pi(app: App, listener: Listener) -> Drained:
    """Claim nothing, and say why; whoever listens waits for the last word all the same."""
    from curator.model.event import Drained, Stopped
    from curator.workflow.settings_files import LET_REVIEW

    fact = f"the mode in {app.layout.service_json} is embedded: Pi reviews by itself, and curator claims nothing"
    listener.tell(Stopped("authority", "embedded", fact, f"{LET_REVIEW} to let curator review"))
    drained = Drained(0, 0, 0, 0, 0, left=app.shop.stores.spool.counts()[0])
    listener.tell(drained)
    return drained


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
